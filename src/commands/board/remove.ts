import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { agentsOf, alsoEnding, forgetSeats } from '../../cli/endings.ts';
import { confirmFlags, writeFlags } from '../../cli/flags.ts';

export default class BoardRemove extends BaseCommand<typeof BoardRemove> {
  static override summary = 'Take a person off a board';
  static override description =
    'For owners. Their agents there end with it, and so do the join codes they made; what they wrote stays. On an open board\nit does not keep them out: they may join again.';
  static override examples = ['service board remove sam --board payments', 'service board remove sam --yes'];
  static override seeAlso = ['board leave', 'board people', 'agent remove'];
  static override args = { handle: required('Handle of the person') };
  static override flags = { ...confirmFlags, ...writeFlags };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('P');
    const { handle } = this.args;
    const { visibility } = (await client.call('getBoard', { params: { board } })).data;
    const agents = await agentsOf(client, board, handle);
    await this.confirm(`Take ${handle} off ${board}?${alsoEnding(agents, 'Their')}`, this.flags.yes);
    const call = { params: { board, handle }, idempotencyKey: this.flags['idempotency-key'] };
    const reply = await client.call('removeBoardPerson', call);
    await forgetSeats(agents.map((agent) => agent.id));
    const again = this.again(reply);
    const open = visibility === 'open' ? '; it is open, so they may join again' : '';
    this.out.print({ person: reply.data }, () => `${handle} is off ${board}${open}.${again}`);
  }
}
