/** A JSON file of ours in the state folder, changed by one process at a time. */
import { join } from 'node:path';
import type { Folders } from './folders.ts';
import { withLock } from './lock.ts';
import { parseOwn, readPrivate, writePrivate } from './private-file.ts';

type State = Pick<Folders, 'state'>;

/** @param empty what a missing file stands for @param check whether a value is what this program wrote */
export function noteFile<T>(name: string, empty: T, check: (value: unknown) => value is T) {
  /** @throws Failure `config_corrupt`, `credentials_unsafe` */
  const read = ({ state }: State): T => {
    const path = join(state, name);
    const text = readPrivate(path);
    return text === null ? empty : parseOwn(path, text, check);
  };
  const change = (folders: State, changed: (before: T) => T): Promise<void> => {
    const path = join(folders.state, name);
    return withLock(`${path}.lock`, () => writePrivate(path, `${JSON.stringify(changed(read(folders)))}\n`));
  };
  return { read, change };
}

/** Whether a value is an object with fields, and no list. */
export const isRecord = <T>(value: unknown): value is Record<string, T> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
