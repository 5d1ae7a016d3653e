/** Client addresses as far as limits count them. */
import { BlockList, isIPv6 } from 'node:net';

/** An address as it is shown and compared: an IPv4 address in IPv6 form is unwrapped, the name of an interface dropped. */
export function plainAddress(address: string): string {
  const bare = address.split('%', 1)[0] ?? '';
  if (!isIPv6(bare)) return bare;
  // The platform's parser knows every spelling and writes one.
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${bare}]`).hostname) ?? [];
  if (high === undefined || low === undefined) return bare;
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** What counts as one client: an IPv4 address itself, of an IPv6 address its /64. */
export function network(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const [left, right] = [head, tail].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]];
  const zeros = new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

const privateNetworks = new BlockList();
const private4 = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'];
for (const subnet of [...private4, '::1/128', 'fc00::/7', 'fe80::/10']) {
  const [net = '', prefix] = subnet.split('/');
  privateNetworks.addSubnet(net, Number(prefix), isIPv6(net) ? 'ipv6' : 'ipv4');
}

/** Loopback and private networks: what a team server sees of its own reverse proxy, and then of everybody. */
export const isPrivate = (address: string): boolean =>
  privateNetworks.check(address.split('%')[0] ?? '', isIPv6(address) ? 'ipv6' : 'ipv4');
