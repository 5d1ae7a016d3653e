import { BaseCommand } from '../../cli/base.ts';
import { board, object } from '../../cli/shapes.ts';
import { fields, indented } from '../../cli/terminal/fields.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import type { Board } from '../../contract/types.ts';

export const json = () => object({ board_record: board });

export default class BoardShow extends BaseCommand<typeof BoardShow> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'Show one board: policy, roles, counts and charter';
  static override description =
    'Everything the server tells about the board in use, or about the one named by --board.';
  static override examples = ['service board show', 'service board show --board payments --json'];
  static override seeAlso = ['board members', 'board list'];

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const { data } = await client.call('getBoard', { params: { board } });
    this.print<typeof json>({ board_record: data }, () => boardText(data, this.times));
  }
}

/** Everything about one board, then its charter. */
function boardText(board: Board, times: TimeStyle): string {
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
