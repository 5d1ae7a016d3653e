/** Checks the extra certificates and proxies that the environment names. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Env } from '../../../local/folders.ts';
import { type Check, type Finding, failing, fine } from '../lib/check.ts';

const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'];
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];

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
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return [];
  return [failing('network', 'settings_unreadable', `${name} is not the address of a proxy.`, `unset ${name}`)];
}
