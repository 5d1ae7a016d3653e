/** A refused credential: which one it is and how to get another, and that one which is refused for good is not kept. */
import { endedWithKey } from '../../local/actors.ts';
import { endSeat } from '../../local/keys/credentials.ts';
import { loginCommand } from '../../local/servers.ts';
import { keepNote } from '../local-note.ts';
import type { Output } from '../output.ts';
import { runtime } from '../runtime.ts';
import { inSession } from './here.ts';
import { atServerOf, type Session } from './open-session.ts';

const ENDED = 'it was revoked or has expired';
export const ANOTHER_KEY = 'Make another where you are signed in: service key create NAME';

export const keyEnded = (url: string): string => `Your key for ${url} does not work any more: ${ENDED}.`;

/** Says it of a server's refusal, which knows only that the credential does not work. Other errors stay as they are. */
export async function nameEndedKey(error: unknown, session: Session | null): Promise<void> {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (!session || name !== 'ClientError' || code !== 'unauthorized') return;
  Object.assign(error as Error, (await anotherServer(session)) ?? endedKey(session));
}

/** What follows from a refusal for the session that was refused: the token of a seat that ended goes, and an ended key is named. */
export async function afterRefusal(error: unknown, session: Session | null, out: Output): Promise<void> {
  const seat = session?.seat;
  if (seat && (error as { code?: unknown }).code === 'agent_removed') {
    const ended = endSeat(runtime().folders, seat);
    await keepNote(ended, out, `The token of ${seat.saved.name} is still on this machine`);
  }
  await nameEndedKey(error, session);
}

/** Whether the refusal comes from another server than the one that issued the credential; null also where it does not say. */
async function anotherServer({ client, entry, seat, server: { url, local } }: Session) {
  if (!entry || local) return null;
  const info = await client.call('getInfo', { maxAttempts: 1 }).catch(() => null);
  if (info === null || info.data.server_id === entry.server_id) return null;
  const asks = inSession() ? 'ask your person to sign in there' : 'sign in there';
  return {
    code: 'server_identity_changed',
    message: `Another server answers at ${url} than before, and does not know ${seat ? seat.saved.name : 'your key'}.`,
    hint: `If that is right, ${asks}: ${loginCommand(url, local)}`,
    details: { known: entry.server_id, found: info.data.server_id },
  };
}

function endedKey(session: Session): { message: string; hint: string } {
  const { seat, entry, agent, server } = session;
  const { url, local } = server;
  const way = loginCommand(url, local);
  const at = local ? atServerOf(session) : ` --server ${url}`;
  if (seat) return endedWithKey(seat, inSession(), at);
  if (entry !== null) return { message: keyEnded(url), hint: way };
  return agent
    ? {
        message: `The agent token in SERVICE_TOKEN does not work any more: its key has ended, or another replaced it.`,
        hint: `Its person makes another: service agent create NAME --board BOARD --print-token${at}`,
      }
    : { message: `The key in SERVICE_TOKEN does not work any more: ${ENDED}.`, hint: ANOTHER_KEY + at };
}
