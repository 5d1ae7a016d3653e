/** Where a request comes from. Headers that name a client are never read: whoever sends them may write anything. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6, type Socket } from 'node:net';
import type { Site } from './site.ts';

/** A client, as far as its connection tells. */
export interface Client {
  address: string;
  /**
   * What limits per address count it under. Null: the peer of a team's server that is on its own network is the proxy in
   * front of it, and so everybody.
   */
  subject: string | null;
}

/** Addresses of this machine and of private networks. */
const nearby = new BlockList();
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  nearby.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  nearby.addSubnet(address, bits, 'ipv6');

/** Clients that the proxy in front of this server told of, by their connection. */
const told = new WeakMap<Socket, string>();

/** Notes whom a connection comes from in truth. */
export const tellClient = (socket: Socket, address: string): void => void told.set(socket, plain(address));

export function clientOf({ socket }: IncomingMessage, mode: Site['mode']): Client {
  const client = told.get(socket);
  if (client !== undefined) return { address: client, subject: subjectOf(client) };
  const peer = plain(socket.remoteAddress ?? '');
  return { address: peer, subject: mode === 'team' && isNearby(peer) ? null : subjectOf(peer) };
}

/** Whether an address is of this machine or of a private network. */
export function isNearby(address: string): boolean {
  const bare = plain(address);
  if (isIPv4(bare)) return nearby.check(bare, 'ipv4');
  return isIPv6(bare) && nearby.check(bare, 'ipv6');
}

/** An IPv4 address in IPv6 form is unwrapped, and the name of an interface dropped. */
function plain(address: string): string {
  const bare = address.split('%', 1)[0] ?? '';
  const groups = isIPv6(bare) ? groupsOf(bare) : [];
  const wrapped = groups.length === 8 && groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!wrapped) return bare;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** An IPv4 address itself; of an IPv6 address its /64, which one client may use freely. */
function subjectOf(address: string): string {
  if (!isIPv6(address)) return address;
  const network = groupsOf(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/** The eight groups of an IPv6 address in any of its spellings. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${hex(Number(dotted[2]), Number(dotted[3]))}:${hex(Number(dotted[4]), Number(dotted[5]))}`
    : address;
  const [head = '', tail] = text.split('::');
  const before = numbers(head);
  if (tail === undefined) return before;
  const after = numbers(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const hex = (high: number, low: number): string => (high * 256 + low).toString(16);
const numbers = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
