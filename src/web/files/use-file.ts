/** Loads a file with all its versions and all messages that it was in, and again after events that may change any of it. */
import { useEffect, useRef } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { call, listAll, readAll } from '../api/client.ts';
import { listenToReturn } from '../live/link.ts';
import { type Load, useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';

interface LoadedFile extends Pick<Load<FileDetail>, 'value' | 'error' | 'reload'> {
  /** Why not all messages that it was in are there; null: they are. */
  postsError: unknown;
}

/** @param name its name or id */
export function useFile(room: Room, name: string): LoadedFile {
  // Reloads by id, because the name may move to another file.
  const id = useRef<string | null>(null);
  /** All versions, latest first, if they are more than come with the file: the older ones are not read again. */
  const versions = useRef<FileDetail['versions']>([]);
  /** The messages that it was in after those that come with the file: they are many, and each is read once. */
  const later = useRef<FileDetail['posted_in']>([]);
  const { value, error, reload } = useLoad(async () => {
    const params = { board: room.name, file: id.current ?? name };
    const kept = versions.current;
    const file = await call('getFile', { params });
    id.current = file.id;
    if (file.versions_more) {
      const oldest = file.versions.at(-1)!.version;
      const older = kept.filter(({ version }) => version < oldest);
      file.versions =
        older[0]?.version === oldest - 1
          ? [...file.versions, ...older]
          : await readAll('listFileVersions', 'versions', { params, query: { limit: 200 } });
      if (versions.current === kept) versions.current = file.versions;
    }
    let postsError: unknown = null;
    if (file.posted_in_more) {
      const posts = [...file.posted_in, ...later.current];
      const query = { after: posts.at(-1)?.seq, limit: 200 };
      try {
        for await (const page of listAll('listFilePosts', { params, query })) posts.push(...page.posted_in);
      } catch (failure) {
        // The file and what was read so far stay.
        postsError = failure;
      }
      later.current = posts.slice(file.posted_in.length);
      file.posted_in = posts;
    }
    return { file, postsError };
  }, [room, name]);
  const postsError = value?.postsError ?? null;
  const lacksPosts = error === null && postsError !== null;
  useEffect(
    () =>
      room.subscribe(({ event }) => {
        // Versions say who wrote them by the name of today.
        if (event.type === 'person.renamed') versions.current = [];
      }),
    [room],
  );
  useEffect(
    () => room.subscribeThrottled(({ event }) => /^((file|message|task)\.|person\.renamed)/.test(event.type), reload),
    [room, name],
  );
  useEffect(() => (lacksPosts ? listenToReturn(() => void reload()) : undefined), [room, name, lacksPosts]);
  return { value: value?.file ?? null, error, postsError, reload };
}
