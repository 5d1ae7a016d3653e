/** One file with its versions, read anew when something happens to it. */
import { useEffect, useState } from 'preact/hooks';
import type { FileDetail } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import type { Room } from '../state/room.ts';

export interface OpenFile {
  file: FileDetail | null;
  error: unknown;
  again(): Promise<void>;
}

/** @param name its name or id */
export function useFile(room: Room, name: string): OpenFile {
  const [file, setFile] = useState<FileDetail | null>(null);
  const [error, setError] = useState<unknown>(null);
  // A name can be given to another file; the page stays with the one that it opened.
  const selector = file?.id ?? name;
  const read = async (): Promise<void> => {
    try {
      const params = { board: room.name, file: selector };
      const found = await call('getFile', { params });
      if (found.versions_more) {
        const versions: FileDetail['versions'] = [];
        for await (const page of listAll('listFileVersions', { params, query: { limit: 200 } }))
          versions.push(...page.versions);
        found.versions = versions;
      }
      setFile(found);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    void read();
    const stop = room.subscribe(({ event }) => {
      if (!/^(file|message|task)\./.test(event.type)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void read();
      }, 200);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [room, selector]);
  return { file, error, again: read };
}
