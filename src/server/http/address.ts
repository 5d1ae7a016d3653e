/** Where a request comes from. Headers that name a client are never read: whoever sends them may write anything. */
import type { IncomingMessage } from 'node:http';

/** The peer's address; an IPv4 address in IPv6 form is unwrapped. */
export function peerAddress(req: IncomingMessage): string {
  const address = req.socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
