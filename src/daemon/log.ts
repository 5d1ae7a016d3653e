/** The daemon's log: one JSON object a line, with ids and numbers; never bodies, prompts, paths of transcripts or secrets. */
import { appendFileSync, existsSync, renameSync, statSync, unlinkSync } from 'node:fs';

export type LogEvent =
  | 'daemon_started'
  | 'daemon_stopping'
  | 'upgrade_replaced'
  | 'server_connected'
  | 'server_lost'
  | 'server_identity_changed'
  | 'session_started'
  | 'session_closed'
  | 'session_resumed'
  | 'bound'
  | 'moved'
  | 'seat_ended'
  | 'handoff_prepared'
  | 'handoff_handed'
  | 'handoff_accepted'
  | 'handoff_confirmed'
  | 'handoff_pending'
  | 'handoff_retry'
  | 'handoff_attention'
  | 'handoff_stalled'
  | 'wake_echo_missing'
  | 'acked'
  | 'ack_failed'
  | 'boundary'
  | 'notice'
  | 'nudge'
  | 'mode_changed'
  | 'notice_told'
  | 'presence_failed'
  | 'delegation_made'
  | 'delegation_ended'
  | 'join'
  | 'create_board'
  | 'pairing_selected'
  | 'pairing_ping'
  | 'pairing_verified'
  | 'hook_error'
  | 'journal_error'
  | 'slow_op';

export type Level = 'info' | 'warn' | 'error';
export type LogFields = Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>;

export interface Log {
  write(ev: LogEvent, fields?: LogFields, level?: Level): void;
}

const ROTATE_BYTES = 10 * 1024 * 1024;
const KEPT = 3;

/** A log file that is put aside at 10 MiB; three are kept. What cannot be written is dropped: the daemon goes on. */
export function openLog(path: string, now: () => number = Date.now): Log {
  let size = existsSync(path) ? statSync(path).size : 0;
  return {
    write(ev, fields = {}, level = 'info') {
      const line = `${mask(JSON.stringify({ t: new Date(now()).toISOString(), level, ev, ...fields }))}\n`;
      try {
        if (size + Buffer.byteLength(line) > ROTATE_BYTES) {
          rotate(path);
          size = 0;
        }
        appendFileSync(path, line, { mode: 0o600 });
        size += Buffer.byteLength(line);
      } catch {
        // Nobody could be told.
      }
    },
  };
}

function rotate(path: string): void {
  if (existsSync(`${path}.${KEPT}`)) unlinkSync(`${path}.${KEPT}`);
  for (let n = KEPT - 1; n >= 1; n--) if (existsSync(`${path}.${n}`)) renameSync(`${path}.${n}`, `${path}.${n + 1}`);
  renameSync(path, `${path}.1`);
}

/** Whatever looks like a secret, wherever it stands: tokens by their form, values of keys in addresses, user info. */
export function mask(text: string): string {
  return text
    .replaceAll(/\bab[abcdhilp]_[A-Za-z0-9_-]{8,}/g, (token) => `${token.slice(0, 4)}…`)
    .replaceAll(/([?&](?:key|token)=)[^&\s"']+/gi, '$1…')
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/\s"'@]+@/gi, '$1…@');
}
