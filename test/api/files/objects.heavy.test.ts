/** Files as objects: the same tests against our store in memory and against an S3-compatible server that others wrote. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { newBoard } from '../../support/cast.ts';
import { bytesOf, put, tryPut } from '../../support/files.ts';
import { type ObjectServer, ours, s3rver } from '../../support/object-servers.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 86_400_000;

const keyOf = (digest: string): string => {
  const hex = digest.slice('sha256:'.length);
  return `files/sha256/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}`;
};

for (const [what, start] of Object.entries({ ours, s3rver })) {
  describe(`files in an object store (${what})`, () => {
    let objects: ObjectServer;
    let server: TestServer;
    let board: string;
    before(async () => {
      objects = await start();
      Object.assign(process.env, objects.keys);
      server = await startTestServer('sqlite', { files: `s3://bucket/files?endpoint=${objects.endpoint}` });
      board = (await newBoard(server.dana)).name;
    });
    after(async () => {
      await server.stop();
      await objects.close();
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
    });

    const read = (file: string, range?: string) =>
      server.dana.call('downloadFile', {
        params: { board, file, version: 1 },
        headers: range === undefined ? {} : { range },
      });

    it('are each kept once, under their digest, and come whole and in parts', async () => {
      const bytes = Buffer.from(Array.from({ length: 2_300_000 }, (_unused, n) => (n * 13) % 251));
      const { latest } = await put(server.dana, board, 'a.bin', bytes);
      await put(server.dana, board, 'b.bin', bytes);
      expect(objects.names()).to.deep.equal([keyOf(latest.digest)]);
      expect(objects.read(keyOf(latest.digest)).equals(bytes)).to.equal(true);
      expect((await bytesOf(server.dana, board, 'b.bin')).equals(bytes)).to.equal(true);
      const part = await read('a.bin', 'bytes=100-199');
      expect(part.status).to.equal(206);
      expect(part.bytes.equals(bytes.subarray(100, 200))).to.equal(true);
      const end = await read('a.bin', 'bytes=-5');
      expect(end.bytes.equals(bytes.subarray(-5))).to.equal(true);
    });

    it('may be empty', async () => {
      await put(server.dana, board, 'empty', '');
      expect((await bytesOf(server.dana, board, 'empty')).length).to.equal(0);
    });

    it('that are damaged or gone are refused, until their bytes are there again', async () => {
      const { latest } = await put(server.dana, board, 'one.txt', 'as it was');
      const key = keyOf(latest.digest);
      objects.write(key, Buffer.from('as it is!'));
      const damaged = await read('one.txt');
      expect([damaged.status, damaged.code]).to.deep.equal([503, 'unavailable']);
      objects.remove(key);
      for (const range of [undefined, 'bytes=0-1']) {
        const gone = await read('one.txt', range);
        expect([gone.status, gone.code]).to.deep.equal([503, 'unavailable']);
      }
      await put(server.dana, board, 'again.txt', 'as it was');
      expect((await read('one.txt')).text).to.equal('as it was');
    });

    it('are collected when nobody names them, and no others', async () => {
      const kept = objects.names();
      const strays = Array.from({ length: 30 }, (_unused, n) =>
        keyOf(`sha256:${createHash('sha256').update(`stray ${n}`).digest('hex')}`),
      );
      for (const stray of strays) objects.write(stray, Buffer.from('x'));
      await until(() => server.clock.waiting(DAY_MS / 4) > 0, 'no collection is running');
      server.clock.advance(DAY_MS + 60_000);
      await until(() => objects.names().length === kept.length, 'the strays are collected');
      expect(objects.names()).to.deep.equal(kept);
    });

    it('are not taken while the store knows another key', async () => {
      process.env['AWS_ACCESS_KEY_ID'] = 'somebody-else';
      const other = await startTestServer('sqlite', { files: `s3://bucket/files?endpoint=${objects.endpoint}` });
      Object.assign(process.env, objects.keys);
      const { name } = await newBoard(other.dana);
      const before = objects.names();
      const refused = await tryPut(other.dana, name, 'a.txt', 'not kept');
      expect([refused.status, refused.code]).to.deep.equal([503, 'unavailable']);
      expect(await other.dana.refused('getFile', { params: { board: name, file: 'a.txt' } })).to.equal(
        '404 file_not_found',
      );
      expect(objects.names()).to.deep.equal(before);
      await other.stop();
    });
  });
}
