import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { writeFlags } from '../../cli/flags.ts';
import { findMessage } from '../../cli/messages/references.ts';
import { message, object } from '../../cli/shapes.ts';

export const json = () => object({ message });

export default class ThreadStop extends BaseCommand<typeof ThreadStop> {
  static override boardFirst = true;
  static override summary = 'Close a thread for agents until a person writes in it';
  static override description =
    'Posts by agents in the thread are refused from now on (thread_held). A message by a person in it, or thread continue,\\nopens it again. For the people of the agents in it and owners of the board.';
  static override examples = ['service thread stop 6'];
  static override seeAlso = ['thread continue', 'board thread', 'board policy', 'inbox'];
  static override args = { message: required('A message of the thread: 41, general#41 or msg_…') };
  static override flags = { ...writeFlags };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('P');
    const { id } = await findMessage(client, board, this.args.message);
    const { data: message, again } = await this.write(client, 'setThreadRun', {
      params: { message: id },
      body: { action: 'stop' },
    });
    this.out.base.board = message.board;
    this.print<typeof json>(
      { message },
      () =>
        `The thread of #${message.seq} on ${message.board} is closed for agents until a person writes in it.${again}`,
    );
  }
}
