/** Validates the options of a team server and reports all problems at once. */
import { isAbsolute } from 'node:path';
import { patterns, reservedHandles } from '../../../contract/ids.ts';
import { publicOrigin } from '../../../contract/public-url.ts';
import { type Failure, usage } from '../../../local/failure.ts';
import type { Env } from '../../../local/folders.ts';
import type { ServeOptions } from '../../../server/serve.ts';
import type { ServeFlags } from './flags.ts';

type TeamServe = Pick<ServeOptions, 'dataDir' | 'host' | 'port' | 'portFixed' | 'team' | 'waitForDb'>;

const DEFAULT_LISTEN = '0.0.0.0:7400';
const DEFAULT_ADMIN = 'admin';
const DEFAULT_WAIT = 60;

/** @throws Failure `invalid_request` that names everything that is missing or wrong. */
export function readTeamOptions(flags: ServeFlags, env: Env): TeamServe {
  const problems: string[] = [];
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
    meaning: 'the address people use, https://host or https://host:port and nothing after it',
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
  const waitForDb = readWait(flags, env, DEFAULT_WAIT, problems);
  if (publicUrl === null || dataDir === null || listen === null || adminHandle === null || problems.length > 0)
    throw incomplete(problems, missing);
  const team = { publicUrl, adminHandle, rateFactor, proxyProtocol: flags['proxy-protocol'] === true };
  return { dataDir, ...listen, portFixed: true, team, waitForDb };
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
export function readWait(flags: ServeFlags, env: Env, usual: number, problems: string[]): number {
  const text = flags['wait-for-db'] ?? (env.SERVICE_WAIT_FOR_DB || String(usual));
  if (/^\d{1,4}$/.test(text)) return Number(text);
  const source = flags['wait-for-db'] === undefined ? 'SERVICE_WAIT_FOR_DB' : '--wait-for-db';
  problems.push(`${source} is "${text}", but must be seconds, 0 to 9999`);
  return usual;
}

function incomplete(problems: string[], missing: string[]): Failure {
  return usage(
    'A team server is not started half-configured.',
    'service serve --team --public-url https://team.example.com --data /srv/service --admin HANDLE',
    { lines: problems, missing },
  );
}
