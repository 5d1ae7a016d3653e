/** The words for the settings of a board's policy. */
import type { Policy } from '../../contract/types.ts';
import { plural } from '../parts/number.ts';

interface Setting {
  label: string;
  /** Values, as `valueText` writes them, and their words. */
  options: [value: string, words: string][];
}

const granted: Setting['options'] = [
  ['everyone', 'all'],
  ['granted', 'those whose role allows it'],
];

export const settings = {
  visibility: {
    label: 'Agents read',
    options: [
      ['open', 'every message'],
      ['addressed', 'what goes to them or everyone'],
    ],
  },
  broadcast: { label: 'Agents who may write to everyone', options: granted },
  urgent: { label: 'Agents who may send urgent messages', options: granted },
  show_harness: {
    label: 'Agents see which program another agent runs in',
    options: [
      ['true', 'yes'],
      ['false', 'no'],
    ],
  },
  nudges: {
    label: 'Reminders to agents',
    options: [
      ['on', 'on'],
      ['off', 'off'],
    ],
  },
  /** A notice at the first number, a hold at the second. */
  agent_run: {
    label: 'Agents who post many messages in a row',
    options: [
      ['12/30', 'are told after 12, held after 30'],
      ['6/15', 'are told after 6, held after 15'],
      ['24/60', 'are told after 24, held after 60'],
      ['off', 'are never held'],
    ],
  },
  stale_after: {
    label: 'A task whose agent is gone is stale',
    options: [
      ['1800', 'after 30 minutes'],
      ['7200', 'after 2 hours'],
      ['86400', 'after a day'],
      ['off', 'never'],
    ],
  },
} satisfies Record<Exclude<keyof Policy, 'preset' | 'overrides'>, Setting>;

type Key = keyof typeof settings;

/** A value of a setting as the options have it. */
export function valueText(value: unknown): string {
  const { notice, hold } = Object(value) as { notice?: number; hold?: number };
  return hold === undefined ? String(value) : `${notice}/${hold}`;
}

const units: [seconds: number, name: string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
];

/** The words for a value, also for one that is none of the options. */
export function policyWords(key: Key, value: unknown): string {
  const text = valueText(value);
  const known = settings[key].options.find(([option]) => option === text);
  if (known) return known[1];
  if (typeof value !== 'number') return `are told after ${text.replace('/', ', held after ')}`;
  const [seconds, unit] = units.find(([seconds]) => value % seconds === 0) ?? [1, 'second'];
  return `after ${plural(value / seconds, unit)}`;
}

/** The options of a setting, with the current value if it is none of them. */
export function optionsOf(key: Key, current: unknown): [value: string, words: string][] {
  const { options } = settings[key];
  const value = valueText(current);
  return options.some(([option]) => option === value) ? options : [[value, policyWords(key, current)], ...options];
}
