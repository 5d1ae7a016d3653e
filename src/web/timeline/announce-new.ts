/** Announces new messages to screen readers: how many, and asks to the person; at most every five seconds. */
import { announce } from '../parts/announce.tsx';
import { excerpt } from '../parts/plain-text.ts';
import type { Talk } from './context.ts';

const INTERVAL_MS = 5_000;
const MAX_TEXT = 120;

/** Starts announcing. Returns a function that stops it. */
export function announceNew(talk: Talk): () => void {
  let count = 0;
  let asks = 0;
  /** By a clock that is never set. */
  let next = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = (): void => {
    const need = asks === 0 ? '' : asks === 1 ? ', one asks you' : `, ${asks} ask you`;
    announce(`${count} new${need}`);
    count = asks = 0;
    next = performance.now() + INTERVAL_MS;
    timer = undefined;
  };
  const stop = talk.room.subscribe(({ message }) => {
    if (!message || message.sender === 'self') return;
    if (message.urgent) {
      announce(`${message.from.name}, urgent: ${excerpt(message.body, MAX_TEXT)}`, { urgent: true });
      return;
    }
    count++;
    if (message.ask && talk.room.isMe(message.ask.to)) asks++;
    timer ??= setTimeout(say, Math.max(0, next - performance.now()));
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
