/**
 * Judging a run from outside: every call that clients made, with its time and its answer, beside the record that the
 * server has in the end. The record is the order in which everything happened; each call is checked against it.
 *
 * Pure, so that histories made by hand can show that each rule finds what it looks for.
 */

/** An event of the board's record. */
export interface Entry {
  seq: number;
  type: string;
  /** The id of the member who did it. */
  by: string;
  /** A message's text, a task's title, or the id of the member who came or went. */
  subject: string;
  /** The members a message names; null: everyone. */
  to?: string[] | null;
}

export interface Answer {
  status: number;
  code?: string | undefined;
  /** As it came. */
  bytes: string;
  /** The number of the message that was posted. */
  seq?: number;
  /** The numbers that a read listed, all that it could. */
  seqs?: number[];
  /** An agent's read position. */
  cursor?: number;
}

/** What a member asks for; the first four are writes. */
export type Wish = 'post' | 'open' | 'take' | 'remove' | 'acknowledge' | 'inbox' | 'timeline' | 'record';

/** A call from its first sending to its answer, however often it was sent. Times are those of the clients' machine, in milliseconds. */
export interface Call {
  by: string;
  wish: Wish;
  start: number;
  end: number;
  /** The Idempotency-Key of a write; calls with one key are one wish. */
  key?: string;
  /** What the entry it leads to has as its subject. */
  subject?: string;
  /** What a read starts after, or up to where the member says it has read. */
  seq?: number;
  /** For how long the call may wait for news. */
  wait?: number;
  /** Something was sent whose answer was lost; it may have been done. */
  lost?: boolean;
  /** Null: there never was one. */
  answer: Answer | null;
}

export interface History {
  calls: Call[];
  record: Entry[];
  /** The members who are people. */
  people: string[];
}

/**
 * From a message that was acknowledged to the answer of a wait for it: at most, and in half of all cases; and so many times
 * longer than half of the other calls took, which a machine with much to do makes slow too.
 */
const LATE_MS = { most: 4_000, median: 300 };
const TIMES_LONGER = 4;
/** So many waits have to be there before half of them say anything. */
const WAITS = 6;

const effects: Partial<Record<Wish, string>> = {
  post: 'message.posted',
  open: 'task.created',
  take: 'task.started',
  remove: 'agent.removed',
};

type Answered = Call & { answer: Answer };
const done = (call: Call): call is Answered => call.answer !== null && call.answer.status < 300;
const told = ({ by, wish, key, subject, start }: Call): string =>
  `${by}: ${wish} ${subject ?? ''} ${key ?? ''} at ${Math.round(start)}`;

/** Everything that is wrong in a history; empty if nothing is. */
export function wrongsIn(history: History): string[] {
  return rules.flatMap((rule) => rule(history));
}

/** The entries that a write may have led to. */
function entriesOf({ record }: History, { wish, by, subject }: Call): Entry[] {
  return record.filter((entry) => entry.type === effects[wish] && entry.subject === subject && entry.by === by);
}

/** Numbers start at 1 and miss none. */
const dense = ({ record }: History): string[] =>
  record.flatMap(({ seq }, n) => (seq === n + 1 ? [] : [`not dense: entry ${n + 1} has the number ${seq}`]));

/** What was answered for is in the record, once, as answered; what was refused is not; nobody wrote what nobody asked for. */
function oneEffect(history: History): string[] {
  const wrongs: string[] = [];
  const asked = new Set<Entry>();
  for (const wish of byKey(history.calls)) {
    const [first] = wish as [Call];
    const found = entriesOf(history, first);
    for (const entry of found) asked.add(entry);
    const ok = wish.find(done);
    if (found.length > 1) wrongs.push(`done ${found.length} times: ${told(first)}`);
    if (ok && found.length === 0) wrongs.push(`acknowledged and gone: ${told(ok)}`);
    if (ok?.answer.seq !== undefined && !found.some(({ seq }) => seq === ok.answer.seq))
      wrongs.push(`stands elsewhere than answered (${ok.answer.seq}): ${told(ok)}`);
    if (!ok && found.length > 0 && wish.every(({ answer, lost }) => answer !== null && !lost))
      wrongs.push(`refused and done: ${told(first)}`);
  }
  for (const entry of history.record)
    if (Object.values(effects).includes(entry.type) && !asked.has(entry))
      wrongs.push(`nobody asked for entry ${entry.seq}, ${entry.type} ${entry.subject}`);
  return wrongs;
}

