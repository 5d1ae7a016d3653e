/**
 * The page of one agent: its owner, status, delivery, recent messages to it and by it.
 */
import { useState } from 'preact/hooks';
import { usageWords, waitingWords } from '../../contract/agent-text.ts';
import type { Member } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { Fact } from '../parts/command.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { ago, atLoss, formatExact } from '../parts/time.tsx';
import { Glyph, Presence } from '../parts/who.tsx';
import { useKeys } from '../state/keys.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';
import { hrefOf, navigate } from '../state/route.ts';
import { RemoveAgent } from './agent-row.tsx';
import { Delivery } from './delivery.tsx';
import { LatestByAgent } from './latest.tsx';
import { LineForm } from './line-form.tsx';
import { RecentMessages } from './recent-messages.tsx';
import { describeWaking, harnessName, modes, stateText } from './waking.ts';
import './agent.css';

/** Finds an agent among the board's members, or loads it if it has left the board. */
function useAgent(name: string, room: Room): { member: Member | null; error: unknown; reload: () => Promise<void> } {
  const present = room.members.value.find((member) => member.name === name && member.kind === 'agent');
  const missing = !present && room.head.value !== null;
  const read = async (): Promise<Member | null> =>
    missing ? call('getMember', { params: { board: room.name, member: name } }) : null;
  const { value, error, reload } = useLoad(read, [missing, name]);
  return { member: present ?? value, error: present ? null : error, reload };
}

export function AgentPage({ name, room }: { name: string; room: Room }) {
  const { member, error, reload } = useAgent(name, room);
  const back = (): void => navigate({ screen: 'board', board: room.name, tab: 'people' });
  useKeys(
    'Agent',
    [
      {
        keys: 'Escape',
        label: 'Back to the people',
        run: () => (document.querySelector('dialog[open]') ? false : back()),
      },
    ],
    [room],
  );
  return (
    <div class="page">
      <div class="col">
        <p class="q2 back">
          <a href={hrefOf({ screen: 'board', board: room.name, tab: 'people' })}>
            People of {room.board.value?.title ?? room.name}
          </a>
        </p>
        <ProblemLine error={error} onRetry={reload} />
        {member ? <Page member={member} room={room} /> : error === null && <div aria-busy="true" />}
      </div>
    </div>
  );
}

function Page({ member, room }: { member: Member; room: Room }) {
  const [dialog, setAsked] = useState<'line' | 'remove' | null>(null);
  const own = room.isMyAgent(member) && member.status === 'active';
  const waking = describeWaking(member);
  const { line, current_task: task, location, waiting, usage } = member;
  const changed = (): void => void room.refresh();
  const close = (): void => setAsked(null);
  const names = room.members.value.map((one) => one.name);
  return (
    <>
      <header class="agent-head">
        <Glyph who={member} size={40} others={names} />
        <div class="sp">
          <h2 class="mono">{member.name}</h2>
          <span class="q2">
            {own ? 'your' : `${member.owner}’s`} agent{member.harness && `, ${harnessName(member.harness)}`},{' '}
            {member.role} here
          </span>
        </div>
        {member.status === 'active' && member.state && (
          <Presence state={member.state} words={stateText(member) + atLoss()} />
        )}
      </header>
      <dl class="agent-facts">
        {waiting && (
          <Fact name="Waits for">
            <p>
              <b>{waitingWords(waiting)}</b>
            </p>
            <p class="q2">Answer it in its session.</p>
          </Fact>
        )}
        {member.status === 'active' && (
          <Fact name="On now">
            {line ? (
              <>
                <p>{line.text}</p>
                <p>
                  {line.source === 'plan'
                    ? 'from its plan'
                    : line.source === 'task'
                      ? 'from its task'
                      : `said by ${line.set_by}`}
                  , <span title={formatExact(line.at)}>{ago(line.at)}</span>
                </p>
                {line.paths && <p class="mono">{line.paths.join(', ')}</p>}
              </>
            ) : (
              <p class="q2">It has not said.</p>
            )}
            {own && (
              <button type="button" class="b" onClick={() => setAsked('line')}>
                Say what it is on
              </button>
            )}
          </Fact>
        )}
        <Fact name="Task">
          {task ? (
            <a href={hrefOf({ screen: 'board', board: room.name, tab: 'tasks', task: task.ref })}>
              <span class="ref">{task.ref}</span> {task.title}
            </a>
          ) : (
            <span class="q2">none</span>
          )}
        </Fact>
        {member.status === 'active' && (
          <Fact name="Delivery">
            <p>
              <Delivery member={member} own={own} onChange={changed} />
            </p>
            <p>{modes[member.delivery_mode ?? 'focused'].description}</p>
          </Fact>
        )}
        <Fact name="Woken now">
          <p>
            <b>{waking.summary}</b>
          </p>
          {waking.reasons.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </Fact>
        {usage && <Fact name="Used today">{usageWords(usage)}</Fact>}
        {location && (
          <Fact name="Session">
            <p class="mono">{location.folder}</p>
            <p>
              {location.machine && `on ${location.machine}, `}
              {location.harness} session {location.session_id}, {ago(location.last_active)}
            </p>
          </Fact>
        )}
        <Fact name="Joined" title={formatExact(member.joined_at)}>
          {ago(member.joined_at)}
        </Fact>
      </dl>
      {member.can_remove && member.status === 'active' && (
        <p class="part">
          <button type="button" class="b bad" onClick={() => setAsked('remove')}>
            <Icon name="x" />
            Remove it from {room.name}
          </button>
        </p>
      )}
      <RecentMessages member={member} room={room} />
      <LatestByAgent member={member} room={room} />
      {dialog === 'line' && <LineForm member={member} onClose={close} onChange={changed} />}
      {dialog === 'remove' && <RemoveAgent member={member} close={close} changed={changed} />}
    </>
  );
}
