import { expect } from 'chai';
import { type BoardRow, boardById, listBoardRows } from '../../../src/server/boards/boards.store.ts';
import { inParts } from '../../../src/server/db/rows.ts';
import type { ReadTx } from '../../../src/server/db/tx.ts';
import { newId } from '../../../src/server/text/ids.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { leastCostOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('listing boards', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const statements = async (query: Record<string, string | boolean>) =>
    (await leastCostOf(server, () => server.dana.ok('listBoards', { query }))).readStatements;

  it('takes as many statements for forty boards as for four, unread counts and all', async () => {
    const fill = async (count: number) => {
      for (let n = 0; n < count; n++) {
        const { name } = await newBoard(server.dana);
        await newAgent(server.dana, name);
        await post(server.dana, name, 'unread by its agent');
        await server.dana.ok('createTask', { params: { board: name }, body: { title: 'one' } }).catch(() => {});
      }
    };
    await fill(4);
    const queries: Record<string, string | boolean>[] = [{}, { all: true, lifecycle: 'all' }, { activity: '7' }];
    const few = [];
    for (const query of queries) few.push(await statements(query));
    await fill(36);
    const many = [];
    for (const query of queries) many.push(await statements(query));
    expect(many).to.deep.equal(few);
    expect(Math.max(...many)).to.be.at.most(14);
    expect((await server.dana.ok('listBoards')).boards).to.have.length(40);
  });

  it('finds the boards of a person without looking at those of others', async () => {
    const board = await newBoard(await server.person('pam'));
    const plan = await server.db.write(async (tx) => {
      const row = (await boardById(tx, board.id)) as BoardRow;
      const rows = Array.from({ length: 4_000 }, (_, n) => ({ ...row, id: newId('brd', n), name: `other-${n}` }));
      await inParts(rows, (part) => tx.change((db) => db('boards').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE boards, members'));
      const explain = engine === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
      const query: ReadTx['query'] = (build) => tx.query((db) => db.raw(`${explain} ${build(db)}`));
      const filter = { personId: row.creator_person_id, open: false, lifecycle: 'active', limit: 500 } as const;
      return JSON.stringify(await listBoardRows({ query } as ReadTx, filter));
    });
    expect(plan).not.to.match(/\bscan (on )?boards\b|boards__name/i);
  });
});
