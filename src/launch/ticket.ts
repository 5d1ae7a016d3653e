/** Launch tickets: one-time files that tell a started session which seat to take; they expire soon. */
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentRef } from '../daemon/protocol.ts';
import { readPrivate, writePrivate } from '../local/private-file.ts';

const TICKET_LIFE_MS = 15 * 60_000;

const TICKET = /^lch_[0-9a-f]{24}$/;

export const isTicket = (text: string | undefined): text is string => TICKET.test(text ?? '');

/** Writes a ticket (mode 0600, without a token) and deletes expired ones. @param now milliseconds since the epoch */
export function issueTicket(folder: string, agent: AgentRef, harness: string, now = Date.now()): string {
  const ticket = `lch_${randomBytes(12).toString('hex')}`;
  const created_at = new Date(now).toISOString();
  writePrivate(join(folder, `${ticket}.json`), `${JSON.stringify({ agent, harness, created_at })}\n`);
  dropExpired(folder, now);
  return ticket;
}

/** Deletes a ticket whose session was never started. */
export function dropTicket(folder: string, ticket: string): void {
  try {
    unlinkSync(join(folder, `${ticket}.json`));
  } catch {
    // It was used, or dropped already.
  }
}

/**
 * Uses a ticket, which deletes it. @returns the seat and harness in the file, not validated; null for a ticket that
 * is missing, used or late. @throws Failure `credentials_unsafe` for a file that others may have written, which stays
 */
export function takeTicket(folder: string, ticket: string, now: number): { agent: unknown; harness: unknown } | null {
  if (!TICKET.test(ticket)) return null;
  const path = join(folder, `${ticket}.json`);
  const text = readPrivate(path);
  if (text === null) return null;
  // A ticket works only once, even if the rest fails.
  unlinkSync(path);
  const { agent, harness, created_at } = JSON.parse(text) as Record<string, unknown>;
  return now - Date.parse(String(created_at)) < TICKET_LIFE_MS ? { agent, harness } : null;
}

function dropExpired(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    try {
      if (now - statSync(path).mtimeMs > TICKET_LIFE_MS) unlinkSync(path);
    } catch {
      // Used meanwhile.
    }
  }
}
