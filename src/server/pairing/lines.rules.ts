/** The lines by which two sessions show each other that what they send arrives. */
import type { PairingDirection, PairingSide } from '../../contract/types.ts';

export interface PairingLine {
  requestId: string;
  generation: number;
  direction: PairingDirection;
  kind: 'ping' | 'reply';
  nonce: string;
}

export const directions = ['initiator_to_recipient', 'recipient_to_initiator'] as const;
const shortOf = { initiator_to_recipient: 'i2r', recipient_to_initiator: 'r2i' } as const;
type Short = (typeof shortOf)[PairingDirection];
export const short = (direction: PairingDirection): Short => shortOf[direction];

/** Who pings in a direction, and who replies. */
export const pinger = (direction: PairingDirection): PairingSide =>
  direction === 'initiator_to_recipient' ? 'initiator' : 'recipient';
export const otherSide = (side: PairingSide): PairingSide => (side === 'initiator' ? 'recipient' : 'initiator');
/** The direction in which a side pings. */
export const directionOf = (side: PairingSide): PairingDirection =>
  side === 'initiator' ? 'initiator_to_recipient' : 'recipient_to_initiator';

const MARK = 'service-pairing/1 ';
const pattern =
  /^service-pairing\/1 (prq_[0-9A-HJKMNP-TV-Z]{26}) gen=([1-9]\d{0,8}) dir=(i2r|r2i) kind=(ping|reply) nonce=([0-9A-HJKMNP-TV-Z]{26})$/;

export const lineOf = ({ requestId, generation, direction, kind, nonce }: PairingLine): string =>
  `${MARK}${requestId} gen=${generation} dir=${short(direction)} kind=${kind} nonce=${nonce}`;

/** The first whole line of a text that is one; null: none is. Anything else is plain text. */
export function readPairingLine(text: string): PairingLine | null {
  if (!text.includes(MARK)) return null;
  for (const line of text.split(/\r?\n/)) {
    const match = pattern.exec(line);
    if (!match) continue;
    const [, requestId = '', generation, dir, kind, nonce = ''] = match;
    return {
      requestId,
      generation: Number(generation),
      direction: dir === 'i2r' ? 'initiator_to_recipient' : 'recipient_to_initiator',
      kind: kind as 'ping' | 'reply',
      nonce,
    };
  }
  return null;
}

/** The message of a ping: the line, and what is asked for in words. */
export function pingText(ping: Omit<PairingLine, 'kind'>): string {
  const reply = lineOf({ ...ping, kind: 'reply' });
  return `${lineOf({ ...ping, kind: 'ping' })}\nPlease reply to this message with exactly this line: ${reply}`;
}
