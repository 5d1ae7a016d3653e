import { expect } from 'chai';
import fc from 'fast-check';
import type { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import type { Actor, BoardModel, Posted } from '../../support/model.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Story, seqs, steps } from '../../support/story.ts';
import { TestStream } from '../../support/stream.ts';

const RUNS = 4;

forEachDatabase('after any story, each reader', (engine) => {
  let server: TestServer;
  let people: Api[];
  const told: Story[] = [];
  before(async () => {
    server = await startTestServer(engine);
    people = [server.dana, await server.person('pam'), await server.person('gus', 'guest')];
    // The same stories are judged by every test below.
    for (const [n, story] of fc.sample(steps, { numRuns: RUNS, seed: 7404 }).entries()) {
      const begun = await Story.begin(server, people.slice(0, 2));
      for (const step of story) await begun.take(step);
      // What is hidden depends on the policy a story ends with, so both are judged, mostly the one that hides.
      await begun.take({ do: 'policy', visibility: n === RUNS - 1 ? 'open' : 'addressed' });
      told.push(begun);
    }
  });
  after(() => server.stop());

  type Check = (board: string, model: BoardModel, reader: Actor) => Promise<void>;
  const everybodyIn = async (stories: Story[], check: Check) => {
    for (const { board, model } of stories)
      await Promise.all(model.active.map((reader) => check(board, model, reader)));
  };
  const everybody = (check: Check) => everybodyIn(told, check);
  /** For checks with a request per message. */
  const somebody = (check: Check) => everybodyIn(told.slice(0, 1), check);

  it('of which some have something to hide: the stories hold hidden and readable messages', () => {
    let hidden = 0;
    let readable = 0;
    for (const { model } of told) {
      for (const reader of model.active) {
        readable += model.timeline(reader).length;
        hidden += model.messages.length - model.timeline(reader).length;
      }
    }
    expect(hidden).to.be.greaterThan(20);
    expect(readable).to.be.greaterThan(20);
  });

  it('reads in the timeline what the policy lets it, with replies counted as it may read them', () =>
    everybody(async (board, model, reader) => {
      const { messages } = await reader.api.ok('listMessages', { params: { board }, query: { limit: 200 } });
      expect(seqs(messages)).to.deep.equal(seqs(model.timeline(reader)));
      for (const [n, posted] of model.timeline(reader).entries()) {
        const replies = posted.parent ? [] : model.replies(reader, posted);
        expect(messages[n]?.reply_count ?? 0, `replies of ${posted.seq}`).to.equal(replies.length);
        expect(messages[n]?.reply_to_seq ?? null).to.equal(posted.parent?.seq ?? null);
        expect(messages[n]?.thread_root_seq ?? null).to.equal(posted.root?.seq ?? null);
        const reactions = messages[n]?.reactions.flatMap(({ name, by }) => by.map((who) => `${name} ${who}`));
        const standing = posted.reactions.map(({ name, member }) => `${name} ${member.name}`);
        expect(reactions).to.have.members(standing);
      }
    }));

  it('gets one message, by id and by number, exactly when it may read it', () =>
    somebody(async (board, model, reader) => {
      for (const posted of model.messages) {
        const calls = [
          await reader.api.call('getMessage', { params: { message: posted.id } }),
          await reader.api.call('getMessageBySeq', { params: { board, seq: posted.seq } }),
        ];
        for (const { status, code } of calls) {
          expect(code ?? status).to.equal(model.reads(reader, posted) ? 200 : 'message_not_found');
        }
      }
    }));

  it('sees of each recipient whether it received or replied, by what the reader may read', () =>
    somebody(async (_board, model, reader) => {
      for (const posted of model.timeline(reader)) {
        const { recipients } = await reader.api.ok('getMessage', { params: { message: posted.id } });
        const shown = recipients.map(({ member, state, reply_ids }) => [member.id, state, reply_ids]);
        expect(shown).to.deep.equal(expectedRecipients(model, reader, posted));
      }
    }));

  it('reads the readable part of each thread, and its root only when that is readable', () =>
    somebody(async (_board, model, reader) => {
      for (const posted of model.timeline(reader)) {
        const root = posted.root ?? posted;
        const thread = await reader.api.ok('listReplies', { params: { message: posted.id }, query: { limit: 200 } });
        expect(seqs(thread.replies)).to.deep.equal(seqs(model.replies(reader, root)));
        expect(thread.root?.seq ?? null).to.equal(model.reads(reader, root) ? root.seq : null);
      }
    }));

  it('finds in a search exactly what it may read', () =>
    everybody(async (board, model, reader) => {
      const found: number[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const query: Record<string, string> = { q: 'well', board, ...(after === '' ? {} : { after }) };
        const page = await reader.api.ok('search', { query });
        found.push(...page.results.map((result) => result.message?.seq ?? 0));
        after = page.next_after;
      }
      expect(found).to.deep.equal(seqs(model.timeline(reader)).reverse());
    }));

  it('lists the threads it may read in part, newest readable reply first, page by page', () =>
    everybody(async (board, model, reader) => {
      const expected = model.threads(reader).map(({ root, replies }) => ({
        seq: root.seq,
        participants: [...new Set([root, ...replies].map((posted) => posted.sender.name))],
      }));
      const shown: typeof expected = [];
      for (let after: string | null = ''; after !== null; ) {
        const query: Record<string, string | number> = after === '' ? { limit: 2 } : { limit: 2, after };
        const page = await reader.api.ok('listThreads', { params: { board }, query });
        expect(page.threads.length).to.be.at.most(2);
        shown.push(...page.threads.map(({ root, participants }) => ({ seq: root.seq, participants })));
        after = page.next_after;
      }
      expect(shown).to.deep.equal(expected);
    }));

  it('gets the data of an event exactly when it may read the message', () =>
    everybody(async (board, model, reader) => {
      const { events, head_seq } = await reader.api.ok('listEvents', { params: { board }, query: { limit: 200 } });
      expect(seqs(events)).to.deep.equal(Array.from({ length: head_seq }, (_, n) => n + 1));
      const withheld = events.filter((event) => event.data_withheld);
      const hidden = new Set(
        model.messages.filter((posted) => !model.reads(reader, posted)).map((posted) => posted.id),
      );
      const whole = await server.dana.ok('listEvents', { params: { board }, query: { limit: 200 } });
      // What says anything of a hidden message: its posting, and the reactions to it.
      const about = whole.events.filter((event) => hidden.has(String(event.data?.['message_id'])));
      expect(seqs(withheld)).to.deep.equal(seqs(about));
      for (const event of events) expect('data' in event).to.equal(event.data_withheld === undefined);
    }));

  it('gets the same events and messages from a stream as from the lists', () =>
    everybody(async (board, _model, reader) => {
      const stream = await TestStream.open(reader.api, { board, after: 0, include: 'message' });
      await stream.frame((frame) => frame.event === 'ready');
      stream.close();
      const { events } = await reader.api.ok('listEvents', { params: { board }, query: { limit: 200 } });
      const { messages } = await reader.api.ok('listMessages', { params: { board }, query: { limit: 200 } });
      expect(stream.named('event').map((frame) => frame.data)).to.deep.equal(events);
      expect(stream.named('message').map((frame) => frame.data)).to.deep.equal(messages);
    }));

  it('finds in an inbox what is unacknowledged, readable and meant for the agent', () =>
    everybody(async (_board, model, reader) => {
      if (reader.kind === 'human') return;
      const inbox = await reader.api.ok('readInbox', { query: { limit: 200 } });
      const expected = model.inbox(reader);
      expect(seqs(inbox.messages)).to.deep.equal(seqs(expected));
      expect(inbox).to.include({ cursor: reader.position, more: false, unread: expected.length });
      expect(inbox.unread_urgent).to.equal(expected.filter((posted) => posted.urgent).length);
      const urgent = await reader.api.ok('readInbox', { query: { urgent: true } });
      expect(seqs(urgent.messages)).to.deep.equal(seqs(expected.filter((posted) => posted.urgent)));
    }));

  it('has the unread and owed counts of what it may read', () =>
    everybody(async (board, model, reader) => {
      const shown = await reader.api.ok('getBoard', { params: { board } });
      expect(shown).to.include({ read_up_to: reader.position, unread: model.unread(reader) });
      expect(shown.needs_reply).to.equal(reader.kind === 'human' ? model.needsReply(reader) : null);
      const total = reader.kind === 'human' || model.visibility === 'open' ? model.messages.length : null;
      expect(shown.message_count).to.equal(total);
      const listed = (await reader.api.ok('listBoards')).boards.find((each) => each.name === board);
      expect(listed).to.include({ unread: shown.unread, read_up_to: shown.read_up_to });
    }));

  it('stands to each sender as the record of persons says', () =>
    everybody(async (board, _model, reader) => {
      const { messages } = await reader.api.ok('listMessages', { params: { board }, query: { limit: 200 } });
      const model = told.find((story) => story.board === board)?.model as BoardModel;
      for (const shown of messages) {
        const { sender } = model.messages.find((posted) => posted.seq === shown.seq) as Posted;
        expect([shown.sender, shown.trust]).to.deep.equal(relation(reader, sender));
        expect(shown.from).to.include({ id: sender.id, name: sender.name, kind: sender.kind, role: sender.role });
      }
    }));
});

function expectedRecipients(model: BoardModel, reader: Actor, posted: Posted) {
  return (posted.recipients ?? []).flatMap((id) => {
    const member = model.agents((agent) => agent.id === id)[0];
    if (!member) return [];
    const replies = model.timeline(reader).filter((reply) => reply.parent === posted && reply.sender === member);
    const state = replies.length > 0 ? 'replied' : member.position >= posted.seq ? 'received' : 'pending';
    return [[id, state, replies.map((reply) => reply.id)]];
  });
}

function relation(reader: Actor, sender: Actor): [string, string] {
  if (reader === sender) return ['self', 'self'];
  const same = reader.owner === sender.owner;
  if (sender.kind === 'human') return same ? ['owner', 'owner'] : ['other_person', 'human'];
  return [same ? 'owner_agent' : 'other_agent', 'peer'];
}
