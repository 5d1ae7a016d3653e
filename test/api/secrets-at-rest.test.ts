import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newSecret } from '../../src/server/text/ids.ts';
import { newBoard, post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { Watch } from '../support/secrets.ts';
import { startTestServer } from '../support/server.ts';

/**
 * Every test server is looked through for secrets as it stops (test/support/secrets.ts); a secret at rest fails the test
 * that brought it there. This proves that looking finds something, and that there was something to be found.
 */
forEachDatabase('the search for secrets at rest', (engine) => {
  it('finds one in a table, in a file and in the log', async () => {
    const server = await startTestServer(engine);
    const { name } = await newBoard(server.dana);
    const { token } = await server.dana.ok('createKey', { body: { name: 'spare' } });
    const { code } = await server.dana.ok('createJoinCode', { params: { board: name }, body: { role: 'member' } });
    await server.db.write((tx) =>
      tx.change((db) =>
        db('boards')
          .where({ name })
          .update({ title: `: ${token}.` }),
      ),
    );
    await server.db.write((tx) => tx.change((db) => db('people').update({ display_name: code })));
    server.log.push(`{"msg":"${token}"}`);
    const failure = await server.stop().then(
      () => '',
      (error: Error) => error.message,
    );
    expect(failure).to.include('in log').and.to.include('abh_').and.to.include('short code');
    if (engine === 'postgres') expect(failure).to.include('in boards').and.to.include('in people');
  });

  it('finds nothing where a message that was posted held one', async () => {
    const server = await startTestServer(engine);
    const { name } = await newBoard(server.dana);
    const { token } = await server.dana.ok('createKey', { body: { name: 'spare' } });
    await post(server.dana, name, `by mistake: ${token}`);
    await server.stop();
  });
});

describe('the search for secrets at rest', () => {
  it('looks into files too', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'board-service-left-'));
    const watch = new Watch();
    const secret = newSecret('invite');
    watch.note(secret);
    writeFileSync(join(dataDir, 'storage'), `x${secret}`);
    expect(await watch.end({ dataDir, databaseUrl: undefined, log: [] })).to.have.length(1);
    rmSync(dataDir, { recursive: true });
  });
});
