/** Whether the bytes that versions name are in the store, told by their size: cheap enough for every start. */
import type { Database } from '../db/tx.ts';
import { referencedBlobs } from './blobs.store.ts';
import type { BlobStore, Digest } from './store.ts';

const PAGE = 500;

interface Looked {
  /** Bytes that were looked for, each once. */
  checked: number;
  missing: Digest[];
  /** They have another size. */
  damaged: Digest[];
}

/** @param stopped asked before each file. */
export async function lookForBytes(db: Database, store: BlobStore, stopped: () => boolean): Promise<Looked> {
  const looked: Looked = { checked: 0, missing: [], damaged: [] };
  for (let after = ''; !stopped(); ) {
    const page = await db.read((tx) => referencedBlobs(tx, after, PAGE));
    for (const { digest, size } of page) {
      if (stopped()) return looked;
      const found = await store.stat(digest);
      if (!found) looked.missing.push(digest);
      else if (found.size !== Number(size)) looked.damaged.push(digest);
      looked.checked++;
    }
    const last = page.at(-1);
    if (!last) return looked;
    after = last.digest;
  }
  return looked;
}
