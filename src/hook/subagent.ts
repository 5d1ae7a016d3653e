/** Marks the commands of subagents, which makes them read-only. Does not contact the daemon, and changes no other tool call. */
import type { Profile } from '../harness/profile.ts';
import type { HookInput } from './input.ts';

const NAMES = ['service', 'board-service'];

/** The subagent that an event is about, by an id that a shell takes as one word; null for the session itself. */
export function subagentOf(profile: Profile, input: HookInput): string | null {
  const field = profile.lifecycle.subagent_field;
  const id = field && input[field];
  if (!id) return null;
  return typeof id === 'string' ? id.slice(0, 200).replaceAll(/[^A-Za-z0-9._-]/g, '-') : 'unnamed';
}

/** The tool's input with the mark before its command; null if there is nothing to mark. */
export function markedInput(profile: Profile, input: HookInput): Record<string, unknown> | null {
  const id = subagentOf(profile, input);
  const tool = input.tool_input as Record<string, unknown> | null | undefined;
  const command = typeof tool === 'object' && tool !== null ? tool.command : undefined;
  if (!id || typeof command !== 'string' || !runsService(command)) return null;
  return { ...tool, command: `export SERVICE_SUBAGENT=${id}; ${command}` };
}

/** Whether one of its words is our program: by name, by a path that ends in it, or as a version of the package. */
function runsService(command: string): boolean {
  const words = command.split(/[\s;&|()<>`"'$={}\\]+/);
  return words.some((word) => NAMES.includes(word.slice(word.lastIndexOf('/') + 1).replace(/@.*/, '')));
}
