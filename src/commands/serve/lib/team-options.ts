/** Validates the options of a team server and reports all problems at once. */
import { isAbsolute } from 'node:path';
import { EXIT } from '../../../cli/errors.ts';
import { patterns, reservedHandles } from '../../../contract/ids.ts';
import { publicOrigin } from '../../../contract/links.ts';
import { Failure } from '../../../local/failure.ts';
import type { Env } from '../../../local/folders.ts';
import type { ServeOptions } from '../../../server/serve.ts';
import type { ServeFlags } from './flags.ts';

type TeamServe = Pick<ServeOptions, 'dataDir' | 'host' | 'port' | 'portFixed' | 'team' | 'waitForDb'> & {
  workers: number;
};

type Storage = Pick<ServeOptions, 'db' | 'files'>;

/** What is wrong with the settings: in general, and with where the database and the files are. */
export interface Faults {
  general: string[];
  storage: string[];
}

const DEFAULT_LISTEN = '0.0.0.0:7400';
const DEFAULT_ADMIN = 'admin';
const DEFAULT_WAIT = 60;
const MAX_WORKERS = 32;
const UNSHARED =
  'Several workers need a Postgres, and the files in it or in S3. Set SERVICE_DB to postgres://… and SERVICE_FILES to db: or s3://BUCKET/PREFIX, or leave --workers out';

/** @throws Failure `invalid_request` that names everything that is missing or wrong; `storage_unsupported` if that is all. */
export function readTeamOptions(flags: ServeFlags, env: Env, storage: Storage, faults: Faults): TeamServe {
  const { general: problems } = faults;
  const missing: string[] = [];
  /** A flag beats its variable; an empty variable says nothing. */
  const read = <T>(flag: 'public-url' | 'data' | 'listen' | 'admin', variable: string, value: Reading<T>): T | null => {
    const given = flags[flag] ?? (env[variable] || undefined);
    const source = flags[flag] === undefined ? variable : `--${flag}`;
    if (given === undefined && value.usual === undefined) {
      missing.push(`--${flag}`);
      problems.push(`--${flag} or ${variable} is missing: ${value.meaning}`);
      return null;
    }
    const found = value.parse(given ?? value.usual ?? '');
    if (found === null) problems.push(`${source} is "${given}", but must be ${value.meaning}`);
    return found;
  };
  const publicUrl = read('public-url', 'SERVICE_PUBLIC_URL', {
    meaning:
      'the address people use, https://host or https://host:port and nothing after it, with 127.0.0.1 instead of localhost',
    parse: publicOrigin,
  });
  const dataDir = read('data', 'SERVICE_DATA', {
    meaning: 'the absolute path of a folder for its data',
    parse: (path) => (isAbsolute(path) ? path : null),
  });
  const listen = read('listen', 'SERVICE_LISTEN', {
    usual: DEFAULT_LISTEN,
    meaning: `an address and a port, such as ${DEFAULT_LISTEN}`,
    parse: parseListen,
  });
  const adminHandle = read('admin', 'SERVICE_ADMIN', {
    usual: DEFAULT_ADMIN,
    meaning: "the first admin's handle: up to 40 small letters and digits, in groups joined by hyphens",
    parse: (handle) => (mayBeHandle(handle) ? handle : null),
  });
  const rateFactor = readFactor(env.SERVICE_RATE_FACTOR, problems);
  const waitForDb = readWait(flags, env, DEFAULT_WAIT, faults);
  const workers = readWorkers(flags, env, storage, faults);
  if (publicUrl === null || dataDir === null || listen === null || adminHandle === null || hasFaults(faults))
    throw refusal(faults, missing);
  const team = { publicUrl, adminHandle, rateFactor, proxyProtocol: flags['proxy-protocol'] === true };
  return { dataDir, ...listen, portFixed: true, team, waitForDb, workers };
}

interface Reading<T> {
  /** What it is where nothing is given; without, it has to be given. */
  usual?: string;
  meaning: string;
  /** Null for what it must not be. */
  parse(text: string): T | null;
}

/** `host:port`, with an IPv6 address in brackets. */
function parseListen(text: string): { host: string; port: number } | null {
  const [, bracketed, bare, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? bare;
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

const mayBeHandle = (text: string): boolean =>
  patterns.handle.test(text) && text.length <= 40 && !reservedHandles.includes(text);

function readFactor(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return Number(text);
  problems.push(`SERVICE_RATE_FACTOR is "${text}", but must be a number; 0 turns the limits on signed-in work off`);
  return undefined;
}

/** Seconds for which a start waits for its database. */
export function readWait(flags: ServeFlags, env: Env, usual: number, { general }: Faults): number {
  const text = flags['wait-for-db'] ?? (env.SERVICE_WAIT_FOR_DB || String(usual));
  if (/^\d{1,4}$/.test(text)) return Number(text);
  const source = flags['wait-for-db'] === undefined ? 'SERVICE_WAIT_FOR_DB' : '--wait-for-db';
  general.push(`${source} is "${text}", but must be seconds, 0 to 9999`);
  return usual;
}

/** How many processes serve; several have to share the database and the files. */
function readWorkers(flags: ServeFlags, env: Env, { db, files }: Storage, faults: Faults): number {
  const text = flags.workers === undefined ? env.SERVICE_WORKERS || '1' : String(flags.workers);
  const source = flags.workers === undefined ? 'SERVICE_WORKERS' : '--workers';
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (workers < 1 || workers > MAX_WORKERS)
    faults.general.push(`${source} is "${text}", but must be a number of 1 to ${MAX_WORKERS}`);
  else if (workers > 1 && !(/^postgres(ql)?:/.test(db ?? '') && /^(db:|s3:)/.test(files ?? '')))
    faults.storage.push(`${source}: ${UNSHARED}`);
  return workers;
}

/** Whether anything is wrong. */
export const hasFaults = ({ general, storage }: Faults): boolean => general.length + storage.length > 0;

/** Names all that is wrong, and of a team's server what is missing: exit code 2. */
export function refusal({ general, storage }: Faults, missing?: string[]): Failure {
  const lines = [...general, ...storage];
  // Each line begins with what it is about.
  const named = new Set(lines.map((line) => line.split(/[ :]/, 1)[0] ?? ''));
  const wrong = [...named].filter((name) => !missing?.includes(name));
  const what = Object.entries({ missing: missing ?? [], wrong }).filter(([, names]) => names.length > 0);
  const summary = what
    .map(([how, names]) => `${names.join(', ')} ${names.length > 1 ? 'are' : 'is'} ${how}`)
    .join('; ');
  const code = general.length === 0 ? 'storage_unsupported' : 'invalid_request';
  return new Failure(code, `The server is not started: ${summary}.`, {
    hint: missing?.length
      ? 'service serve --team --public-url https://team.example.com --data /srv/service --admin HANDLE'
      : '',
    details: { lines, ...(missing ? { missing } : {}) },
    exit: EXIT.usage,
  });
}
