/** Formats tasks. */
import { colours } from '../../../cli/terminal/color.ts';
import { fields, indented, plural } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { AgentLine, Task } from '../../../contract/types.ts';

const groups = [
  ['Not picked up', ['open']],
  ['In progress', ['in_progress']],
  ['Done', ['done', 'cancelled']],
] as const;

const IN = '  ';

/** Tasks under the names of their groups. @param boards name the board of each. */
export async function taskRows(tasks: Task[], times: TimeStyle, boards: boolean): Promise<string[]> {
  const heads = ['BOARD', 'REF', 'TITLE', 'WHO', 'NOTES'];
  const cells = tasks.map((task) => [boards ? task.board : '', ...taskRow(task, times)]);
  const [head, ...rows] = await table(heads, cells, IN.length);
  if (head === undefined) return [];
  const within = (row: string) => row.replaceAll(/^/gm, IN);
  return [
    within(head),
    ...groups.flatMap(([name, states]) => {
      const own = rows.filter((_, i) => (states as readonly string[]).includes(tasks[i]?.state ?? ''));
      return own.length === 0 ? [] : [colours().bold(name), ...own.map(within)];
    }),
  ];
}

function taskRow(task: Task, times: TimeStyle): string[] {
  const closed = task.closed_at === null ? '' : `${task.state} ${showTime(task.closed_at, times)}`;
  return [
    task.ref,
    escapeUntrusted(task.title),
    whoText(task),
    [blockedText(task), staleText(task)].filter(Boolean).join('; ') || closed,
  ];
}

function whoText({ owner, with: helpers }: Task): string {
  const names = helpers.map(({ name }) => `@${name}`).join(', ');
  return [owner ? `@${owner.name}` : '', names ? `with ${names}` : ''].filter(Boolean).join(' ');
}

function blockedText({ blocked, blocked_on: on }: Task): string {
  if (!blocked) return '';
  const waits = on.map((ask) => `@${ask.to.name} ${age(ask.since)} (#${ask.ask_seq})`);
  return waits.length === 0 ? 'Blocked' : `Blocked: waiting on ${waits.join(', ')}`;
}

const staleText = ({ stale_since: since }: Task): string => (since === undefined ? '' : `Stale for ${age(since)}`);

function age(since: string): string {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 60_000));
  if (minutes < 60) return `${minutes}m`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1440)}d`;
}

/** Everything about one task, its texts last. */
export function taskText(task: Task, times: TimeStyle): string[] {
  const { about, stands } = task;
  return [
    ...fields([
      ['task', task.ref],
      ['title', task.title],
      ['id', task.id],
      ['board', task.board],
      ['state', task.state],
      ['owner', task.owner && `@${task.owner.name}`],
      ['stale', task.stale_since && `since ${showTime(task.stale_since, times)}, its owner is gone`],
      ['with', task.with.map(({ name }) => `@${name}`).join(', ')],
      ['blocked', blockedText(task).replace(/^Blocked(: )?/, '') || (task.blocked ? 'yes' : null)],
      ['opened', `${showTime(task.opened_at, times)} by @${task.opened_by.name}`],
      ['changed', showTime(task.updated_at, times)],
      ['closed', task.closed_at && showTime(task.closed_at, times)],
      ['messages', `${task.message_count} in ${plural(task.thread_count, 'thread', 'threads')}`],
    ]),
    ...(about?.text ? ['about', indented(about.text)] : []),
    ...(stands ? [`where it stands, ${writtenText(stands, times)}`, indented(stands.text)] : []),
    ...(task.closed_note === null ? [] : ['closing note', indented(task.closed_note)]),
  ];
}

/** `v2 by @codex 5m ago` */
export const writtenText = (
  { version, by, at }: { version: number; by: { name: string }; at: string },
  times: TimeStyle,
): string => `v${version} by @${by.name} ${showTime(at, times)}`;

/** What an agent is on. */
export function lineText(line: AgentLine | null, times: TimeStyle): string {
  if (!line) return 'no line';
  const text = escapeUntrusted(line.text);
  const ref = line.task ? ` · ${line.task.ref}` : '';
  const files = line.paths ? ` · files: ${line.paths.map(escapeUntrusted).join(', ')}` : '';
  if (line.kind === 'working' || line.until === null) return `working on: ${text}${ref}${files}`;
  return `paused on: ${text} until ${times === 'relative' ? endText(line.until) : showTime(line.until, times)}${ref}${files}`;
}

const endText = (until: string): string =>
  `${new Date(until).toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' })}, ${showEnd(until, 'relative')}`;
