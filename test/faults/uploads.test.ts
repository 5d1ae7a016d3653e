import { request } from 'node:http';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { forEachDatabase } from '../support/databases.ts';
import { bytesOf, put, tryPut } from '../support/files.ts';
import { newPlace, remove } from './databases.ts';
import { launchServer, localKey } from './launch.ts';

forEachDatabase('a server killed while files come', (engine) => {
  it('has every file it answered for, and nothing of those it did not', async () => {
    const place = await newPlace(engine);
    const start = async () => {
      const child = launchServer({ dataDir: place.dataDir, ...(place.db ? { db: place.db } : {}) });
      const url = await child.ready;
      return { child, dana: new Api(url, localKey(place.dataDir)) };
    };
    let { child, dana } = await start();
    const board = (await dana.ok('createBoard', { body: { name: 'killed' } })).name;
    const answered = new Map<string, Buffer>();
    for (let round = 0; round < 3; round++) {
      const open = request(`${dana.url}/v1/boards/${board}/files?name=half-${round}.bin`, {
        method: 'POST',
        headers: { ...dana.headers({}), 'content-type': 'application/octet-stream', 'content-length': '5000000' },
      });
      open.on('error', () => {});
      open.write(Buffer.alloc(1_000_000, round));
      const whole = Buffer.alloc(300_000, `whole ${round} `);
      await put(dana, board, `whole-${round}.bin`, whole);
      answered.set(`whole-${round}.bin`, whole);
      // Some are on their way when it ends; each is there as a whole or not at all.
      const going = [0, 1, 2].map((n) =>
        tryPut(
          dana,
          board,
          `going-${round}-${n}.bin`,
          Buffer.alloc(400_000, `${round}${n}`),
          {},
          { key: `${round} ${n}` },
        )
          .then(
            ({ status }) =>
              status === 201 && answered.set(`going-${round}-${n}.bin`, Buffer.alloc(400_000, `${round}${n}`)),
          )
          .catch(() => {}),
      );
      await new Promise((resolve) => setTimeout(resolve, round * 15));
      await child.kill();
      await Promise.all(going);
      open.destroy();
      ({ child, dana } = await start());
      for (const [name, bytes] of answered)
        expect((await bytesOf(dana, board, name)).equals(bytes), name).to.equal(true);
      const { files } = await dana.ok('listFiles', { params: { board } });
      expect(files.some((file) => file.name.startsWith('half-'))).to.equal(false);
      for (const file of files)
        expect((await bytesOf(dana, board, file.id)).length, file.name).to.equal(file.latest.size);
    }
    await child.stop();
    remove(place.dataDir);
  });
});
