/** The code of a sign-in link. */
import { signal } from '@preact/signals';
import { navigate } from '../state/route.ts';

/** An unused code from the address. It is removed from the address to keep it out of the history. */
export const linkedCode = signal<string | null>(null);

/** Takes a code out of the address, and opens the board that stands beside it. Call it before anything else reads the address. */
export function takeCode(): void {
  const linked = new URLSearchParams(location.hash.slice(1));
  const code = linked.get('code');
  if (code === null) return;
  linkedCode.value = code;
  const board = linked.get('board');
  if (board) navigate({ screen: 'board', board, tab: 'talk' }, { replace: true });
  else history.replaceState(history.state, '', location.pathname + location.search);
}
