/** Checks that every known server answers, kept its identity, has a compatible version and accepts the key; and that this machine's own one runs. */
import { keyEnded } from '../../../cli/session/ended-key.ts';
import { here } from '../../../cli/session/here.ts';
import { ClientError } from '../../../client/errors.ts';
import type { ServerEntry } from '../../../local/keys/credentials.ts';
import { readKey } from '../../../local/keys/keystore.ts';
import { localAddress, originOf } from '../../../local/own-server/address.ts';
import { isOnLoopback } from '../../../local/own-server/own-agent.ts';
import { accepts, probe } from '../../../local/own-server/probe.ts';
import { currentServer } from '../../../local/own-server/running.ts';
import { endLine } from '../../../local/own-server/start.ts';
import { loginCommand } from '../../../local/servers.ts';
import { olderThan } from '../../../local/versions.ts';
import { type Asked, addressOf, askWhatItIs, clientAt } from '../lib/ask-server.ts';
import { type Around, type Check, type Finding, failing, fine, warning } from '../lib/check.ts';

const SKEW_MS = 60_000;

export const servers: Check = {
  name: 'servers',
  async run(around) {
    const known = Object.entries(around.saved?.servers ?? {});
    return (await Promise.all(known.map(([origin, entry]) => lookAt(origin, entry, around)))).flat();
  },
};

async function lookAt(saved: string, entry: ServerEntry, around: Around): Promise<Finding[]> {
  const name = nameOf(entry);
  const origin = await addressOf(saved, entry, around);
  // Its own check says that it does not run.
  if (origin === null) return [];
  let asked: Asked;
  try {
    asked = await askWhatItIs(origin, entry, around);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return [unreachable(name, error.code, error.message, `service server info ${origin}`)];
  }
  if (asked.info.server_id !== entry.server_id) {
    const problem = `Another server than before is at ${origin}, so no key was sent there.`;
    return [failing(name, 'server_identity_changed', problem, `service login ${origin}`)];
  }
  const findings = [
    ...versionOf(name, asked.info.version, around.version),
    ...featuresOf(name, asked),
    ...clockOf(name, asked.skewMs),
  ];
  findings.push(...(await keyOf(name, asked, around)));
  return findings.length > 0
    ? findings
    : [fine(name, `${origin} answers, version ${asked.info.version}, key accepted`)];
}

/** In a sandbox without a network no server answers, which says nothing about it. */
function unreachable(name: string, code: string, message: string, fix: string): Finding {
  const { sandbox } = here();
  if (!sandbox || sandbox.network || code !== 'server_unreachable') return failing(name, code, message, fix);
  const problem = 'This sandbox has no network, so no server can be asked from it.';
  return failing(name, 'sandbox_blocks_network', problem, sandbox.fix);
}

const nameOf = (entry: ServerEntry): string => `server ${entry.mode === 'local' ? 'local' : entry.name}`;

/** Versions below 1 go together one apart in the middle number, others one apart in the first. */
function versionOf(name: string, its: string, ours: string): Finding[] {
  const [theirs, own] = [its, ours].map((text) => /^(\d+)\.(\d+)\./.exec(text)?.slice(1).map(Number));
  if (!theirs || !own) return [warning(name, 'version_unknown', `Its version "${its}" cannot be read.`, null)];
  const [major = 0, minor = 0] = theirs;
  const [ownMajor = 0, ownMinor = 0] = own;
  const apart = major === 0 && ownMajor === 0 ? Math.abs(minor - ownMinor) : Math.abs(major - ownMajor);
  if (apart <= 1) return [];
  return [
    warning(
      name,
      'version_skew',
      `It is version ${its}, this program ${ours}: too far apart.`,
      olderThan(ours, its) ? 'npm install -g board-service' : null,
    ),
  ];
}

/** What commands and the daemon ask of a server. */
const NEEDED = ['tasks', 'asks', 'lines', 'files', 'onboarding', 'search', 'board_stream'];

function featuresOf(name: string, { origin, info }: Asked): Finding[] {
  const missing = NEEDED.filter((feature) => !info.features?.includes(feature));
  if (missing.length === 0) return [];
  const problem = `Its version ${info.version} does not have ${missing.join(', ')}; its operator can update it.`;
  return [warning(name, 'server_outdated', problem, `service server info ${origin}`)];
}

function clockOf(name: string, skewMs: number | null): Finding[] {
  if (skewMs === null || Math.abs(skewMs) <= SKEW_MS) return [];
  const [seconds, way] = [Math.round(Math.abs(skewMs) / 1000), skewMs > 0 ? 'ahead of' : 'behind'];
  return [
    warning(name, 'clock_skew', `Its clock is ${seconds} seconds ${way} this machine's.`, 'timedatectl set-ntp true'),
  ];
}

async function keyOf(name: string, { origin, entry }: Asked, around: Around): Promise<Finding[]> {
  // A locked keychain is the finding of another check.
  const token = await readKey(around.folders, origin, entry).catch(() => null);
  if (token === null) return [];
  try {
    await clientAt(origin, entry, around, { token }).call('getMe', { maxAttempts: 1 });
    return [];
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === 'unauthorized')
      return [failing(name, error.code, keyEnded(origin), loginCommand(origin, entry.mode === 'local'))];
    return [failing(name, error.code, error.message, `service server info ${origin}`)];
  }
}

export const localServer: Check = {
  name: 'local server',
  async run({ folders, env, version }) {
    const running = await currentServer(folders, env);
    if (!running) return [await free(originOf(localAddress(folders, env)), localAddress(folders, env).source)];
    const { url, pid, version: its } = running;
    if (!isOnLoopback(url)) return [fine('local server', `a team’s server, ${url}, runs on its data`)];
    if (!running.answers || !(await probe(url))) {
      const problem = `Its process runs, but nothing answers at ${url}.`;
      const fix = pid === null ? 'service server restart' : endLine(pid);
      return [unreachable('local server', 'server_unreachable', problem, fix)];
    }
    if (olderThan(its, version)) {
      const problem = `It is version ${its}, older than this build (${version}).`;
      return [warning('local server', 'server_outdated', problem, 'service server restart')];
    }
    return [fine('local server', `running at ${url}, version ${its}`)];
  },
};

async function free(origin: string, source: 'chosen' | 'recorded' | 'default') {
  if (!(await accepts(origin))) return fine('local server', 'not running; the first command that needs it starts it');
  const problem = `Another program listens at ${origin}`;
  // Only an address that was chosen is kept to; else the next free port is taken.
  if (source !== 'chosen')
    return fine('local server', `not running; ${problem.toLowerCase()}, so another port is taken`);
  const next = `export SERVICE_LOCAL_ADDR=127.0.0.1:${Number(new URL(origin).port) + 1}`;
  return failing('local server', 'address_in_use', `${problem}, where this machine's server is to be.`, next);
}
