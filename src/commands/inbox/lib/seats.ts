/** Reads the inboxes of a session with several seats as one, each with its own token. */
import type { z } from 'zod';
import { EXIT, Exit } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { afterRefusal } from '../../../cli/session/ended-key.ts';
import { reservedHere } from '../../../cli/session/here.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { sessionSeats } from '../../../cli/session/own-seats.ts';
import { interruptWith } from '../../../cli/signals.ts';
import { ClientError } from '../../../client/errors.ts';
import { waitFor } from '../../../client/wait.ts';
import { MINUTE } from '../../../contract/durations.ts';
import { type Group, renderBundle } from '../../../daemon/bundle/bundle.ts';
import { quoted } from '../../../daemon/bundle/escape.ts';
import { boardFlags } from '../../../daemon/bundle/options.ts';
import { actingToken, isOn, type Seat } from '../../../local/actors.ts';
import { Failure } from '../../../local/failure.ts';
import {
  acknowledge,
  followed,
  type InboxOptions,
  leaveUnshown,
  noteTold,
  noticesLine,
  pauseTeller,
  readInbox,
  remindOfTasks,
  type Shown,
  tellNoAnswer,
} from './inbox.ts';
import { newNotices, type Waiting, waitingOf } from './new-notices.ts';
import { isNewsOfNotices } from './reminders.ts';
import type { inboxesOfSeats } from './shapes.ts';

type SeatsRecord = z.infer<typeof inboxesOfSeats>;

type Read = Shown & { session: Session };

type Followed = InboxOptions & { follow?: boolean };

/** Every seat that this session holds, where nothing else says who acts. */
export async function seatsHere({ as, board }: { as?: string; board?: string }): Promise<Seat[]> {
  const { env } = runtime();
  if (as || board || env.SERVICE_AGENT || env.SERVICE_BOARD) return [];
  const here = await sessionSeats();
  return actingToken(as, env, here) ? [] : here;
}

/** A session about the inbox of one agent, which is that of its board. @throws Failure `agent_seat_elsewhere` where another board is named */
export async function ofInbox(session: Session): Promise<Session> {
  const { seat, agent, choice } = session;
  if (!agent || choice.board === undefined || (seat && isOn(seat, choice.board))) return session;
  const { name, board, board_id } = seat?.saved ?? (await seatOfToken(session));
  if (choice.board === board || choice.board === board_id) return session;
  const message = `${name} has its seat on ${board}, and this machine holds none on ${choice.board}.`;
  throw new Failure('agent_seat_elsewhere', message, { hint: `Its inbox is that of ${board}: leave --board out` });
}

/** Where a token that is given acts, which only the server knows. */
async function seatOfToken({ client }: Session) {
  const { name, board } = (await client.call('getMe')).data;
  const { id: board_id } = (await client.call('getBoard', { params: { board: board! } })).data;
  return { name, board, board_id };
}

/** `inbox` of all these seats. @param open a session of one of them. */
export async function inboxOfSeats(
  seats: Seat[],
  open: (seat: Seat) => Promise<Session>,
  flags: InboxOptions & { follow?: boolean; 'fail-timeout'?: boolean },
  out: Output,
): Promise<void> {
  const { follow } = flags;
  out.tagged = true;
  if (follow) interruptWith(() => process.exit(EXIT.done));
  const inbox = await SeatsInbox.of(seats, open, follow ? { ...flags, wait: 86_400 } : flags, out);
  do {
    const record = await inbox.read(follow ? undefined : 30 * MINUTE);
    if (follow) inbox.printFollowed(record);
    else {
      inbox.leaveUnshown(record);
      out.print(record, () => inbox.text(record, out.saidReminders()));
    }
    await inbox.acknowledge();
    if (record.timed_out && flags['fail-timeout']) throw new Exit(EXIT.checkFailed);
  } while (follow);
}

