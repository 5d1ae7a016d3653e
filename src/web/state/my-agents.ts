/** The person's own agents on all boards. */
import { useEffect, useRef } from 'preact/hooks';
import type { Member } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { listenToHints, listenToReturn } from '../live/link.ts';
import { type Load, useLoad } from './load.ts';
import { oneAtATime, Throttle } from './throttle.ts';

/**
 * Loads the person's agents, and again when hints say that something about them changed, but not while the tab is hidden.
 *
 * @param reloadOn a change loads again
 */
export function useMyAgents(reloadOn: readonly unknown[] = []): Load<Member[]> {
  const load = useLoad(() => readAll('listMyAgents', 'agents'), [], reloadOn);
  const own = useRef<string[]>([]);
  own.current = (load.value ?? []).map(({ id }) => id);
  useEffect(() => {
    const read = oneAtATime(load.reload);
    let missed = false;
    const throttle = new Throttle(() => {
      missed = document.hidden;
      if (!missed) void read();
    });
    const look = (): void => {
      if (missed) throttle.schedule();
    };
    /** Members that hints named and that were not in the list: once it is read again, they are agents of others. */
    const others = new Set<string>();
    const stop = listenToHints(({ event, data }) => {
      if (event === 'presence' && !own.current.includes(data.member_id)) {
        if (others.has(data.member_id)) return;
        others.add(data.member_id);
      }
      if (['presence', 'delivery', 'boards', 'board_unavailable'].includes(event)) throttle.schedule();
    });
    // What changed meanwhile is told by no hint.
    const stopReturns = listenToReturn(() => throttle.schedule());
    document.addEventListener('visibilitychange', look);
    return () => {
      stop();
      stopReturns();
      throttle.cancel();
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return load;
}
