/** What readers of the screen hear of new messages: how many, and whether one asks them; at most every five seconds. */
import { announce } from '../parts/announce.tsx';
import { plainText } from '../parts/plain-text.ts';
import type { Talk } from './context.ts';

const EVERY = 5_000;
const MOST_WORDS = 120;

/** Says it as it happens. The result ends it. */
export function announceNew(talk: Talk): () => void {
  let count = 0;
  let asks = 0;
  let next = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = (): void => {
    const need = asks === 0 ? '' : asks === 1 ? ', one asks you' : `, ${asks} ask you`;
    announce(`${count} new${need}`);
    count = asks = 0;
    next = Date.now() + EVERY;
    timer = undefined;
  };
  const stop = talk.room.subscribe(({ message }) => {
    if (!message || message.sender === 'self') return;
    if (message.urgent) {
      announce(`${message.from.name}, urgent: ${plainText(message.body).slice(0, MOST_WORDS)}`, { urgent: true });
      return;
    }
    count++;
    if (message.ask && talk.isMe(message.ask.to)) asks++;
    timer ??= setTimeout(say, Math.max(0, next - Date.now()));
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
