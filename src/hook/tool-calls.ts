/** What the tool calls of an event tell: the files that they change, and the to-do list of the agent. */
import type { Profile } from '../harness/profile.ts';
import { callsOf, type HookInput, oneLine } from './input.ts';

const MAX_FILES = 50;
const MAX_PATH_LENGTH = 4_096;
const MAX_PLAN_LENGTH = 120;

/** The files that the tool calls of an event change; a patch names its own. */
export function editedFiles({ edits }: Profile, input: HookInput): string[] {
  const files = callsOf(input).flatMap(({ tool_name: name, tool_input: given }) => {
    const edit = edits?.find(({ tool }) => tool === name);
    if (!edit || typeof given !== 'object' || given === null) return [];
    const fields = given as Record<string, unknown>;
    return edit.path === undefined ? Object.values(fields).flatMap(filesInPatch) : [fields[edit.path]];
  });
  const named = files.filter(
    (file): file is string => typeof file === 'string' && file !== '' && file.length <= MAX_PATH_LENGTH,
  );
  return [...new Set(named)].slice(0, MAX_FILES);
}

/** The file names in the headings of a patch in Codex's format. */
const filesInPatch = (text: unknown): string[] =>
  typeof text === 'string'
    ? [...text.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)].map(([, file]) =>
        file!.trim(),
      )
    : [];

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
    text: oneLine(String(active?.[plan.text_field] ?? ''), MAX_PLAN_LENGTH),
    done: entries.filter((entry) => FINISHED.has(status(entry))).length,
    total: entries.length,
  };
}
