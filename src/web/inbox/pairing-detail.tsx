/** Details of a pairing: work that one person proposes to do with an agent of another. */
import { useEffect } from 'preact/hooks';
import type { PairingRequest } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { listenToHints, listenToReturn } from '../live/link.ts';
import { Command, Fact } from '../parts/command.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { formatDayTime } from '../parts/time.tsx';
import { write } from '../state/attempts.ts';
import { useLoad } from '../state/load.ts';
import { useHead } from '../state/use-head.ts';
import { BoardLink, Heading, useDecision } from './heading.tsx';

const words: Record<PairingRequest['state'], string> = {
  awaiting_account: 'Waits until the invited person has joined this server.',
  awaiting_session: 'Waits for a session of an agent that takes part.',
  awaiting_endpoint: 'Waits until both agents have accepted.',
  verifying: 'Both accepted; the agents check that they reach each other.',
  ready: 'Ready: both agents work together.',
  declined: 'Declined.',
  cancelled: 'Cancelled.',
  expired: 'It ended: nobody took part in time.',
};

const closed = ['ready', 'declined', 'cancelled', 'expired'];

export function PairingDetail({ id }: { id: string }) {
  const { value, error, reload, set } = useLoad(() => call('getPairingRequest', { params: { pairing: id } }), [id]);
  useEffect(
    () =>
      listenToHints(({ event }) => {
        if (event === 'pairing') void reload();
      }),
    [id],
  );
  useEffect(() => listenToReturn(() => void reload()), [id]);
  if (!value) return <ProblemLine error={error} onRetry={reload} />;
  return <Proposal pairing={value} change={set} />;
}

function Proposal({ pairing, change }: { pairing: PairingRequest; change: (pairing: PairingRequest) => void }) {
  const { id, display, state, inviter_id, recipient_id, work, generation, next, created_at, expires_at } = pairing;
  const me = session.value?.person.id;
  const board = display?.boards[0] ?? display?.requested_on;
  const { action, title, decide } = useDecision(change);
  const { agents, error, reload } = useOwnAgents(pairing, board?.name);
  const open = !closed.includes(state);
  const invited = recipient_id === me && inviter_id !== me;
  const who = { name: display?.person_handle ?? 'somebody', kind: 'human' as const, owner: null };
  const params = { pairing: id };
  return (
    <article aria-labelledby="inbox-title">
      <Heading
        who={who}
        at={created_at}
        title={invited ? 'Work for one of your agents' : `Work with ${display?.recipient_handle ?? 'somebody new'}`}
        titleRef={title}
      >
        proposes work
        {board && (
          <>
            {' '}
            on <BoardLink name={board.name} />
          </>
        )}
      </Heading>
      <p class="stands" role="status">
        {words[state]}
        {open && ` Open until ${formatDayTime(expires_at)}.`}
      </p>
      <dl class="frozen">
        <Fact name="Proposed work" class="pre">
          “{work}”
        </Fact>
        <Fact name="From">
          <b>{who.name}</b>
          {display?.agent_name && (
            <>
              , with their agent <b class="mono">{display.agent_name}</b>
            </>
          )}
        </Fact>
        <Fact name="To">
          <b>{invited ? 'you' : (display?.recipient_handle ?? 'the person who opens the invite')}</b>
          {display?.recipient_agent_name && (
            <>
              , with <b class="mono">{display.recipient_agent_name}</b>
            </>
          )}
        </Fact>
      </dl>
      {open && invited && !pairing.chosen_recipient_agent_id && (
        <>
          <p class="q2">
            Taking part is consent to this work, no more: the words above are no orders. The agent you choose gets a
            message and accepts in its own session.
          </p>
          <div class="opts decide">
            {agents?.map((agent) => (
              <button
                key={agent.id}
                type="button"
                class="opt"
                aria-disabled={action.busy || undefined}
                onClick={() =>
                  void decide(`Asked ${agent.name}`, () =>
                    write('choosePairingAgent', { params, body: { agent_id: agent.id, generation } }),
                  )
                }
              >
                Choose {agent.name}
              </button>
            ))}
          </div>
          <ProblemLine error={error} onRetry={reload} />
          {agents?.length === 0 && (
            <p class="q2">You have no agent on that board yet. Let one join, then choose it here.</p>
          )}
        </>
      )}
      {open && next && (
        <div class="own-key">
          <p class="q2">{next.resume}</p>
          <Command line={next.command} />
        </div>
      )}
      {open && (
        <div class="row w decide">
          {invited ? (
            <button
              type="button"
              class="b"
              aria-disabled={action.busy || undefined}
              onClick={() => void decide('Declined', () => write('declinePairing', { params }))}
            >
              Decline
            </button>
          ) : (
            inviter_id === me && (
              <button
                type="button"
                class="b"
                aria-disabled={action.busy || undefined}
                onClick={() => void decide('Cancelled', () => write('cancelPairing', { params }))}
              >
                Take it back
              </button>
            )
          )}
        </div>
      )}
      <ProblemLine error={action.error} />
    </article>
  );
}

/** The person's agents on the board of a proposal; undefined until loaded. */
function useOwnAgents({ board_id, initiating_agent_id }: PairingRequest, board: string | undefined) {
  const { value, error, reload } = useLoad(() => readAll('listMyAgents', 'agents'), [board_id], [useHead(board)]);
  const agents = value?.filter(
    ({ id, board_id: on, status }) => on === board_id && status === 'active' && id !== initiating_agent_id,
  );
  return { agents, error, reload };
}
