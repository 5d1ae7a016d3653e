/** Loads a file with all its versions and all messages that it was in, and again after events. */
import { useEffect, useRef } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { call, listAll, readAll } from '../api/client.ts';
import { type Load, useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { affectsFiles } from './kind.ts';

/** @param name its name or id */
export function useFile(room: Room, name: string): Load<FileDetail> {
  // Reloads by id, because the name may move to another file.
  const id = useRef<string | null>(null);
  /** The messages that it was in after those that come with the file: they are many, and each is read once. */
  const later = useRef<FileDetail['posted_in']>([]);
  const read = useLoad(async () => {
    const params = { board: room.name, file: id.current ?? name };
    const file = await call('getFile', { params });
    id.current = file.id;
    if (file.versions_more)
      file.versions = await readAll('listFileVersions', 'versions', { params, query: { limit: 200 } });
    if (file.posted_in_more) {
      const posts = [...file.posted_in, ...later.current];
      const query = { after: posts.at(-1)?.seq, limit: 200 };
      try {
        for await (const page of listAll('listFilePosts', { params, query })) posts.push(...page.posted_in);
      } catch {
        // The next message of the board tries again.
      }
      later.current = posts.slice(file.posted_in.length);
      file.posted_in = posts;
    }
    return file;
  }, [room, name]);
  useEffect(() => room.subscribeThrottled(affectsFiles, read.reload), [room, name]);
  return read;
}
