/** How the databases find rows: each statement is planned once, also where they have statistics of their tables. */
import { DatabaseSync } from 'node:sqlite';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCalls } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

/** Of Node.js 24; its types do not know it yet. */
interface Authorized {
  setAuthorizer(allow: () => number): void;
}

forEachDatabase('reading a page again and again', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('plans each of its statements once, and a search for each search', async () => {
    const { dana, db } = server;
    const { name: board } = await newBoard(dana);
    for (let n = 0; n < 20; n++) await post(dana, board, `number ${n}`);
    await db.write((tx) => tx.change((knex) => knex.raw('ANALYZE')));
    const read = { params: { board }, query: { limit: 10 } };
    for (let n = 0; n < 12; n++) expect((await dana.ok('listMessages', read)).messages).to.have.length(10);
    for (let n = 0; n < 12; n++)
      expect((await dana.ok('search', { query: { board, q: 'number' } })).results).to.have.length(20);
    if (engine === 'sqlite') return;
    // Each connection tells of its own: as many reads at once as there may be connections.
    const reads = Array.from({ length: 16 }, () =>
      db.read((tx) =>
        tx.query<{ statement: string }>((knex) =>
          knex('pg_prepared_statements').where('custom_plans', '>', 0).select('statement'),
        ),
      ),
    );
    const planned = (await Promise.all(reads)).flat();
    expect(planned.filter(({ statement }) => !statement.includes('search_docs'))).to.deep.equal([]);
    expect(planned.some(({ statement }) => statement.includes('tsquery'))).to.equal(true);
  });
});

describe('statements of SQLite that are built once', () => {
  const texts = new Set<string>();
  const { prepare } = Sqlite.prototype;
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
    Sqlite.prototype.prepare = function (this: Sqlite.Database, text: string) {
      texts.add(text);
      return prepare.call(this, text);
    } as typeof prepare;
    await server.restart();
  });
  after(() => {
    Sqlite.prototype.prepare = prepare;
    return server.stop();
  });

  it('are planned once, not at each run', async () => {
    const { dana } = server;
    const board = await newBoard(dana);
    const agent = await newAgent(dana, board.name, { name: 'claude' });
    const { id: message } = await post(agent, board.name, 'Hello', { ask: { options: ['a', 'b'] } });
    for (const name of Object.keys(operations) as OperationName[]) {
      if (operations[name].kind === 'stream') continue;
      const { later, ...call } = goodCalls[name]({ board: board.name, message });
      for (const caller of [dana, agent]) await caller.call(name, call);
    }
    // The authorizer is asked about a statement each time that it is planned.
    const engine = new DatabaseSync(`${server.dataDir}/service.db`, { readOnly: true }) as DatabaseSync & Authorized;
    let planned = 0;
    engine.setAuthorizer(() => {
      planned++;
      return 0;
    });
    const again: string[] = [];
    // A bare variable is planned with its value: SQLite asks for another plan when it is bound again.
    const reads = [...texts].filter((text) => /^(select|with)/i.test(text) && text.includes('+?'));
    for (const text of reads) {
      const statement = engine.prepare(text);
      const values = Array.from(text.matchAll(/\?/g), () => 'none');
      const before = planned;
      for (let run = 0; run < 2; run++) statement.all(...values);
      if (planned > before) again.push(text);
    }
    engine.close();
    expect(again).to.deep.equal([]);
    expect(reads.length).to.be.greaterThan(20);
  });
});
