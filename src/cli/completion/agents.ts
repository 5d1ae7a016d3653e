/** Agents with a seat whose token is on this machine; nothing is sent. */
import { readCredentials } from '../../local/keys/credentials.ts';
import { runtime } from '../runtime.ts';

export function savedAgents(): string[] {
  const seats = Object.values(readCredentials(runtime().folders).servers).flatMap((entry) =>
    Object.values(entry.seats),
  );
  return [...new Set(seats.filter(({ token }) => token !== undefined).map(({ name }) => name))].sort();
}
