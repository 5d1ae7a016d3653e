import { expect } from 'chai';
import { Refusal } from '../../../src/contract/errors.ts';
import { RememberingTx } from '../../../src/server/db/remembering.ts';
import { statement } from '../../../src/server/db/statement.ts';
import { Together } from '../../../src/server/live/together.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { costOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const boardStatement = statement<{ name: string }, { name: string; head_seq: number }>((db, p) =>
  db('boards').where('name', p.name).select('name', 'head_seq'),
);

forEachDatabase('reads of waits that are woken together', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const numbers = (together: Together, sql: string[]) =>
    Promise.allSettled(
      sql.map((text) =>
        together.read(async (tx) => Number((await tx.query<{ n: number }>((db) => db.raw(text)))[0]?.n)),
      ),
    );
  const told = (results: PromiseSettledResult<number>[]) =>
    results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'));

  it('share a snapshot, a few at a time', async () => {
    const together = new Together(server.db);
    const all = Array.from({ length: 60 }, (_, n) => n);
    const cost = await costOf(server, async () => {
      const results = await numbers(
        together,
        all.map((n) => `SELECT ${n} AS n`),
      );
      expect(told(results)).to.deep.equal(all);
    });
    // A server on Postgres also asks now and then whether another one wrote.
    expect(cost.reads).to.be.within(3, 6);
  });

  it('do not suffer from one that the engine refuses', async () => {
    const results = await numbers(new Together(server.db), ['SELECT 1 AS n', 'SELECT n FROM nowhere', 'SELECT 3 AS n']);
    expect(told(results)).to.deep.equal([1, 'failed', 3]);
  });

  it('do not suffer from one that is refused', async () => {
    const together = new Together(server.db);
    const refused = together.read(() => Promise.reject(new Refusal('unauthorized', 'No.', { hint: 'No.' })));
    const other = numbers(together, ['SELECT 2 AS n']);
    expect(await refused.catch((error: Refusal) => error.code)).to.equal('unauthorized');
    expect(told(await other)).to.deep.equal([2]);
  });

  it('ask for the same once, and none can change what the others get', async () => {
    const [one, two] = [await newBoard(server.dana), await newBoard(server.dana)];
    const cost = await costOf(server, () =>
      server.db.read(async (tx) => {
        const shared = new RememberingTx(tx);
        for (const { name } of [one, two, one, two]) {
          const row = await shared.first(boardStatement, { name });
          expect(row?.name).to.equal(name);
          expect(() => Object.assign(row as object, { head_seq: 0 })).to.throw(TypeError);
          const rows = await shared.all(boardStatement, { name });
          expect(rows.splice(0)).to.have.length(1);
        }
        expect(await shared.first(boardStatement, { name: 'nowhere' })).to.equal(undefined);
      }),
    );
    expect(cost.readStatements).to.equal(5);
  });

  it('read what many inboxes of a board have in common once', async () => {
    const { name } = await newBoard(server.dana);
    const agents: Agent[] = [];
    for (let n = 0; n < 10; n++) agents.push(await newAgent(server.dana, name));
    const costs = [];
    for (const some of [agents.slice(0, 1), agents]) {
      const asleep = server.clock.waiting(600_000);
      const waits = some.map((agent) => agent.call('readInbox', { query: { wait: 600 } }));
      await until(() => server.clock.waiting(600_000) === asleep + some.length, 'they sleep');
      let seq = 0;
      const cost = await costOf(server, async () => {
        ({ seq } = await post(server.dana, name, 'wake up'));
        for (const { body } of await Promise.all(waits)) {
          expect(body.messages.map((message) => message.seq)).to.deep.equal([seq]);
        }
      });
      costs.push(cost.readStatements);
      for (const agent of agents) await agent.ok('ackInbox', { body: { up_to: seq } });
    }
    const [alone, all] = costs as [number, number];
    // Of its own an inbox has the seat, the member, and what is addressed to it, asked and owed.
    expect((all - alone) / 9).to.be.at.most(10);
  });
});
