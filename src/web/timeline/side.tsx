/** The side column of the conversation: members, tasks in progress, files. */
import type { Member, Task } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { ago, agoPhrase, atLoss, formatPast } from '../parts/time.tsx';
import { type AgentState, Glyph, type Identity, Name, Presence } from '../parts/who.tsx';
import { MAX_FILES } from '../state/room.ts';
import { useTalk } from './context.ts';
import { freshnessOf } from './message.tsx';

const MAX_MEMBERS = 8;
const MAX_ROWS = 4;

/** The order of agents by state. */
const order: AgentState[] = ['working', 'waiting', 'idle', 'paused', 'late', 'braked', 'disconnected'];
const rank = ({ state }: Member): number => order.indexOf(state ?? 'disconnected');

export function Side() {
  const talk = useTalk();
  const members = talk.room.members.value.filter(({ status }) => status === 'active');
  const others = members.filter((member) => !talk.room.isMe(member));
  const agents = others.filter(({ kind }) => kind === 'agent').sort((a, b) => rank(a) - rank(b));
  // Many people leave half of the rows to agents.
  const people = others
    .filter(({ kind }) => kind === 'human')
    .slice(0, Math.max(MAX_MEMBERS - agents.length, MAX_MEMBERS / 2));
  const tasks = [...talk.items.tasks.value.values()].filter(({ state }) => state === 'in_progress');
  const open = [...talk.items.tasks.value.values()].filter(({ state }) => state === 'open' || state === 'in_progress');
  const files = [...talk.items.files.value.values()].filter(({ removed_at }) => removed_at === null);
  const recent = files.sort((a, b) => b.latest.seq - a.latest.seq);
  if (others.length + tasks.length + recent.length === 0) return null;
  return (
    <aside class="side" aria-label="Around the conversation">
      {others.length > 0 && (
        <section>
          <h3>
            In the room{atLoss()}
            <a href={talk.href({ tab: 'people' })}>{members.length} with you</a>
          </h3>
          <ul>
            {[...people, ...agents].slice(0, MAX_MEMBERS).map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </ul>
        </section>
      )}
      {tasks.length > 0 && (
        <section>
          <h3>
            In progress
            <a href={talk.href({ tab: 'tasks' })}>all {open.length}</a>
          </h3>
          {tasks
            .sort((a, b) => Number(b.needs_you) - Number(a.needs_you))
            .slice(0, MAX_ROWS)
            .map((task) => (
              <TaskRow key={task.id} task={task} />
            ))}
        </section>
      )}
      {recent.length > 0 && (
        <section>
          <h3>
            Files
            <a href={talk.href({ tab: 'files' })}>all {files.length < MAX_FILES && files.length}</a>
          </h3>
          {recent.slice(0, MAX_ROWS).map((file) => (
            <a key={file.id} class="tk" href={talk.href({ tab: 'files', file: file.name })}>
              <span class="mono">{file.name}</span>
              <span class="m2">
                {[`v${file.latest.version}`, agoPhrase(file.latest.at), freshnessOf(file)].filter(Boolean).join(', ')}
              </span>
            </a>
          ))}
        </section>
      )}
    </aside>
  );
}

function MemberRow({ member }: { member: Member }) {
  const talk = useTalk();
  const { kind, state, line, presence_since, current_task } = member;
  const known: Identity = member;
  const gone = state === 'disconnected' && presence_since !== null;
  const words = gone ? ago(presence_since) : undefined;
  const task = line?.task ?? current_task;
  const said = gone ? `gone since ${formatPast(presence_since)}` : (line?.text ?? '');
  return (
    <li class="mem">
      <Glyph who={known} size={28} others={talk.agents.value} />
      <div class="row">
        <span class="cut">
          <Name who={known} />
        </span>
        {kind === 'agent' && state && (
          <>
            <span class="sp" />
            <Presence state={state} words={words} />
          </>
        )}
      </div>
      {(said || task) && (
        <div class="l">
          <bdi>{said}</bdi>
          {task && !gone && (
            <>
              {said && ', '}
              <a class="ref" href={talk.href({ tab: 'tasks', task: task.ref })}>
                {task.ref}
              </a>
            </>
          )}
        </div>
      )}
    </li>
  );
}

function TaskRow({ task }: { task: Task }) {
  const talk = useTalk();
  const { owner, blocked, blocked_on, needs_you } = task;
  const onMe = blocked_on.some(({ to }) => talk.room.isMe(to));
  return (
    <a class="tk" href={talk.href({ tab: 'tasks', task: task.ref })}>
      <span>{task.title}</span>
      <span class="m2">
        <span class="ref">{task.ref}</span>
        {owner && <Glyph who={{ ...owner, state: talk.states.value.get(owner.id) ?? null }} size={20} />}
        {onMe ? (
          <span class="st mine">
            <Icon name="block" small />
            blocked on you
          </span>
        ) : needs_you ? (
          <span class="st mine">
            <Icon name="ask" small />
            asks you
          </span>
        ) : blocked ? (
          <span class="st">
            <Icon name="block" small />
            blocked on {blocked_on[0]?.to.name}
          </span>
        ) : (
          <span>{owner?.name}</span>
        )}
      </span>
    </a>
  );
}
