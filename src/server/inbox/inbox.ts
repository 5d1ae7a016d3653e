/** An agent's inbox, and read positions. */
import { Refusal } from '../../contract/errors.ts';
import type { Inbox, Message, Query } from '../../contract/types.ts';
import { wakesAgent } from '../../contract/waking.ts';
import { headOf, lockPlace, ownPlace, ownPlaces, type Place } from '../access/board-access.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type MemberRow, membersWithIds } from '../members/members.store.ts';
import { nameOfPerson } from '../members/memberships.store.ts';
import { movePosition } from '../members/positions.store.ts';
import { isNoticed, runNotice } from '../messages/agent-run.rules.ts';
import { messagesWithSeqs } from '../messages/messages.store.ts';
import type { Caller, SeatCaller } from '../operation/caller.ts';
import type { Asked, WaitCase, Waited, WriteCase } from '../operation/usecase.ts';
import { brakeReads, changeBrake } from '../seats/brake.steps.ts';
import { brakeAt, noBrake, type ReadsShare, type RepeatedReads } from '../seats/budget.rules.ts';
import { addReads } from '../seats/budgets.store.ts';
import { effectivePolicy } from '../seats/midturn.rules.ts';
import { countWake } from '../seats/wake-count.steps.ts';
import { brakeView } from '../views/member.ts';
import { type LoadedMessages, loadMessages, showMessages } from '../views/message.ts';
import { workViews } from '../views/tasks/work.ts';
import { fitting } from '../views/window.ts';
import {
  countsAt,
  type InboxPage,
  inboxSeqs,
  newestWakingAfter,
  toEveryone,
  unreadOf,
  type WakingCounts,
} from './inbox.store.ts';
import { agentUnread, personUnread } from './unread.rules.ts';

export const readInbox: WaitCase<'readInbox'> = {
  run: async (tx, caller, input, waits) => (await readInboxes(tx, [{ caller, input, waits }]))[0] as Waited<Inbox>,
  runAll: readInboxes,
};

/** A request with its agent and the board. */
interface Request extends Asked<'readInbox'> {
  caller: SeatCaller;
  place: Place;
}

/** The inboxes of several agents at once. One that has read all there is and waits on has nothing looked up for it. */
async function readInboxes(tx: ReadTx, asked: readonly Asked<'readInbox'>[]): Promise<Waited<Inbox>[]> {
  const callers = asked.map(({ caller }) => caller as SeatCaller);
  const places = await ownPlaces(tx, callers);
  const requests = asked.map((one, index): Request => {
    return { ...one, caller: callers[index] as SeatCaller, place: places[index] as Place };
  });
  const isIdle = ({ place, input, waits }: Request): boolean =>
    waits && after(place, input.query) >= place.board.head_seq;
  const read = await readTogether(
    tx,
    requests.filter((one) => !isIdle(one)),
  );
  return requests.map((one) => {
    if (!isIdle(one)) return read.shift() as Waited<Inbox>;
    return { answer: null, empty: true, ...wakesOn(tx, one.place, brakeAt(one.place.member, tx.now)) };
  });
}

/** Only messages after this number are asked for. */
const after = ({ member }: Place, query: Query<'readInbox'>): number => Math.max(member.read_up_to, query.after);

/** What is worth another look: the board, and what ends a brake. */
const wakesOn = ({ now }: ReadTx, place: Place, brake: ReturnType<typeof brakeAt>) => ({
  board: headOf(place),
  ...(brake ? { keys: [`seat:${place.member.id}`], again: brake.until - now } : {}),
});

/** What agents of one board have in common is read once. */
async function readTogether(tx: ReadTx, requests: readonly Request[]): Promise<Waited<Inbox>[]> {
  if (requests.length === 0) return [];
  const places = requests.map(({ place }) => place);
  const unread = await unreadOf(
    tx,
    places.map(({ reader }) => reader),
  );
  const work = await workViews(tx, places);
  const shared = sharedReads(tx);
  const inboxes = requests.map(async ({ caller, place, input }, index): Promise<Waited<Inbox>> => {
    const { seat } = caller;
    const { board, member } = place;
    const woken = unread.get(member.id) as WakingCounts;
    const page = await pageOf(tx, shared, place, { query: input.query, named: woken.count > 0 });
    const repeated = input.query.wait > 0 ? input.deps.repeatedReads : null;
    const { brake, quiet, ...changes } = await brakeOf(tx, place, page, repeated);
    const { messages, more } = quiet ? { messages: [], more: false } : page;
    const answer = {
      board: board.name,
      board_id: board.id,
      agent: member.name,
      member_id: member.id,
      messages,
      cursor: member.read_up_to,
      more,
      unread: agentUnread(board, member, woken),
      unread_urgent: woken.urgent,
      delivery_mode: member.delivery_mode ?? 'focused',
      delivery_revision: member.delivery_revision,
      midturn_policy: effectivePolicy(seat.midturn_policy, seat.midturn_default).policy,
      work: work[index] as Inbox['work'],
      ...(brake ? { braked: brakeView(brake) } : {}),
    };
    return { answer, empty: messages.length === 0, ...changes, ...wakesOn(tx, place, brake) };
  });
  // Side by side, so that a database far away costs them its distance once.
  return Promise.all(inboxes);
}

