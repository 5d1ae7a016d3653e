/**
 * Letting go of a connection on which a body was still coming when its request was answered. Closed at once, the platform
 * would reset it, and a client that is busy sending would lose the answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../db/clock.ts';

/** What still comes is thrown away until nothing came for this long, at most for that long. Milliseconds. */
const QUIET_MS = 500;
const LINGER_MS = 5000;

/** Ends an answer after which the connection closes, once its client had the time to read it. */
export function endLate(req: IncomingMessage, res: ServerResponse, body: string): void {
  res.write(body);
  const end = () => {
    clearTimeout(quiet);
    clearTimeout(limit);
    res.end();
  };
  const quiet = setTimeout(end, QUIET_MS);
  const limit = setTimeout(end, LINGER_MS);
  for (const event of ['end', 'close', 'error']) req.once(event, end);
  req.on('data', () => quiet.refresh());
}

/** Cuts a connection off on which the rest of a body does not come in time, long after its request was answered. */
export function boundRest(req: IncomingMessage, ms: number, clock: Clock): void {
  const cancel = clock.after(ms, () => req.socket.destroy());
  for (const event of ['end', 'close', 'error']) req.once(event, cancel);
}
