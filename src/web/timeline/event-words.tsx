/** Describes board events: an icon and a sentence. */
import type { ComponentChildren } from 'preact';
import type { BoardEvent, BoardFile, Task } from '../../contract/types.ts';
import { plural } from '../parts/number.ts';
import { hrefOf } from '../state/route.ts';
import { dropVerb } from '../tasks/drop-words.ts';

interface EventText {
  icon: string;
  /** The name of the actor; null for the server. */
  who: string | null;
  text: ComponentChildren;
}

interface EventContext {
  board: string;
  tasks: ReadonlyMap<string, Task>;
  files: ReadonlyMap<string, BoardFile>;
  /** Returns the name of a member by id. */
  nameOf(member: string): string;
}

type Data = Record<string, unknown>;
type LineText = Omit<EventText, 'who'>;
type Describe = (data: Data, about: EventContext, event: BoardEvent) => LineText;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const line =
  (icon: string, describe: (data: Data, about: EventContext, event: BoardEvent) => ComponentChildren): Describe =>
  (data, about, event) => ({ icon, text: describe(data, about, event) });

const TaskLink = ({ data, about }: { data: Data; about: EventContext }) => {
  const ref = text(data['ref']);
  const title = text(data['title']) || about.tasks.get(text(data['task_id']))?.title;
  return (
    <>
      <a class="ref" href={hrefOf({ screen: 'board', board: about.board, tab: 'tasks', task: ref })}>
        {ref}
      </a>{' '}
      <bdi>{title}</bdi>
    </>
  );
};

/** Links by id, because the name may have moved to another file since. */
const FileLink = ({ data, about }: { data: Data; about: EventContext }) => {
  const id = text(data['file_id']);
  const version = typeof data['version'] === 'number' ? data['version'] : undefined;
  return (
    <>
      <a class="ref path" href={hrefOf({ screen: 'board', board: about.board, tab: 'files', file: id, version })}>
        {text(data['name'] ?? data['after'] ?? about.files.get(id)?.name ?? 'a file')}
      </a>
      {version && ` v${version}`}
    </>
  );
};

const Quiet = ({ children }: { children: ComponentChildren }) => (
  <>
    {' '}
    <bdi class="q">{children}</bdi>
  </>
);
const Who = ({ name }: { name: unknown }) => <b>{text(name)}</b>;

const task = (icon: string, verb: string, more?: (data: Data) => ComponentChildren): Describe =>
  line(icon, (data, about) => (
    <>
      {verb} <TaskLink data={data} about={about} />
      {more?.(data)}
    </>
  ));

const file = (icon: string, verb: string): Describe =>
  line(icon, (data, about) => (
    <>
      {verb} <FileLink data={data} about={about} />
    </>
  ));

const changedPart = (data: Data): ComponentChildren => {
  if (data['stands'] !== undefined) return <Quiet>{text(data['stands'])}</Quiet>;
  if (data['title'] !== undefined) return null;
  return <Quiet>what it is about</Quiet>;
};

const joined: Describe = line('people', (data) => (
  <>
    joined
    {data['kind'] === 'agent' && data['role'] ? ` as ${text(data['role'])}` : ''}
    {data['owner'] ? <Quiet>{text(data['owner'])}’s agent</Quiet> : data['guest'] ? <Quiet>a guest</Quiet> : null}
  </>
));

