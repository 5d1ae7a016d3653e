/** Checks that there is enough disk space. */
import { statfs } from 'node:fs/promises';
import { sizeText } from '../../../cli/terminal/fields.ts';
import { type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { dataFolder } from './data.ts';
import { isWritable, nearest } from './folders.ts';

/** A few uploads of the largest size. */
const LITTLE = 500 * 1024 * 1024;
/** Not even one, and a database may fail in the middle of its work. */
const NONE = 60 * 1024 * 1024;

export const disk: Check = {
  name: 'disk',
  async run(around) {
    const free = new Map<string, number>();
    for (const folder of [dataFolder(around), around.folders.cache]) {
      const place = nearest(folder);
      // How much there is left of what cannot be written is no answer.
      if (!isWritable(place)) continue;
      const { bavail, bsize } = await statfs(place);
      free.set(place, bavail * bsize);
    }
    return [...free].map(([place, bytes]) => judged(place, bytes));
  },
};

function judged(place: string, bytes: number): Finding {
  const message = `${sizeText(bytes)} free where ${place} is`;
  const look = `df -h '${place}'`;
  if (bytes < NONE) return failing('disk', 'storage_full', `Only ${message}.`, look);
  if (bytes < LITTLE) return warning('disk', 'storage_full', `Only ${message}.`, look);
  return fine('disk', message);
}
