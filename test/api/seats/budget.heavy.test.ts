import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { DeliveryMode } from '../../../src/contract/types.ts';
import { wakesAgent } from '../../../src/contract/waking.ts';
import type { Database, ReadTx } from '../../../src/server/db/tx.ts';
import { BoardStream } from '../../../src/server/live/board-stream.ts';
import { Connection } from '../../../src/server/live/connection.ts';
import { Feed } from '../../../src/server/live/feed.ts';
import { atMost } from '../../../src/server/live/looks.ts';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;

/** Something that is waited for until it is given. */
function signal(): { given: Promise<void>; give: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { given: promise, give: resolve };
}

forEachDatabase('the wake budget of an agent', (engine) => {
  let server: TestServer;
  let board: string;
  let claude: Agent;
  let codex: Agent;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    claude = await newAgent(server.dana, board, { name: 'claude' });
    codex = await newAgent(server.dana, board, { name: 'codex' });
  });
  after(() => server.stop());

  const read = (wait = 0) => codex.ok('readInbox', { query: { wait } });
  const say = (n: number) => post(claude, board, `post ${n}`, { to: ['@codex'] });
  const ack = (upTo: number) => codex.ok('ackInbox', { body: { up_to: upTo } });
  const state = async () => (await server.dana.ok('getMember', { params: { board, member: 'codex' } })).state;
  const params = () => ({ board, member: 'codex' });
  const needs = async () => (await server.dana.ok('listNeeds', {})).needs.filter((need) => need.board === board);

  /** Posts as many times as asked; answers how often a wait of the agent was answered, each time acknowledged. */
  async function wakes(posts: number): Promise<number> {
    let woken = 0;
    for (let n = 1; n <= posts; n++) {
      const { seq } = await say(n);
      if (!(await isWoken())) continue;
      woken++;
      await ack(seq);
    }
    return woken;
  }

  /** Whether a wait would be answered at once with messages. */
  async function isWoken(): Promise<boolean> {
    const { braked, messages } = await read();
    return braked === undefined && messages.length > 0;
  }

  it('is 40 in ten minutes: a hundred posts of agents wake it 40 times, and a person at once', async () => {
    expect(await wakes(100)).to.equal(40);
    const { braked, messages } = await read();
    expect(braked?.reason).to.equal('wakes');
    expect(Date.parse(braked?.until ?? '') - server.clock.now()).to.be.within(9 * MINUTE, 10 * MINUTE);
    expect(messages, 'a read without a wait gives everything').to.have.length(50);
    const waited = await read(1);
    expect(waited.messages).to.deep.equal([]);
    expect(waited.unread).to.equal(60);
    const waiting = read(30);
    await post(server.dana, board, 'stop', { to: ['@codex'] });
    const woken = await waiting;
    expect(woken.messages[0]?.body).to.equal('post 41');
    expect(woken.more).to.equal(true);
  });

  it('is braked through a restart, shown as its state, and one need of its person', async () => {
    await server.dana.ok('setAgentBudget', {
      params: params(),
      body: { wakes: [{ count: 2, seconds: 600 }] },
    });
    expect(await wakes(3)).to.equal(2);
    expect(await state()).to.equal('braked');
    await server.restart();
    expect((await read()).braked?.reason).to.equal('wakes');
    const [need, ...others] = await needs();
    expect(others).to.deep.equal([]);
    expect(need).to.include({ kind: 'agent_braked', agent: 'codex', member_id: codex.memberId, reason: 'wakes' });
    expect(need?.text).to.match(
      /^codex is paused until \d{4}-\d\d-\d\d \d\d:\d\d UTC: agents' messages have used up its wakes\. People still wake it$/,
    );
    const { changes_at } = await server.dana.ok('listNeeds', {});
    expect(Date.parse(changes_at ?? '')).to.be.at.most(Date.parse(need && 'until' in need ? need.until : ''));
    server.clock.advance(10 * MINUTE + 1);
    expect(await state()).not.to.equal('braked');
    expect(await needs()).to.deep.equal([]);
    expect((await read(1)).messages.map(({ body }) => body)).to.deep.equal(['post 3']);
  });

  it('ends a wait when it is released, and gives as many wakes again', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 2, seconds: 600 }] } });
    await wakes(3);
    const waiting = read(30);
    const released = await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    expect(released).to.deep.include({
      agent: 'codex',
      budget: { wakes: [{ count: 2, seconds: 600 }], cost: null },
      braked: null,
    });
    const { messages } = await waiting;
    expect(messages.map(({ body }) => body)).to.deep.equal(['post 3']);
    await ack(messages.at(-1)?.seq ?? 0);
    expect(await wakes(3)).to.equal(1);
  });

  it('ends a wait that began before it was braked, also when it is released while that is read', async () => {
    // What its board's feed has not read yet would wake every wait.
    const watching = await TestStream.open(server.dana, { board });
    await watching.frame(({ event }) => event === 'ready');
    const waiting = read(30);
    await until(() => server.clock.waiting(30_000) === 1, 'it waits');
    const soon = new Date(server.clock.now() + 5 * MINUTE).toISOString();
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until: soon } });
    const [looked, goOn] = [signal(), signal()];
    const plain = Object.getPrototypeOf(server.db).read as Database['read'];
    server.db.read = async <T>(fn: (tx: ReadTx) => Promise<T>): Promise<T> => {
      const found = await plain.call(server.db, fn);
      if (Array.isArray(found) && found[0]?.found?.answer?.braked) {
        looked.give();
        await goOn.given;
      }
      return found as T;
    };
    await say(1);
    await looked.given;
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    Reflect.deleteProperty(server.db, 'read');
    goOn.give();
    expect((await waiting).messages).to.have.length(1);
    watching.close();
  });

  it('is paused until tomorrow by its person, who then needs nothing more of it', async () => {
    const until = new Date(server.clock.now() + 12 * 60 * MINUTE).toISOString();
    const paused = await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until } });
    expect(paused.braked).to.deep.equal({ until, reason: 'person' });
    await say(1);
    expect((await read(1)).messages).to.deep.equal([]);
    expect(await needs()).to.deep.equal([]);
  });

  it('is braked by its cost until that is over, where its person pauses it for a shorter time', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { cost: { usd: 1, seconds: 7_200 } } });
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 2 } });
    const { braked } = await read();
    expect(braked?.reason).to.equal('cost');
    const pause = async (minutes: number) => {
      const until = new Date(server.clock.now() + minutes * MINUTE).toISOString();
      const body = { action: 'pause' as const, until };
      return { until, paused: (await server.dana.ok('releaseAgent', { params: params(), body })).braked };
    };
    expect((await pause(60)).paused).to.deep.equal(braked);
    const longer = await pause(180);
    expect(longer.paused).to.deep.equal({ until: longer.until, reason: 'person' });
    const shorter = await pause(30);
    expect(shorter.paused).to.deep.equal({ until: shorter.until, reason: 'person' });
  });

  it('is refused a pause that would be over already', async () => {
    const until = (ms: number) => new Date(server.clock.now() + ms).toISOString();
    for (const ms of [-MINUTE, -1]) {
      const body = { action: 'pause' as const, until: until(ms) };
      const { status, body: answer } = await server.dana.call('releaseAgent', { params: params(), body });
      expect([status, answer]).to.deep.equal([
        400,
        {
          error: {
            code: 'invalid_request',
            message: 'until: must be in the future.',
            hint: 'Give a later time, or let agents wake it again: service agent release NAME.',
          },
        },
      ]);
    }
    expect(await state()).not.to.equal('braked');
  });

  it('is not paused for a shorter time by a cost that it reports itself', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { cost: { usd: 1, seconds: 60 } } });
    const until = new Date(server.clock.now() + 60 * MINUTE).toISOString();
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until } });
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 2 } });
    expect((await read()).braked).to.deep.equal({ until, reason: 'person' });
    server.clock.advance(2 * MINUTE);
    expect(await state()).to.equal('braked');
  });

  it('keeps what brakes it, unless the limit of that is set anew', async () => {
    const reasonAfter = async (body: Record<string, unknown>) =>
      (await server.dana.ok('setAgentBudget', { params: params(), body })).braked?.reason;
    const until = new Date(server.clock.now() + 12 * 60 * MINUTE).toISOString();
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until } });
    const wakes = [{ count: 1, seconds: 600 }];
    expect(await reasonAfter({ wakes, cost: { usd: 1, seconds: 3_600 } })).to.equal('person');
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    await ack((await say(1)).seq);
    expect(await reasonAfter({ cost: { usd: 2, seconds: 3_600 } })).to.equal('wakes');
    expect(await reasonAfter({ wakes })).to.equal(undefined);
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 2 } });
    expect(await reasonAfter({ wakes: 'off' })).to.equal('cost');
    expect(await reasonAfter({ cost: null })).to.equal(undefined);
  });

  it('has its cost for a time that ends also where the clock was set back since it began', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { cost: { usd: 1, seconds: 3_600 } } });
    const report = async (cost_usd: number, after: number) => {
      server.clock.advance(after);
      await codex.ok('reportUsage', { body: { turns: 1, cost_usd } });
      return (await read()).braked?.reason;
    };
    const year = 365 * 24 * 60 * MINUTE;
    expect([await report(0.5, year), await report(0.1, -year), await report(0.5, 61 * MINUTE)]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await report(0.5, MINUTE)).to.equal('cost');
  });

  it('gives more wakes without more to spend', async () => {
    const body = { wakes: [{ count: 1, seconds: 600 }], cost: { usd: 1, seconds: 3_600 } };
    await server.dana.ok('setAgentBudget', { params: params(), body });
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 0.75 } });
    await wakes(1);
    expect((await read()).braked?.reason).to.equal('wakes');
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 0.25 } });
    expect((await read()).braked?.reason).to.equal('cost');
  });

  it('is braked by its cost once that is reached, also where a longer brake of its wakes ends by other limits', async () => {
    const wakesAndCost = { wakes: [{ count: 1, seconds: 86_400 }], cost: { usd: 1, seconds: 3_600 } };
    await server.dana.ok('setAgentBudget', { params: params(), body: wakesAndCost });
    await wakes(1);
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 2 } });
    expect((await read()).braked?.reason).to.equal('wakes');
    const more = { wakes: [{ count: 800, seconds: 86_400 }] };
    const { braked } = await server.dana.ok('setAgentBudget', { params: params(), body: more });
    expect(braked?.reason).to.equal('cost');
    expect((await read()).braked).to.deep.equal(braked);
    server.clock.advance(60 * MINUTE);
    expect((await read()).braked).to.equal(undefined);
  });

  it('counts no wake where a person wrote too, and none without a limit', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 1, seconds: 600 }] } });
    await say(1);
    await post(server.dana, board, 'and I', { to: ['@codex'] });
    await ack((await read()).messages.at(-1)?.seq ?? 0);
    expect((await read()).braked).to.equal(undefined);
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: 'off' } });
    expect(await wakes(45)).to.equal(45);
  });

  it('counts what is for everybody where every message wakes it, and else what concerns it', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 2, seconds: 600 }] } });
    const sayToAll = async () => {
      await ack((await post(claude, board, 'look', { to: ['all'] })).seq);
      return (await read()).braked?.reason;
    };
    expect([await sayToAll(), await sayToAll(), await sayToAll()]).to.deep.equal([undefined, undefined, undefined]);
    await server.dana.ok('setDeliveryMode', { params: params(), body: { mode: 'all' } });
    expect([await sayToAll(), await sayToAll()]).to.deep.equal([undefined, 'wakes']);
  });

  it('counts exactly the messages of agents that wake it', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 1, seconds: 600 }] } });
    const names = Array.from({ length: 8 }, (_, n) => `helper-${n}`);
    for (const name of names) await newAgent(server.dana, board, { name });
    const { id: asked } = await post(codex, board, 'who knows?');
    const cases: [string, Record<string, unknown>, 'focused' | 'all'][] = [
      ['to everyone', {}, 'all'],
      ['urgent', { urgent: true }, 'focused'],
      ['a question', { expects_reply: true }, 'focused'],
      ['a reply to it', { reply_to: asked, to: ['all'] }, 'focused'],
      ['@codex, to everyone', {}, 'focused'],
      [`${names.map((name) => `@${name}`).join(' ')} and @codex, one too many`, {}, 'all'],
      ['for it', { to: ['@codex'] }, 'focused'],
      ['for its role', { to: ['role:member'] }, 'focused'],
      ['for its owner', { to: ['owner:root'] }, 'focused'],
      ['@codex, to another', { to: ['@helper-1'] }, 'focused'],
    ];
    /** Whether it wakes the agent, as clients decide it, and whether the acknowledgement was counted. */
    async function wake(mode: DeliveryMode, text: string, more: Record<string, unknown>): Promise<[boolean, boolean]> {
      const { seq } = await post(claude, board, text, more);
      const message = (await read()).messages.find((one) => one.seq === seq);
      await ack(seq);
      const counted = (await read()).braked !== undefined;
      if (counted) await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
      return [wakesAgent(message!, { id: codex.memberId, name: 'codex', mode, braked: false }), counted];
    }
    for (const mode of ['focused', 'all'] as const) {
      await server.dana.ok('setDeliveryMode', { params: params(), body: { mode } });
      for (const [text, more, from] of cases) {
        const woken = mode === 'all' || from === mode;
        expect(await wake(mode, text, more), `${text}, ${mode}`).to.deep.equal([woken, woken]);
      }
    }
    const policy = { agent_run: { notice: 1, hold: 2 } };
    await server.dana.ok('updateBoard', { params: { board }, body: { policy } });
    const { id: root } = await post(claude, board, 'once more');
    const reply = { reply_to: root, to: ['@codex'] };
    expect(await wake('all', 'within the limit', reply)).to.deep.equal([true, true]);
    expect(await wake('all', 'held', reply)).to.deep.equal([false, false]);
  });

  it('keeps the stream of a braked seat quiet until a person writes, without a gap', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 1, seconds: 600 }] } });
    await wakes(1);
    const head = (await server.dana.ok('getBoard', { params: { board } })).head_seq;
    const stream = await TestStream.open(codex, { board, after: head });
    await stream.frame(({ event }) => event === 'ready');
    const quiet = await say(2);
    await say(3);
    const watching = await TestStream.open(server.dana, { board, after: head });
    await watching.frame(({ id }) => id === `${quiet.seq + 1}`);
    expect(stream.named('event')).to.deep.equal([]);
    const { seq } = await post(server.dana, board, 'now', { to: ['@codex'] });
    await stream.frame(({ id }) => id === `${seq}`);
    expect(stream.named('event').map(({ id }) => id)).to.deep.equal([`${seq - 2}`, `${seq - 1}`, `${seq}`]);
    stream.close();
    watching.close();
  });

  // A file of SQLite is served by one process, whose clock it has.
  if (engine === 'postgres')
    it('keeps a stream quiet for as long as the database says, whose clock is behind that of the process', async () => {
      const { clock } = server;
      const { now } = clock;
      clock.now = () => now.call(clock) + 2 * MINUTE;
      const soon = new Date(now.call(clock) + MINUTE).toISOString();
      await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until: soon } });
      const head = (await server.dana.ok('getBoard', { params: { board } })).head_seq;
      const following = await TestStream.open(codex, { board, after: head });
      const watching = await TestStream.open(server.dana, { board, after: head });
      for (const one of [following, watching]) await one.frame(({ event }) => event === 'ready');
      const { seq } = await say(1);
      const last = ({ id, event }: { id: string | undefined; event: string | undefined }) =>
        event === 'event' && id === `${seq}`;
      await watching.frame(last);
      const later = await TestStream.open(codex, { board, after: head });
      await later.frame(({ event }) => event === 'ready');
      for (const one of [following, later]) expect(one.named('event')).to.deep.equal([]);
      clock.advance(MINUTE + 1);
      for (const one of [following, later]) await one.frame(last);
      for (const one of [following, watching, later]) one.close();
      Reflect.deleteProperty(clock, 'now');
    });

  it('tells the stream of a braked seat what a person writes behind however much of agents', async () => {
    const soon = new Date(server.clock.now() + 60 * MINUTE).toISOString();
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until: soon } });
    const head = (await server.dana.ok('getBoard', { params: { board } })).head_seq;
    const stream = await TestStream.open(codex, { board, after: head });
    await stream.frame(({ event }) => event === 'ready');
    for (let n = 0; n < 10; n++) await Promise.all(Array.from({ length: 21 }, () => post(claude, board, 'and on')));
    const { seq } = await post(server.dana, board, 'now', { to: ['@codex'] });
    const last = ({ id }: { id: string | undefined }) => id === `${seq}`;
    await stream.frame(last);
    const again = await TestStream.open(codex, { board, after: head });
    await again.frame(last);
    for (const one of [stream, again]) {
      expect(one.named('event').map(({ id }) => Number(id))).to.deep.equal(
        Array.from({ length: seq - head }, (_, n) => head + 1 + n),
      );
      one.close();
    }
  });

  it('goes on with the stream of a seat that is released', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 1, seconds: 600 }] } });
    await wakes(1);
    const head = (await server.dana.ok('getBoard', { params: { board } })).head_seq;
    const stream = await TestStream.open(codex, { board, after: head });
    await stream.frame(({ event }) => event === 'ready');
    const watching = await TestStream.open(server.dana, { board, after: head });
    const { seq } = await say(2);
    await watching.frame(({ id }) => id === `${seq}`);
    expect(stream.named('event')).to.deep.equal([]);
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    await stream.frame(({ id }) => id === `${seq}`);
    stream.close();
    watching.close();
  });

  it('goes on with the stream of a seat that is released while a page is read that still waits', async () => {
    await server.dana.ok('setAgentBudget', { params: params(), body: { wakes: [{ count: 1, seconds: 600 }] } });
    await wakes(1);
    const { id, head_seq: head } = await server.dana.ok('getBoard', { params: { board } });
    const { seq } = await say(2);
    const [read, goOn, told] = [signal(), signal(), signal()];
    const db: Database = Object.assign(Object.create(server.db), {
      async read<T>(fn: (tx: ReadTx) => Promise<T>): Promise<T> {
        const page = await server.db.read(fn);
        read.give();
        await goOn.given;
        return page;
      },
    });
    const feed = new Feed(id, server.db, server.clock);
    const token = codex.token ?? '';
    const credential = { kind: 'AG' as const, digest: server.root.tokenDigest(token), token };
    const holder = { credential, personId: '' };
    const streams = createServer((_, res) => {
      const connection = new Connection({ res, standing: ['Cache-Control', 'no-store'] }, server.clock);
      const place = { board: { id, name: board }, after: head, head, wantsMessages: false };
      new BoardStream({ db, clock: server.clock, feed, bound: atMost(1), connection, holder, ...place });
    });
    await new Promise<void>((resolve) => streams.listen(0, '127.0.0.1', resolve));
    const stream = await TestStream.open(new Api(`http://127.0.0.1:${(streams.address() as AddressInfo).port}`));
    await read.given;
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    feed.followers.add({ holder, wantsMessages: false, news: told.give, lost: told.give });
    feed.wake();
    await told.given;
    goOn.give();
    await stream.frame((frame) => frame.id === `${seq}` && frame.event === 'event');
    stream.close();
    streams.close();
  });

  it('holds a client that acknowledges nothing to 40 waiting reads', async () => {
    await say(1);
    for (let n = 0; n < 40; n++) expect((await read(1)).messages).to.have.length(1);
    const { messages, braked } = await read(1);
    expect(messages).to.deep.equal([]);
    expect(braked?.reason).to.equal('reads');
    expect((await read()).messages).to.have.length(1);
    await post(server.dana, board, 'hello', { to: ['@codex'] });
    expect((await read(1)).messages).to.have.length(2);
  });

  it('holds it to that also when what it does not acknowledge is of a person, whose next message wakes it at once', async () => {
    await post(server.dana, board, 'hello', { to: ['@codex'] });
    for (let n = 0; n < 40; n++) expect((await read(1)).messages).to.have.length(1);
    const over = await read(1);
    expect([over.messages, over.braked?.reason]).to.deep.equal([[], 'reads']);
    const waiting = read(30);
    await post(server.dana, board, 'are you there?', { to: ['@codex'] });
    expect((await waiting).messages).to.have.length(2);
    expect((await read(1)).messages).to.deep.equal([]);
    await ack((await read()).messages.at(-1)?.seq ?? 0);
    await say(1);
    expect((await read(1)).messages).to.have.length(1);
  });

  it('holds it to that where a person wrote behind the page that it reads', async () => {
    const page = () => codex.ok('readInbox', { query: { wait: 1, limit: 1 } });
    for (let n = 1; n <= 2; n++) await say(n);
    await post(server.dana, board, 'hello', { to: ['@codex'] });
    for (let n = 0; n < 40; n++) expect((await page()).messages).to.have.length(1);
    expect((await page()).messages).to.deep.equal([]);
    await post(server.dana, board, 'are you there?', { to: ['@codex'] });
    expect((await page()).messages).to.have.length(1);
    expect((await page()).messages).to.deep.equal([]);
  });

  /** Waits for what is behind all that it has seen, and acknowledges nothing. @returns whether it got the post */
  function follower(): (body: string, to?: string[]) => Promise<boolean> {
    let after = 0;
    return async (body, to = ['all']) => {
      const { seq } = await post(claude, board, body, { to });
      const { messages } = await codex.ok('readInbox', { query: { wait: 1, after } });
      after = messages.at(-1)?.seq ?? after;
      return after === seq;
    };
  }

  it('holds no client to that which waits for what is new, and which none of it wakes', async () => {
    const gets = follower();
    for (let n = 0; n < 50; n++) expect(await gets(`for all ${n}`), `${n}`).to.equal(true);
    expect((await read()).braked).to.equal(undefined);
    expect(await gets('for you', ['@codex'])).to.equal(true);
  });

  it('holds a client to that which what is new wakes each time', async () => {
    const gets = follower();
    for (let n = 0; n < 40; n++) expect(await gets(`for you ${n}`, ['@codex']), `${n}`).to.equal(true);
    expect(await gets('for you', ['@codex'])).to.equal(false);
    expect((await read()).braked?.reason).to.equal('reads');
  });

  it('holds a client to that which every post wakes, as its agent is in the mode for that', async () => {
    await server.dana.ok('setDeliveryMode', { params: params(), body: { mode: 'all' } });
    const gets = follower();
    for (let n = 0; n < 40; n++) expect(await gets(`for all ${n}`), `${n}`).to.equal(true);
    expect(await gets('for all')).to.equal(false);
  });

  /** Waits as often as a client may that acknowledges nothing, and once more, which brakes it. */
  async function readTooOften(): Promise<void> {
    for (let n = 0; n < 40; n++) expect((await read(1)).messages).to.have.length(1);
    expect((await read(1)).braked?.reason).to.equal('reads');
  }

  it('is braked on every server once it acknowledges nothing, as its person is told, until it does', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    try {
      const there = new Api(twin?.url ?? server.url, codex.token);
      const stream = await TestStream.open(server.dana);
      await stream.frame(({ event }) => event === 'ready');
      const { seq } = await say(1);
      await readTooOften();
      await stream.frame(({ event, data }) => event === 'presence' && data.state === 'braked');
      stream.close();
      const { state: shown, braked } = await server.dana.ok('getMember', { params: params() });
      expect([shown, braked?.reason]).to.deep.equal(['braked', 'reads']);
      const [need, ...others] = await needs();
      expect(others).to.deep.equal([]);
      expect(need).to.include({ kind: 'agent_braked', agent: 'codex', reason: 'reads', until: braked?.until });
      expect(need?.text).to.match(
        /^codex is paused until \d{4}-\d\d-\d\d \d\d:\d\d UTC, or until its program acknowledges what it reads: service inbox ack, or POST \/v1\/me\/inbox\/ack\. People still wake it$/,
      );
      if (engine === 'sqlite') await server.restart();
      const over = await there.ok('readInbox', { query: { wait: 1 } });
      expect([over.messages, over.braked]).to.deep.equal([[], braked]);
      expect((await there.ok('readInbox')).messages).to.have.length(1);
      const waiting = there.ok('readInbox', { query: { wait: 30 } });
      const { seq: word } = await post(server.dana, board, 'are you there?', { to: ['@codex'] });
      expect((await waiting).messages).to.have.length(2);
      await there.ok('ackInbox', { body: { up_to: seq } });
      expect(await state()).not.to.equal('braked');
      expect(await needs()).to.deep.equal([]);
      expect((await read(1)).messages.map((message) => message.seq)).to.deep.equal([word]);
    } finally {
      await twin?.close();
    }
  });

  /** Waits until it is braked for that. @returns how many of these reads were answered with the message */
  async function readsUntilBraked(api: (n: number) => Api): Promise<number> {
    for (let n = 0; n < 100; n++) {
      const { messages, braked } = await api(n).ok('readInbox', { query: { wait: 1 } });
      if (braked?.reason === 'reads') return n;
      expect(messages).to.have.length(1);
    }
    throw new Error('it is not braked');
  }

  it('is held to 40, but for a few, where the server restarts meanwhile', async () => {
    await say(1);
    for (let n = 0; n < 30; n++) await read(1);
    await server.restart();
    expect(await readsUntilBraked(() => codex)).to.be.within(10, 13);
  });

  // A file of SQLite is served by one process.
  if (engine === 'postgres')
    it('is held to 40, but for a few, on several servers together', async () => {
      const others = [await startTwin(server), await startTwin(server), await startTwin(server)];
      const apis = [codex, ...others.map(({ url }) => new Api(url, codex.token))];
      try {
        await say(1);
        expect(await readsUntilBraked((n) => apis[n % 2] as Api)).to.be.within(40, 43);
        await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
        expect(await readsUntilBraked((n) => apis[n % 4] as Api)).to.be.within(40, 49);
      } finally {
        for (const other of others) await other.close();
      }
    });

  it('is counted anew once it acknowledges something, and after ten minutes', async () => {
    const { seq } = await say(1);
    for (let n = 0; n < 39; n++) await read(1);
    await say(2);
    await ack(seq);
    for (let n = 0; n < 39; n++) expect((await read(1)).messages).to.have.length(1);
    server.clock.advance(10 * MINUTE);
    await readTooOften();
  });

  it('is counted with few writes', async () => {
    await say(1);
    await read(1);
    const { db } = server;
    const { write } = db;
    let writes = 0;
    db.write = (fn, allows) => {
      writes++;
      return write.call(db, fn, allows) as Promise<never>;
    };
    try {
      await read(1);
      expect(writes, 'for the second read').to.equal(0);
      for (let n = 2; n < 40; n++) await read(1);
    } finally {
      db.write = write;
    }
    // Ten, and what the server notes by itself meanwhile.
    expect(writes).to.be.at.most(13);
  });

  it('is braked by its next read where the brake could not be written', async () => {
    await say(1);
    for (let n = 0; n < 40; n++) expect((await read(1)).messages).to.have.length(1);
    const { id } = await server.dana.ok('getMember', { params: params() });
    const { db } = server;
    const { write } = db;
    db.write = (fn, allows) =>
      write.call(
        db,
        async (tx) => {
          await fn(tx);
          const braked = await tx.query((knex) => knex('members').where({ id, braked_reason: 'reads' }));
          if (braked.length > 0) throw new Error('it cannot be committed');
        },
        allows,
      ) as Promise<never>;
    try {
      expect((await read(1)).messages).to.deep.equal([]);
    } finally {
      db.write = write;
    }
    expect(await state()).not.to.equal('braked');
    expect(server.log.some((line) => line.includes('it cannot be committed'))).to.equal(true);
    expect((await read(1)).messages).to.deep.equal([]);
    expect(await state()).to.equal('braked');
  });

  it('gets 40 more waiting reads where its person releases it', async () => {
    await say(1);
    await readTooOften();
    const waiting = read(30);
    const { braked } = await server.dana.ok('releaseAgent', { params: params(), body: { action: 'more' } });
    expect(braked).to.equal(null);
    expect((await waiting).messages).to.have.length(1);
    for (let n = 1; n < 40; n++) expect((await read(1)).messages).to.have.length(1);
    expect((await read(1)).braked?.reason).to.equal('reads');
    server.clock.advance(10 * MINUTE);
    expect(await state()).not.to.equal('braked');
    expect((await read(1)).messages).to.have.length(1);
  });

  it('stays braked by a pause or a cost that came meanwhile, once it acknowledges', async () => {
    const { seq } = await say(1);
    await say(2);
    const until = new Date(server.clock.now() + MINUTE).toISOString();
    const reads = async () => {
      for (let n = 0; n < 40; n++) await read(1);
      expect((await read(1)).braked?.reason).to.equal('reads');
    };
    await reads();
    await server.dana.ok('releaseAgent', { params: params(), body: { action: 'pause', until } });
    await ack(seq);
    expect((await read()).braked).to.deep.equal({ until, reason: 'person' });
    server.clock.advance(2 * MINUTE);
    await server.dana.ok('setAgentBudget', { params: params(), body: { cost: { usd: 1, seconds: 300 } } });
    await reads();
    await codex.ok('reportUsage', { body: { turns: 1, cost_usd: 2 } });
    await ack(seq + 1);
    expect((await read()).braked?.reason).to.equal('cost');
  });

  it('is told of to its person also where only people wake it', async () => {
    await server.dana.ok('setDeliveryMode', { params: params(), body: { mode: 'humans' } });
    await post(server.dana, board, 'hello', { to: ['@codex'] });
    await readTooOften();
    expect((await needs()).map(({ kind }) => kind)).to.deep.equal(['agent_braked']);
  });

  it('is set by its own person only', async () => {
    const pam = await server.person('pam');
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    const call = { params: params(), body: { wakes: 'off' as const } };
    expect(await pam.refused('setAgentBudget', call)).to.equal('403 agent_owner_required');
    expect(await pam.refused('releaseAgent', { ...call, body: { action: 'more' } })).to.equal(
      '403 agent_owner_required',
    );
    expect(await codex.refused('setAgentBudget', call)).to.equal('403 human_token_required');
    for (const body of [{}, { wakes: [] }, { wakes: [{ count: 0, seconds: 600 }] }, { cost: { usd: 0, seconds: 60 } }])
      expect(await server.dana.refused('setAgentBudget', { ...call, body })).to.equal('400 invalid_request');
    const nothing = await server.dana.call('setAgentBudget', { ...call, body: { cost: { usd: 0, seconds: 60 } } });
    expect(nothing.body).to.have.nested.property('error.message', 'cost.usd: must be more than 0.');
  });
});