interface Page {
  messages: Message[];
  more: boolean;
}

/** What agents that have read as far get alike. */
function sharedReads(tx: ReadTx) {
  return {
    toEveryone: once(
      ({ boardId, after, urgentOnly, limit }: InboxPage) => `${boardId} ${after} ${urgentOnly} ${limit}`,
      (page) => toEveryone(tx, page),
    ),
    messages: once(
      ({ boardId, seqs }: { boardId: string; seqs: number[] }) => `${boardId} ${seqs.join()}`,
      async ({ boardId, seqs }) => loadMessages(tx, await messagesWithSeqs(tx, boardId, seqs)),
    ),
  };
}

/** Calls `read` once for each key, and returns the same answer to later calls: within one snapshot there is no other. */
function once<A, T>(keyOf: (asked: A) => string, read: (asked: A) => Promise<T>): (asked: A) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (asked) => {
    const key = keyOf(asked);
    const before = known.get(key);
    if (before) return before;
    const now = read(asked);
    known.set(key, now);
    return now;
  };
}

/** The newest of what is unread and wakes the agent; 0: nothing does. @param people only what people wrote. */
async function newestWaking(tx: ReadTx, { member, reader }: Place, { messages, more }: Page, people: boolean) {
  const after = messages.at(-1)?.seq ?? 0;
  const behind = more && (await newestWakingAfter(tx, reader, { boardId: member.board_id, after, people }));
  return behind || (messages.findLast(({ held, from }) => !held && (!people || from.kind === 'human'))?.seq ?? 0);
}

interface Braked extends Pick<Waited<Inbox>, 'write' | 'written'> {
  brake: ReturnType<typeof brakeAt>;
  /** The wait is not answered because of what there is. */
  quiet: boolean;
}

/**
 * Why agents' messages do not wake the agent, and whether a wait goes on: what wakes nobody comes with what does, or with a read
 * that does not wait, and the same unread messages are not given again and again.
 * @param repeated null: it does not wait
 */
async function brakeOf(tx: ReadTx, place: Place, page: Page, repeated: RepeatedReads | null): Promise<Braked> {
  const { member } = place;
  const brake = brakeAt(member, tx.now);
  if (!repeated || page.messages.length === 0) return { brake, quiet: false };
  const word = await newestWaking(tx, place, page, true);
  if (word === 0 && (brake || (await newestWaking(tx, place, page, false)) === 0)) return { brake, quiet: true };
  const given = givenBy(page, { ...member, mode: member.delivery_mode ?? 'focused', braked: brake !== null });
  const { until, share } = repeated.take(member, { word, brake, page: given }, tx.now);
  if (until === null) return { brake, quiet: false, ...(share ? storing(member, share) : {}) };
  const write = (tx: WriteTx) => brakeReads(tx, member, until);
  return { brake: { until, reason: 'reads' }, quiet: true, ...(brake ? {} : { write }) };
}

const givenBy = ({ messages }: Page, agent: Parameters<typeof wakesAgent>[1]) => ({
  first: messages[0]?.seq ?? 0,
  last: messages.at(-1)?.seq ?? 0,
  wakes: messages.some((message) => message.from.kind === 'agent' && wakesAgent(message, agent)),
});

const storing = (member: MemberRow, share: ReadsShare) => ({
  write: (tx: WriteTx) => addReads(tx, member, share),
  written: share.stored,
});

