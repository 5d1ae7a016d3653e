/** The files that tool calls change, as the program names them. */
import type { Profile } from '../harness/profile.ts';
import { callsOf, type HookInput } from './input.ts';

const MAX_FILES = 50;
const MAX_PATH_LENGTH = 4_096;

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
