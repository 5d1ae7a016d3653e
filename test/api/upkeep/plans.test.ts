/** How Postgres finds rows once it has statistics of its tables. */
import { expect } from 'chai';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

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
    const planned = await db.read((tx) =>
      tx.query<{ statement: string; custom_plans: string }>((knex) =>
        knex('pg_prepared_statements').where('custom_plans', '>', 0).select('statement'),
      ),
    );
    expect(planned.filter(({ statement }) => !statement.includes('search_docs'))).to.deep.equal([]);
    expect(planned.filter(({ statement }) => statement.includes('tsquery'))).to.have.length(1);
  });
});
