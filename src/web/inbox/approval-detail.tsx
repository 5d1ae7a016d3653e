/** Details of an agent's request: the action, all its fields, what it reveals, and the choices. */
import { signal } from '@preact/signals';
import type { Answer, Approval, ServerInvite } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Command, Fact, serverCommand } from '../parts/command.tsx';
import { Icon } from '../parts/icon.tsx';
import { formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { formatDayTime, formatExact } from '../parts/time.tsx';
import { write } from '../state/attempts.ts';
import { boards } from '../state/boards.ts';
import { useKeys } from '../state/keys.ts';
import { useLoad } from '../state/load.ts';
import { pendingApprovals } from '../state/needs.ts';
import { actionRows, alwaysLabel, describeAction, needsOwnKey, revealedBy } from './action-details.ts';
import { BoardLink, type Choice, Choices, Heading, isShown, useDecision } from './heading.tsx';
import { ownAgent } from './items.ts';

/** Invite links by request id. The server sends each only once, so they are lost on reload. */
const links = signal<ReadonlyMap<string, ServerInvite>>(new Map());

export function ApprovalDetail({ id }: { id: string }) {
  const listed = pendingApprovals.value.find((approval) => approval.id === id);
  const read = async (): Promise<Approval> => (await call('getApproval', { params: { approval: id } })).approval;
  const { value, error, reload, set } = useLoad(read, [id], [listed]);
  // A decision made here is newer than the list.
  const approval = value && value.state !== 'pending' ? value : (listed ?? value);
  if (!approval) return <ProblemLine error={error} onRetry={reload} />;
  return <Request approval={approval} onDecided={set} />;
}

function Request({ approval, onDecided }: { approval: Approval; onDecided: (approval: Approval) => void }) {
  const { id, action, display, state, next } = approval;
  const text = describeAction(approval);
  const reveals = revealedBy(action);
  const who = ownAgent(display?.agent_name);
  const { action: sending, title, decide } = useDecision(onDecided);
  const ownKey = needsOwnKey(action);
  const board = display?.requested_on;

  const allow = (always: boolean): Promise<void> =>
    decide('Allowed', async () => {
      const result: Answer<'allowApproval'> = await write('allowApproval', {
        params: { approval: id },
        body: { always },
      });
      if (result.invite) links.value = new Map(links.peek()).set(id, result.invite);
      return result.approval;
    });
  const decline = (): Promise<void> => decide('Declined', () => write('declineApproval', { params: { approval: id } }));
  const always = alwaysLabel(action);
  const choices: Choice[] = [
    ...(ownKey ? [] : [{ label: 'Allow once', run: () => void allow(false) }]),
    { label: 'Decline', run: () => void decline() },
    ...(always ? [{ label: always, run: () => void allow(true) }] : []),
  ];
  const open = state === 'pending';
  useKeys(
    'Requests of agents',
    choices.map(({ label, run }, index) => ({
      keys: String(index + 1),
      label,
      run: () => (open && isShown(title) ? run() : false),
    })),
    [approval],
  );
  return (
    <article aria-labelledby="inbox-title">
      <Heading who={who} at={approval.created_at} title={text.title} titleRef={title}>
        asks for your word
        {board && (
          <>
            , from <BoardLink name={board.name} />
          </>
        )}
      </Heading>
      {open ? (
        <p class="x">If you allow it, exactly this happens, once. Nothing in it can change after you decide.</p>
      ) : (
        <Outcome approval={approval} />
      )}
      <ActionTable approval={approval} effect={text.effect} />
      {open && reveals && <Reveals words={reveals} approval={approval} />}
      {links.value.has(id) && <OnceLink invite={links.value.get(id)!} />}
      {open && ownKey && (
        <div class="own-key">
          <p>Only your own key can allow this, in your terminal:</p>
          <Command line={next?.command ?? serverCommand('approval', 'allow', id)} />
        </div>
      )}
      {open && (
        <>
          <Choices choices={choices} busy={sending.busy} />
          <ProblemLine error={sending.error} />
          <p class="q2 ends">
            Undecided, it ends by itself {formatDayTime(approval.expires_at)} and {who.name} is told. What your agents
            may already do alone: <a href="/settings/allowance">your allowance</a>.
          </p>
        </>
      )}
    </article>
  );
}

function ActionTable({ approval, effect }: { approval: Approval; effect: [string, string] }) {
  const { display, payload_hash, action } = approval;
  return (
    <>
      <dl class="frozen">
        <Fact name="Does">
          <b>{effect[0]}</b> {effect[1]}
        </Fact>
        {actionRows(approval).map(({ name, words, id }) => (
          <Fact key={`${name} ${id ?? words}`} name={name}>
            <b>{words}</b> {id && id !== words && <span class="mono q2">{id}</span>}
          </Fact>
        ))}
        <Fact name="Asked by">
          <b class="mono">{display?.agent_name ?? approval.agent_id}</b>, your agent
          {display?.agent_harness && `, ${display.agent_harness}`}
        </Fact>
        <Fact name="Fingerprint" class="mono q2" title={payload_hash}>
          {payload_hash.slice(0, 19)}…{payload_hash.slice(-6)}
        </Fact>
      </dl>
      <details class="exact">
        <summary>The exact action</summary>
        <figure class="code">
          <pre>
            <code>{JSON.stringify(action, null, 2)}</code>
          </pre>
        </figure>
      </details>
    </>
  );
}

/** The most boards that a sentence names. */
const MAX_BOARDS = 8;

const listOf = (names: string[]): string => new Intl.ListFormat('en').format(names);

function Reveals({ words, approval }: { words: string; approval: Approval }) {
  const open = (boards.value ?? []).filter(({ visibility }) => visibility === 'open').map(({ name }) => name);
  const more = open.length - MAX_BOARDS;
  const shown = more > 1 ? [...open.slice(0, MAX_BOARDS), `${formatNumber(more)} more`] : open;
  const invites = approval.action.kind === 'invite_people';
  const named = invites ? shown : [];
  const joined = invites ? (approval.display?.boards ?? []).map(({ name }) => name) : [];
  const closed = joined.filter((name) => !open.includes(name));
  return (
    <div class="warn">
      <Icon name="people" />
      <p>
        <b>
          {words}
          {named.length > 0 ? ':' : '.'}
        </b>{' '}
        {named.length > 0 && `${listOf(named)}.`}
        {closed.length > 0 && ` They can also read everything on ${listOf(closed)}, from the first message on.`}
      </p>
    </div>
  );
}

const ended: Record<NonNullable<Approval['closed_reason']>, string> = {
  timeout: 'Nobody decided in time.',
  requester_ended: 'The agent that asked has ended.',
  key_ended: 'The key of the agent that asked has ended.',
  person_ended: 'Its person has left the server.',
};

/** How the request ended. */
function Outcome({ approval }: { approval: Approval }) {
  const { state, decided_at, decision, closed_reason, execution, outcome } = approval;
  const when = decided_at ? `, ${formatDayTime(decided_at)}` : '';
  const effect = execution?.effect === 'already' ? ' It was so already.' : ' It is done.';
  const link =
    outcome.state === 'held'
      ? ' The agent has not collected the link yet.'
      : outcome.state === 'collected' || outcome.state === 'cleared'
        ? ' The link was collected or has ended.'
        : '';
  const by =
    decision === 'allowance'
      ? 'Your allowance let it happen'
      : decision === 'always'
        ? 'You allowed it always'
        : 'You allowed it once';
  const words =
    state === 'executed'
      ? `${by}${when}.${effect}${link}`
      : state === 'declined'
        ? `You declined it${when}. Nothing happened.`
        : `It ended undecided. ${ended[closed_reason ?? 'timeout']} Nothing happened.`;
  return (
    <p class="stands" role="status" title={decided_at && formatExact(decided_at)}>
      {words}
    </p>
  );
}

/** The invite link, shown once to the person who allowed it. */
const OnceLink = ({ invite }: { invite: ServerInvite }) => (
  <section class="once" aria-label="Invite link">
    <p>
      <b>The link is shown here once.</b> Your agent gets it too. Hand it over privately: the first who opens it becomes
      a member.
    </p>
    <Command line={invite.invite} what="the link" primary />
    <Command line={invite.prompt} shown="The same with words for an agent" what="the words" />
  </section>
);
