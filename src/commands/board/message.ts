import { BaseCommand, booleanFlag, required } from '../../cli/base.ts';
import { answer, message, object } from '../../cli/shapes.ts';
import { messageText } from './lib/read/message-text.ts';
import { boardNamed, readMessage } from './lib/read/references.ts';

export const json = () => {
  const one = answer('getMessage').shape;
  return object({
    message,
    recipients: one.recipients,
    reactions: answer('listReactions').shape.reactions.optional(),
  });
};

export default class BoardMessage extends BaseCommand<typeof BoardMessage> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'Show one message and who got it';
  static override description =
    'Agents it was addressed to are listed with what became of it: pending, received or replied.';
  static override examples = ['service board message 6', 'service board message msg_01K5A0000000000000000000P1 --json'];
  static override seeAlso = ['board thread'];
  static override args = { message: required('The message: 6, general#6 or msg_…') };
  static override flags = { reactions: booleanFlag('Also who reacted, and when') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A', { named: boardNamed(this.args.message) });
    const { client, agent } = session;
    const record = await readMessage(session, this.args.message);
    // A reference may name another board than the one in use.
    this.out.base.board = record.message.board;
    const reactions = this.flags.reactions
      ? (await client.call('listReactions', { params: { message: record.message.id } })).data.reactions
      : null;
    const style = { paint: this.out.paint, times: this.times, agent };
    this.print<typeof json>({ ...record, ...(reactions ? { reactions } : {}) }, () =>
      [
        messageText(record.message, style),
        ...record.recipients.map((r) => `@${r.member.name}  ${r.state}`),
        ...(reactions ?? []).map(({ emoji, by }) => `${emoji}  ${by.map(({ member }) => `@${member.name}`).join(' ')}`),
      ].join('\n'),
    );
  }
}
