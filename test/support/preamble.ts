/** What a proxy sends first. */
import { isIPv6 } from 'node:net';

export const line = (from: string): string =>
  `PROXY ${isIPv6(from) ? `TCP6 ${from} ::1` : `TCP4 ${from} 127.0.0.1`} 40000 443\r\n`;

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];

/** Version 2 from its parts. */
export function binary(command: number, family: number, rest: Buffer, length = rest.length): Buffer {
  return Buffer.concat([Buffer.from([...SIGNATURE, command, family, length >> 8, length & 255]), rest]);
}

/** Version 2 of a connection from an IPv4 address, or from eight groups of IPv6. @param more what some proxies add. */
export function binaryFrom(from: string | number[], more: Buffer = Buffer.alloc(0)): Buffer {
  const ports = Buffer.from([0x9c, 0x40, 0x01, 0xbb]);
  const address = typeof from === 'string' ? Buffer.from(from.split('.').map(Number)) : Buffer.alloc(16);
  if (typeof from !== 'string') for (const [index, group] of from.entries()) address.writeUInt16BE(group, 2 * index);
  const to = Buffer.alloc(address.length, 1);
  return binary(0x21, typeof from === 'string' ? 0x11 : 0x21, Buffer.concat([address, to, ports, more]));
}
