/** Values known only here and now, for the shell: quick, silent, and asked for at most once a minute. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { choose } from '../../../cli/dispatch.ts';
import { commandNames, readCatalog } from '../../../cli/help/catalog.ts';
import { runtime } from '../../../cli/runtime.ts';
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { writePrivate } from '../../../local/private-file.ts';
import { type Kind, kindOfArgument, kindOfFlag } from './kinds.ts';

const FRESH_MS = 60_000;

interface Asked {
  kind: Kind;
  /** What narrows it, as typed so far. */
  server?: string | undefined;
  board?: string | undefined;
  as?: string | undefined;
}

/** What the last of the words stands for; null where any text may stand. */
export function askedFor(words: string[]): Asked | null {
  const catalog = readCatalog(runtime().root);
  const before = words.slice(0, -1);
  const chosen = choose(before, commandNames(catalog));
  if (chosen.kind !== 'command') return null;
  const command = catalog.commands[chosen.id]!;
  const flags = Object.values(command.flags);
  const named = (word: string | undefined) =>
    flags.find(({ name, char, type }) => type === 'option' && (word === `--${name}` || (char && word === `-${char}`)));
  const given = (flag: string) =>
    before.find((_, i) => named(before[i - 1])?.name === flag) ??
    before.find((word) => word.startsWith(`--${flag}=`))?.slice(`--${flag}=`.length);
  const flag = named(before.at(-1));
  const kind = flag ? kindOfFlag(flag.name) : kindOfArgument(command);
  return kind && { kind, server: given('server'), board: given('board'), as: given('as') };
}

/** The values, from the last minute's answer or from `read`. */
export async function cachedValues(asked: Asked, read: () => Promise<string[]>): Promise<string[]> {
  const { folders, env } = runtime();
  const parts = [asked, process.cwd(), env.SERVICE_SERVER, env.SERVICE_BOARD, env.SERVICE_AGENT, env.SERVICE_TOKEN];
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  const path = join(folders.cache, 'complete', key);
  try {
    const { at, values } = JSON.parse(readFileSync(path, 'utf8')) as { at: number; values: string[] };
    if (Math.abs(Date.now() - at) < FRESH_MS) return values;
  } catch {
    // Not asked yet.
  }
  const values = await read();
  writePrivate(path, JSON.stringify({ at: Date.now(), values }));
  return values;
}

/** The names of a kind, asked of the server. */
export async function namesOf(kind: Kind, open: Opener): Promise<string[]> {
  if (kind === 'boards') return (await (await open.session()).client.call('listBoards')).data.boards.map((b) => b.name);
  if (kind === 'keys') return (await (await open.session()).client.call('listKeys')).data.keys.map((key) => key.name);
  const { client, board } = await open.board();
  const input = { params: { board } };
  if (kind === 'files') return (await client.call('listFiles', input)).data.files.map((file) => file.name);
  if (kind === 'tasks') return (await client.call('listTasks', input)).data.tasks.map((task) => task.ref);
  if (kind === 'people') return (await client.call('listBoardPeople', input)).data.people.map((one) => one.handle);
  const { members } = (await client.call('listMembers', input)).data;
  const names = members.map((member) => member.name);
  return kind === 'targets' ? ['all', ...names.map((name) => `@${name}`)] : names;
}

interface Opener {
  session(): Promise<Pick<BoardSession, 'client'>>;
  board(): Promise<BoardSession>;
}
