/** The banner that says that the connection is lost, and when the next attempt starts. */
import { useEffect, useState } from 'preact/hooks';
import { link, lostAt, retryNow } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { Icon } from '../parts/icon.tsx';

export function LinkBanner() {
  const { value } = link;
  const [, tick] = useState(0);
  const visible = lostAt.value !== null;
  useEffect(() => {
    if (!visible) return;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [visible]);
  const offline = value.state === 'offline';
  const message = offline ? 'You are offline. What you write stays here.' : 'Reconnecting to the server.';
  // A live region with the countdown would be read out every second.
  useEffect(() => {
    if (visible) announce(message);
  }, [visible, message]);
  useEffect(() => (visible ? () => announce('Connected again.') : undefined), [visible]);
  if (!visible || !('at' in value)) return null;
  const seconds = Math.max(0, Math.ceil((value.at - Date.now()) / 1_000));
  return (
    <div class={offline ? 'ban bad' : 'ban'}>
      <Icon name={offline ? 'off' : 'retry'} />
      <span class="sp">
        {message} {seconds > 0 ? `Next try in ${seconds}\u00a0s.` : 'Trying now.'}
      </span>
      <button type="button" class="b" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}
