import { expect } from 'chai';
import { pino } from 'pino';
import { Refusal } from '../../../src/contract/errors.ts';
import { operations } from '../../../src/contract/operations.ts';
import type { Inbox } from '../../../src/contract/types.ts';
import type { ReadTx } from '../../../src/server/db/tx.ts';
import { BatchedWaits } from '../../../src/server/live/batched-waits.ts';
import { type Caller, type Credential, credentialOf } from '../../../src/server/operation/caller.ts';
import type { Asked, Look, Waited } from '../../../src/server/operation/usecase.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { costOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

type Case = Look['case'];

forEachDatabase('looks of waits that begin or are woken together', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const found = (answer: unknown): Waited<never> =>
    ({ answer, empty: false, board: { id: 'brd', head: 0 } }) as Waited<never>;
  const ask = async (tx: ReadTx, sql: string): Promise<Waited<never>> =>
    found(Number((await tx.query<{ n: number }>((db) => db.raw(sql)))[0]?.n));
  const sqlOf = ({ input }: Asked<never>): string => String((input as { body: unknown }).body);
  /** Answers what the SQL says that stands in a request's body. */
  const one: Case = { run: (tx, _caller, input) => ask(tx, String(input.body)) };
  const look = (useCase: Case, sql: string): Look => ({
    row: operations.readInbox,
    case: useCase,
    input: { body: sql } as never,
    waits: false,
  });

  const together = (useCase: Case, sql: string[], from: Api[] = [server.dana]) => {
    const looks = new BatchedWaits(server.db, () => 0, pino({ level: 'silent' }));
    return Promise.all(
      sql.map((text, n) => {
        const { token } = from[n % from.length] as Api;
        return looks.look(credentialOf(token ?? '', server.root), look(useCase, text)).then(
          ({ found }) => (found as Waited<unknown>).answer,
          (error: unknown) => (error instanceof Refusal ? error.code : 'failed'),
        );
      }),
    );
  };

  it('share a snapshot, a few at a time', async () => {
    const all = Array.from({ length: 80 }, (_, n) => n);
    const cost = await costOf(server, async () => {
      const texts = all.map((n) => `SELECT ${n} AS n`);
      expect(await together(one, texts)).to.deep.equal(all);
    });
    // A server on Postgres also asks now and then whether another one wrote.
    expect(cost.reads).to.be.within(3, 6);
  });

  it('read the credentials of all kinds at once, and only those that ended are refused', async () => {
    const { name } = await newBoard(server.dana);
    const [seat, gone] = [await newAgent(server.dana, name), await newAgent(server.dana, name)];
    await gone.ok('leaveSeat');
    const other = await server.person('short-lived');
    await other.ok('revokeKey', { params: { key: (await other.ok('listKeys')).keys[0]?.id ?? '' } });
    const cost = await costOf(server, async () => {
      const told = await together(
        one,
        Array.from({ length: 12 }, (_, n) => `SELECT ${n} AS n`),
        [server.dana, seat, gone, other],
      );
      const refused = ['agent_removed', 'unauthorized'];
      expect(told).to.deep.equal([0, 1, ...refused, 4, 5, ...refused, 8, 9, ...refused]);
    });
    // Keys and seats, and what six of them asked.
    expect(cost.readStatements).to.be.within(8, 9);
  });

  it('do not suffer from one that the engine refuses', async () => {
    expect(await together(one, ['SELECT 1 AS n', 'SELECT n FROM nowhere', 'SELECT 3 AS n'])).to.deep.equal([
      1,
      'failed',
      3,
    ]);
  });

  it('are answered by an operation all at once, and one by one where that is refused', async () => {
    const sizes: number[] = [];
    const many = (refuses: boolean): Case => ({
      ...one,
      runAll: async (_tx, asked) => {
        sizes.push(asked.length);
        if (refuses) throw new Refusal('not_found', 'No.', { hint: 'No.' });
        return asked.map((each, n) => found(`${n}: ${sqlOf(each as never)}`));
      },
    });
    expect(await together(many(false), ['a', 'b', 'c'])).to.deep.equal(['0: a', '1: b', '2: c']);
    expect(await together(many(true), ['SELECT 1 AS n', 'SELECT 2 AS n'])).to.deep.equal([1, 2]);
    expect(sizes).to.deep.equal([3, 2]);
  });

  it('are taken side by side, so that a database far away costs them its distance once', async () => {
    let begun = 0;
    const both = Promise.withResolvers<void>();
    const meeting: Case = {
      run: async (tx, caller, input, waits) => {
        if (++begun === 2) both.resolve();
        await both.promise;
        return one.run(tx, caller, input, waits);
      },
    };
    expect(await together(meeting, ['SELECT 1 AS n', 'SELECT 2 AS n'])).to.deep.equal([1, 2]);
  });

  it('are refused one by one, by what admits them and by the terms of their row', async () => {
    const guest = await server.person('gina', 'guest');
    const tokens = [server.dana, guest, server.dana].map(({ token }) => credentialOf(token ?? '', server.root));
    const [first, second, third] = tokens as [Credential, Credential, Credential];
    const ran: string[] = [];
    const noting: Case = {
      run: async (_tx, caller) => {
        ran.push(caller.person.server_role);
        return found('seen');
      },
    };
    const asked: Look = { row: operations.readInbox, case: noting, input: {} as never, waits: false };
    const members: Look = { ...asked, row: { ...operations.readInbox, guests: { cannot: 'wait here' } } };
    const admitted: string[] = [];
    const full = (caller: Caller): void => {
      admitted.push(caller.person.server_role);
      throw new Refusal('rate_limited', 'Too many.', { hint: 'Later.' });
    };
    const looks = new BatchedWaits(server.db, () => 7, pino({ level: 'silent' }));
    const all = await Promise.all([
      looks.look(first, asked),
      looks.look(second, members),
      looks.look(third, asked, full),
    ]);
    const told = all.map((one) => (one.found instanceof Refusal ? one.found.code : one.found.answer));
    expect(told).to.deep.equal(['seen', 'guest_not_allowed', 'rate_limited']);
    expect([ran, admitted, all.map(({ since }) => since)]).to.deep.equal([['admin'], ['admin'], [7, 7, 7]]);
  });

  const sleeping = async (agents: readonly Agent[], after: number): Promise<Promise<Inbox>[]> => {
    const asleep = server.clock.waiting(600_000);
    const waits = agents.map((agent) => agent.ok('readInbox', { query: { wait: 600, after } }));
    await until(() => server.clock.waiting(600_000) === asleep + agents.length, 'they sleep');
    return waits;
  };

  it('read many inboxes of a board with the statements of one', async () => {
    const { name } = await newBoard(server.dana);
    const agents: Agent[] = [];
    for (let n = 0; n < 10; n++) agents.push(await newAgent(server.dana, name));
    const costs = [];
    for (const some of [agents.slice(0, 1), agents]) {
      const waits = await sleeping(some, 0);
      let seq = 0;
      const cost = await costOf(server, async () => {
        ({ seq } = await post(server.dana, name, 'wake up'));
        for (const { messages } of await Promise.all(waits)) {
          expect(messages.map((message) => message.seq)).to.deep.equal([seq]);
        }
      });
      costs.push(cost.readStatements);
      for (const agent of agents) await agent.ok('ackInbox', { body: { up_to: seq } });
    }
    const [alone, all] = costs as [number, number];
    // None for each of them; some for a second lot, if they did not all wake in one turn.
    expect((all - alone) / 9).to.be.below(2);
  });

  it('answer each inbox as if it were read alone, whatever its agent was sent, works on and has read', async () => {
    const pam = await server.person('pam');
    const boards: string[] = [];
    const agents: Agent[] = [];
    for (const visibility of ['open', 'addressed']) {
      const { name } = await newBoard(server.dana);
      await server.dana.ok('updateBoard', { params: { board: name }, body: { policy: { visibility } } });
      await server.dana.ok('addBoardPerson', { params: { board: name }, body: { handle: 'pam' } });
      boards.push(name);
      for (let n = 0; n < 4; n++) agents.push(await newAgent(n < 2 ? server.dana : pam, name, { name: `agent-${n}` }));
    }
    for (const [n, board] of boards.entries()) {
      const [a, b, c, d] = agents.slice(n * 4) as [Agent, Agent, Agent, Agent];
      const params = { board };
      await post(a, board, 'mine, to all');
      const { seq } = await post(pam, board, 'urgent to all', { urgent: true });
      await b.ok('ackInbox', { body: { up_to: seq } });
      await post(a, board, `for @${b.name}`, { to: [`@${c.name}`], urgent: true });
      await post(server.dana, board, 'which?', { to: [`@${d.name}`], ask: { options: ['x', 'y'] } });
      await c.ok('createTask', { params, body: { title: 'paint', start: true } });
      await c.ok('createTask', { params, body: { title: 'sweep' } });
      await a.ok('setMyLine', { body: { kind: 'working', text: 'thinking' } });
      await put(d, board, 'brief.md', '# Now', { brief: true });
      await post(d, board, 'and a reply', { to: [`@${a.name}`], expects_reply: true });
    }
    const heads = new Map<string, number>();
    for (const name of boards) {
      heads.set(name, (await server.dana.ok('getBoard', { params: { board: name } })).head_seq);
    }
    const head = (n: number): number => heads.get(boards[Math.floor(n / 4)] ?? '') ?? 0;
    const waits: Promise<Inbox>[] = [];
    for (const [n, agent] of agents.entries()) waits.push(...(await sleeping([agent], head(n))));
    await Promise.all(boards.map((name) => post(server.dana, name, 'now', { urgent: true })));
    const together = await Promise.all(waits);
    for (const [n, agent] of agents.entries()) {
      const alone = await agent.ok('readInbox', { query: { after: head(n) } });
      expect(together[n]).to.deep.equal(alone);
      expect(alone.messages.map(({ body }) => body)).to.deep.equal(['now']);
    }
    const all = boards.flatMap((_, n) => together.slice(n * 4, n * 4 + 4).map(({ work }) => work));
    const twice = <T>(values: T[]): T[] => [...values, ...values];
    expect(all.map(({ line }) => line?.text ?? null)).to.deep.equal(twice(['thinking', null, 'paint', null]));
    expect(all.map(({ asks_to_it }) => asks_to_it)).to.deep.equal(twice([0, 0, 0, 1]));
    expect(all.map(({ open_tasks }) => open_tasks)).to.deep.equal(twice([1, 1, 1, 1]));
    expect(all.map(({ brief }) => brief?.name ?? null)).to.deep.equal(twice([null, null, null, 'brief.md']));
    expect(all.map(({ posts_without_task }) => posts_without_task)).to.deep.equal(twice([2, 0, 0, 1]));
    expect(together.map(({ unread_urgent }) => unread_urgent)).to.deep.equal([
      ...[2, 2, 3, 2],
      // A mention in what it was not sent reaches nobody here.
      ...[2, 1, 3, 2],
    ]);
  });
});
