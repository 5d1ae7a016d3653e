/** Rebuilds from a board's record alone what the tables beside it hold, to be compared with them. */
import type { Mention } from '../../src/contract/types.ts';

export interface Recorded {
  board_id: string;
  seq: number;
  type: string;
  at: number;
  actor: { member_id: string | null; kind: 'human' | 'agent' | 'system'; name: string | null; owner: string | null };
  data: Record<string, unknown>;
}

interface Sender {
  id: string;
  name: string;
  kind: string;
  role: string | null;
  harness: string | null;
  access: string | null;
  sent_count: number;
  sent_everyone_count: number;
  person_id: string;
  status: string;
  removed_at: number | null;
  removed_by: string | null;
}

const present = { status: 'active', removed_at: null, removed_by: null };

interface PostedData {
  message_id: string;
  to: string[];
  reply_to: string | null;
  urgent: boolean;
  expects_reply: boolean;
  recipients?: string[];
  mentions: Mention[];
  ask?: object;
  answer?: object;
}

const flag = (value: boolean): number => (value ? 1 : 0);

export interface MessageRecord {
  id: string;
  seq: number;
  at: number;
  sender_id: string;
  reply_to_seq: number | null;
  root_seq: number | null;
  to_everyone: number;
  named: string | null;
  urgent: number;
  expects_reply: number;
  reply_count: number;
  last_reply_at: number | null;
  last_reply_seq: number | null;
  reaction_count: number;
  nth: number;
  nth_everyone: number;
  nth_of_sender: number;
  nth_everyone_of_sender: number;
}

export interface NamedRecord {
  member_id: string;
  seq: number;
  addressed: number;
  mentioned: number;
  wakes: number;
  urgent: number;
  awaits: number;
}

export class Replay {
  readonly board: Record<string, unknown> = {
    message_count: 0,
    everyone_count: 0,
    last_message_at: null,
    show_owner: 0,
  };
  readonly members = new Map<string, Sender>();
  readonly messages: MessageRecord[] = [];
  /** Where each day with messages begins. */
  readonly days: { day: number; before: number }[] = [];
  readonly named = new Map<string, NamedRecord>();
  /** Numbers of those messages that ask. */
  readonly #asks = new Set<number>();
  /** Ids of join codes that ended before their time. */
  readonly reactions = new Map<string, Record<string, unknown>>();
  readonly codes = new Map<string, Record<string, unknown>>();

  constructor(events: readonly Recorded[]) {
    for (const event of events) {
      this.#take(event);
      this.board['head_seq'] = event.seq;
      this.board['head_at'] = event.at;
    }
  }

