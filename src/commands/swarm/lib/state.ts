/** Stores what was started for each agent of this machine's swarms. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { sleep } from '../../../client/time.ts';
import { shellArgument } from '../../../contract/text.ts';
import { swarmsFolder } from '../../../launch/launchers.ts';
import { modes } from '../../../launch/protocol.ts';
import { makeFolder } from '../../../local/folders.ts';
import { parseOwn, readPrivate, writePrivate } from '../../../local/private-file.ts';
import type { Launchers } from './plan.ts';

const text = z.string();

const agent = z.object({
  member_id: text,
  /** The `service.yaml` that it was started from. */
  file: text,
  harness: text,
  launcher: text,
  mode: z.enum(modes),
  dir: text,
  /** Hash of what `service.yaml` said when it was started (`settingsHash`). */
  wish: text,
  /** Null where nobody heard that it was started, or it was stopped. */
  handle: text.nullable(),
  attach: text.nullable(),
  /** Its launcher runs it, and gave no handle. */
  no_handle: z.boolean().optional(),
  /** When it was started, or was about to be; null once it was stopped or refused. */
  started_at: text.nullable(),
  /** The session that took its seat, as `<harness>:<id>`. */
  session: text.nullable(),
  /** A session that could not be taken up again. */
  lost_session: text.nullable().default(null),
});

/** Without what every object has: an agent may be called `constructor`. */
const bare = <T>(entries: [string, T][]): Record<string, T> =>
  Object.assign(Object.create(null), Object.fromEntries(entries));

const record = z
  .object({
    v: z.literal(1),
    name: text,
    board: text,
    board_id: text,
    server: z.object({ name: text, url: text, server_id: text }),
    /** The one that was used last. */
    file: text,
    agents: z.record(text, agent),
  })
  .transform(({ agents, ...swarm }) => ({ ...swarm, agents: bare(Object.entries(agents)) }));

export type SwarmRecord = z.infer<typeof record>;
export type StartedAgent = SwarmRecord['agents'][string];

/** Whether it was about to be started, and only its launcher can tell what came of that. */
export const isUnsure = ({ handle, started_at }: StartedAgent): boolean => handle === null && started_at !== null;

/** Why nobody here can tell whether it runs. */
export const unsureText = ({ launcher, no_handle }: StartedAgent): string =>
  no_handle ? `${launcher} runs it, but gave no handle to find it by.` : `Nobody heard whether ${launcher} started it.`;

/** Every file that agents of a swarm were started from, the last one first. */
export const filesOf = ({ file, agents }: SwarmRecord): string[] => [
  ...new Set([file, ...Object.values(agents).map((started) => started.file)]),
];

/** A command about a swarm, with the file that its person named. @param path of `--file` */
export const swarmCommand = (words: string, path: string | undefined): string =>
  `service swarm ${words}${path === undefined ? '' : ` --file ${shellArgument(path)}`}`;

const folder = () => swarmsFolder(runtime().folders);
const pathOf = (name: string): string => join(folder(), `${name}.json`);
const isRecord = (value: unknown): value is SwarmRecord => record.safeParse(value).success;

/** A name that no other swarm has: of this board, on this server, of this person's folders. */
export function swarmName(board: string, serverId: string): string {
  const unique = createHash('sha256').update(`${runtime().folders.state}\n${serverId}\n${board}`).digest('hex');
  return `${board}-${unique.slice(0, 6)}`;
}

/** What is noted of a swarm; null where nothing is. @throws Failure `config_corrupt`, `credentials_unsafe` */
export function readSwarm(name: string): SwarmRecord | null {
  const path = pathOf(name);
  const content = readPrivate(path);
  return content === null ? null : record.parse(parseOwn(path, content, isRecord));
}

/** Every swarm of this machine, by name. */
export function allSwarms(): SwarmRecord[] {
  return namesIn(folder()).flatMap((name) => readSwarm(name) ?? []);
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
      .filter((name) => /^[a-z0-9-]+\.json$/.test(name))
      .map((name) => name.slice(0, -'.json'.length))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const AGAIN_MS = 50;
const TELL_MS = 1_000;

/** One swarm on this machine, with its launchers. */
export class Swarm {
  readonly name: string;
  readonly launchers: Launchers;
  readonly out: Output;
  readonly #base: SwarmRecord;
  readonly #path: string | undefined;

  /**
   * @param base as it is when nothing is noted of it yet
   * @param path of `--file`
   */
  constructor(base: SwarmRecord, launchers: Launchers, out: Output, path?: string) {
    this.#base = base;
    this.#path = path;
    this.name = base.name;
    this.launchers = launchers;
    this.out = out;
  }

  /** One command at a time starts or stops agents; another waits. The lock ends with its holder, however it ends. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const { takeKernelLock } = await import('../../../local/kernel-lock.ts');
    makeFolder(folder());
    const path = join(folder(), `${this.name}.lock`);
    const tell = performance.now() + TELL_MS;
    let told = false;
    for (;;) {
      const lock = takeKernelLock(path);
      if (lock)
        try {
          return await work();
        } finally {
          lock.release();
        }
      if (!told && performance.now() > tell) {
        this.out.note('Another command of this swarm runs; waiting for it…');
        told = true;
      }
      await sleep(AGAIN_MS);
    }
  }

  /** The path of service.yaml. */
  get file(): string {
    return this.#base.file;
  }

  /** What is noted of an agent; null where nothing is. */
  noted(name: string): StartedAgent | null {
    return readSwarm(this.name)?.agents[name] ?? null;
  }

  /** Notes an agent. Only within `alone`. */
  note(name: string, started: StartedAgent): void {
    this.#write({ ...readSwarm(this.name)?.agents, [name]: started });
  }

  /** Forgets an agent. Only within `alone`. */
  forget(name: string): void {
    const { [name]: _, ...others } = readSwarm(this.name)?.agents ?? {};
    this.#write(others);
  }

  /** A command about it, with the file that its person named. */
  command(words: string): string {
    return swarmCommand(words, this.#path);
  }

  #write(agents: SwarmRecord['agents']): void {
    writePrivate(pathOf(this.name), `${JSON.stringify({ ...this.#base, agents }, null, 2)}\n`);
  }
}