class SeatsInbox {
  readonly #options: Followed;
  readonly #out: Output;
  #sessions: Session[] = [];
  #reads: Read[] = [];
  /** Of seats whose notices are told of. */
  readonly #notices = new Map<Session, Waiting>();
  readonly #refusals: { seat: Seat; error: Error }[] = [];
  readonly #tellPause: ReturnType<typeof pauseTeller>;

  private constructor(options: Followed, out: Output) {
    this.#options = options;
    this.#out = out;
    this.#tellPause = pauseTeller(out);
  }

  /** @param open a session of one of the seats. */
  static async of(seats: Seat[], open: (seat: Seat) => Promise<Session>, options: Followed, out: Output) {
    const inbox = new SeatsInbox(options, out);
    for (const seat of seats) {
      const session = await inbox.#unlessRefused(seat, null, () => open(seat));
      if (session) inbox.#sessions.push(session);
    }
    // The answer is of several seats, so it names none as the one that acts.
    delete out.base.actor;
    delete out.base.board;
    if (new Set(inbox.#sessions.map(({ server }) => server.url)).size > 1) delete out.base.server;
    return inbox;
  }

  /** Reads all, after waiting for a first message if that was asked for. @throws what the last one was refused with, if all were. */
  async read(every?: number): Promise<SeatsRecord> {
    this.#notices.clear();
    await this.#readAll();
    const { wait } = this.#options;
    if (wait !== undefined && this.#messages === 0 && this.#sessions.length > 0) {
      await this.#untilOneHas(wait);
      await this.#readAll();
    }
    if (this.#sessions.length === 0) throw this.#refusals.at(-1)!.error;
    if (every !== undefined)
      for (const read of this.#reads) await remindOfTasks(this.#out, read.inbox, every, this.#flagsOf(read));
    return {
      seats: this.#reads.map(({ session, inbox, record }) => ({
        board: inbox.board,
        agent: inbox.agent,
        member_id: inbox.member_id,
        messages: record.messages,
        acked_up_to: record.acked_up_to,
        more: record.more,
        ...(this.#notices.has(session) ? { notices: this.#notices.get(session)!.count } : {}),
      })),
      unavailable: this.#refusals.length,
      unacknowledged: 0,
      bundle: renderBundle(this.#groups(), { seats: true, reserved: reservedHere() }),
      ...(wait === undefined ? {} : { timed_out: this.#messages === 0 && this.#notices.size === 0 }),
    };
  }

  /** What is printed of the record that was just read. */
  text({ seats, bundle }: SeatsRecord, header: string[] = []): string {
    const names = seats.map(({ agent, board }) => `${quoted(agent)} on ${quoted(board)}`).join(', ');
    const more = this.#reads
      .filter(({ record }) => record.more)
      .map((read) => `service: More is waiting: service inbox${this.#flagsOf(read)}`);
    const noticed = this.#reads.flatMap((read) => {
      const waiting = this.#notices.get(read.session);
      return waiting ? [noticesLine(waiting.count, this.#flagsOf(read))] : [];
    });
    const lost = this.#refusals.map(
      ({ seat: { saved }, error }) =>
        `service: ${saved.name} on ${saved.board} could not be read: ${quoted(error.message)}`,
    );
    const body = bundle === '' ? `nothing new for ${names}` : bundle;
    return called([...header.map((line) => `service: ${line}`), body, ...more, ...noticed, ...lost].join('\n'));
  }

  /** Prints what came while all are followed. */
  printFollowed(record: SeatsRecord): void {
    const seats = this.#reads.map((read) => ({
      ...read.inbox,
      notices: this.#notices.get(read.session)?.count,
      flags: this.#flagsOf(read),
    }));
    const messages = record.seats.flatMap((seat) => seat.messages);
    followed(this.#out, messages, seats, () => this.text(record));
  }

  /** Leaves messages unread that are not printed whole. @param record what is printed, in which it is told */
  leaveUnshown(record: SeatsRecord): void {
    leaveUnshown(record, [...this.#reads.map((read) => read.record), ...record.seats], this.#out);
    record.unacknowledged = record.seats.filter((seat) => seat.messages.length > 0 && seat.acked_up_to === null).length;
  }

  /** Notes and acknowledges what was printed, of every seat that can be. @throws ClientError of the first that could not. */
  async acknowledge(): Promise<void> {
    const failures: unknown[] = [];
    for (const { session, inbox } of this.#reads)
      await noteTold({ inbox, notices: this.#notices.get(session) }, this.#out);
    for (const { session, record } of this.#reads)
      await acknowledge(session, record, this.#out).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  get #messages(): number {
    return this.#reads.reduce((sum, { record }) => sum + record.messages.length, 0);
  }

  #groups(): Group[] {
    return this.#reads.map((read) => ({
      board: read.inbox.board,
      seat: read.inbox.agent,
      messages: read.record.messages,
      outcomes: read.outcomes,
      server: this.#serverOf(read),
    }));
  }

  /** Named only where the seats are on several. */
  #serverOf({ session: { server } }: Pick<Read, 'session'>): string | undefined {
    const several = new Set(this.#sessions.map(({ server: { url } }) => url)).size > 1;
    if (!several) return undefined;
    return server.local ? 'local' : server.url;
  }

  /** What a command needs to act as the seat. */
  readonly #flagsOf = (read: Pick<Read, 'session' | 'inbox'>): string =>
    boardFlags(read.inbox.board, { seats: true, server: this.#serverOf(read) });

  async #readAll(): Promise<void> {
    const { limit, peek = false, wait, notices = false, follow } = this.#options;
    // With 0 it is read at once, without what a wait leaves out.
    const options = { limit, peek, wait: wait && 0, notices: notices && wait === undefined };
    const reads: Read[] = [];
    const left: Session[] = [];
    for (const session of this.#sessions) {
      const read = await this.#unlessRefused(session.seat!, session, () =>
        readInbox(session, options).catch((error: unknown) => {
          // Where it is followed, it is read once its server is there again. An error of the server itself ends every wait.
          if (follow && error instanceof ClientError && error.transient && error.status !== 500) return null;
          throw error;
        }),
      );
      if (read !== undefined) left.push(session);
      if (read?.notices) this.#notices.set(session, read.notices);
      if (read) reads.push({ session, ...read });
    }
    this.#reads = reads;
    this.#sessions = left;
  }

  /** Until one of them has a message, or a notice where that was asked for, each was refused, or the time is over. @param wait seconds */
  async #untilOneHas(wait: number): Promise<void> {
    const found = new AbortController();
    const { signal } = found;
    /** Servers that were said not to answer. */
    const silent = new Set<string>();
    const waits = this.#sessions.map(async (session) => {
      const { client, seat, server } = session;
      const query = { limit: 1, after: this.#reads.find((read) => read.session === session)?.readUpTo };
      const onEmpty = (inbox: Read['inbox']) => {
        silent.delete(server.url);
        const flags = this.#flagsOf({ session, inbox });
        if (this.#options.follow) this.#tellPause(inbox, flags, `${quoted(inbox.agent)} on ${quoted(inbox.board)}`);
      };
      const onNoAnswer = (error: ClientError) => {
        if (!silent.has(server.url)) tellNoAnswer(this.#out, this.#serverOf({ session }))(error);
        silent.add(server.url);
      };
      try {
        const messages = waitFor(client, 'readInbox', { query, signal }, { waitSeconds: wait, onEmpty, onNoAnswer });
        if (this.#options.notices && wait > 0) {
          const isNews = (newest: string) => isNewsOfNotices(seat!.memberId, newest);
          const news = waitingOf(await newNotices(client, { messages, wait, signal, isNews }));
          if (news) this.#notices.set(session, news);
        }
        if (!this.#notices.has(session)) await messages;
        found.abort();
      } catch (error) {
        // One that is refused is counted by the read that follows.
        if (!signal.aborted && !(error instanceof ClientError)) throw error;
      }
    });
    await Promise.all(waits);
  }

  async #unlessRefused<T>(seat: Seat, session: Session | null, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      await afterRefusal(error, session, this.#out);
      this.#refusals.push({ seat, error });
      return undefined;
    }
  }
}
