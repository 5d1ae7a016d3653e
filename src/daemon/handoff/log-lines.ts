/** Lines of the log about one handoff: which it is, for whom, what is in it by number, and how long it has taken. */
import type { Core } from '../core.ts';
import type { Level, LogEvent, LogFields } from '../log.ts';
import type { HandoffId } from '../types.ts';

type HandoffEvent = Extract<LogEvent, `handoff_${string}` | 'wake_echo_missing'>;

/** @param more what only this line says. A journal that cannot be read takes nothing but the details from the line. */
export function logHandoff(core: Core, ev: HandoffEvent, id: HandoffId, more: LogFields = {}, level?: Level): void {
  core.log.write(ev, { handoff: id, ...detailsOf(core, id), ...more }, level);
}

function detailsOf(core: Core, id: HandoffId): LogFields {
  try {
    const manifest = core.journal.manifest(id);
    if (!manifest) return {};
    const { session_key, class: kind, path, bytes, created_at } = manifest.handoff;
    return {
      session: session_key,
      seats: manifest.parts.map(({ member_id }) => member_id),
      seqs: manifest.messages.map(({ seq }) => seq),
      class: kind,
      path,
      bytes,
      ms: Math.max(0, core.clock.now() - created_at),
    };
  } catch {
    return {};
  }
}