/** Every answer to one key is the same. */
const sameAnswer = ({ calls }: History): string[] =>
  byKey(calls).flatMap((wish) =>
    new Set(wish.filter(done).map(({ answer }) => answer.bytes)).size > 1
      ? [`answered differently: ${told(wish[0] as Call)}`]
      : [],
  );

/** What was answered before another began has the lower number. */
function realTimeOrder(history: History): string[] {
  const writes = history.calls.filter((call) => effects[call.wish] && done(call) && isFirst(history, call));
  const placed = writes.flatMap((call) => entriesOf(history, call).map(({ seq }) => ({ call, seq })));
  return placed.flatMap((later) => {
    const before = placed.find(({ call, seq }) => call.end < later.call.start && seq > later.seq);
    return before ? [`out of order: ${told(later.call)} has ${later.seq}, after ${before.seq} was answered`] : [];
  });
}

/** A repeat may well be answered with what was done before others. */
const isFirst = ({ calls }: History, { key, start }: Call): boolean =>
  key === undefined || !calls.some((other) => other.key === key && other.start < start);

/** A read shows all that anybody had been told of before it began, nothing that was asked for after it, and leaves no gap. */
function reads(history: History): string[] {
  const { record } = history;
  const shown = history.calls
    .filter(done)
    .map((call) => ({ end: call.end, seq: Math.max(0, ...(call.answer.seqs ?? []), ...effectSeqs(call)) }));
  return history.calls.filter(done).flatMap((call) => {
    const { seqs, cursor } = call.answer;
    if (!seqs) return [];
    const after = call.wish === 'inbox' ? (cursor ?? 0) : (call.seq ?? 0);
    const floor = Math.max(0, ...shown.filter(({ end }) => end < call.start).map(({ seq }) => seq));
    const last = Math.max(floor, ...seqs);
    const due = record.filter((entry) => entry.seq > after && entry.seq <= last && concerns(call, entry));
    const wrongs: string[] = [];
    const missing = due.filter(({ seq }) => !seqs.includes(seq));
    if (missing.length > 0) wrongs.push(`does not show ${missing.map(({ seq }) => seq)}: ${told(call)}`);
    if (seqs.length > due.length - missing.length) wrongs.push(`shows what is not there: ${told(call)}`);
    const early = history.calls.filter(
      (write) => effects[write.wish] && write.start > call.end && isFirst(history, write),
    );
    if (early.some((write) => entriesOf(history, write).some(({ seq }) => seqs.includes(seq))))
      wrongs.push(`shows what was asked for later: ${told(call)}`);
    return wrongs;
  });

  function effectSeqs(call: Call): number[] {
    return effects[call.wish] ? entriesOf(history, call).map(({ seq }) => seq) : [];
  }
}

/** Whether a read is about this entry. */
function concerns({ wish, by }: Call, { type, to, by: from }: Entry): boolean {
  if (wish === 'record') return true;
  if (type !== 'message.posted') return false;
  return wish === 'timeline' || (from !== by && (to === null || to?.includes(by) === true));
}

