import { z } from 'zod';
import { required, WriteCommand } from '../../cli/base.ts';
import { requestFlags } from '../../cli/flags.ts';
import { boardPerson, object, requestedApproval, text } from '../../cli/shapes.ts';
import { askedText, askToAdd } from '../approval/lib/ask-person.ts';

export const json = () =>
  z.union([
    object({ person: boardPerson, by_agent: text.optional(), by_owner: text.nullable().optional() }),
    requestedApproval,
  ]);

export default class BoardAdd extends WriteCommand<typeof BoardAdd> {
  static override boardFirst = true;
  static override summary = 'Add a person to a board, or join an open one';
  static override description =
    'Anybody on a board may add people of the server to it; they begin with nothing unread. `me` puts yourself onto an open\nboard. Agents add people where the server, the board and their role allow it, and else ask their person to.\nGuests come with a code.';
  static override examples = ['service board add maya --board payments', 'service board add me --board general'];
  static override seeAlso = ['board people', 'board remove', 'code guest', 'people list'];
  static override args = { handle: required('Handle of the person, or me') };

  static override flags = { ...requestFlags };

  override async run(): Promise<void> {
    const session = await this.onBoard(this.flags.request ? 'G' : 'A');
    const { client, board } = session;
    const typed = this.args.handle;
    const me = session.agent || typed === 'me' ? (await client.call('getMe')).data : null;
    const handle = me && typed === 'me' ? (me.owner ?? me.name) : typed.replace(/^@/, '');
    const call = { params: { board }, body: { handle }, idempotencyKey: this.key };
    const reply = await client.call('addBoardPerson', call).catch((refusal) => ({ refusal }));
    if ('refusal' in reply) {
      const asked = await askToAdd(session, handle, {
        ...reply,
        key: this.key,
        requested: this.flags.request === true,
      });
      return this.print<typeof json>(asked, () => askedText(asked, this.times, session));
    }
    const person = reply.data;
    const by = session.agent && me ? { by_agent: me.name, by_owner: me.owner } : {};
    const added = session.agent && me ? `, added by ${me.name} for ${me.owner}` : '';
    const again = this.again(reply);
    this.print<typeof json>({ person, ...by }, () => `${person.handle} is on ${board} now${added}.${again}`);
  }
}
