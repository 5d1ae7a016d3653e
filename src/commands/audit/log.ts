import type { z } from 'zod';
import { BaseCommand, type FlagsOf, integerFlag, limitFlag, listFlag, listFlags, stringFlag } from '../../cli/base.ts';
import { flagWords, listText, patiently } from '../../cli/list.ts';
import { type BoardSession, staying } from '../../cli/session/open-session.ts';
import { answer, nextSeq, object, seq } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import type { Repeat } from '../../client/pages.ts';
import { eventPages } from '../../client/verify.ts';
import { escapeUntrusted } from '../../contract/text.ts';
import type { Answer, BoardEvent } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';

export const json = () => {
  const { events } = answer('listEvents').shape;
  return object({ events, next_after: nextSeq, prev_before: nextSeq, head_seq: seq });
};

export default class AuditLog extends BaseCommand<typeof AuditLog> {
  static override boardFirst = true;
  static override loops = true;
  static override summary = "Show the events of a board's record";
  static override description =
    'The newest ones by default; with --after those that follow a number, with --before those before it. With --ndjson\nall of them, unless --limit says how many.';
  static override examples = [
    'service audit log --board general',
    'service audit log --after 20 --type message.posted --ndjson',
  ];
  static override seeAlso = ['audit verify', 'audit export'];
  static override flags = {
    after: integerFlag('N', 'Only events after this one', { min: 0, exclusive: ['before'] }),
    before: integerFlag('N', 'Only events before this one', { min: 1 }),
    type: listFlag({ helpValue: 'TYPE', description: 'Only events of these types' }),
    actor: stringFlag('NAME', 'Only events of this member'),
    limit: limitFlag(),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const odd = this.flags.type?.find((type) => !/^[a-z_]{1,40}\.[a-z_]{1,40}$/.test(type));
    if (odd !== undefined) throw usage(`--type takes the types of events, such as message.posted, but got "${odd}".`);
    const session = await this.onBoard('A');
    const request = patiently(this.out);
    const by = await byActor(session, this.flags.actor, request);
    if (this.out.mode === 'ndjson' && this.flags.limit === undefined) {
      for await (const event of wholeLog(session, this.flags, by, request)) this.out.each(event);
      return;
    }
    const page = await readLog(session, this.flags, by, request);
    if (this.out.listed(page.events)) return;
    const text = await eventsText(session, page, this.flags, this.times);
    this.print<typeof json>(page, () => text);
  }
}

type LogFilter = FlagsOf<typeof AuditLog>;
type LogRecord = z.infer<ReturnType<typeof json>>;

type By = (event: BoardEvent) => boolean;

/** Which events are of a member, also of a person who had or has another handle; null for all. */
async function byActor(
  { client, board }: BoardSession,
  actor: string | undefined,
  request: Repeat,
): Promise<By | null> {
  const name = actor?.replace(/^@/, '');
  if (name === undefined) return null;
  const ids = new Set<unknown>();
  for await (const { events } of eventPages(client, board, { after: 0, limit: 200, type: 'person.renamed' }, request))
    for (const { data } of events) if (data?.before === name || data?.after === name) ids.add(data.member_id);
  return (event) => event.actor.name === name || ids.has(event.actor.member_id);
}

/** A page of the record: the newest, also before a number, or what follows one. */
async function readLog(session: BoardSession, options: LogFilter, by: By | null, request: Repeat): Promise<LogRecord> {
  const { client, board } = session;
  const read = async (window: LogWindow) => {
    const query = { ...window, type: options.type?.join(',') };
    return (await client.call('listEvents', { params: { board }, query })).data;
  };
  if (by) return logOf((window) => request(() => read(window)), by, options);
  const { events, next_after, prev_before, head_seq } = await read({ ...startOf(options), limit: options.limit });
  return { events, next_after, prev_before, head_seq };
}

const startOf = ({ after, before }: LogFilter): LogWindow =>
  after === undefined ? { newest: true, before } : { after };

/** Every event from the beginning, or from after a number, to the end, or to before one. */
async function* wholeLog(
  { client, board }: BoardSession,
  options: LogFilter,
  by: By | null,
  request: Repeat,
): AsyncGenerator<BoardEvent> {
  const query = { after: options.after ?? 0, before: options.before, limit: 200, type: options.type?.join(',') };
  for await (const { events } of eventPages(client, board, query, request)) yield* by ? events.filter(by) : events;
}

interface LogWindow {
  after?: number;
  before?: number | undefined;
  newest?: boolean;
  limit?: number | undefined;
}

const LOG_LENGTH = 50;

/** The same of one actor. The server does not choose by actor, so pages are read until enough are found. */
async function logOf(
  read: (window: LogWindow) => Promise<Answer<'listEvents'>>,
  by: By,
  options: LogFilter,
): Promise<LogRecord> {
  const { limit = LOG_LENGTH } = options;
  let found: BoardEvent[] = [];
  let window = startOf(options);
  const { newest } = window;
  for (;;) {
    const page = await read({ ...window, limit: 200 });
    const theirs = page.events.filter(by);
    found = newest ? [...theirs, ...found] : [...found, ...theirs];
    const next = newest ? page.prev_before : page.next_after;
    if (next === null || found.length > limit) {
      const events = newest ? found.slice(-limit) : found.slice(0, limit);
      const more = found.length > limit;
      const next_after = more && !newest ? (events.at(-1)?.seq ?? null) : null;
      const prev_before = more && newest ? (events[0]?.seq ?? null) : null;
      return { events, next_after, prev_before, head_seq: page.head_seq };
    }
    window = newest ? { newest, before: next } : { after: next };
  }
}

/** One line per event, and what shows those before and after in the same way. */
async function eventsText(session: BoardSession, page: LogRecord, flags: LogFilter, times: TimeStyle): Promise<string> {
  const rows = page.events.map((event) => [
    `#${event.seq}`,
    escapeUntrusted(event.type),
    `@${escapeUntrusted(event.actor.name ?? event.actor.kind)}`,
    showTime(event.at, times),
    event.data_withheld ? 'content withheld' : '',
  ]);
  const same = flagWords(flags, ['type', 'actor', 'limit']) + staying(session);
  const { next_after, prev_before } = page;
  const further = [
    ...(prev_before === null ? [] : [`Earlier: service audit log --before ${prev_before}${same}`]),
    ...(next_after === null ? [] : [`Later: service audit log --after ${next_after}${same}`]),
  ];
  const heading = `${session.board} · ${page.events.length}, head #${page.head_seq}`;
  return listText(heading, await table(['EVENT', 'TYPE', 'BY', 'TIME', 'NOTES'], rows), {
    empty: `None fits. All: service audit log${staying(session)}`,
    next: further.join('\n'),
  });
}
