/** What a person says of a thread in which agents answer each other: they may go on, or not. */
import { required, WriteCommand } from '../../../cli/base.ts';
import { stayingAt } from '../../../cli/session/open-session.ts';
import { message, object } from '../../../cli/shapes.ts';
import type { Message } from '../../../contract/types.ts';
import { boardNamed, findMessage } from '../../board/lib/read/references.ts';

export const json = () => object({ message });

/** The commands differ in the action and in what they print. */
export abstract class ThreadRun extends WriteCommand<typeof ThreadRun> {
  static override boardFirst = true;
  static override args = { message: required('A message of the thread: 41, general#41 or msg_…') };

  /** @param text what is printed. Its `stay` keeps a command to this server */
  protected async set(action: 'continue' | 'stop', text: (message: Message, stay: string) => string): Promise<void> {
    const session = await this.onBoard('P', { named: boardNamed(this.args.message) });
    const { id } = await findMessage(session, this.args.message);
    const { data, again } = await this.write(session.client, 'setThreadRun', {
      params: { message: id },
      body: { action },
    });
    this.out.base.board = data.board;
    this.print<typeof json>({ message: data }, () => `${text(data, stayingAt(session))}${again}`);
  }
}
