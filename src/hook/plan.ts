/** The agent's to-do list, as it writes it with a tool of its harness. */
import type { Profile } from '../harness/profile.ts';
import { callsOf, type HookInput } from './input.ts';

const FINISHED = new Set(['completed', 'done', 'complete']);

/** The plan in the tool calls of an event; null if there is none. */
export function planOf(profile: Profile, input: HookInput): { text: string; done: number; total: number } | null {
  const { plan } = profile;
  if (!plan) return null;
  const call = callsOf(input).findLast(({ tool_name: name }) => name === plan.tool);
  const list = (call?.tool_input as Record<string, unknown> | undefined)?.[plan.path];
  if (!Array.isArray(list)) return null;
  const entries = list.filter((entry): entry is Record<string, unknown> => typeof entry === 'object' && entry !== null);
  const status = (entry: Record<string, unknown>) => String(entry[plan.status_field] ?? '');
  const active = entries.find((entry) => status(entry) === plan.active);
  return {
    text: oneLine(String(active?.[plan.text_field] ?? '')),
    done: entries.filter((entry) => FINISHED.has(status(entry))).length,
    total: entries.length,
  };
}

const oneLine = (text: string): string => [...text.replaceAll(/\s+/g, ' ').trim()].slice(0, 120).join('');
