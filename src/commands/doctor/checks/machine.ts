/** Checks the machine: the version of Node.js, the disk space, and what the environment names for the network. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { sizeText } from '../../../cli/terminal/fields.ts';
import type { Env } from '../../../local/folders.ts';
import { isProxy, takesProxies } from '../../../local/node-fetch.ts';
import { olderThan } from '../../../local/versions.ts';
import { type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { dataFolder } from './data.ts';
import { isWritable, nearest } from './folders.ts';

export const node: Check = {
  name: 'node',
  async run() {
    const { engines } = JSON.parse(readFileSync(join(runtime().root, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    const needed = engines.node.slice('>='.length);
    if (olderThan(process.versions.node, `${needed}.0`))
      return [
        failing('node', 'node_outdated', `Node.js ${process.version} is older than ${needed}.`, 'nvm install 24'),
      ];
    const known = ['linux', 'darwin'].includes(process.platform);
    if (known) return [fine('node', `Node.js ${process.version} on ${process.platform}-${process.arch}`)];
    const problem = `Messages are not delivered to sessions on ${process.platform}; pulling them works.`;
    return [warning('node', 'unsupported_platform', problem, 'service inbox --wait 60')];
  },
};

/** A few uploads of the largest size. */
const LITTLE = 500 * 1024 * 1024;
/** Not even one, and a database may fail in the middle of its work. */
const NONE = 60 * 1024 * 1024;

export const disk: Check = {
  name: 'disk',
  async run(around) {
    const free = new Map<string, number>();
    for (const folder of [dataFolder(around), around.folders.cache]) {
      const place = nearest(folder);
      // How much there is left of what cannot be written is no answer.
      if (!isWritable(place)) continue;
      const { bavail, bsize } = await statfs(place);
      free.set(place, bavail * bsize);
    }
    return [...free].map(([place, bytes]) => judged(place, bytes));
  },
};

function judged(place: string, bytes: number): Finding {
  const message = `${sizeText(bytes)} free where ${place} is`;
  const look = `df -h '${place}'`;
  if (bytes < NONE) return failing('disk', 'storage_full', `Only ${message}.`, look);
  if (bytes < LITTLE) return warning('disk', 'storage_full', `Only ${message}.`, look);
  return fine('disk', message);
}

const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'];
/** Servers on other machines are reached by https alone. */
const PROXIES = ['HTTPS_PROXY', 'https_proxy'];

export const network: Check = {
  name: 'network',
  async run({ env }) {
    const findings = [
      ...CERTIFICATES.flatMap((name) => certificate(name, env)),
      ...PROXIES.flatMap((name) => proxy(name, env)),
    ];
    if (findings.length > 0) return findings;
    const named = [...CERTIFICATES, ...PROXIES].filter((name) => env[name]);
    return [
      fine('network', named.length === 0 ? 'no proxy, no extra certificates' : `${named.join(', ')} can be used`),
    ];
  },
};

/** A file that cannot be read is passed over without a word by everything else. */
function certificate(name: string, env: Env): Finding[] {
  const path = env[name];
  if (!path) return [];
  try {
    new X509Certificate(readFileSync(path));
    return [];
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).syscall ? 'cannot be read' : 'holds no certificate';
    return [failing('network', 'settings_unreadable', `${name}: ${path} ${why}.`, `unset ${name}`)];
  }
}

/** Its value may hold a password, so it is not repeated. */
function proxy(name: string, env: Env): Finding[] {
  const value = env[name];
  if (!value) return [];
  const { version, versions } = process;
  if (!takesProxies(versions.node))
    return [warning('network', 'node_outdated', `Node.js ${version} does not use ${name}.`, 'nvm install 24')];
  if (isProxy(value)) return [];
  return [failing('network', 'settings_unreadable', `${name} is not the address of a proxy.`, `unset ${name}`)];
}
