/** Loads a file with all its versions and all messages that it was in, and again after events. */
import { useEffect, useRef } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { type Load, useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { affectsFiles } from './kind.ts';

/** @param name its name or id */
export function useFile(room: Room, name: string): Load<FileDetail> {
  // Reloads by id, because the name may move to another file.
  const id = useRef<string | null>(null);
  const read = useLoad(async () => {
    const params = { board: room.name, file: id.current ?? name };
    const file = await call('getFile', { params });
    id.current = file.id;
    if (file.versions_more)
      file.versions = await readAll('listFileVersions', 'versions', { params, query: { limit: 200 } });
    if (file.posted_in_more) {
      const query = { after: file.posted_in.at(-1)?.seq, limit: 200 };
      file.posted_in.push(...(await readAll('listFilePosts', 'posted_in', { params, query })));
    }
    return file;
  }, [room, name]);
  useEffect(() => room.subscribeThrottled(affectsFiles, read.reload), [room, name]);
  return read;
}
