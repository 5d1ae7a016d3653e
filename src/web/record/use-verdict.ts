/** Verifies the open board's record in a worker, continues with new events, and remembers the last valid head. */
import { useEffect, useState } from 'preact/hooks';
import type { ChainPoint } from '../../contract/chain.ts';
import type { Problem } from '../api/errors.ts';
import { workerUrl } from '../parts/worker.ts';
import type { Room } from '../state/room.ts';
import { readStored, writeStorage } from '../state/storage.ts';
import type { Checked, Counts, FromVerifier, ToVerifier } from './protocol.ts';

export interface Verdict {
  progress: { checked: number; head: number } | null;
  checked: Checked | null;
  counts: Counts | null;
  /** The head of the last successful check in this browser. */
  previousHead: ChainPoint | null;
  checkedAt: string;
  error: Problem | null;
}

const initial: Verdict = {
  progress: null,
  checked: null,
  counts: null,
  previousHead: null,
  checkedAt: '',
  error: null,
};

/** @param attempt a change restarts the check from the first event */
export function useVerdict(room: Room, attempt: number): Verdict {
  const [verdict, setVerdict] = useState(initial);
  const id = room.board.value?.id;
  useEffect(() => {
    if (id === undefined) return;
    const pinned = readStored<ChainPoint | null>(`record ${id}`, null);
    setVerdict({ ...initial, previousHead: pinned });
    const worker = new Worker(workerUrl('verify'), { type: 'module', name: 'verify' });
    const send = (message: ToVerifier): void => worker.postMessage(message);
    worker.onmessage = ({ data }: MessageEvent<FromVerifier>) => {
      if (data.type === 'progress') setVerdict((last) => ({ ...last, progress: data, error: null }));
      else if (data.type === 'failed') setVerdict((last) => ({ ...last, error: data }));
      else {
        const { checked, counts } = data;
        if (checked.problem === null && checked.head) writeStorage(`record ${id}`, JSON.stringify(checked.head));
        setVerdict((last) => ({
          ...last,
          progress: null,
          checked,
          counts,
          checkedAt: new Date().toISOString(),
          error: null,
        }));
      }
    };
    worker.onerror = ({ message }) => {
      const error = { code: 'page_error', message: message || 'The check could not start.', hint: 'Reload the page.' };
      setVerdict((last) => ({ ...last, error }));
    };
    send({ type: 'start', board: room.name, id, pinned });
    const stop = room.subscribeThrottled(
      () => true,
      () => send({ type: 'more' }),
    );
    return () => {
      stop();
      worker.terminate();
    };
  }, [room, id, attempt]);
  return verdict;
}
