import { booleanFlag, optional, WriteCommand } from '../../cli/base.ts';
import { sameWords } from '../../cli/list.ts';
import { count, object } from '../../cli/shapes.ts';
import { usage } from '../../local/failure.ts';
import { newestSeq } from './lib/read/read.ts';

export const json = () => object({ read_up_to: count, unread: count });

export default class BoardAck extends WriteCommand<typeof BoardAck> {
  static override boardFirst = true;
  static override summary = 'Mark messages as read';
  static override description = 'Up to a message number, or all up to the newest one, which is then named.';
  static override examples = ['service board ack 12', 'service board ack --all'];
  static override seeAlso = ['board read'];
  static override args = { number: optional('Number of the last message you read') };
  static override flags = { all: booleanFlag('Up to the newest message', { char: 'A' }) };

  override async run(): Promise<void> {
    const { number } = this.args;
    if ((number === undefined) === !this.flags.all)
      throw usage('Give a message number, or --all.', `service board ack --all${sameWords(this.globals)}`);
    if (number !== undefined && !/^#?\d{1,15}$/.test(number)) throw usage(`"${number}" is not a message number.`);
    const { client, board } = await this.onBoard('P');
    const upTo = number === undefined ? await newestSeq(client, board) : Number(number.replace('#', ''));
    const { data, again } = await this.write(client, 'ackBoard', { params: { board }, body: { up_to: upTo } });
    const { read_up_to, unread } = data;
    this.print<typeof json>(
      { read_up_to, unread },
      () => `Read up to #${read_up_to} on ${board}, ${unread} unread.${again}`,
    );
  }
}
