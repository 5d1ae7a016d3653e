/** Addresses of servers in their one canonical form. */
import { Failure, usage } from './failure.ts';

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a `--server` value is an address rather than a name. */
export function looksLikeUrl(text: string): boolean {
  return text.includes('://');
}

/** Whether the address is a loopback address. */
export const isLoopback = (url: string): boolean => loopback.has(new URL(url).hostname);

/** Lower case, no default port, no path; every spelling of this machine becomes 127.0.0.1. */
export function canonicalOrigin(text: string): string {
  if (!URL.canParse(text))
    throw usage(`"${text}" is not the address of a server.`, 'It looks like https://team.example.com');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw usage(`"${text}" is neither http nor https.`);
  if (url.username || url.password || url.search || url.hash || (url.pathname !== '/' && url.pathname !== ''))
    throw usage(`"${text}" must be only scheme, host and port.`, `Use ${url.protocol}//${url.host}`);
  const local = loopback.has(url.hostname);
  if (!local && url.protocol !== 'https:')
    throw new Failure('insecure_server', `${text} is not encrypted, so no key is sent there.`, {
      hint: `Use https://${url.host}`,
    });
  const host = local ? `127.0.0.1${url.port ? `:${url.port}` : ''}` : url.host;
  return `${url.protocol}//${host.toLowerCase()}`;
}
