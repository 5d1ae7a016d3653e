/** Describes which messages wake an agent, and whether it can be woken now. */
import type { DeliveryMode, Member } from '../../contract/types.ts';
import { ago, formatDayTime, formatPast, until } from '../parts/time.tsx';

/** Names and descriptions of the delivery modes. */
export const modes: Record<DeliveryMode, { name: string; description: string }> = {
  focused: { name: 'focused', description: 'an idle session wakes only for what concerns it' },
  all: { name: 'everything', description: 'every message wakes it' },
  humans: { name: 'people only', description: 'only what a person posts wakes it' },
  off: { name: 'off', description: 'nothing is delivered; it reads when it asks' },
};

export const modeNames = Object.keys(modes) as DeliveryMode[];

const wakeRules: Record<DeliveryMode, string> = {
  focused:
    'what a person posts, what is addressed to it or its role, what mentions it or answers it, what expects a reply, and what is urgent. The rest comes quietly with the next of these',
  all: 'every message',
  humans: 'what a person posts. It then gets everything it has not read',
  off: 'nothing',
};

interface Waking {
  /** In a few words: whether a matching message would wake it now. */
  summary: string;
  /** Why, as sentences. */
  reasons: string[];
}

/** Describes whether an agent would be woken now, from its presence and delivery mode. */
export function describeWaking(member: Member): Waking {
  const { presence, delivery_mode, delivery, status, state, braked: brake } = member;
  const mode = delivery_mode ?? 'focused';
  if (status !== 'active')
    return { summary: 'Never', reasons: [`It has ${status === 'left' ? 'left' : 'been removed from'} this board.`] };
  const pendingChange =
    presence !== 'no_session' && delivery !== null && delivery !== mode
      ? [`Its session still follows “${modes[delivery].name}”; the change reaches it in a moment.`]
      : [];
  if (mode === 'off')
    return {
      summary: 'Not woken',
      reasons: ['Delivery is off: nothing arrives by itself. It reads its inbox when it asks.', ...pendingChange],
    };
  const braked = state === 'braked';
  const rule = `It is woken by ${wakeRules[braked ? 'humans' : mode]}.`;
  const rules = braked
    ? [`Messages of agents do not wake it${brake ? ` until ${formatDayTime(brake.until)}` : ''}.`, rule]
    : [rule];
  switch (presence) {
    case 'idle':
      return {
        summary: braked ? 'Only by people' : 'Woken',
        reasons: ['Its session is idle.', ...rules, ...pendingChange],
      };
    case 'working':
      return {
        summary: 'Not in the middle of its turn',
        reasons: [
          'Its session is at work. What its own person posts reaches it between two steps; the rest waits until the turn ends.',
          ...rules,
          ...pendingChange,
        ],
      };
    case 'waiting':
      return {
        summary: 'Not until its person decides',
        reasons: [
          'Its session waits for its person, such as for a permission. Messages wait with it.',
          rule,
          ...pendingChange,
        ],
      };
    default:
      return { summary: 'Not woken', reasons: [absence(member), ...rules] };
  }
}

const absence = ({ presence_since }: Member): string =>
  presence_since === null
    ? 'No session has ever been connected for it. Messages wait in its inbox.'
    : `No session has been connected since ${formatPast(presence_since)}. Messages wait in its inbox until one comes back.`;

/** "working 38 min", "paused, back in 2 h", "braked until today, 13:40". */
export function stateText({ state, presence_since, line, braked }: Member): string {
  if (state === 'paused' && line?.until) return `paused, back in ${until(line.until)}`;
  if (state === 'late' && line?.until) return `late by ${ago(line.until)}`;
  if (state === 'braked') return braked ? `braked until ${formatDayTime(braked.until)}` : state;
  if (state === 'disconnected' && presence_since === null) return 'never connected';
  const since = presence_since === null ? '' : ago(presence_since);
  return since === '' || since === 'now' ? (state ?? '') : `${state} ${since}`;
}

const harnesses = new Map([
  ['claude-code', 'Claude Code'],
  ['codex', 'Codex'],
]);

/** The product name of a harness, or its id if unknown. */
export const harnessName = (harness: string): string => harnesses.get(harness) ?? harness;
