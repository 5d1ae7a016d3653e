/** Board events as short quiet lines in plain words: an icon, and what happened. */
import type { ComponentChildren } from 'preact';
import type { BoardEvent, BoardFile, Task } from '../../contract/types.ts';
import { hrefOf } from '../state/route.ts';

interface Told {
  icon: string;
  /** Who did it; null: the server. */
  who: string | null;
  text: ComponentChildren;
}

interface About {
  board: string;
  tasks: ReadonlyMap<string, Task>;
  files: ReadonlyMap<string, BoardFile>;
}

type Data = Record<string, unknown>;
type Said = Omit<Told, 'who'>;
type Words = (data: Data, about: About, event: BoardEvent) => Said;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const plural = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;

const told =
  (icon: string, words: (data: Data, about: About, event: BoardEvent) => ComponentChildren): Words =>
  (data, about, event) => ({ icon, text: words(data, about, event) });

const TaskLink = ({ data, about }: { data: Data; about: About }) => {
  const ref = text(data['ref']);
  const title = text(data['title']) || about.tasks.get(text(data['task_id']))?.title;
  return (
    <>
      <a class="ref" href={hrefOf({ screen: 'board', board: about.board, tab: 'tasks', task: ref })}>
        {ref}
      </a>{' '}
      {title}
    </>
  );
};

const FileLink = ({ name, version, board }: { name: unknown; version?: unknown; board: string }) => (
  <>
    <a class="ref" href={hrefOf({ screen: 'board', board, tab: 'files', file: text(name) })}>
      {text(name)}
    </a>
    {typeof version === 'number' && ` v${version}`}
  </>
);

const Quiet = ({ children }: { children: ComponentChildren }) => <span class="q"> {children}</span>;
const Who = ({ name }: { name: unknown }) => <b>{text(name)}</b>;

const task = (icon: string, verb: string, more?: (data: Data) => ComponentChildren): Words =>
  told(icon, (data, about) => (
    <>
      {verb} <TaskLink data={data} about={about} />
      {more?.(data)}
    </>
  ));

const file = (icon: string, verb: string): Words =>
  told(icon, (data, { board }) => (
    <>
      {verb} <FileLink name={data['name']} version={data['version']} board={board} />
    </>
  ));

/** A file that the event names by its id. */
const heldFile = (icon: string, verb: string): Words =>
  told(icon, (data, { board, files }) => {
    const name = files.get(text(data['file_id']))?.name;
    return (
      <>
        {verb} {name ? <FileLink name={name} version={data['version']} board={board} /> : 'a file'}
      </>
    );
  });

const change = (data: Data): ComponentChildren => {
  if (data['stands'] !== undefined) return <Quiet>{text(data['stands'])}</Quiet>;
  if (data['title'] !== undefined) return null;
  return <Quiet>what it is about</Quiet>;
};

const dropped = (data: Data): ComponentChildren =>
  data['by'] === 'seat_ended' ? <Quiet>because the seat ended</Quiet> : <Quiet>{text(data['reason'])}</Quiet>;

const joined: Words = told('people', (data) => (
  <>
    joined
    {data['kind'] === 'agent' && data['role'] ? ` as ${text(data['role'])}` : ''}
    {data['owner'] ? <Quiet>{text(data['owner'])}’s agent</Quiet> : data['guest'] ? <Quiet>a guest</Quiet> : null}
  </>
));

const words: Record<string, Words> = {
  'board.created': told('board', (data) =>
    data['visibility'] === 'private' ? 'made this private board' : 'made this board, open to everyone on the server',
  ),
  'board.titled': told('board', ({ after }) =>
    after ? (
      <>
        called the board <b>{text(after)}</b>
      </>
    ) : (
      'took the title of the board away'
    ),
  ),
  'board.policy_changed': told('shield', () => 'changed the rules of the board'),
  'board.config_changed': told('shield', (data) => {
    const parts = [data['charter'] && 'the charter', data['roles'] && 'the roles'].filter(Boolean);
    return `changed ${parts.join(' and ')} of the board`;
  }),
  'board.agents_add_people_changed': told('people', (data) =>
    data['agents_add_people'] ? 'lets agents add people' : 'no longer lets agents add people',
  ),
  'board.visibility_changed': told('lock', ({ after, reveals }) => {
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
  'board.task_prefix_set': told('task', ({ after }) => (
    <>
      numbered tasks <span class="ref">{text(after)}-1</span> and on
    </>
  )),
  'board.archived': told('lock', () => 'archived the board'),
  'board.restored': told('board', () => 'restored the board'),
  'board.deleted': told('x', () => 'deleted the board'),
  'member.joined': joined,
  'joincode.created': told('plus', (data) =>
    data['guest'] ? (
      <>
        made a code for the guest <Who name={data['guest']} />
      </>
    ) : (
      `made a join line for ${text(data['role'])}`
    ),
  ),
  'joincode.revoked': told('x', () => 'took a join line back'),
  'agent.removed': told('people', (data) => (
    <>
      removed the agent <Who name={data['name']} />
      {data['pruned'] === true && <Quiet>disconnected for long</Quiet>}
    </>
  )),
  'agent.left': told('people', () => 'left'),
  'person.added': told('people', (data, _about, { actor }) =>
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
  'person.renamed': told('people', ({ before, after }) => (
    <>
      renamed <Who name={before} /> to <Who name={after} />
    </>
  )),
  'person.removed': told('people', (data) => (
    <>
      removed <Who name={data['name']} />
      {data['from_server'] === true && ' from the server'}
    </>
  )),
  'person.left': told('people', () => 'left the board'),
  'person.made_owner': told('people', (data) => (
    <>
      made <Who name={data['name']} /> an owner of the board
    </>
  )),
  'person.role_changed': told('people', (data) => (
    <>
      made <Who name={data['name']} /> a member, no longer an owner
    </>
  )),
  'thread.continued': told('reply', () => 'let agents go on in a thread'),
  'thread.stopped': told('x', () => 'closed a thread for agents'),
  'task.created': task('open', 'opened'),
  'task.started': task('half', 'started'),
  'task.joined': task('half', 'helps with'),
  'task.updated': task('half', 'updated', change),
  'task.done': (data, about, event) =>
    (data['cancelled']
      ? task('x', 'cancelled', ({ note }) => <Quiet>{text(note)}</Quiet>)
      : task('task', 'finished', ({ note }) => <Quiet>{text(note)}</Quiet>))(data, about, event),
  'task.taken_over': task('half', 'took over'),
  'task.dropped': task('open', 'gave up', dropped),
  'file.version_added': told('file', ({ name, version }, { board }) => (
    <>
      {version === 1 ? 'added' : 'changed'} <FileLink name={name} version={version} board={board} />
    </>
  )),
  'file.updated': heldFile('file', 'changed what is kept of'),
  'file.approved': heldFile('check', 'approved'),
  'file.approval_removed': heldFile('x', 'took back the approval of'),
  'file.removed': file('x', 'took off'),
  'file.renamed': told('file', ({ before, after }, { board }) => (
    <>
      renamed <span class="ref">{text(before)}</span> to <FileLink name={after} board={board} />
    </>
  )),
};

/** What a line says of an event. */
export function tell(event: BoardEvent, about: About): Told {
  const data = event.data ?? {};
  const said = words[event.type]?.(data, about, event) ?? { icon: 'dots', text: event.type };
  return { ...said, who: event.type === 'member.joined' ? text(data['name']) : event.actor.name };
}
