/** Sends bytes as they are and tells what came of them, within a time in which every server answers. */
import { open, parse, type RawAnswer } from '../raw.ts';

/** Nothing came in all this time, and the connection stayed open. */
export const HANG = 'hang';
/** The connection ended without an answer: right for what is no whole request. */
export const CLOSED = 'closed';

const PATIENCE = 15_000;
const SHORT = 100;

interface Sent {
  bytes: Buffer;
  /** The server may be waiting for the rest: after a while the client ends its side. */
  cut: boolean;
  /** The answer may stay open for news: its beginning is enough, and without one the client goes away after a while. */
  waits: boolean;
}

export function sendBytes(url: string, { bytes, cut, waits }: Sent): Promise<RawAnswer | typeof HANG | typeof CLOSED> {
  return new Promise((resolve) => {
    const socket = open(url);
    const chunks: Buffer[] = [];
    const end = (given?: typeof HANG) => {
      clearTimeout(patience);
      clearTimeout(short);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('utf8');
      resolve(given ?? (text.includes('\r\n\r\n') ? parse(text) : CLOSED));
    };
    const patience = setTimeout(() => end(HANG), PATIENCE);
    const short = setTimeout(() => {
      if (waits) end();
      else if (cut) socket.end();
    }, SHORT);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (waits && chunk.includes('event:')) end();
    });
    // A server may close while the client still sends; what counts is what arrived.
    socket.on('error', () => {});
    socket.on('close', () => end());
    socket.write(bytes);
  });
}
