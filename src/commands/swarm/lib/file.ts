/** Finds and parses `service.yaml`, the file of the agents that work together on a board. Never written. */
import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { nearestNames } from '../../../cli/parsing/spelling.ts';
import { idPattern, patterns, reservedMemberNames } from '../../../contract/ids.ts';
import { memberName, roleName } from '../../../contract/schemas.ts';
import { shellArgument } from '../../../contract/text.ts';
import { type Failure, usage } from '../../../local/failure.ts';
import { findUpward, unsafe } from '../../../local/upward.ts';

/** Agents in one file. */
export const MOST_AGENTS = 50;
const MOST_BYTES = 256 * 1024;
const NAME = 'service.yaml';
const brdId = idPattern('brd');

const word = (most: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(most, `must have at most ${most} characters`)
    .refine((text) => !text.includes('\0'), 'must not hold a null character');
const slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be small letters, digits and hyphens');

const agent = z.strictObject({
  name: memberName.refine((name) => !reservedMemberNames.includes(name), 'is a reserved name; choose another one'),
  harness: slug,
  role: roleName.optional(),
  model: word(200).optional(),
  args: z.array(word(4_096)).max(100, 'must be at most 100 words').optional(),
  launcher: slug.optional(),
  dir: word(4_096).optional(),
  reply: z.boolean().optional(),
});

const swarm = z.strictObject({
  board: z
    .string()
    .refine(
      (text) => patterns.boardName.test(text) || brdId.test(text),
      'must be 2 to 40 small letters, digits and hyphens, with no hyphen at either end, or the id of a board',
    ),
  server: word(500).optional(),
  agents: z
    .array(agent)
    .min(1, 'must name an agent')
    .max(MOST_AGENTS, `must be at most ${MOST_AGENTS}`)
    .superRefine((agents, { addIssue }) => {
      const seen = new Set<string>();
      for (const [i, { name }] of agents.entries()) {
        if (seen.has(name)) addIssue({ code: 'custom', path: [i, 'name'], message: `${name} is there twice` });
        seen.add(name);
      }
    }),
});

export type NewAgentOptions = z.infer<typeof agent>;

export interface SwarmFile extends z.infer<typeof swarm> {
  /** Absolute. */
  path: string;
}

/**
 * @param named the file of `--file`, whose ever it is.
 * @throws Failure `invalid_request` (exit 2) with each wrong line, `project_unsafe` for one that was found and is a stranger's
 */
export async function readSwarmFile(named: string | undefined): Promise<SwarmFile> {
  const { path, bytes } = named === undefined ? foundFile() : namedFile(resolve(named));
  const read = await parsed(textOf(path, bytes));
  if ('problems' in read) throw wrong(path, read.problems);
  return { ...read.swarm, path };
}

/** The first one from this folder upward. It says which programs are run, so it has to be this user's. */
function foundFile(): { path: string; bytes: Buffer } {
  const found = findUpward(NAME, MOST_BYTES + 1);
  if (!found)
    throw usage(
      `There is no ${NAME} in this folder or above it.`,
      `Write one: printf 'board: general\\nagents:\\n  - name: claude\\n    harness: claude-code\\n' > ${NAME}`,
    );
  const { path, own } = found;
  if (own) return found;
  throw unsafe(path, `Look at it, and name it if you trust it: service swarm up --file ${shellArgument(path)}`);
}

/** Whether two paths lead to one file, perhaps by links. */
export const sameFile = (one: string, other: string): boolean =>
  one === other || (!isGone(one) && realPath(one) === realPath(other));

/** Whether no file is at a path any more: it was moved, or its folder was. */
export const isGone = (path: string): boolean => realPath(path) === null;

/** A path without links; null where nothing is there. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : path;
  }
}

function namedFile(path: string): { path: string; bytes: Buffer } {
  try {
    return { path, bytes: readFileSync(path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usage(`${path} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : code}.`, `ls -l '${path}'`);
  }
}

function textOf(path: string, bytes: Buffer): string {
  if (bytes.length > MOST_BYTES) throw usage(`${path} is longer than 256 KiB.`, 'A swarm has at most 50 agents');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usage(`${path} is not UTF-8.`, `iconv -t UTF-8 '${path}'`);
  }
}

async function parsed(text: string): Promise<{ swarm: z.infer<typeof swarm> } | { problems: Problem[] }> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    return {
      problems: faults.map(({ code, message, pos }) => ({
        line: lines.linePos(pos[0]).line,
        message:
          code === 'MULTIPLE_DOCS' ? 'a second document begins here; write each into a file of its own' : message,
      })),
    };
  let value: unknown;
  try {
    // Few names for parts are enough for fifty agents; more would be an attempt to fill the memory.
    value = document.toJS({ maxAliasCount: MOST_AGENTS * 10 });
  } catch (error) {
    return { problems: [{ line: 1, message: (error as Error).message }] };
  }
  const checked = swarm.safeParse(value);
  if (checked.success) return { swarm: checked.data };
  const lineOf = (path: PropertyKey[]): number => {
    for (let keys = path; ; keys = keys.slice(0, -1)) {
      const node = keys.length === 0 ? document.contents : document.getIn(keys, true);
      const range = (node as { range?: [number, number, number] } | null | undefined)?.range;
      if (range) return lines.linePos(range[0]).line;
      if (keys.length === 0) return 1;
    }
  };
  return { problems: fileProblems(checked.error.issues, value, { swarm, agent }, lineOf) };
}

function wrong(path: string, problems: Problem[]): Failure {
  const lines = problems.map(({ line, message }) => `line ${line}: ${message}`);
  const more = lines.length > 1;
  const details = { problems, ...(more ? { lines } : {}) };
  return usage(`${path} ${lines[0]}${more ? ', and more' : ''}.`, 'service swarm up --help', details);
}

interface Problem {
  line: number;
  message: string;
}

/** One for each place, with its line. @param value what the file holds */
function fileProblems(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  known: Record<'swarm' | 'agent', z.ZodObject>,
  lineOf: (path: PropertyKey[]) => number,
): Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return [{ line: lineOf(issue.path), message: `${placeOf(issue.path)} ${inWords(issue, at(value, issue.path))}` }];
    const names = Object.keys((issue.path.length === 0 ? known.swarm : known.agent).shape);
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      return { line: lineOf(path), message: `${placeOf(path)} is not known; ${meant(key, names)}` };
    });
  });
}

/** "Did you mean …?" with the most similar name, else a list of all names. */
export function meant(typed: string, names: readonly string[]): string {
  const begun = names.filter((name) => typed.length > 2 && name.startsWith(typed));
  const found = nearestNames(typed, names)[0] ?? begun[0];
  return found ? `did you mean ${found}?` : `known are ${names.join(', ')}`;
}

function inWords(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== 'invalid_type') return issue.message;
  if (value === undefined || value === null) return issue.path.length === 0 ? 'is empty' : 'is missing';
  if (issue.expected === 'string') return 'must be text; write it in quotes';
  if (issue.expected === 'boolean') return 'must be true or false';
  if (issue.expected === 'array') return 'must be a list, each entry after a dash';
  return 'must be fields and values';
}

const placeOf = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? 'the file'
    : path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`)).join('');

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
