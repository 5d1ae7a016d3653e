/** Files of others in the folders of the disk store. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { diskStore } from '../../../src/server/blobs/disk.ts';
import { scanFile } from '../../../src/server/text/file-scan.ts';

describe('bytes in a folder that other programs write to', () => {
  const root = mkdtempSync(join(tmpdir(), 'board-disk-'));
  after(() => rmSync(root, { recursive: true }));

  it('are listed all the same', async () => {
    const store = await diskStore(join(root, 'files'));
    const hex = 'ab'.repeat(32);
    const folders = ['', 'ab', 'ab/ab'].map((name) => join(root, 'files', 'sha256', name));
    mkdirSync(folders.at(-1)!, { recursive: true });
    // As a file manager leaves them where somebody looked in.
    for (const folder of folders) writeFileSync(join(folder, '.DS_Store'), '');
    writeFileSync(join(folders.at(-1)!, hex), 'bytes');
    const found: string[] = [];
    for await (const { digest, size } of store.list()) found.push(`${digest} ${size}`);
    expect(found).to.deep.equal([`sha256:${hex} 5`]);
    await store.close();
  });

  it('are put again where their folder was removed meanwhile', async () => {
    const store = await diskStore(join(root, 'other'));
    for (const bytes of ['bytes', 'bytes']) {
      const staged = await store.stage(Readable.from([Buffer.from(bytes)]), { maxBytes: 9, scan: scanFile() });
      await staged.publish();
      await staged.discard();
      expect((await store.stat(staged.digest))?.size).to.equal(5);
      rmSync(join(root, 'other', 'sha256'), { recursive: true });
    }
    await store.close();
  });
});
