/** Formats files and the brief. */
import { plural, sizeText } from '../../../cli/terminal/fields.ts';
import { hanging, table } from '../../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { BoardFile, Brief, FileDetail } from '../../../contract/types.ts';

/** One row per file. */
export const fileRows = (files: BoardFile[], times: TimeStyle): Promise<string[]> =>
  table(
    ['NAME', 'VERSION', 'BY', 'CHANGED', 'TASKS', 'NOTES'],
    files.map(({ name, latest, maintained, mine, freshness, about, removed_at: removed }) => [
      name,
      `v${latest.version}`,
      latest.by.name,
      showTime(latest.at, times),
      about.map((task) => task.ref).join(', '),
      [
        maintained ? 'maintained' : '',
        mine ? `you approved v${mine.version}, ${plural(mine.changes_since, 'change', 'changes')} since` : '',
        freshness.messages_since > 0 ? `${plural(freshness.messages_since, 'message', 'messages')} since` : '',
        removed === null ? '' : 'removed',
      ]
        .filter(Boolean)
        .join(' · '),
    ]),
  );

/** What is known of a file, in one line. */
export function fileLine(file: BoardFile, times: TimeStyle): string {
  const { latest, mine, freshness, about } = file;
  return [
    `${file.name}  ${file.maintained ? 'maintained · ' : ''}v${latest.version} by ${latest.by.name}`,
    showTime(latest.at, times),
    ...(about.length > 0 ? [about.map((task) => task.ref).join(', ')] : []),
    ...(mine ? [`you approved v${mine.version}, ${plural(mine.changes_since, 'change', 'changes')} since`] : []),
    ...(freshness.messages_since > 0 ? [`${plural(freshness.messages_since, 'message', 'messages')} since`] : []),
    ...(file.removed_at === null ? [] : ['removed']),
  ].join(' · ');
}

/** What is known of one file. */
export async function fileText(file: FileDetail, times: TimeStyle): Promise<string> {
  const versions = await table(
    ['VERSION', 'BY', 'CHANGED', 'SIZE', 'TYPE'],
    file.versions.map(({ version, by, at, size, media_type }) => [
      `v${version}`,
      by.name,
      showTime(at, times),
      sizeText(size),
      media_type,
    ]),
    INDENT.length,
  );
  const approvals = await table(
    ['VERSION', 'BY', 'APPROVED', 'NOTES'],
    file.approvals.map(({ person, version, at, changes_since }) => [
      `v${version}`,
      person.name,
      showTime(at, times),
      changes_since > 0 ? `${plural(changes_since, 'change', 'changes')} since` : '',
    ]),
    INDENT.length,
  );
  const seqs = [...new Set(file.posted_in.map((post) => post.seq))].map((seq) => `#${seq}`);
  return [
    ...hanging(fileLine(file, times)),
    `${INDENT}${file.id}`,
    'Versions:',
    ...versions.map(further),
    ...(approvals.length > 0 ? ['Approvals:', ...approvals.map(further)] : []),
    ...(seqs.length > 0 ? [`Posted in: ${seqs.join(', ')}`] : []),
  ].join('\n');
}

const INDENT = '  ';

const further = (row: string): string => row.replaceAll(/^/gm, INDENT);

/** The brief under what is known of it. */
export function briefText(board: string, brief: Brief, text: string, times: TimeStyle): string {
  const { messages_since: messages, tasks_done_since: tasks, answers_since: answers } = brief.freshness;
  const since = [
    plural(messages, 'message', 'messages'),
    `${plural(tasks, 'task', 'tasks')} done`,
    plural(answers, 'answer', 'answers'),
  ];
  const head = `${board} · ${brief.name} v${brief.version} by ${brief.by.name} · ${showTime(brief.at, times)} · since then ${since.join(', ')}`;
  return `${head}\n\n${escapeUntrusted(text.replace(/\n$/, ''))}`;
}
