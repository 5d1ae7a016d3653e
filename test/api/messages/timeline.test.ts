import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../../src/contract/types.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { endMember, putOnBoard, setPolicy } from '../../support/state.ts';

type Query = Record<string, string | number | boolean>;

forEachDatabase('the timeline', (engine) => {
  let server: TestServer;
  let board: string;
  let params: { board: string };
  let pam: Api;
  let agents: Agent[];
  let all: Message[];
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    board = (await newBoard(server.dana, { template: 'writer-reviewer' })).name;
    params = { board };
    await putOnBoard(server, board, pam);
    agents = [
      await newAgent(server.dana, board, { name: 'w', role: 'writer' }),
      await newAgent(pam, board, { name: 'r', role: 'reviewer' }),
      await newAgent(pam, board, { name: 'gone', role: 'reviewer' }),
    ];
    const writers: Api[] = [server.dana, pam, ...agents];
    const targets = [undefined, ['@w'], ['role:reviewer'], ['@pam', '@r'], ['all'], ['owner:pam']];
    const sent: Message[] = [];
    for (let n = 0; n < 40; n++) {
      const parent = n % 3 === 0 ? sent[n - 2] : undefined;
      const more = {
        ...(parent ? { reply_to: parent.id, to: ['all'] } : {}),
        ...(targets[n % 6] ? { to: targets[n % 6] } : {}),
      };
      sent.push(await post(writers[n % 5] as Api, board, n % 7 === 0 ? 'hey @w and @pam' : `${n}`, more));
    }
    for (const name of ['a.md', 'b.md']) await put(server.dana, board, name, name);
    for (const writer of [pam, ...agents]) {
      const files = [{ file: 'a.md' }, { file: 'b.md' }].slice(0, 1 + (sent.length % 2));
      sent.push(await post(writer, board, 'see @w', { to: ['@r'], files }));
      const asked = await post(writer, board, 'which, @pam?', { to: ['@w'], ask: { options: ['one'] } }).catch(
        () => null,
      );
      if (!asked) continue;
      sent.push(asked, await post(agents[0] as Api, board, 'one', { reply_to: asked.id, answer: { option: 1 } }));
    }
    await endMember(server, (agents[2] as Agent).memberId);
    await setPolicy(server, board, { visibility: 'addressed' });
    all = sent;
  });
  after(() => server.stop());

  const page = (reader: Api, query: Query = {}) => reader.ok('listMessages', { params, query });
  const seqsOf = (list: { seq: number }[]) => list.map(({ seq }) => seq);

  /** What a filter means, said about a message as its reader reads it. */
  const filters = async (reader: Api): Promise<[Query, (message: Message) => boolean][]> => {
    const me = (await reader.ok('listMembers', { params })).members;
    const own = await reader.ok('getMe');
    const mine = me.find((member) => member.id === own.id || member.name === own.name);
    const mentionsMe = ({ mentions }: Message) => mentions.some(({ id }) => id === mine?.id);
    const toMe = new Set<number>();
    const { events } = await reader.ok('listEvents', { params, query: { limit: 200 } });
    const recorded = new Map(events.map(({ seq, data }) => [seq, data?.['recipients'] as string[] | undefined]));
    for (const { seq, sender } of await whole(reader)) {
      const recipients = recorded.get(seq);
      if (sender !== 'self' && (!recipients || recipients.includes(mine?.id ?? ''))) toMe.add(seq);
    }
    return [
      [{}, () => true],
      [{ from: 'w' }, (message) => message.from.name === 'w'],
      [{ from: 'gone' }, (message) => message.from.name === 'gone'],
      [{ role: 'reviewer' }, (message) => message.from.role === 'reviewer'],
      [{ roots: true }, (message) => message.reply_to === null],
      [{ to_me: true }, (message) => toMe.has(message.seq)],
      [{ has: 'mention_me' }, mentionsMe],
      [{ has: 'ask' }, (message) => message.ask !== undefined],
      [{ has: 'answer' }, (message) => message.answer !== undefined],
      [{ has: 'files' }, (message) => message.files.length > 0],
      [{ has: 'files', to_me: true }, (message) => message.files.length > 0 && toMe.has(message.seq)],
      [{ has: 'ask', from: 'r' }, (message) => message.ask !== undefined && message.from.name === 'r'],
      [{ has: 'mention_me', roots: true }, (message) => mentionsMe(message) && message.reply_to === null],
      [{ roots: true, role: 'writer' }, (message) => message.reply_to === null && message.from.role === 'writer'],
    ];
  };

  const whole = async (reader: Api): Promise<Message[]> => (await page(reader, { limit: 200 })).messages;

  async function forward(reader: Api, filter: Query, limit: number): Promise<number[]> {
    const { messages, next_after } = await page(reader, { ...filter, limit });
    const seen = seqsOf(messages);
    for (let after = next_after; after !== null; ) {
      const next = await page(reader, { ...filter, limit, after });
      expect(next.messages).not.to.deep.equal([]);
      seen.push(...seqsOf(next.messages));
      after = next.next_after;
    }
    return seen;
  }

  async function backward(reader: Api, filter: Query, limit: number): Promise<number[]> {
    const { messages, prev_before } = await page(reader, { ...filter, limit, newest: true });
    const seen = seqsOf(messages);
    for (let before = prev_before; before !== null; ) {
      const next = await page(reader, { ...filter, limit, newest: true, before });
      expect(next.messages).not.to.deep.equal([]);
      seen.unshift(...seqsOf(next.messages));
      before = next.prev_before;
    }
    return seen;
  }

  it('shows under has=awaits_me what its reader owes an answer, a question that went with its default too', async () => {
    const { name } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, name, { name: 'w' });
    const to = [`@${(await server.dana.ok('getMe')).name}`];
    const owed = async () => {
      const query = { has: 'awaits_me' as const };
      return seqsOf((await server.dana.ok('listMessages', { params: { board: name }, query })).messages);
    };
    await post(agent, name, 'For all', {});
    const reply = await post(agent, name, 'Well?', { to, expects_reply: true });
    const going_at = new Date(server.clock.now() + 60_000).toISOString();
    const ask = await post(agent, name, 'Which?', { to, ask: { options: ['one'], going_with: 'one', going_at } });
    server.clock.advance(61_000);
    expect(await owed()).to.deep.equal([reply.seq, ask.seq]);
    await post(server.dana, name, 'one', { reply_to: ask.id, answer: { option: 1 } });
    expect(await owed()).to.deep.equal([reply.seq]);
  });

  it('is walked both ways under every filter to the same set, for every kind of reader', async () => {
    for (const reader of [server.dana, pam, ...agents.slice(0, 2)]) {
      const readable = await whole(reader);
      let found = 0;
      for (const [filter, fits] of await filters(reader)) {
        const expected = seqsOf(readable.filter(fits));
        found += expected.length;
        expect(await forward(reader, filter, 7), JSON.stringify(filter)).to.deep.equal(expected);
        expect(await backward(reader, filter, 7), JSON.stringify(filter)).to.deep.equal(expected);
      }
      expect(found).to.be.greaterThan(readable.length + 10);
    }
    expect(seqsOf(await whole(server.dana))).to.deep.equal(seqsOf(all));
    expect((await whole(agents[0] as Api)).length).to.be.below(all.length);
  });

  it('gives for any window what a list in memory gives, with cursors null exactly at the ends', async () => {
    const readers = [server.dana, agents[0] as Api];
    const lists = await Promise.all(readers.map(whole));
    const number = fc.option(fc.nat({ max: 70 }), { nil: undefined });
    const windows = fc.record({
      reader: fc.nat({ max: 1 }),
      after: number,
      before: fc.option(fc.integer({ min: 1, max: 70 }), { nil: undefined }),
      limit: fc.integer({ min: 1, max: 12 }),
      newest: fc.boolean(),
      roots: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(windows, async ({ reader, ...query }) => {
        const asked = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Query;
        const list = (lists[reader] as Message[]).filter((message) => !query.roots || message.reply_to === null);
        const inside = list.filter(({ seq }) => seq > (query.after ?? 0) && seq < (query.before ?? Infinity));
        const expected = query.newest ? inside.slice(-query.limit) : inside.slice(0, query.limit);
        const answer = await page(readers[reader] as Api, asked);
        expect(seqsOf(answer.messages)).to.deep.equal(seqsOf(expected));
        const [first, last] = [expected[0], expected.at(-1)];
        expect(answer.next_after).to.equal(last && list.at(-1) !== last ? last.seq : null);
        expect(answer.prev_before).to.equal(first && list[0] !== first ? first.seq : null);
      }),
      { numRuns: 60 },
    );
  });

  it('is 404 for a sender or a role the board never had, and 404 for a task', async () => {
    expect(await pam.refused('listMessages', { params, query: { from: 'nobody' } })).to.equal('404 member_not_found');
    const role = await pam.call('listMessages', { params, query: { role: 'nobody' } });
    expect([role.status, role.code]).to.deep.equal([404, 'role_not_found']);
    expect(role.body).to.have.nested.property('error.details.choices').that.includes('member');
    expect(await pam.refused('listMessages', { params, query: { task: 'CHK-1' } })).to.equal('404 task_not_found');
  });

  it('is filtered by a role that the board has no more', async () => {
    const { name } = await newBoard(server.dana);
    const of = { params: { board: name } };
    const { roles } = await server.dana.ok('getBoard', of);
    await server.dana.ok('updateBoard', { ...of, body: { roles: { ...roles, auditor: { can: ['post'] } } } });
    const auditor = await newAgent(server.dana, name, { role: 'auditor' });
    const { seq } = await post(auditor, name, 'All is well');
    await server.dana.ok('removeMember', { params: { board: name, member: auditor.name } });
    await server.dana.ok('updateBoard', { ...of, body: { roles } });
    const { messages } = await server.dana.ok('listMessages', { ...of, query: { role: 'auditor' } });
    expect(messages.map((message) => message.seq)).to.deep.equal([seq]);
  });

  it('ends a page early past 1 MiB and says that more follows, in both directions', async () => {
    const { name } = await newBoard(server.dana);
    const sent = [];
    for (let n = 0; n < 12; n++) sent.push((await post(server.dana, name, '\u0001'.repeat(20_000))).seq);
    for (const newest of [false, true]) {
      const answer = await server.dana.call('listMessages', { params: { board: name }, query: { limit: 200, newest } });
      expect(Buffer.byteLength(answer.text)).to.be.below(1_048_576 + 10_000);
      const got = seqsOf(answer.body.messages);
      expect(got.length).to.be.within(1, 11);
      expect(got).to.deep.equal(newest ? sent.slice(-got.length) : sent.slice(0, got.length));
      expect(newest ? answer.body.prev_before : answer.body.next_after).to.equal(newest ? got[0] : got.at(-1));
    }
    const events = await server.dana.ok('listEvents', { params: { board: name }, query: { limit: 200 } });
    expect(events.next_after).to.equal(events.events.at(-1)?.seq);
  });

  it('moves no read position by being read', async () => {
    const position = async () => (await pam.ok('getBoard', { params })).read_up_to;
    const before = await position();
    await whole(pam);
    await pam.ok('getMessage', { params: { message: all[0]?.id ?? '' } });
    expect(await position()).to.equal(before);
  });
});
