/** What the policy `addressed` hides, from whom and since when; and what an owner's agents and a role's were sent. */
import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard, setPolicy } from '../../support/state.ts';

forEachDatabase('where messages are for those they are addressed to', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  let params: { board: string };
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana, { preset: 'recommended', template: 'writer-reviewer' })).name;
    params = { board };
    await putOnBoard(server, board, pam);
  });
  after(() => server.stop());

  const agentOf = (owner: Api, name: string, role = 'member') => newAgent(owner, board, { name, role });
  const inbox = async (agent: Api) => (await agent.ok('readInbox')).messages.map(({ seq }) => seq);
  const receipts = async (seq: number) =>
    (await pam.ok('listReceipts', { params: { board, seq } })).recipients.map(({ member }) => member.name);

  it('an agent that was not meant finds nothing of a message anywhere, and a person finds all of it', async () => {
    const [a, b] = [await agentOf(server.dana, 'a'), await agentOf(server.dana, 'b')];
    const { id, seq } = await post(server.dana, board, 'a quiet word', { to: ['@a'] });
    const reply = await post(a, board, 'heard', { reply_to: id, to: ['@a'] });
    await pam.ok('addReaction', { params: { message: id, reaction: 'eyes' } });

    for (const reader of [a, pam, server.dana]) {
      expect((await reader.ok('getMessage', { params: { message: id } })).message.body).to.equal('a quiet word');
      expect((await reader.ok('listMessages', { params })).messages).to.have.length(2);
      expect((await reader.ok('listReplies', { params: { message: id } })).replies).to.have.length(1);
      expect((await reader.ok('listReactions', { params: { message: id } })).reactions).to.have.length(1);
      expect((await reader.ok('listReceipts', { params: { board, seq } })).recipients).to.have.length(1);
      expect((await reader.ok('search', { query: { q: 'quiet' } })).results).to.have.length(1);
      expect((await reader.ok('listThreads', { params })).threads).to.have.length(1);
    }
    expect(await inbox(a)).to.deep.equal([seq]);

    for (const message of [id, reply.id]) {
      for (const name of ['getMessage', 'listReplies', 'listReactions'] as const) {
        expect(await b.refused(name, { params: { message } }), name).to.equal('404 message_not_found');
      }
      for (const name of ['addReaction', 'removeReaction'] as const) {
        expect(await b.refused(name, { params: { message, reaction: 'eyes' } })).to.equal('404 message_not_found');
      }
      const body = { body: 'me too', reply_to: message, to: ['@a'] };
      expect(await b.refused('postMessage', { params, body })).to.equal('404 message_not_found');
    }
    for (const name of ['getMessageBySeq', 'listReceipts'] as const) {
      expect(await b.refused(name, { params: { board, seq } }), name).to.equal('404 message_not_found');
    }
    expect((await b.ok('listMessages', { params })).messages).to.deep.equal([]);
    expect((await b.ok('listThreads', { params })).threads).to.deep.equal([]);
    expect(await b.ok('search', { query: { q: 'quiet' } })).to.deep.include({ results: [], next_after: null });
    expect(await b.ok('readInbox')).to.deep.include({ messages: [], unread: 0 });
    const { events } = await b.ok('listEvents', { params });
    const hidden = events.filter((event) => event.data_withheld).map((event) => [event.seq, event.type]);
    expect(hidden).to.deep.equal([
      [seq, 'message.posted'],
      [reply.seq, 'message.posted'],
      [reply.seq + 1, 'reaction.added'],
    ]);
  });

  it('opening the board shows the old message, closing it hides it again, and no inbox ever had it', async () => {
    const [a, b] = [await agentOf(server.dana, 'a'), await agentOf(server.dana, 'b')];
    const { id } = await post(server.dana, board, 'a quiet word', { to: [`@${a.name}`] });
    const shown = async () => {
      expect(await inbox(b)).to.deep.equal([]);
      const { status } = await b.call('getMessage', { params: { message: id } });
      return [status, (await b.ok('listMessages', { params })).messages.length];
    };
    expect(await shown()).to.deep.equal([404, 0]);
    for (const [visibility, expected] of [
      ['open', [200, 1]],
      ['addressed', [404, 0]],
    ] as const) {
      await server.dana.ok('updateBoard', { params, body: { policy: { visibility } } });
      expect(await shown()).to.deep.equal(expected);
    }
  });

  it('an agent that takes a role later was not sent what went to the role, and cannot read it', async () => {
    await agentOf(server.dana, 'first', 'reviewer');
    const { id, seq } = await post(pam, board, 'please review', { to: ['role:reviewer'] });
    const late = await agentOf(pam, 'late', 'reviewer');
    expect(await receipts(seq)).to.deep.equal(['first']);
    expect(await inbox(late)).to.deep.equal([]);
    expect(await late.refused('getMessage', { params: { message: id } })).to.equal('404 message_not_found');
  });

  it('a person who was renamed keeps the receipt and still owes the reply', async () => {
    const rob = await server.person(`rob-${engine}`);
    await putOnBoard(server, board, rob);
    const { seq, to } = await post(server.dana, board, 'well?', { to: [`@rob-${engine}`], expects_reply: true });
    await server.dana.ok('renamePerson', { params: { handle: `rob-${engine}` }, body: { handle: `bob-${engine}` } });
    const shown = await server.dana.ok('listReceipts', { params: { board, seq } });
    expect(shown.to).to.deep.equal(to);
    expect(shown.recipients.map(({ member }) => member.name)).to.deep.equal([`bob-${engine}`]);
    expect((await rob.ok('getBoard', { params })).needs_reply).to.equal(1);
    await post(rob, board, 'yes', {
      reply_to: (await rob.ok('getMessageBySeq', { params: { board, seq } })).message.id,
    });
    expect((await rob.ok('getBoard', { params })).needs_reply).to.equal(0);
  });

  it('an owner’s agents are those of that moment, and an owner may have none', async () => {
    const [first, second] = [await agentOf(pam, 'first'), await agentOf(pam, 'second')];
    const { seq } = await post(server.dana, board, 'both of you', { to: ['owner:pam'] });
    const third = await agentOf(pam, 'third');
    expect(await receipts(seq)).to.deep.equal(['first', 'second']);
    expect([await inbox(first), await inbox(second), await inbox(third)]).to.deep.equal([[seq], [seq], []]);
    const eve = await server.person(`eve-${board}`);
    await putOnBoard(server, board, eve);
    const none = await post(server.dana, board, 'anybody?', { to: [`owner:eve-${board}`] });
    expect(await receipts(none.seq)).to.deep.equal([]);
  });

  it('a harness that is not to be shown is known to people and to its own agent, and the record stays sound', async () => {
    const mine = await newAgent(server.dana, board, { name: 'mine', harness: 'codex' });
    const other = await newAgent(server.dana, board, { name: 'other', harness: 'claude-code' });
    await setPolicy(server, board, { show_harness: false });
    await post(mine, board, 'hello', { to: ['@other'] });
    await post(other, board, 'hello', { to: ['@mine'] });
    const harness = async (reader: Api) =>
      Object.fromEntries(
        (await reader.ok('listMessages', { params })).messages.map(({ from }) => [from.name, from.harness]),
      );
    expect(await harness(mine)).to.deep.equal({ mine: 'codex', other: null });
    expect(await harness(other)).to.deep.equal({ mine: null, other: 'claude-code' });
    expect(await harness(pam)).to.deep.equal({ mine: 'codex', other: 'claude-code' });
    const joined = async (reader: Api) =>
      (await reader.ok('listEvents', { params, query: { type: 'member.joined' } })).events.filter(
        (event) => event.actor.kind !== 'system' && event.data_withheld,
      ).length;
    expect([await joined(mine), await joined(other), await joined(pam)]).to.deep.equal([1, 1, 0]);
  });
});