const describers: Record<string, Describe> = {
  'board.created': line('board', (data) =>
    data['visibility'] === 'private' ? 'made this private board' : 'made this board, open to everyone on the server',
  ),
  'board.titled': line('board', ({ after }) =>
    after ? (
      <>
        called the board <b dir="auto">{text(after)}</b>
      </>
    ) : (
      'took the title of the board away'
    ),
  ),
  'board.policy_changed': line('shield', () => 'changed the rules of the board'),
  'board.config_changed': line('shield', (data) => {
    const parts = [data['charter'] && 'the charter', data['roles'] && 'the roles'].filter(Boolean);
    return `changed ${parts.join(' and ')} of the board`;
  }),
  'board.agents_add_people_changed': line('people', (data) =>
    data['agents_add_people'] ? 'lets agents add people' : 'no longer lets agents add people',
  ),
  'board.visibility_changed': line('lock', ({ after, reveals }) => {
    if (after === 'private') return 'made the board private';
    const { messages = 0, files = 0 } = (reveals ?? {}) as { messages?: number; files?: number };
    return (
      <>
        opened the board to everyone on the server
        <Quiet>
          {plural(messages, 'message')}, {plural(files, 'file')}
        </Quiet>
      </>
    );
  }),
  'board.task_prefix_set': line('task', ({ after }) => (
    <>
      set how tasks are called: <span class="ref">{text(after)}-1</span>, <span class="ref">{text(after)}-2</span> and
      so on
    </>
  )),
  'board.archived': line('lock', () => 'archived the board'),
  'board.restored': line('board', () => 'restored the board'),
  'board.deleted': line('x', () => 'deleted the board'),
  'member.joined': joined,
  'joincode.created': line('plus', (data) =>
    data['guest'] ? (
      <>
        made a code for the guest <Who name={data['guest']} />
      </>
    ) : (
      `made a join line for ${text(data['role'])}`
    ),
  ),
  'joincode.revoked': line('x', () => 'took a join line back'),
  'agent.removed': line('people', (data) => (
    <>
      removed the agent <Who name={data['name']} />
      {data['pruned'] === true && <Quiet>disconnected for long</Quiet>}
    </>
  )),
  'agent.left': line('people', () => 'left'),
  'person.added': line('people', (data, _about, { actor }) =>
    actor.name === data['name'] ? (
      data['rejoined'] ? (
        'came back'
      ) : (
        'joined'
      )
    ) : (
      <>
        added <Who name={data['name']} />
      </>
    ),
  ),
  'person.renamed': line('people', ({ before, after }) => (
    <>
      renamed <Who name={before} /> to <Who name={after} />
    </>
  )),
  'person.removed': line('people', (data) => (
    <>
      removed <Who name={data['name']} />
      {data['from_server'] === true && ' from the server'}
    </>
  )),
  'person.left': line('people', () => 'left the board'),
  'person.made_owner': line('people', (data) => (
    <>
      made <Who name={data['name']} /> an owner of the board
    </>
  )),
  'person.role_changed': line('people', (data) => (
    <>
      made <Who name={data['name']} /> a member, no longer an owner
    </>
  )),
  'thread.continued': line('reply', () => 'let agents go on in a thread'),
  'thread.stopped': line('x', () => 'closed a thread for agents'),
  'task.created': task('open', 'opened'),
  // No type of the API: two events in one line.
  'task.opened_and_started': task('half', 'opened and started'),
  'task.started': task('half', 'started'),
  'task.joined': task('half', 'helps with'),
  'task.updated': task('half', 'updated', changedPart),
  'task.done': (data, about, event) =>
    (data['cancelled']
      ? task('x', 'cancelled', ({ note }) => <Quiet>{text(note)}</Quiet>)
      : task('task', 'finished', ({ note }) => <Quiet>{text(note)}</Quiet>))(data, about, event),
  'task.taken_over': task('half', 'took over'),
  'task.dropped': (data, about, event) =>
    task('open', dropVerb(event, about.nameOf), ({ reason }) => <Quiet>{text(reason)}</Quiet>)(data, about, event),
  'file.version_added': (data, about, event) =>
    file('file', data['version'] === 1 ? 'added' : 'changed')(data, about, event),
  'file.updated': file('file', 'changed what is kept of'),
  'file.approved': file('check', 'approved'),
  'file.approval_removed': file('x', 'took back the approval of'),
  'file.removed': file('x', 'took off'),
  'file.renamed': line('file', (data, about) => (
    <>
      renamed <span class="ref path">{text(data['before'])}</span> to <FileLink data={data} about={about} />
    </>
  )),
};

/** Describes an event. An unknown type is shown by its name. */
export function describeEvent(event: BoardEvent, about: EventContext): EventText {
  const data = event.data ?? {};
  const lineText = describers[event.type]?.(data, about, event) ?? { icon: 'dots', text: event.type };
  return { ...lineText, who: event.type === 'member.joined' ? text(data['name']) : event.actor.name };
}
