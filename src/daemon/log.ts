/** The daemon's log: one JSON object per line, with ids and numbers; never message text, prompts or secrets. */
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

/** A code, a state or another fixed word, ours or of a server's error; or a program's exit code. */
const word = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$|^exit \d{1,3}$/;
const session = /^[a-z0-9][a-z0-9-]{0,39}:[A-Za-z0-9._-]{1,200}$/;
const version = /^\d[\w.+-]{0,60}$/;

/** Every allowed field with the pattern of its text. Other fields that a caller passes are left out. */
const shapes = {
  handoff: /^hnd_[0-9a-f]{32}$/,
  session,
  from: session,
  seats: /^mem_\w{1,60}$/,
  seqs: null,
  class: word,
  path: word,
  bytes: null,
  ms: null,
  pid: null,
  version,
  from_version: version,
  restart: null,
  source: word,
  reason: word,
  code: word,
  at: /^[\w.-]{1,60}:\d{1,9}:\d{1,9}$/,
  mode: word,
  revision: null,
  problem: word,
  origin: /^https?:\/\/[a-z0-9.:[\]-]{1,255}$/,
  server_id: /^srv_\w{1,60}$/,
  feed: word,
  pairing: /^prq_\w{1,60}$/,
  side: word,
  direction: word,
  n: null,
  what: word,
  op: word,
  notices: null,
  put_aside: null,
} as const satisfies Record<string, RegExp | null>;

export type LogField = keyof typeof shapes;
export const logFields = Object.keys(shapes) as LogField[];
type LogValue = string | number | boolean | null | undefined | readonly (string | number)[];
export type LogFields = { [Field in LogField]?: LogValue };

export interface Log {
  write(ev: LogEvent, fields?: LogFields, level?: Level): void;
}

const ROTATE_BYTES = 10 * 1024 * 1024;
const ROTATED_FILES = 3;

/** A log file that is rotated at 10 MiB, with three old files. Lines that cannot be written are dropped. */
export function openLog(path: string): Log {
  let size = existsSync(path) ? statSync(path).size : 0;
  return {
    write(ev, fields = {}, level = 'info') {
      const line = `${mask(JSON.stringify({ t: new Date().toISOString(), level, ev, ...allowedFields(fields) }))}\n`;
      try {
        if (size + Buffer.byteLength(line) > ROTATE_BYTES) {
          rotate(path);
          size = 0;
        }
        appendFileSync(path, line, { mode: 0o600 });
        size += Buffer.byteLength(line);
      } catch {
        // Nowhere else to report it.
      }
    },
  };
}

/** The allowed fields; a text that does not match its field's pattern is replaced with `…`. */
function allowedFields(fields: LogFields): Record<string, LogValue> {
  return Object.fromEntries(
    logFields.filter((name) => fields[name] !== undefined).map((name) => [name, checked(fields[name], shapes[name])]),
  );
}

/** What an error is and where in the program it was thrown; not what it says, which may have been written by anybody. */
export function originOf(error: unknown): LogFields {
  if (!(error instanceof Error)) return {};
  const { name, code = name, stack = '' } = error as NodeJS.ErrnoException;
  return { code, at: [...stack.matchAll(/([\w.-]+:\d+:\d+)\)?$/gm)].map(([, place]) => place!) };
}

function checked(value: LogValue, shape: RegExp | null): LogValue {
  if (Array.isArray(value)) return value.map((one) => checked(one, shape) as string | number);
  return typeof value === 'string' && !shape?.test(value) ? '…' : value;
}

function rotate(path: string): void {
  if (existsSync(`${path}.${ROTATED_FILES}`)) unlinkSync(`${path}.${ROTATED_FILES}`);
  for (let n = ROTATED_FILES - 1; n >= 1; n--)
    if (existsSync(`${path}.${n}`)) renameSync(`${path}.${n}`, `${path}.${n + 1}`);
  renameSync(path, `${path}.1`);
}

/** Masks what looks like a secret: tokens, `key` and `token` parameters of URLs, user info of URLs. */
export function mask(text: string): string {
  return text
    .replaceAll(/\bab[abcdhilp]_[A-Za-z0-9_-]{8,}/g, (token) => `${token.slice(0, 4)}…`)
    .replaceAll(/([?&](?:key|token)=)[^&\s"']+/gi, '$1…')
    .replaceAll(/(:\/\/)[^/\s"'@]+@/g, '$1…@');
}
