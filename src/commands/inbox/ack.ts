import { required, WriteCommand } from '../../cli/base.ts';
import { sameWords } from '../../cli/list.ts';
import { object, seq } from '../../cli/shapes.ts';
import { usage } from '../../local/failure.ts';
import { ofInbox } from './lib/seats.ts';

export const json = () => object({ cursor: seq });

export default class InboxAck extends WriteCommand<typeof InboxAck> {
  static override summary = "Move an agent's read position forward";
  static override description = 'Everything up to the number counts as read. A lower number changes nothing.';
  static override examples = ['service inbox ack 12 --as codex'];
  static override seeAlso = ['inbox'];
  static override args = { number: required('Number of the last message that was read') };

  override async run(): Promise<void> {
    const { number } = this.args;
    if (!/^#?\d{1,15}$/.test(number))
      throw usage(`"${number}" is not a message number.`, `service inbox ack 12${sameWords(this.globals)}`);
    const { client } = await ofInbox(await this.session('G'));
    const { data, again } = await this.write(client, 'ackInbox', { body: { up_to: Number(number.replace('#', '')) } });
    const { cursor } = data;
    this.print<typeof json>({ cursor }, () => `Read up to #${cursor}.${again}`);
  }
}
