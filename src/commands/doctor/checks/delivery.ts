/** Reports messages the daemon could not deliver, each with the command that gets them to their agent. */
import type { AgentRef, StatusAnswer } from '../../../daemon/protocol.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import { type Finding, failing, warning } from '../lib/check.ts';
import type { SessionLines } from './session-lines.ts';

/** Why a program's queue took nothing, where the program says so. */
const targets: Record<string, string> = {
  harness_target_absent: 'its program knows the session no more',
  harness_subagent_target: 'its session is a part of another one, which holds no seat',
};

/** One finding a handoff and seat; nothing where all goes well. */
export function deliveryFindings(status: StatusAnswer, lines: SessionLines): Finding[] {
  const { attention = [], stalled = [], truncated = [], agents = [], bindings = [], metrics = {} } = status;
  const held = ({ name, board, server, member_id }: AgentRef) => {
    const session = bindings.find(
      ({ agent }) => agent.server === server && (agent.member_id ?? agent.name) === (member_id ?? name),
    )?.session;
    return { name, board, session: session ?? null };
  };
  const echoes = metrics['wake_echo_missing'] ?? 0;
  return [
    ...attention.map(({ agent, reason = '' }) => {
      const why = targets[reason] ?? (reason || 'no reason was given');
      const problem = `${who(agent)} could not be handed its messages: ${why}.`;
      return failing(
        'delivery',
        reason in targets ? reason : 'delivery_attention',
        problem,
        lines.takeOver(held(agent)),
      );
    }),
    ...stalled.map(({ agent }) => {
      const problem = `${who(agent)} was handed its messages, and its session did not wake.`;
      return warning('delivery', 'delivery_stalled', problem, lines.reopen(held(agent)));
    }),
    ...truncated.map(({ agent, seq }) => {
      const problem = `${who(agent)} was given #${seq} in part: it is longer than a bundle may be.`;
      return warning('delivery', 'delivery_truncated', problem, readLine(agent, seq));
    }),
    ...agents.flatMap(({ agent, problem }) => seatFindings(agent, problem ?? null)),
    ...(echoes > 0 ? [echoMissing(echoes)] : []),
  ];
}

const who = ({ name, board }: AgentRef): string => `${name} on ${board}`;

const readLine = ({ name, board }: AgentRef, seq: number): string =>
  `service read --as ${shellWord(`${name}@${board}`)} --around ${seq} --limit 1`;

/** The others are found where servers and seats are asked. */
function seatFindings(agent: AgentRef, problem: string | null): Finding[] {
  if (problem === 'handoff_failed') {
    const message = `${who(agent)}: its messages could not be made ready; they are tried again, less and less often.`;
    return [failing('delivery', problem, message, 'service daemon restart')];
  }
  if (problem !== 'extension_outdated') return [];
  const message = `${who(agent)}: the extension in its session is too old for what is to be handed to it.`;
  return [failing('delivery', problem, message, 'service init --yes --harness omp')];
}

function echoMissing(count: number): Finding {
  const problem = `${count === 1 ? 'A wake was' : `${count} wakes were`} taken for received without a trace in the session; a change of its program may be why.`;
  return warning('delivery', 'wake_echo_missing', problem, 'service init --yes && service daemon restart');
}
