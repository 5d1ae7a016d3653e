/** Which messages wake an agent: what its delivery mode means, and whether it can be woken now. */
import type { DeliveryMode, Member } from '../../contract/types.ts';
import { ago, until } from '../parts/time.tsx';

/** The delivery modes as a person reads them. */
export const modes: Record<DeliveryMode, { name: string; means: string }> = {
  focused: { name: 'focused', means: 'an idle session wakes only for what concerns it' },
  all: { name: 'everything', means: 'every message wakes it' },
  humans: { name: 'people only', means: 'only what a person posts wakes it' },
  off: { name: 'off', means: 'nothing is delivered; it reads when it asks' },
};

export const modeNames = Object.keys(modes) as DeliveryMode[];

const wakers: Record<DeliveryMode, string> = {
  focused:
    'what a person posts, what is addressed to it or its role, what mentions it or answers it, what expects a reply, and what is urgent. The rest comes quietly with the next of these',
  all: 'every message',
  humans: 'what a person posts. It then gets everything it has not read',
  off: 'nothing',
};

interface Waking {
  /** In a word or two: whether a message that may wake it would do so now. */
  now: string;
  /** Why, in sentences. */
  because: string[];
}

/** Whether an agent is woken now, from its presence and its delivery mode. */
export function wakingOf(member: Member): Waking {
  const { presence, delivery_mode, delivery, status } = member;
  const mode = delivery_mode ?? 'focused';
  if (status !== 'active')
    return { now: 'Never', because: [`It has ${status === 'left' ? 'left' : 'been removed from'} this board.`] };
  const applies =
    presence !== 'no_session' && delivery !== null && delivery !== mode
      ? [`Its session still follows “${modes[delivery].name}”; the change reaches it in a moment.`]
      : [];
  if (mode === 'off')
    return {
      now: 'Not woken',
      because: ['Delivery is off: nothing arrives by itself. It reads its inbox when it asks.', ...applies],
    };
  const rule = `It is woken by ${wakers[mode]}.`;
  switch (presence) {
    case 'idle':
      return { now: 'Woken', because: ['Its session is idle.', rule, ...applies] };
    case 'working':
      return {
        now: 'Not in the middle of its turn',
        because: [
          'Its session is at work. What its own person posts reaches it between two steps; the rest waits until the turn ends.',
          rule,
          ...applies,
        ],
      };
    case 'waiting':
      return {
        now: 'Not until its person decides',
        because: [
          'Its session waits for its person, such as for a permission. Messages wait with it.',
          rule,
          ...applies,
        ],
      };
    default:
      return { now: 'Not woken', because: [absence(member), rule] };
  }
}

const absence = ({ presence_since }: Member): string =>
  presence_since === null
    ? 'No session has ever been connected for it. Messages wait in its inbox.'
    : `No session has been connected for ${ago(presence_since)}. Messages wait in its inbox until one comes back.`;

/** "working 38 min", or what it waits for. */
export function sinceWords({ state, presence_since, line }: Member): string {
  if (state === 'paused' && line?.until) return `paused, back in ${until(line.until)}`;
  if (state === 'late' && line?.until) return `late by ${ago(line.until)}`;
  if (state === 'disconnected' && presence_since === null) return 'never connected';
  const since = presence_since === null ? '' : ago(presence_since);
  return since === '' || since === 'now' ? (state ?? '') : `${state} ${since}`;
}

const harnesses: Record<string, string> = { 'claude-code': 'Claude Code', codex: 'Codex' };

/** The name of an agent's program as its makers write it, where it is known. */
export const harnessName = (harness: string): string => harnesses[harness] ?? harness;
