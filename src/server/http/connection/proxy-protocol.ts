/**
 * The PROXY protocol, versions 1 and 2: how a proxy tells, before the first byte of a connection, whom it comes from.
 * https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
 */
import type { Server } from 'node:http';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Clock } from '../../db/clock.ts';
import { isPrivate, plainAddress } from '../../text/address.ts';
import { tellClient } from './address.ts';

interface Preamble {
  /** How many bytes it takes. */
  length: number;
  /** The client; null: the proxy speaks for itself, or does not know. */
  address: string | null;
}

const V1 = Buffer.from('PROXY ');
const V2 = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
/** The longest line of version 1, with its end. */
const MAX_LINE = 107;
const V2_HEAD = 16;
/** More than any proxy adds to an address. */
const MAX_V2 = 4_096;
const WAIT_MS = 10_000;

/** Parses the header of a connection. @returns `more` while it is incomplete, `wrong` as soon as it is invalid. */
export function readPreamble(bytes: Buffer): Preamble | 'more' | 'wrong' {
  if (begins(bytes, V1)) return bytes.length < V1.length ? 'more' : readLine(bytes);
  if (begins(bytes, V2)) return bytes.length < V2_HEAD ? 'more' : readBinary(bytes);
  return 'wrong';
}

/** Whether the bytes so far are the beginning of a signature, or begin with it. */
function begins(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return bytes.subarray(0, length).equals(signature.subarray(0, length));
}

function readLine(bytes: Buffer): Preamble | 'more' | 'wrong' {
  const end = bytes.subarray(0, MAX_LINE).indexOf('\r\n');
  if (end === -1) return bytes.length < MAX_LINE ? 'more' : 'wrong';
  const length = end + 2;
  const line = bytes.toString('latin1', V1.length, end);
  if (line === 'UNKNOWN' || line.startsWith('UNKNOWN ')) return { length, address: null };
  const [family, from = '', to = '', ...ports] = line.split(' ');
  const fits = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isAddress6 : () => false;
  if (!fits(from) || !fits(to) || ports.length !== 2 || !ports.every(isPort)) return 'wrong';
  return { length, address: from };
}

const isAddress6 = (text: string): boolean => isIPv6(text) && !text.includes('%');
const isPort = (text: string): boolean => /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

function readBinary(bytes: Buffer): Preamble | 'more' | 'wrong' {
  const [command, family] = [bytes[12] ?? 0, bytes[13] ?? 0];
  const length = V2_HEAD + bytes.readUInt16BE(14);
  if ((command !== 0x20 && command !== 0x21) || length > MAX_V2) return 'wrong';
  if (bytes.length < length) return 'more';
  const rest = bytes.subarray(V2_HEAD, length);
  // 0x20: a connection of the proxy's own, such as a check of health. Whatever it says beyond that does not count.
  if (command === 0x20) return { length, address: null };
  switch (family) {
    case 0x11:
      return rest.length < 12 ? 'wrong' : { length, address: [...rest.subarray(0, 4)].join('.') };
    case 0x21:
      return rest.length < 36 ? 'wrong' : { length, address: groups(rest.subarray(0, 16)) };
    // Not known, or over something that is no connection of the Internet.
    case 0x00:
    case 0x12:
    case 0x22:
    case 0x31:
    case 0x32:
      return { length, address: null };
    default:
      return 'wrong';
  }
}

function groups(bytes: Buffer): string {
  const text = Array.from({ length: 8 }, (_unused, index) => bytes.readUInt16BE(2 * index).toString(16)).join(':');
  // The platform writes it in the usual short form.
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

interface PreambleOptions {
  clock: Clock;
  /** A neighbour's connection did not begin as it has to. */
  wrong(peer: string): void;
}

/**
 * Makes a server expect a preamble of every peer on its own network, which is the proxy in front of it. Peers from
 * elsewhere are clients themselves: theirs is not read, so nobody can say to be somebody else.
 */
export function expectPreambles(server: Server, options: PreambleOptions): void {
  const own = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const serve = (): void => {
      for (const listener of own) listener.call(server, socket);
    };
    if (isPrivate(plainAddress(socket.remoteAddress ?? ''))) awaitPreamble(socket, options, serve);
    else serve();
  });
}

function awaitPreamble(socket: Socket, { clock, wrong }: PreambleOptions, serve: () => void): void {
  const peer = socket.remoteAddress ?? '';
  let bytes = Buffer.alloc(0);
  const cancel = clock.after(WAIT_MS, () => socket.destroy());
  const failed = (): void => void socket.destroy();
  const read = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    const found = readPreamble(bytes);
    if (found === 'more') return;
    cancel();
    socket.off('data', read).off('error', failed).off('close', cancel);
    if (found === 'wrong') {
      wrong(peer);
      return void socket.destroy();
    }
    if (found.address !== null) tellClient(socket, found.address);
    // What follows is the request; the server finds it as if it had just come.
    socket.pause();
    if (bytes.length > found.length) socket.unshift(bytes.subarray(found.length));
    serve();
    socket.resume();
  };
  socket.on('data', read).on('error', failed).on('close', cancel);
}
