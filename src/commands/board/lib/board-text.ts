/** Formats boards. */
import { fields, indented } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Board, HiddenBoard } from '../../../contract/types.ts';

/** One row per board; a hidden one has only its id. */
export async function boardRows(boards: (Board & { linked: boolean })[], hidden: HiddenBoard[]): Promise<string[]> {
  return table(
    ['NAME', 'TITLE', 'ACCESS', 'PEOPLE', 'AGENTS', 'UNREAD', 'NEEDS YOU', 'NOTES'],
    [
      ...boards.map((board) => [
        board.name,
        escapeUntrusted(board.title ?? ''),
        board.visibility,
        String(board.people_count),
        String(board.agent_count ?? 0),
        board.unread ? String(board.unread) : '',
        board.needs_reply ? String(board.needs_reply) : '',
        notes(board).join(', '),
      ]),
      ...hidden.map(({ id, visibility, people, created_by: by, lifecycle }) => [
        id,
        '',
        visibility,
        String(people),
        '',
        '',
        '',
        [`hidden, made by @${by.handle}`, ...(lifecycle === 'archived' ? ['archived'] : [])].join(', '),
      ]),
    ],
  );
}

function notes(board: Board & { linked: boolean }): string[] {
  return [
    board.linked ? 'this folder' : '',
    board.lifecycle === 'archived' ? 'archived' : '',
    board.on_board ? '' : 'not joined',
  ].filter(Boolean);
}

/** Everything about one board, then its charter. */
export function boardText(board: Board, times: TimeStyle): string {
  const lines = fields([
    ['name', board.name],
    ['title', board.title],
    ['id', board.id],
    ['visibility', board.visibility],
    ['lifecycle', board.lifecycle],
    ['template', board.template],
    [
      'policy',
      `${board.policy.preset}${board.policy.overrides.length > 0 ? `, changed: ${board.policy.overrides.join(', ')}` : ''}`,
    ],
    ['roles', Object.keys(board.roles).join(', ')],
    ['people', String(board.people_count)],
    ['agents', board.agent_count === undefined ? null : String(board.agent_count)],
    ['messages', board.message_count === null ? null : String(board.message_count)],
    ['unread', board.unread === undefined ? null : String(board.unread)],
    ['head', `#${board.head_seq}`],
    ['created', `${showTime(board.created_at, times)} by @${board.created_by.name}`],
  ]);
  return [...lines, ...(board.charter ? ['charter', indented(board.charter)] : [])].join('\n');
}