/** @param named whether some message names the agent. */
async function pageOf(
  tx: ReadTx,
  shared: ReturnType<typeof sharedReads>,
  place: Place,
  { query, named }: { query: Query<'readInbox'>; named: boolean },
): Promise<Page> {
  const { board, reader } = place;
  const page = { boardId: board.id, after: after(place, query), urgentOnly: query.urgent, limit: query.limit + 1 };
  const found = await inboxSeqs(tx, reader, page, await shared.toEveryone(page), named);
  const seqs = found.slice(0, query.limit);
  if (seqs.length === 0) return { messages: [], more: false };
  const loaded = await shared.messages({ boardId: board.id, seqs });
  const shown = await noticed(tx, await showMessages(tx, place, loaded), loaded, place);
  const messages = await withPeers(tx, place, shown);
  const fit = fitting(messages);
  return { messages: fit, more: fit.length < messages.length || found.length > query.limit };
}

/** With the server's word beside the message at which agents have answered each other for long. */
async function noticed(tx: ReadTx, messages: Message[], { messages: rows }: LoadedMessages, { policy, member }: Place) {
  if (!rows.some(({ row }) => isNoticed(row, policy.agent_run))) return messages;
  const name = await nameOfPerson(tx, member);
  return messages.map((message, index) => {
    const { row } = rows[index] as LoadedMessages['messages'][number];
    return isNoticed(row, policy.agent_run) ? { ...message, notice: runNotice(row.agent_run, name) } : message;
  });
}

/**
 * Names the sender of an urgent message to this agent by its name, where that is another active agent of its person: such
 * a message may reach it in the middle of a turn, if its person allows that.
 */
async function withPeers(tx: ReadTx, { member }: Place, messages: Message[]): Promise<Message[]> {
  const own = messages.filter(
    ({ urgent, sender, to }) => urgent && sender === 'owner_agent' && to.includes(`@${member.name}`),
  );
  if (own.length === 0) return messages;
  const senders = await membersWithIds(tx, [...new Set(own.map(({ from }) => from.id))]);
  const active = new Set(senders.filter(({ status }) => status === 'active').map(({ id }) => id));
  const peers = new Set(own.filter(({ from }) => active.has(from.id)));
  return messages.map((one) => (peers.has(one) ? { ...one, midturn_peer_sender_id: one.from.id } : one));
}

export const ackInbox: WriteCase<'ackInbox'> = {
  async run(tx, caller, { body }) {
    const place = await ownPlace(tx, caller as SeatCaller);
    const before = place.member.read_up_to;
    const cursor = await acknowledge(tx, place, body.up_to);
    if (cursor > before) {
      tx.publish(`positions:${caller.person.person_id}`);
      await countWake(tx, await acknowledging(tx, place), { after: before, upTo: cursor });
    }
    return { answer: { cursor, member_id: place.member.id } };
  },
};

/** Acknowledging ends the brake of a seat that did not. */
async function acknowledging(tx: WriteTx, place: Place): Promise<Place> {
  if (brakeAt(place.member, tx.now)?.reason !== 'reads') return place;
  await changeBrake(tx, place.member, noBrake);
  return { ...place, member: { ...place.member, ...noBrake } };
}

export const ackBoard: WriteCase<'ackBoard'> = {
  async run(tx, caller, { params, body }) {
    // Held, because the answer's count is put together from the board's counters and the position's.
    const place = await lockPlace(tx, caller, params.board);
    const cursor = await acknowledge(tx, place, body.up_to);
    return { answer: await positionOf(tx, caller, place, cursor) };
  },
};

/** Moves the position forward to `upTo`; answers where it stands. @throws Refusal `ack_out_of_range`. */
async function acknowledge(tx: WriteTx, place: Place, upTo: number): Promise<number> {
  const { board, member } = place;
  if (upTo > board.head_seq) {
    throw new Refusal('ack_out_of_range', `The board's newest number is ${board.head_seq}.`, {
      hint: 'Acknowledge only what was shown.',
      details: { head_seq: board.head_seq },
    });
  }
  if (upTo <= member.read_up_to) return member.read_up_to;
  await movePosition(tx, member.id, { read_up_to: upTo, ...(await countsAt(tx, board.id, member.id, upTo)) });
  return upTo;
}

async function positionOf(tx: WriteTx, caller: Caller, place: Place, cursor: number) {
  const { board, member } = place;
  if (cursor === member.read_up_to)
    return { board: board.name, read_up_to: cursor, unread: personUnread(board, member) };
  tx.publish(`positions:${caller.person.person_id}`);
  const counts = await countsAt(tx, board.id, member.id, cursor);
  return { board: board.name, read_up_to: cursor, unread: personUnread(board, { ...member, ...counts }) };
}
