/** The check of the open board's record: runs in a worker, goes on as events come, and remembers what was sound. */
import { useEffect, useState } from 'preact/hooks';
import type { ChainPoint } from '../../contract/chain.ts';
import type { Problem } from '../api/errors.ts';
import { workerUrl } from '../parts/worker.ts';
import type { Room } from '../state/room.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import type { Checked, Counts, FromVerifier, ToVerifier } from './protocol.ts';

export interface Verdict {
  progress: { checked: number; head: number } | null;
  checked: Checked | null;
  counts: Counts | null;
  /** Where the last sound check in this browser ended. */
  before: ChainPoint | null;
  at: string;
  failed: Problem | null;
}

const nothing: Verdict = { progress: null, checked: null, counts: null, before: null, at: '', failed: null };

const pinOf = (boardId: string): ChainPoint | null =>
  JSON.parse(readStorage(`record ${boardId}`) ?? 'null') as ChainPoint | null;

/** The verdict so far. @param tries another number checks anew from the first event. */
export function useVerdict(room: Room, tries: number): Verdict {
  const [verdict, setVerdict] = useState(nothing);
  const id = room.board.value?.id;
  useEffect(() => {
    if (id === undefined) return;
    const pinned = pinOf(id);
    setVerdict({ ...nothing, before: pinned });
    const worker = new Worker(workerUrl('verify'), { type: 'module', name: 'verify' });
    const send = (message: ToVerifier): void => worker.postMessage(message);
    worker.onmessage = ({ data }: MessageEvent<FromVerifier>) => {
      if (data.type === 'progress') setVerdict((last) => ({ ...last, progress: data, failed: null }));
      else if (data.type === 'failed') setVerdict((last) => ({ ...last, failed: data }));
      else {
        const { checked, counts } = data;
        if (checked.problem === null && checked.head) writeStorage(`record ${id}`, JSON.stringify(checked.head));
        setVerdict((last) => ({
          ...last,
          progress: null,
          checked,
          counts,
          at: new Date().toISOString(),
          failed: null,
        }));
      }
    };
    worker.onerror = ({ message }) => {
      const failed = { code: 'page_error', message: message || 'The check could not start.', hint: 'Reload the page.' };
      setVerdict((last) => ({ ...last, failed }));
    };
    send({ type: 'start', board: room.name, id, pinned });
    const stop = room.subscribe(() => send({ type: 'more' }));
    return () => {
      stop();
      worker.terminate();
    };
  }, [room, id, tries]);
  return verdict;
}
