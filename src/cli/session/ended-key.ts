/** Explains a refused credential: which one it is, and how to get another. */
import { loginCommand } from '../../local/servers.ts';
import { inSession } from './here.ts';
import type { Session } from './open-session.ts';

const ENDED = 'it was revoked or has expired';
export const ANOTHER_KEY = 'Make another where you are signed in: service key create NAME';

/** Says it of a server's refusal, which knows only that the credential does not work. Other errors stay as they are. */
export function nameEndedKey(error: unknown, session: Session | null): void {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (session && name === 'ClientError' && code === 'unauthorized') Object.assign(error as Error, endedKey(session));
}

function endedKey({ seat, entry, agent, server: { url, local } }: Session): { message: string; hint: string } {
  const way = loginCommand(url, local);
  if (seat) {
    const { name, board, session } = seat.saved;
    const join = `service join --board ${board} --name ${name}`;
    const next = !session
      ? `then give it a new seat: service agent create NAME --board ${board}`
      : `${inSession() ? 'then join again' : 'then in its session'}: ${join}`;
    return {
      message: `${name} on ${board} is not let in any more: its key has ended, or its seat was taken elsewhere.`,
      hint: `${inSession() ? 'Ask your person to run: ' : ''}${way}; ${next}`,
    };
  }
  if (entry !== null) return { message: `Your key for ${url} does not work any more: ${ENDED}.`, hint: way };
  return agent
    ? {
        message: `The agent token in SERVICE_TOKEN does not work any more: its key has ended, or another replaced it.`,
        hint: 'Its person makes another: service agent create NAME --board BOARD --print-token',
      }
    : { message: `The key in SERVICE_TOKEN does not work any more: ${ENDED}.`, hint: ANOTHER_KEY };
}
