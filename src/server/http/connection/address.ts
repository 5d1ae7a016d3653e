/** Where a request comes from. Headers that name a client are never read: a client can write anything into them. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isPrivate, network, plainAddress } from '../../text/address.ts';
import type { Site } from '../site.ts';

/** A client, as far as its connection tells. */
interface Client {
  address: string;
  /**
   * What limits per address count it under. Null: the peer of a team's server that is on its own network is the proxy in
   * front of it, and so everybody.
   */
  subject: string | null;
}

/** Clients that the proxy in front of this server told of, by their connection. */
const told = new WeakMap<Socket, string>();

/** Notes whom a connection comes from in truth. */
export const tellClient = (socket: Socket, address: string): void => void told.set(socket, plainAddress(address));

export function clientOf({ socket }: IncomingMessage, mode: Site['mode']): Client {
  const client = told.get(socket);
  if (client !== undefined) return { address: client, subject: network(client) };
  const peer = plainAddress(socket.remoteAddress ?? '');
  return { address: peer, subject: mode === 'team' && isPrivate(peer) ? null : network(peer) };
}
