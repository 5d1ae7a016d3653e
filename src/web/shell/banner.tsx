/** Says in words that the page is not live, and when the next try begins. */
import { useEffect, useState } from 'preact/hooks';
import { link, retryNow } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { Icon } from '../parts/icon.tsx';

const PATIENCE = 1_500;

/** A short break is not worth a line: it appears when the connection has been gone for a moment. */
export function LinkBanner() {
  const { value } = link;
  const [, tick] = useState(0);
  const down = value.state === 'reconnecting' || value.state === 'offline';
  useEffect(() => {
    if (!down) return;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [down]);
  const shown = down && Date.now() - value.since >= PATIENCE;
  const offline = value.state === 'offline';
  const words = offline ? 'You are offline. What you write stays here.' : 'Reconnecting to the server.';
  // Said once: a region that counts seconds would be read every second.
  useEffect(() => {
    if (shown) announce(words);
  }, [shown, words]);
  useEffect(() => (shown ? () => announce('Connected again.') : undefined), [shown]);
  if (!shown) return null;
  const seconds = Math.max(0, Math.ceil((value.at - Date.now()) / 1_000));
  return (
    <div class={offline ? 'ban bad' : 'ban'}>
      <Icon name={offline ? 'off' : 'retry'} />
      <span class="sp">
        {words} {seconds > 0 ? `Next try in ${seconds}\u00a0s.` : 'Trying now.'}
      </span>
      <button type="button" class="b" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}
