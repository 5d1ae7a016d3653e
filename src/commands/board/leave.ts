import { confirmFlags, WriteCommand } from '../../cli/base.ts';
import { boardPerson, object } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { agentsOf, alsoEnding, forgetSeats, wasLost } from './lib/leaving.ts';

export const json = () => object({ person: boardPerson.nullable() });

export default class BoardLeave extends WriteCommand<typeof BoardLeave> {
  static override boardFirst = true;
  static override summary = 'Leave a board';
  static override description =
    'Your agents there end with it, and so do the join codes you and they made; what you wrote stays. The last owner cannot\nleave: make somebody else an owner first.';
  static override examples = ['service board leave --board payments', 'service board leave --board payments --yes'];
  static override seeAlso = ['board remove', 'board people', 'agent leave'];
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const { client, board, server } = await this.onBoard('P');
    const { name } = (await client.call('getMe')).data;
    const agents = await agentsOf(client, board, name).catch((error) => {
      // A repeat is answered though they are off it.
      if (this.key === undefined || error.code !== 'not_on_board') throw error;
      return [];
    });
    await this.confirm(`Leave ${board}?${alsoEnding(agents, 'Your')}`, this.flags.yes);
    const call = { params: { board }, idempotencyKey: this.key };
    // Off a private board its answers are out of sight too: a repeat finds nothing, because the first try left.
    const reply = await client.call('leaveBoard', call).catch((error) => {
      if (wasLost(error)) return null;
      throw error;
    });
    await forgetSeats(server.url, agents);
    const again = reply ? this.again(reply) : '';
    const ended = agents.length > 0 ? `; your ${plural(agents.length, 'agent', 'agents')} there ended` : '';
    this.print<typeof json>({ person: reply?.data ?? null }, () => `Left ${board}${ended}.${again}`);
  }
}
