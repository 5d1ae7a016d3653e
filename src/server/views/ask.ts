/** What a message asks or answers, as its reader stands to it. */
import type { Message } from '../../contract/types.ts';
import { type AskData, askState, mayAnswer, mayWithdraw } from '../asks/asks.rules.ts';
import { type AskRow, asksOf } from '../asks/asks.store.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { mayDo } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { isReadable, type MessageRow, postedEvents } from '../messages/messages.store.ts';
import { type MemberWithPerson, membersWithIds } from '../seats/members.store.ts';
import { tasksWithIds } from '../tasks/tasks.store.ts';
import { timestampOrNull } from '../text/time.ts';
import { actorView } from './actors.ts';
import type { Place } from './place.ts';
import { taskRefView } from './task-ref.ts';

/** What the record says of asking and answering. */
export interface AskingData {
  ask?: AskData;
  answer?: { ask_id: string; option: number | null; withdrawn: boolean };
}

type Extras = Pick<Message, 'ask' | 'answer'>;

/** For those of these messages that ask or answer; with a fixed number of statements however many they are. */
export async function askViews(
  tx: ReadTx,
  place: Pick<Place, 'board' | 'reader'>,
  messages: readonly { row: Pick<MessageRow, 'id'>; data: AskingData }[],
): Promise<Map<string, Extras>> {
  const about = messages.filter(({ data }) => data.ask || data.answer);
  if (about.length === 0) return new Map();
  const ids = about.map(({ row, data }) => data.answer?.ask_id ?? row.id);
  const asks = new Map((await asksOf(tx, [...new Set(ids)])).map((ask) => [ask.message_id, ask]));
  const people = await partiesOf(tx, place, [...asks.values()]);
  const tasks = new Map(
    (
      await tasksWithIds(
        tx,
        about.flatMap(({ data }) => data.ask?.task_id ?? []),
      )
    ).map((task) => [task.id, taskRefView(task)]),
  );
  const options = await optionTexts(
    tx,
    place,
    about.flatMap(({ data }) => (data.answer?.option ? [data.answer.ask_id] : [])),
  );
  return new Map(
    about.map(({ row, data }) => {
      const ask = asks.get(data.answer?.ask_id ?? row.id);
      if (!ask) throw new Error(`message ${row.id} has lost its ask`);
      const shown: Extras = {
        ...(data.ask ? { ask: askView(tx, place, ask, data.ask, people, tasks.get(ask.task_id ?? '') ?? null) } : {}),
        ...(data.answer
          ? { answer: { ...data.answer, ask_seq: ask.seq, option_text: textOf(data.answer, options) } }
          : {}),
      };
      return [row.id, shown];
    }),
  );
}

function askView(
  tx: ReadTx,
  { board, reader }: Pick<Place, 'board' | 'reader'>,
  ask: AskRow,
  data: AskData,
  people: Map<string, MemberWithPerson>,
  task: NonNullable<Message['ask']>['task'],
): NonNullable<Message['ask']> {
  const [asker, asked, self] = [people.get(ask.from_id), people.get(ask.to_id), people.get(reader.memberId)];
  if (!asker || !asked) throw new Error(`ask ${ask.message_id} has lost a member`);
  const state = askState(ask, tx.now);
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

async function partiesOf(
  tx: ReadTx,
  { reader }: Pick<Place, 'reader'>,
  asks: readonly AskRow[],
): Promise<Map<string, MemberWithPerson>> {
  const ids = new Set([reader.memberId, ...asks.flatMap((ask) => [ask.from_id, ask.to_id])]);
  return new Map((await membersWithIds(tx, [...ids])).map((member) => [member.id, member]));
}

/** Options of those asks that the reader may read: what was picked from a hidden question says what it was. */
async function optionTexts(
  tx: ReadTx,
  { reader }: Pick<Place, 'reader'>,
  askIds: string[],
): Promise<Map<string, string[]>> {
  if (askIds.length === 0) return new Map();
  const readable = await isReadable(tx, askIds, { memberId: reader.memberId, readsAll: reader.readsAll });
  const posted = await postedEvents(tx, readable);
  return new Map(posted.map((row) => [row.message_id, (JSON.parse(row.data) as AskingData).ask?.options ?? []]));
}

const textOf = (
  { ask_id, option }: NonNullable<AskingData['answer']>,
  options: Map<string, string[]>,
): string | null => (option === null ? null : (options.get(ask_id)?.[option - 1] ?? null));