  #take(event: Recorded): void {
    const { data } = event;
    switch (event.type) {
      case 'board.created':
        Object.assign(this.board, {
          id: data['board_id'],
          name: data['name'],
          title: data['title'] ?? null,
          template: data['template'],
          charter: data['charter'],
          visibility: data['visibility'] ?? 'open',
          task_prefix: null,
          lifecycle: 'active',
          roles: data['roles'],
          policy: plain(data['policy']),
          agents_add_people: flag(data['agents_add_people'] === true),
        });
        break;
      case 'board.titled':
        this.board['title'] = data['after'];
        break;
      case 'board.config_changed':
        for (const key of ['charter', 'roles']) {
          const change = data[key] as { after: unknown } | undefined;
          if (change) this.board[key] = change.after;
        }
        break;
      case 'board.agents_add_people_changed':
        this.board['agents_add_people'] = flag(data['agents_add_people'] === true);
        break;
      case 'board.task_prefix_set':
        this.board['task_prefix'] = data['after'];
        break;
      case 'board.archived':
      case 'board.restored':
      case 'board.deleted':
        this.board['lifecycle'] = data['after'];
        break;
      case 'board.visibility_changed':
        this.board['visibility'] = data['after'];
        this.board['agents_add_people'] = flag(data['agents_add_people'] === true);
        break;
      case 'board.policy_changed':
        this.board['policy'] = plain(data['after']);
        break;
      case 'member.joined':
      case 'person.added':
        this.#join(data);
        break;
      case 'agent.left':
      case 'agent.removed':
        this.#end([data['member_id'] as string], event, data['removed_by'] as string);
        break;
      case 'person.left':
      case 'person.removed':
        this.#endPerson(event);
        break;
      case 'person.made_owner':
        (this.members.get(data['member_id'] as string) as Sender).access = 'admin';
        break;
      case 'person.role_changed':
        (this.members.get(data['member_id'] as string) as Sender).access = 'member';
        break;
      case 'person.renamed':
        Object.assign(this.members.get(data['member_id'] as string) ?? {}, { name: data['after'] });
        break;
      case 'joincode.created':
        this.#makeCode(event);
        break;
      case 'joincode.revoked':
        Object.assign(this.codes.get(data['join_code_id'] as string) ?? {}, { revoked_at: event.at });
        break;
      case 'message.posted':
        this.#post(event, data as unknown as PostedData);
        break;
      case 'reaction.added':
      case 'reaction.removed':
        this.#react(event, data as { message_id: string; name: string });
        break;
      case 'task.created':
      case 'task.started':
      case 'task.joined':
      case 'task.updated':
      case 'task.done':
      case 'task.dropped':
      case 'task.taken_over':
        // Rebuilt by replay-work.ts.
        break;
      default:
        throw new Error(`the replay does not know ${event.type}`);
    }
  }

  #makeCode({ actor, at, data }: Recorded): void {
    const id = data['join_code_id'] as string;
    this.codes.set(id, {
      id,
      kind: data['kind'] ?? 'pairing',
      role: data['role'],
      guest_handle: data['guest'] ?? null,
      guest_person_id: data['guest_id'] ?? null,
      maker_member_id: actor.member_id,
      created_at: at,
      expires_at: Date.parse(data['expires_at'] as string),
      revoked_at: null,
    });
  }

  #join(data: Record<string, unknown>): void {
    const id = data['member_id'] as string;
    const former = this.members.get(id);
    if (former) {
      Object.assign(former, present, { access: data['access'] });
      return;
    }
    const kind = (data['kind'] as string | undefined) ?? 'human';
    this.members.set(id, {
      id,
      kind,
      name: data['name'] as string,
      role: (data['role'] as string | undefined) ?? null,
      harness: (data['harness'] as string | undefined) ?? null,
      access: data['access'] as string | null,
      person_id: (data['person_id'] ?? data['owner_id']) as string,
      sent_count: 0,
      sent_everyone_count: 0,
      ...present,
    });
    this.#countOwners();
  }

  #countOwners(): void {
    const people = [...this.members.values()]
      .filter((member) => member.kind === 'agent' && member.status === 'active')
      .map((member) => member.person_id);
    this.board['show_owner'] = flag(new Set(people).size > 1);
  }

  #end(ids: string[], event: Recorded, by: string): void {
    const status = by === 'self' ? 'left' : 'removed';
    for (const id of ids) {
      Object.assign(this.members.get(id) as Sender, { status, removed_at: event.at, removed_by: by });
    }
    this.#countOwners();
  }

  /** A person's agents end with their membership; how they are told of it follows from how that ended. */
  #endPerson(event: Recorded): void {
    const { data } = event;
    const asked = data['authorization'] as { person_id: string } | undefined;
    const own = asked?.person_id === data['person_id'] ? 'person' : 'board_owner';
    const by = event.type === 'person.left' ? 'self' : data['from_server'] ? 'admin' : own;
    this.#end([data['member_id'] as string], event, by);
    this.#end(data['agents'] as string[], event, by === 'self' ? 'person' : by);
  }

  #post(event: Recorded, data: PostedData): void {
    const sender = this.members.get(event.actor.member_id ?? '') as Sender;
    const parent = this.messages.find((message) => message.id === data.reply_to);
    const root = parent ? (parent.root_seq ?? parent.seq) : null;
    const everyone = data.recipients === undefined;
    const count = (name: 'message_count' | 'everyone_count', by: number) => {
      this.board[name] = (this.board[name] as number) + by;
      return this.board[name] as number;
    };
    sender.sent_count += 1;
    sender.sent_everyone_count += flag(everyone);
    this.messages.push({
      id: data.message_id,
      seq: event.seq,
      at: event.at,
      sender_id: sender.id,
      reply_to_seq: parent?.seq ?? null,
      root_seq: root,
      to_everyone: flag(everyone),
      named: this.#named(data.to, sender.id),
      urgent: flag(data.urgent),
      expects_reply: flag(data.expects_reply),
      reply_count: 0,
      last_reply_at: null,
      last_reply_seq: null,
      reaction_count: 0,
      nth: count('message_count', 1),
      nth_everyone: count('everyone_count', flag(everyone)),
      nth_of_sender: sender.sent_count,
      nth_everyone_of_sender: sender.sent_everyone_count,
    });
    const day = Math.floor(event.at / 86_400_000);
    if (!this.days.some((row) => row.day === day)) this.days.push({ day, before: this.messages.length - 1 });
    this.board['last_message_at'] = event.at;
    const started = this.messages.find((message) => message.seq === root);
    if (started)
      Object.assign(started, {
        reply_count: started.reply_count + 1,
        last_reply_at: event.at,
        last_reply_seq: event.seq,
      });
    if (data.ask) this.#asks.add(event.seq);
    for (const row of this.named.values()) {
      const answered = data.answer || (row.member_id === sender.id && !this.#asks.has(row.seq));
      if (row.seq === parent?.seq && answered) row.awaits = 0;
    }
    this.#name(event.seq, data, everyone);
  }

  /** Ids of the members besides its sender that the names in `to` mean. */
  #named(to: string[], sender: string): string | null {
    const names = to.filter((target) => target.startsWith('@')).map((target) => target.slice(1));
    const ids = names.map((name) => [...this.members.values()].find((member) => member.name === name)?.id);
    return ids.filter((id) => id !== sender).join() || null;
  }

  #react(event: Recorded, { message_id, name }: { message_id: string; name: string }): void {
    const member_id = event.actor.member_id ?? '';
    const key = `${message_id} ${member_id} ${name}`;
    const message = this.messages.find((each) => each.id === message_id) as MessageRecord;
    if (event.type === 'reaction.added') {
      this.reactions.set(key, { message_id, member_id, name, seq: event.seq, at: event.at });
      message.reaction_count += 1;
    } else {
      this.reactions.delete(key);
      message.reaction_count -= 1;
    }
  }

  #name(seq: number, data: PostedData, everyone: boolean): void {
    const urgent = flag(data.urgent);
    for (const id of data.recipients ?? []) {
      const row = {
        member_id: id,
        seq,
        addressed: 1,
        mentioned: 0,
        wakes: 1,
        urgent,
        awaits: flag(data.expects_reply),
      };
      this.named.set(`${id} ${seq}`, row);
    }
    for (const { id, wakes } of data.mentions) {
      const known = this.named.get(`${id} ${seq}`);
      if (known) known.mentioned = 1;
      else {
        const row = {
          member_id: id,
          seq,
          addressed: 0,
          mentioned: 1,
          wakes: flag(wakes) * (everyone ? 2 : 1),
          urgent,
          awaits: 0,
        };
        this.named.set(`${id} ${seq}`, row);
      }
    }
  }
}

/** A policy without what is derived from it. */
function plain(policy: unknown): unknown {
  const { overrides: _, ...rest } = policy as Record<string, unknown>;
  return rest;
}

/** Events as their table has them, in their order. */
export const recordedFrom = (rows: readonly Record<string, unknown>[]): Recorded[] =>
  rows
    .map((row) => ({ ...row, actor: JSON.parse(String(row['actor'])), data: JSON.parse(String(row['data'])) }))
    .map((row) => row as unknown as Recorded)
    .sort((a, b) => a.seq - b.seq);

/** Rows of messages with the members that each names besides its sender, also where another row keeps them. */
export const withNames = <T extends Record<string, unknown>>(messages: readonly T[]): T[] =>
  messages.map((message) => {
    const kept = messages.find(({ seq }) => seq === message['named_seq']) ?? message;
    const ids = String(kept['named'] ?? '').split(',');
    return { ...message, named: ids.filter((id) => id !== message['sender_id']).join() || null };
  });
