/** Rebuilds from a board's record alone what is kept of files, their versions, approvals and citations. */
import type { Recorded } from './replay.ts';

type Row = Record<string, unknown>;

interface Posted {
  message_id: string;
  files?: { id: string; version: number }[];
  answer?: { withdrawn: boolean };
}

const BRIEFS = ['brief.md', 'brief.html'];

export class FileReplay {
  readonly files = new Map<string, Row>();
  readonly versions: Row[] = [];
  /** What each file is for, by its id. */
  readonly tasks = new Map<string, string[]>();
  /** By file and person. */
  readonly approvals = new Map<string, Row>();
  readonly citations: Row[] = [];
  /** Running counts of the board. */
  readonly counts = { message_count: 0, done_count: 0, answer_count: 0 };
  readonly #people = new Map<string, string>();

  constructor(events: readonly Recorded[]) {
    for (const event of events) this.#take(event);
  }

  #take(event: Recorded): void {
    const { type, at, data } = event;
    const id = data['file_id'] as string;
    const file = this.files.get(id) ?? {};
    switch (type) {
      case 'member.joined':
      case 'person.added':
        this.#people.set(data['member_id'] as string, (data['person_id'] ?? data['owner_id']) as string);
        break;
      case 'task.done':
        if (data['cancelled'] !== true) this.counts.done_count += 1;
        break;
      case 'message.posted':
        this.#post(event, data as unknown as Posted);
        break;
      case 'file.version_added':
        this.#version(event, id);
        break;
      case 'file.updated':
        if (data['maintained'] !== undefined) file['maintained'] = data['maintained'] ? 1 : 0;
        if (data['about'] !== undefined) this.tasks.set(id, data['about'] as string[]);
        break;
      case 'file.renamed':
        Object.assign(file, { name: data['after'], brief: 0 });
        break;
      case 'file.removed':
        file['removed_at'] = at;
        break;
      case 'file.approved':
      case 'file.approval_removed':
        this.#approve(event, id);
        break;
      default:
        if (type.startsWith('file.')) throw new Error(`the replay does not know ${type}`);
    }
  }

  #version({ seq, at, actor, data }: Recorded, id: string): void {
    const known = this.files.get(id) ?? {
      id,
      name: data['name'],
      brief: BRIEFS.includes(String(data['name'])) ? 1 : 0,
      removed_at: null,
    };
    this.files.set(id, {
      ...known,
      maintained: data['maintained'] ? 1 : 0,
      latest: data['version'],
      latest_at: at,
    });
    this.tasks.set(id, data['about'] as string[]);
    this.versions.push({
      file_id: id,
      version: data['version'],
      digest: data['digest'],
      size: data['size'],
      media_type: data['media_type'],
      by_id: actor.member_id,
      at,
      seq,
      base: data['base_version'],
      nth_message: this.counts.message_count,
      nth_done: this.counts.done_count,
      nth_answer: this.counts.answer_count,
    });
  }

  #approve({ type, seq, at, actor, data }: Recorded, file_id: string): void {
    const person_id = this.#people.get(actor.member_id ?? '');
    const key = `${file_id} ${person_id}`;
    if (type === 'file.approval_removed') {
      this.approvals.delete(key);
      return;
    }
    const { version, digest } = data;
    this.approvals.set(key, { file_id, person_id, member_id: actor.member_id, version, digest, at, seq });
  }

  #post({ board_id, seq }: Recorded, { message_id, files = [], answer }: Posted): void {
    this.counts.message_count += 1;
    if (answer && !answer.withdrawn) this.counts.answer_count += 1;
    for (const [n, { id, version }] of files.entries()) {
      this.citations.push({ message_id, n, file_id: id, version, seq, board_id });
    }
  }
}
