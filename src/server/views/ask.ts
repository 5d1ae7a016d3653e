/** What a message asks or answers, as its reader stands to it. */
import type { Message } from '../../contract/types.ts';
import { type AskData, askState, mayAnswer, mayWithdraw } from '../asks/asks.rules.ts';
import { type AskRow, asksOf } from '../asks/asks.store.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { mayDo } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { type MessageRow, type PostedEvent, postedEvents } from '../messages/messages.store.ts';
import { type MemberWithPerson, membersWithIds } from '../seats/members.store.ts';
import { tasksWithIds } from '../tasks/tasks.store.ts';
import { timestampOrNull } from '../text/time.ts';
import { actorView } from './actors.ts';
import { audienceOf, isFor } from './event.ts';
import type { Place, Reader } from './place.ts';
import { taskRefView } from './task-ref.ts';

/** What the record says of asking and answering. */
export interface AskingData {
  ask?: AskData;
  answer?: { ask_id: string; option: number | null; withdrawn: boolean };
}

type Extras = Pick<Message, 'ask' | 'answer'>;

/** What showing asks and answers needs, for all who are shown them. */
export interface AskContext {
  asks: ReadonlyMap<string, AskRow>;
  /** Who asks and is asked, and the readers themselves. */
  people: ReadonlyMap<string, MemberWithPerson>;
  tasks: ReadonlyMap<string, NonNullable<Message['ask']>['task']>;
  /** The messages that were answered with an option. */
  asked: ReadonlyMap<string, PostedEvent>;
}

type Asking = { row: Pick<MessageRow, 'id'>; data: AskingData };

const nothing: AskContext = { asks: new Map(), people: new Map(), tasks: new Map(), asked: new Map() };

/** Reads it with a fixed number of statements, however many messages and readers there are; with none if none of them asks. */
export async function askContext(
  tx: ReadTx,
  readers: readonly Reader[],
  messages: readonly Asking[],
): Promise<AskContext> {
  const about = messages.filter(({ data }) => data.ask || data.answer);
  if (about.length === 0) return nothing;
  const ids = about.map(({ row, data }) => data.answer?.ask_id ?? row.id);
  const asks = await asksOf(tx, [...new Set(ids)]);
  const members = [...readers.map((reader) => reader.memberId), ...asks.flatMap((ask) => [ask.from_id, ask.to_id])];
  const people = await membersWithIds(tx, [...new Set(members)]);
  const tasks = await tasksWithIds(
    tx,
    about.flatMap(({ data }) => data.ask?.task_id ?? []),
  );
  const picked = about.flatMap(({ data }) => (data.answer?.option ? [data.answer.ask_id] : []));
  const asked = picked.length === 0 ? [] : await postedEvents(tx, [...new Set(picked)]);
  return {
    asks: new Map(asks.map((ask) => [ask.message_id, ask])),
    people: new Map(people.map((member) => [member.id, member])),
    tasks: new Map(tasks.map((task) => [task.id, taskRefView(task)])),
    asked: new Map(asked.map((row) => [row.message_id, row])),
  };
}

/** For those of these messages that ask or answer. */
export function askViews(
  { asks, people, tasks, asked }: AskContext,
  now: number,
  place: Pick<Place, 'board' | 'reader'>,
  messages: readonly Asking[],
): Map<string, Extras> {
  const about = messages.filter(({ data }) => data.ask || data.answer);
  return new Map(
    about.map(({ row, data }) => {
      const ask = asks.get(data.answer?.ask_id ?? row.id);
      if (!ask) throw new Error(`message ${row.id} has lost its ask`);
      const shown: Extras = {
        ...(data.ask ? { ask: askView(now, place, ask, data.ask, people, tasks.get(ask.task_id ?? '') ?? null) } : {}),
        ...(data.answer
          ? { answer: { ...data.answer, ask_seq: ask.seq, option_text: optionText(data.answer, place.reader, asked) } }
          : {}),
      };
      return [row.id, shown];
    }),
  );
}

function askView(
  now: number,
  { board, reader }: Pick<Place, 'board' | 'reader'>,
  ask: AskRow,
  data: AskData,
  people: AskContext['people'],
  task: NonNullable<Message['ask']>['task'],
): NonNullable<Message['ask']> {
  const [asker, asked, self] = [people.get(ask.from_id), people.get(ask.to_id), people.get(reader.memberId)];
  if (!asker || !asked) throw new Error(`ask ${ask.message_id} has lost a member`);
  const state = askState(ask, now);
  const may = self !== undefined && state !== 'withdrawn' && board.lifecycle === 'active' && mayPost(self, board);
  return {
    to: actorView(asked, reader),
    options: data.options,
    blocking: data.blocking,
    going_with: data.going_with,
    going_at: timestampOrNull(ask.going_at),
    task,
    approval: data.approval === true,
    state,
    answer_seq: ask.answer_seq,
    answer_option: ask.answer_option,
    can_answer: may && mayAnswer(self, asker, ask.to_id),
    can_withdraw: may && mayWithdraw(self, self.access === 'admin', asker),
  };
}

const mayPost = (member: MemberWithPerson, board: Place['board']): boolean =>
  member.kind === 'human' || mayDo(parseRoles(board)[member.role ?? ''], 'post');

/** What was picked; from a hidden question it says nothing. */
function optionText(
  { ask_id, option }: NonNullable<AskingData['answer']>,
  reader: Reader,
  asked: AskContext['asked'],
): string | null {
  const posted = asked.get(ask_id);
  if (option === null || !posted) return null;
  if (!reader.readsAll && !isFor(audienceOf(posted), reader)) return null;
  return (JSON.parse(posted.data) as AskingData).ask?.options[option - 1] ?? null;
}
