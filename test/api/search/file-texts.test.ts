/** Files whose bytes cannot be read when they are to be taken into the search index. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { S3Store } from '../../../src/server/blobs/s3.ts';
import { indexBatch } from '../../../src/server/search/index.steps.ts';
import { fileTexts } from '../../../src/server/upkeep/file-texts.ts';
import { newBoard } from '../../support/cast.ts';
import { TestClock } from '../../support/clock.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('the text of a file that cannot be read', (engine) => {
  let server: TestServer;
  let silent: Server;
  let release: () => void;
  before(async () => {
    server = await startTestServer(engine);
    // The server's own look at texts does not come first.
    release = server.clock.holdBack(100);
    const { id, name } = await newBoard(server.dana);
    await put(server.dana, name, 'text.md', 'to be found');
    const { head_seq } = await server.dana.ok('getBoard', { params: { board: name } });
    await server.db.write((tx) => indexBatch(tx, id, head_seq));
    silent = createServer((socket) => socket.on('error', () => {}));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  after(async () => {
    silent.close();
    release();
    await server.stop();
  });

  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });

  it('is tried later each time, up to an hour, and told once', async () => {
    lines.length = 0;
    const clock = new TestClock();
    const go = clock.stop();
    let tried = 0;
    const texts = fileTexts(server.db, clock, log, async () => {
      tried++;
      throw new Error('not now');
    });
    const triedAfter = async (ms: number): Promise<number> => {
      clock.advance(ms);
      await texts.all();
      return tried;
    };
    expect([await triedAfter(0), await triedAfter(4_999), await triedAfter(1)]).to.deep.equal([1, 1, 2]);
    expect([await triedAfter(9_999), await triedAfter(1)]).to.deep.equal([2, 3]);
    for (let n = 4; n < 20; n++) expect(await triedAfter(3_600_000)).to.equal(n);
    expect(await triedAfter(3_599_999)).to.equal(19);
    expect(lines).to.have.length(1);
    await texts.stop();
    go();
  });

  it('is waited for 30 seconds at most, and not by a server that stops', async () => {
    const { port } = silent.address() as AddressInfo;
    const store = new S3Store({
      bucket: 'bucket',
      prefix: '',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      pathStyle: true,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      stage: server.dataDir,
    });
    const clock = new TestClock();
    const texts = fileTexts(server.db, clock, log, (digest, signal) => store.open(digest, undefined, signal));
    for (const end of [() => clock.advance(30_000), () => texts.stop()]) {
      const asked = once(silent, 'connection');
      const reading = texts.all();
      await asked;
      await end();
      await reading;
      clock.advance(5_000);
    }
  });
});
