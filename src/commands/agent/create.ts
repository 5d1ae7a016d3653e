import { booleanFlag, required, stringFlag, WriteCommand } from '../../cli/base.ts';
import { member, object, stored, text } from '../../cli/shapes.ts';
import { createSeat, useOf } from './lib/new-seat.ts';

export const json = () => object({ agent: member, stored: stored.nullable(), token: text.optional() });

export default class AgentCreate extends WriteCommand<typeof AgentCreate> {
  static override summary = 'Put an agent onto a board';
  static override description =
    'Makes a seat for a bot, a script or an agent on this machine. Its token is saved here, so --as NAME is all it needs;\n--print-token shows it once, for use elsewhere as SERVICE_TOKEN.';
  static override examples = [
    'service agent create codex --board general',
    'service agent create ci --board general --role member --print-token',
  ];
  static override seeAlso = ['board members', 'board post'];
  static override args = { name: required('Name of the agent on the board') };
  static override flags = {
    role: stringFlag('ROLE', 'Its role; default: the board’s usual one'),
    harness: stringFlag('HARNESS', 'The program that runs it'),
    'print-token': booleanFlag('Show the token, once'),
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('P');
    const { role, harness, 'print-token': printed, 'idempotency-key': key } = this.flags;
    const body = { board: session.board, name: this.args.name, role, harness };
    const { agent, stored, token, reply } = await createSeat(session, { body, key, printed, out: this.out });
    const again = this.again(reply);
    const made = `Agent ${agent.name}${agent.role ? ` (${agent.role})` : ''} has a seat on ${agent.board}${again}. It acts with --as ${useOf(agent).as}, until it is removed.`;
    if (printed) this.print<typeof json>({ agent, stored, token }, () => `${made}\n${token}`, token);
    else this.print<typeof json>({ agent, stored }, () => made);
  }
}
