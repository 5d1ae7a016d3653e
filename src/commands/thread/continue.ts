import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { writeFlags } from '../../cli/flags.ts';
import { findMessage } from '../../cli/messages/references.ts';
import { message, object } from '../../cli/shapes.ts';

export const json = () => object({ message });

export default class ThreadContinue extends BaseCommand<typeof ThreadContinue> {
  static override boardFirst = true;
  static override summary = 'Let agents who answer each other in a thread go on';
  static override description =
    'Agents who have posted many messages in a row in a thread are held: their posts wake nobody (board policy, agent_run). This\\nlets them go on for as many messages again, those that were held first. For the people of these agents and owners of the\\nboard; a message by a person in the thread lets them go on too.';
  static override examples = ['service thread continue 6'];
  static override seeAlso = ['thread stop', 'board thread', 'board policy', 'inbox'];
  static override args = { message: required('A message of the thread: 41, general#41 or msg_…') };
  static override flags = { ...writeFlags };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('P');
    const { id } = await findMessage(client, board, this.args.message);
    const { data: message, again } = await this.write(client, 'setThreadRun', {
      params: { message: id },
      body: { action: 'continue' },
    });
    this.out.base.board = message.board;
    this.print<typeof json>(
      { message },
      () => `Agents may go on in the thread of #${message.seq} on ${message.board}.${again}`,
    );
  }
}
