import { confirmFlags, WriteCommand } from '../../cli/base.ts';
import { askFor, refOf } from '../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../cli/session/here.ts';
import { answer, object } from '../../cli/shapes.ts';
import type { Seat } from '../../local/actors.ts';
import { forgetOver, forgetSeats } from '../board/lib/leaving.ts';

export const json = () => object({ agent: answer('leaveSeat') });

export default class AgentLeave extends WriteCommand<typeof AgentLeave> {
  static override aliases = ['leave'];
  static override summary = 'Let an agent leave its board for good';
  static override description =
    'The seat ends and its token is forgotten here; its name stays taken and what it wrote stays. Its person can add a new\nagent.';
  static override examples = ['service agent leave --as codex', 'service agent leave --as codex --yes'];
  static override seeAlso = ['agent remove', 'agent create'];
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const { client, seat, server } = await this.session('G');
    const { data: me } = await client.call('getMe').catch((error) => forgetOver(seat, error));
    const { id, name, board } = me;
    await this.confirm(`Leave ${board} for good as ${name}?`, this.flags.yes);
    const { data: agent, again } = await this.write(client, 'leaveSeat');
    await unbindHere(seat);
    await forgetSeats(server.url, [{ id }]);
    this.print<typeof json>({ agent }, () => `${name} left ${board}.${again}`);
  }
}

/** Takes a seat that ended from the session; nobody needs to hear of it again. */
async function unbindHere(seat: Seat | null): Promise<void> {
  const session = sessionHere();
  if (!seat || !session) return;
  await askFor(session, 'unbind', { agent: refOf(seat) }, { start: false }).catch(() => {});
}
