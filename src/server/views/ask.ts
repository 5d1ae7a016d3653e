/** What a message asks or answers, as its reader stands to it. */
import type { Message } from '../../contract/types.ts';
import type { Place, Reader } from '../access/board-access.ts';
import { type AskData, type AskingData, askState, mayAnswer, mayWithdraw } from '../asks/asks.rules.ts';
import { type AskWithContext, asksOf } from '../asks/asks.store.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { mayDo } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import type { MessageRow } from '../messages/messages.store.ts';
import { postedIn } from '../messages/posted.rules.ts';
import { indexBy } from '../text/rows.ts';
import { timestampOrNull } from '../text/time.ts';
import { actorView } from './actors.ts';
import { audienceOf, isFor } from './event.ts';
import { taskRefView } from './tasks/task-ref.ts';

type Extras = Pick<Message, 'ask' | 'answer'>;

/** What showing asks and answers needs, for all who are shown them: the asks by the messages that asked. */
export type AskContext = ReadonlyMap<string, AskWithContext>;

type Asking = { row: Pick<MessageRow, 'id'>; data: AskingData };

/** Reads it in one statement, however many messages there are; in none if none of them asks or answers. */
export async function askContext(tx: ReadTx, messages: readonly Asking[]): Promise<AskContext> {
  const about = messages.filter(({ data }) => data.ask || data.answer);
  if (about.length === 0) return new Map();
  const ids = new Set(about.map(({ row, data }) => data.answer?.ask_id ?? row.id));
  const picked = about.some(({ data }) => data.answer?.option);
  return indexBy(await asksOf(tx, [...ids], picked), 'message_id');
}

/** For those of these messages that ask or answer. */
export function askViews(
  asks: AskContext,
  now: number,
  place: Pick<Place, 'board' | 'reader'>,
  messages: readonly Asking[],
): Map<string, Extras> {
  const about = messages.filter(({ data }) => data.ask || data.answer);
  const shown = new Map<string, Extras>();
  for (const { row, data } of about) {
    const ask = asks.get(data.answer?.ask_id ?? row.id);
    // Missing only where the id of the ask was damaged in the database.
    if (!ask) continue;
    const { answer } = data;
    shown.set(row.id, {
      ...(data.ask ? { ask: askView(now, place, ask, data.ask) } : {}),
      ...(answer && { answer: { ...answer, ask_seq: ask.seq, option_text: optionText(answer, place.reader, ask) } }),
    });
  }
  return shown;
}

function askView(
  now: number,
  { board, reader }: Pick<Place, 'board' | 'reader'>,
  ask: AskWithContext,
  data: AskData,
): NonNullable<Message['ask']> {
  const { to_id: id, to_name: name, to_kind: kind, to_role: role, to_harness: harness, to_handle: handle } = ask;
  const asker = { id: ask.from_id, kind: ask.from_kind, person_id: ask.from_person_id, status: ask.from_status };
  const self = { id: reader.memberId, kind: reader.kind, person_id: reader.personId };
  const state = askState(ask, now);
  const may = state !== 'withdrawn' && answersOn({ board, reader });
  return {
    to: actorView({ id, name, kind, role, harness, handle }, reader),
    options: data.options,
    blocking: data.blocking,
    going_with: data.going_with,
    going_at: timestampOrNull(ask.going_at),
    task: taskOf(ask),
    approval: data.approval === true,
    state,
    answer_seq: ask.answer_seq,
    answer_option: ask.answer_option,
    can_answer: may && mayAnswer(self, asker, ask.to_id),
    can_withdraw: may && mayWithdraw(self, reader.access === 'admin', asker),
  };
}

const taskOf = ({ task_id, task_ref, task_title }: AskWithContext) =>
  task_id === null || task_ref === null || task_title === null
    ? null
    : taskRefView({ id: task_id, ref: task_ref, title: task_title });

/** Whether this reader may answer anything at all on this board now. */
export const answersOn = ({ board, reader: { kind, role } }: Pick<Place, 'board' | 'reader'>): boolean =>
  board.lifecycle === 'active' && (kind === 'human' || mayDo(parseRoles(board)[role ?? ''], 'post'));

/** What was picked; from a hidden question it says nothing. */
function optionText(
  { option }: NonNullable<AskingData['answer']>,
  reader: Reader,
  { posted_actor: actor, posted_data: data }: AskWithContext,
): string | null {
  if (option === null || actor === null || data === null) return null;
  if (!reader.readsAll && !isFor(audienceOf({ actor, data }), reader)) return null;
  return postedIn({ data }).ask?.options[option - 1] ?? null;
}
