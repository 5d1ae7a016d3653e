/** Log lines about one handoff: its session, seats, message numbers and duration. */
import type { Common } from '../common.ts';
import type { Level, LogEvent, LogFields } from '../log.ts';
import type { HandoffId } from '../protocol.ts';

type HandoffEvent = Extract<LogEvent, `handoff_${string}` | 'wake_echo_missing'>;

/** Logs an event of a handoff; without details if the journal cannot be read. @param more further fields */
export function logHandoff(deps: Common, ev: HandoffEvent, id: HandoffId, more: LogFields = {}, level?: Level): void {
  deps.log.write(ev, { handoff: id, ...detailsOf(deps, id), ...more }, level);
}

function detailsOf(deps: Common, id: HandoffId): LogFields {
  try {
    const manifest = deps.journal.manifest(id);
    if (!manifest) return {};
    const { session_key, class: kind, path, bytes, created_at } = manifest.handoff;
    return {
      session: session_key,
      seats: manifest.parts.map(({ member_id }) => member_id),
      seqs: manifest.messages.map(({ seq }) => seq),
      class: kind,
      path,
      bytes,
      ms: Math.max(0, deps.clock.now() - created_at),
    };
  } catch {
    return {};
  }
}
