/** The heads of boards, for what is read again after events. */
import { useEffect, useState } from 'preact/hooks';
import { heads } from './boards.ts';
import { Throttle } from './throttle.ts';

/** The head of a board that hints told last; it changes once a second at most, and not while the tab is hidden. */
export function useHead(board: string | undefined): number | undefined {
  const read = (): number | undefined => heads.peek().get(board ?? '');
  const [head, setHead] = useState(read);
  useEffect(() => {
    let last = head;
    const throttle = new Throttle(() => {
      if (document.hidden) return;
      last = read();
      setHead(last);
    });
    const look = (): void => {
      if (read() !== last) throttle.schedule();
    };
    const stop = heads.subscribe(look);
    document.addEventListener('visibilitychange', look);
    return () => {
      throttle.cancel();
      stop();
      document.removeEventListener('visibilitychange', look);
    };
  }, [board]);
  return head;
}
