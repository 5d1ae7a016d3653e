/** Rebuilds from a board's record alone what is kept of tasks and asks, to be compared with the tables. */
import type { Recorded } from './replay.ts';

type Row = Record<string, unknown>;

interface Posted {
  message_id: string;
  reply_to: string | null;
  about?: { id: string; how: string }[];
  ask?: { to: string; blocking: boolean; going_at: string | null; task_id: string | null };
  answer?: { ask_id: string; option: number | null; withdrawn: boolean };
}

export class WorkReplay {
  readonly tasks = new Map<string, Row>();
  readonly helpers = new Map<string, Row>();
  readonly texts: Row[] = [];
  readonly tags: Row[] = [];
  readonly asks = new Map<string, Row>();
  /** Current task by member. */
  readonly current = new Map<string, string>();
  /** Handle of the person behind each task's owner. */
  readonly #owners = new Map<string, string | null>();
  readonly #threads = new Map<string, number>();

  constructor(events: readonly Recorded[]) {
    for (const event of events) {
      if (event.type.startsWith('task.')) this.#task(event);
      if (event.type === 'message.posted') this.#post(event, event.data as unknown as Posted);
      if (/^(agent|person)\.(left|removed)$/.test(event.type)) this.#gone(event);
    }
  }

  #task({ type, seq, at, actor, data }: Recorded): void {
    const id = data['task_id'] as string;
    const member = data['member_id'] as string;
    const task = this.tasks.get(id) ?? {};
    task['updated_at'] = at;
    const own = task['owner_id'] === actor.member_id;
    const ofItsPerson = actor.kind === 'human' && actor.name === this.#owners.get(id);
    if (task['owner_id'] && (own || ofItsPerson) && type !== 'task.dropped' && type !== 'task.done')
      task['owner_at'] = at;
    switch (type) {
      case 'task.created':
        this.tasks.set(id, {
          id,
          ref: data['ref'],
          number: data['number'],
          title: data['title'],
          state: 'open',
          owner_id: null,
          owner_seq: 0,
          owner_at: 0,
          opened_by: actor.member_id,
          opened_at: at,
          updated_at: at,
          closed_at: null,
          closed_note: null,
          about_version: 0,
          stands_version: 0,
        });
        if (data['about'] !== null) this.#text(id, 'about', data['about'], { seq, at, actor });
        break;
      case 'task.started':
        this.#own(id, member, { seq: data['reselected'] === true ? Number(task['owner_seq']) : seq, at, actor });
        // People are on no task.
        if (actor.kind === 'agent') this.current.set(member, id);
        break;
      case 'task.taken_over': {
        const from = data['from'] as string;
        const to = data['to'] as string;
        this.helpers.set(`${id} ${from}`, { task_id: id, member_id: from, seq });
        this.#own(id, to, { seq, at, actor });
        if (actor.kind === 'agent') this.current.set(to, id);
        break;
      }
      case 'task.joined':
        if (data['reselected'] !== true) this.helpers.set(`${id} ${member}`, { task_id: id, member_id: member, seq });
        // People are on no task.
        if (actor.kind === 'agent') this.current.set(member, id);
        break;
      case 'task.updated':
        if (data['title'] !== undefined) task['title'] = data['title'];
        for (const field of ['about', 'stands'] as const) {
          if (data[field] !== undefined) this.#text(id, field, data[field], { seq, at, actor });
        }
        break;
      case 'task.done':
        Object.assign(task, {
          state: data['cancelled'] === true ? 'cancelled' : 'done',
          closed_at: at,
          closed_note: data['note'],
        });
        for (const [who, what] of this.current) if (what === id) this.current.delete(who);
        break;
      case 'task.dropped':
        if (data['as'] === 'owner') Object.assign(task, { owner_id: null, owner_seq: 0, state: 'open' });
        else this.helpers.delete(`${id} ${member}`);
        if (this.current.get(member) === id) this.current.delete(member);
        break;
      default:
        throw new Error(`the replay does not know ${type}`);
    }
  }

  #own(id: string, member: string, { seq, at, actor }: Pick<Recorded, 'seq' | 'at' | 'actor'>) {
    Object.assign(this.tasks.get(id) ?? {}, { owner_id: member, owner_seq: seq, owner_at: at, state: 'in_progress' });
    this.helpers.delete(`${id} ${member}`);
    this.#owners.set(id, actor.kind === 'agent' ? actor.owner : actor.name);
  }

  #text(
    id: string,
    field: 'about' | 'stands',
    text: unknown,
    { seq, at, actor }: Pick<Recorded, 'seq' | 'at' | 'actor'>,
  ) {
    const task = this.tasks.get(id) as Row;
    const version = (task[`${field}_version`] as number) + 1;
    task[`${field}_version`] = version;
    this.texts.push({ task_id: id, field, version, text, by_id: actor.member_id, at, seq });
  }

  #post({ seq, at, actor }: Recorded, data: Posted): void {
    const thread = this.#threads.get(data.reply_to ?? '') ?? seq;
    this.#threads.set(data.message_id, thread);
    for (const [n, { id, how }] of (data.about ?? []).entries()) {
      this.tags.push({ message_id: data.message_id, task_id: id, seq, thread_seq: thread, how, n });
    }
    if (data.ask) {
      this.asks.set(data.message_id, {
        message_id: data.message_id,
        seq,
        at,
        from_id: actor.member_id,
        to_id: data.ask.to,
        task_id: data.ask.task_id,
        blocking: data.ask.blocking ? 1 : 0,
        going_at: data.ask.going_at === null ? null : Date.parse(data.ask.going_at),
        answer_seq: null,
        answer_option: null,
        withdrawn: 0,
      });
    }
    if (data.answer) {
      Object.assign(this.asks.get(data.answer.ask_id) ?? {}, {
        answer_seq: seq,
        answer_option: data.answer.option,
        withdrawn: data.answer.withdrawn ? 1 : 0,
      });
    }
  }

  /** Whoever is gone is on nothing; their parts end by events of their own. */
  #gone({ data }: Recorded): void {
    for (const id of [data['member_id'] as string, ...((data['agents'] as string[] | undefined) ?? [])]) {
      this.current.delete(id);
    }
  }
}
