/** The files that tool calls change, as the program names them. */
import type { Profile } from '../harness/profile.ts';
import { callsOf, type HookInput } from './input.ts';

const MOST = 50;
const LONGEST = 4_096;

/** The files that the tool calls of an event change; a patch names its own. */
export function editedFiles({ edits }: Profile, input: HookInput): string[] {
  const files = callsOf(input).flatMap(({ tool_name: name, tool_input: given }) => {
    const edit = edits?.find(({ tool }) => tool === name);
    if (!edit || typeof given !== 'object' || given === null) return [];
    const fields = given as Record<string, unknown>;
    return edit.path === undefined ? Object.values(fields).flatMap(inPatch) : [fields[edit.path]];
  });
  const named = files.filter(
    (file): file is string => typeof file === 'string' && file !== '' && file.length <= LONGEST,
  );
  return [...new Set(named)].slice(0, MOST);
}

/** The headings of a patch as Codex writes it. */
const inPatch = (text: unknown): string[] =>
  typeof text === 'string'
    ? [...text.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)].map(([, file]) =>
        file!.trim(),
      )
    : [];
