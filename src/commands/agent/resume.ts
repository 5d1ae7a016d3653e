import { BaseCommand, required } from '../../cli/base.ts';
import { agreedOnJoin, member, object, seatRef, text } from '../../cli/shapes.ts';
import { deliveryLine } from '../join/lib/join-summary.ts';
import { bindHere } from './lib/binding.ts';

export const json = () =>
  object({ agent: member, session: text, previous: seatRef.nullable(), mode: agreedOnJoin.mode });

export default class AgentResume extends BaseCommand<typeof AgentResume> {
  static override aliases = ['resume'];
  static override summary = 'Take a seat of this machine for the session this runs in';
  static override description =
    'Its messages arrive in this session from now on. Another session that held the seat is told that it lost it, and keeps\nits other seats.';
  static override examples = ['service resume codex', 'service agent resume codex@payments --json'];
  static override seeAlso = ['agents', 'join', 'agent leave'];
  static override args = { name: required('Name of the agent, name@board or its id') };

  override async run(): Promise<void> {
    this.globals = { ...this.globals, as: this.args.name };
    const { client, seat, server } = await this.session('G');
    const { data: me } = await client.call('getMe');
    const params = { board: me.board ?? seat!.saved.board, member: me.id };
    const { data: agent } = await client.call('getMember', { params });
    const bound = await bindHere(seat!);
    this.out.base.board = agent.board;
    this.print<typeof json>({ agent, ...bound }, () =>
      [
        `This session is ${agent.name} on ${agent.board} at ${server.url}. Messages arrive here.`,
        bound.mode ? deliveryLine(bound.mode) : '',
      ]
        .filter(Boolean)
        .join('\n'),
    );
  }
}