/** A read position never goes back, and not beyond where its agent said that it was. */
function cursors({ calls, record }: History): string[] {
  const tellers = calls.filter(done).filter(({ answer }) => answer.cursor !== undefined);
  return tellers.flatMap((call) => {
    const cursor = call.answer.cursor as number;
    const wrongs: string[] = [];
    const before = tellers.filter(({ by, end }) => by === call.by && end < call.start);
    if (before.some(({ answer }) => (answer.cursor as number) > cursor))
      wrongs.push(`the read position went back to ${cursor}: ${told(call)}`);
    if (call.wish === 'acknowledge' && cursor < (call.seq ?? 0))
      wrongs.push(`the read position stayed at ${cursor}: ${told(call)}`);
    const joined = record.find(({ type, subject }) => type === 'member.joined' && subject === call.by)?.seq ?? 0;
    const said = calls.filter(({ wish, by, start }) => wish === 'acknowledge' && by === call.by && start < call.end);
    if (cursor > Math.max(joined, ...said.map(({ seq }) => seq ?? 0)))
      wrongs.push(`the read position is at ${cursor}, which nobody said: ${told(call)}`);
    return wrongs;
  });
}

/** A task that is taken is taken by one, until it is dropped; whoever is told that it is taken is told so for a reason. */
function oneWinner({ calls, record }: History): string[] {
  const wrongs: string[] = [];
  const owners = new Map<string, string>();
  for (const { type, subject, by } of record) {
    if (type === 'task.dropped') owners.delete(subject);
    if (type !== 'task.started') continue;
    const owner = owners.get(subject);
    if (owner !== undefined) wrongs.push(`${subject} was taken by ${owner} and by ${by}`);
    owners.set(subject, by);
  }
  for (const call of calls)
    if (call.answer?.code === 'task_taken')
      if (
        !record.some(({ type, subject, by }) => type === 'task.started' && subject === call.subject && by !== call.by)
      )
        wrongs.push(`taken by nobody: ${told(call)}`);
  return wrongs;
}

/** Who was removed does nothing more, and is answered nothing once the removal was. */
function ended({ calls, record }: History): string[] {
  return record
    .filter(({ type }) => type === 'agent.removed')
    .flatMap(({ seq, subject }) => {
      const removal = calls.find((call) => call.wish === 'remove' && call.subject === subject && done(call));
      const served = calls.filter(
        (call) => call.by === subject && done(call) && call.start > (removal?.end ?? Infinity),
      );
      return [
        ...record.filter((entry) => entry.by === subject && entry.seq > seq).map((entry) => `did ${entry.type}`),
        ...served.map((call) => `was answered: ${told(call)}`),
      ].map((what) => `after its removal ${subject} ${what}`);
    });
}

/** A wait is answered soon after there is what it waits for. */
function wakes(history: History): string[] {
  const late = history.calls.filter(done).flatMap((call) => {
    if (call.wait === undefined) return [];
    const after = call.answer.cursor ?? 0;
    const news = history.record.filter((entry) => entry.seq > after && concerns(call, entry));
    const words = news.filter(({ by }) => history.people.includes(by));
    const posts = history.calls.filter(({ answer }) => words.some(({ seq }) => seq === answer?.seq));
    // What was there before it began to wait shows how long an answer takes, not how long a wake-up does.
    const [first] = posts.map(({ end }) => end).sort((a, b) => a - b);
    return first === undefined || first < call.start || first > call.end ? [] : [call.end - first];
  });
  const others = history.calls.filter((call) => done(call) && call.wait === undefined && !call.lost);
  const slow = TIMES_LONGER * middle(others.map(({ start, end }) => end - start));
  const median = middle(late);
  return [
    ...late.filter((ms) => ms > LATE_MS.most + slow).map((ms) => `a wait was woken ${Math.round(ms)} ms late`),
    ...(late.length >= WAITS && median > LATE_MS.median + slow
      ? [`half of the waits are ${Math.round(median)} ms late`]
      : []),
  ];
}

const middle = (numbers: number[]): number => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

const rules = [dense, oneEffect, sameAnswer, realTimeOrder, reads, cursors, oneWinner, ended, wakes];

/** Writes that share a key, in the order of their beginning. */
function byKey(calls: readonly Call[]): Call[][] {
  const wishes = Map.groupBy(
    calls.filter((call) => effects[call.wish]),
    ({ key, start }) => key ?? start,
  );
  return [...wishes.values()].map((wish) => wish.sort((a, b) => a.start - b.start));
}
