import { BaseCommand, required } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { boardNamed, findMessage } from './lib/read/references.ts';

export const json = () => whole(answer('listReceipts'));

export default class BoardReceipts extends BaseCommand<typeof BoardReceipts> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'Show whom a message reached';
  static override description =
    'Received: the message was handed to the agent. Read: the person marked it as read. Only named recipients have receipts.';
  static override examples = ['service board receipts 6', 'service board receipts 6 --json'];
  static override seeAlso = ['board message', 'board post'];
  static override args = { message: required('The message: 6, general#6 or msg_…') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A', { named: boardNamed(this.args.message) });
    const { board: name, seq } = await findMessage(session, this.args.message);
    const { data } = await session.client.call('listReceipts', { params: { board: name, seq } });
    this.out.base.board = name;
    const rows = await table(
      ['NAME', 'STATE'],
      data.recipients.map(({ member, state, presence, held }) => [
        `@${member.name}`,
        held ? 'held: wakes nobody' : state === 'pending' && presence === 'working' ? 'pending · working now' : state,
      ]),
    );
    this.print<typeof json>(data, () =>
      data.to_everyone
        ? `#${seq} on ${name} · to everyone: receipts exist only for named recipients`
        : [`#${seq} on ${name} · ${data.recipients.length}`, ...rows].join('\n'),
    );
  }
}
