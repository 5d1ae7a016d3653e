/** Lines of the log about one handoff: which it is, for whom, what is in it by number, and how long it has taken. */
import type { DaemonClock } from '../clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { Level, Log, LogEvent, LogFields } from '../log.ts';
import type { HandoffId } from '../protocol.ts';

interface LogDeps {
  clock: DaemonClock;
  journal: Journal;
  log: Log;
}

type HandoffEvent = Extract<LogEvent, `handoff_${string}` | 'wake_echo_missing'>;

/** @param more what only this line says. A journal that cannot be read takes nothing but the details from the line. */
export function logHandoff(deps: LogDeps, ev: HandoffEvent, id: HandoffId, more: LogFields = {}, level?: Level): void {
  deps.log.write(ev, { handoff: id, ...detailsOf(deps, id), ...more }, level);
}

function detailsOf(deps: LogDeps, id: HandoffId): LogFields {
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
