import { BaseCommand, required } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { askFor, refOf } from '../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../cli/session/here.ts';
import { agreedOnJoin, member, object, seatRef, text } from '../../cli/shapes.ts';
import type { Seat } from '../../local/actors.ts';
import { Failure } from '../../local/failure.ts';
import { noteHolder } from '../../local/keys/credentials.ts';
import { deliveryLine } from '../join/lib/join-summary.ts';

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

/** @throws Failure `agent_session_required` outside a session. */
async function bindHere(seat: Seat) {
  const session = sessionHere();
  if (!session)
    throw new Failure('agent_session_required', 'Only a session of an agent’s program takes a seat.', {
      hint: `In a terminal, act as it with: --as ${seat.saved.name}`,
    });
  const { previous, mode } = await askFor(session, 'bind', { agent: refOf(seat) });
  await noteHolder(runtime().folders, seat, session.key);
  return { session: session.key, previous: previous ?? null, mode: mode ?? null };
}
