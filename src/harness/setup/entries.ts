/** Our hooks in a harness's settings: the wanted ones, and how to recognise ours in a file. */
import { shellArgument } from '../../contract/text.ts';
import { olderThan } from '../../local/versions.ts';
import type { Hook, Profile } from '../profile.ts';

interface Entry {
  type: 'command';
  command: string;
  timeout: number;
  [option: string]: unknown;
}

/** One group under `hooks.<event>`. */
interface Group {
  matcher?: string;
  hooks: Entry[];
}

export interface WantedHook {
  event: string;
  group: Group;
}

/**
 * The groups for this version of the program; an unknown version counts as the oldest supported one.
 * @param claims whether a session is told who else is on the files it changes
 */
export function wantedGroups(profile: Profile, launcher: string, version: string | null, claims = false): WantedHook[] {
  return (profile.delivery.hooks ?? []).flatMap((hook) =>
    eventsOf(hook, version ?? profile.checks.min_version ?? null).map((event) => ({
      event,
      group: groupOf(hook, commandOf(launcher, profile.harness, hook.run, claims && hook.op === 'tool')),
    })),
  );
}

/** Hooks of a profile that this version does not support at all. */
export const missedHooks = (profile: Profile, version: string | null): Hook[] =>
  (profile.delivery.hooks ?? []).filter(
    (hook) => eventsOf(hook, version ?? profile.checks.min_version ?? null).length === 0,
  );

function eventsOf(hook: Hook, version: string | null): string[] {
  const knows = (since: string | undefined) => since === undefined || (version !== null && !olderThan(version, since));
  if (knows(hook.since)) return [hook.event];
  return (hook.fallback ?? []).filter(({ since }) => knows(since)).map(({ event }) => event);
}

function groupOf({ matcher, timeout, options }: Hook, command: string): Group {
  const rest = Object.entries(options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const entry: Entry = { type: 'command', command, timeout, ...Object.fromEntries(rest) };
  return { ...(matcher === undefined ? {} : { matcher }), hooks: [entry] };
}

/** The shell command that runs a hook; the path is quoted if necessary. */
export function commandOf(launcher: string, harness: string, run: string, claims = false): string {
  return `${shellWord(launcher)} hook ${harness} ${run}${claims ? ' claims' : ''}`;
}

/** Quotes a word for a shell, if necessary. */
export const shellWord = (word: string): string => shellArgument(word, /^[\w@%+=:,./-]+$/);

/** Splits a simple command into words; null if it uses other shell syntax than quotes. */
function words(command: string): string[] | null {
  const found: string[] = [];
  const part = /\s*((?:[^\s'"\\$`;&|<>()]+|'[^']*'|"[^"$`\\]*"|\\.)+)/y;
  while (part.lastIndex < command.trimEnd().length) {
    const match = part.exec(command);
    if (!match) return null;
    found.push(match[1]!.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, a, b, c) => a ?? b ?? c));
  }
  return found;
}

/** The hook that a command runs, if it is one of ours for this harness: `<…/service> hook <harness> <event> [claims]`. */
export function ownRun(command: unknown, harness: string): string | null {
  const list = typeof command === 'string' ? words(command) : null;
  if (!list || list.length < 4 || list.length > 5 || (list[4] ?? 'claims') !== 'claims') return null;
  const [program, verb, name, run] = list as [string, string, string, string];
  const ours = program.slice(program.lastIndexOf('/') + 1) === 'service' && verb === 'hook' && name === harness;
  return ours ? run : null;
}
