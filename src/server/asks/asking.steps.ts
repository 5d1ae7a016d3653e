/** Asking and answering within a post. The board's row is locked, so of two answers one comes first. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import { type MemberRow, memberById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { type Addressee, type Addressing, addressThread, addressTo } from '../messages/addressing.steps.ts';
import { type MessageRow, postedEvents } from '../messages/messages.store.ts';
import { postedIn } from '../messages/posted.rules.ts';
import { parseTarget } from '../messages/targets.rules.ts';
import {
  type AnswerRequest,
  type Asking,
  answerInvalid,
  askClosed,
  askInvalid,
  checkAnswer,
  mayAnswer,
  mayWithdraw,
  notAsked,
  withdrawalInvalid,
} from './asks.rules.ts';
import { type AskRow, askOf } from './asks.store.ts';

/** Exactly one member, named; an agent that names nobody asks its person. @throws Refusal `ask_invalid`, `unknown_recipient`. */
export async function addressAsk(tx: WriteTx, from: Addressee, to: string[] | undefined, asking: Asking) {
  const target = to ?? (await ownPerson(tx, from));
  const parsed = target.length === 1 ? parseTarget(target[0] ?? '') : null;
  if (parsed?.kind !== 'name') throw askInvalid('An ask goes to exactly one member, by @name');
  const addressing = await addressTo(tx, from, target);
  const [asked] = addressing.recipients ?? [];
  if (!asked) throw askInvalid('Nobody asks themselves');
  if (asking.approval && asked.kind !== 'human') throw askInvalid('Approval is asked of a person');
  return addressing;
}

async function ownPerson(tx: WriteTx, { boardId, sender }: Addressee): Promise<string[]> {
  const person = sender.kind === 'agent' ? await activeHuman(tx, boardId, sender.person_id) : undefined;
  if (!person) throw askInvalid('An ask says whom it asks');
  return [`@${person.name}`];
}

/** What a reply does to the ask it replies to. */
export interface Answering {
  ask: AskRow;
  asker: MemberRow;
  option: number | null;
  withdrawn: boolean;
}

/**
 * Whether a reply is the answer to an ask, or takes it back; null: an ordinary reply.
 * @throws Refusal `ask_invalid`, `not_asked`, `ask_closed`.
 */
export async function readAnswer(
  tx: WriteTx,
  member: MemberRow,
  parent: MessageRow | null,
  request: AnswerRequest | undefined,
): Promise<Answering | null> {
  if (request) checkAnswer(request);
  if (!parent && request) throw answerInvalid('An answer replies to its ask');
  const ask = parent && parent.expects_reply === 1 ? await askOf(tx, parent.id) : undefined;
  if (!ask) {
    if (request) throw request.withdrawn ? withdrawalInvalid() : answerInvalid('That message is no ask');
    return null;
  }
  if (request?.option !== undefined && request.option > (await optionsOf(tx, ask)).length)
    throw answerInvalid('The ask has no such option');
  if (request?.comment) return null;
  const asker = await memberById(tx, ask.from_id);
  if (!asker) throw new Error(`ask ${ask.message_id} has lost its asker`);
  return request?.withdrawn ? withdrawal(member, ask, asker) : answer(member, ask, asker, request);
}

function withdrawal(member: MemberRow, ask: AskRow, asker: MemberRow): Answering {
  if (!mayWithdraw(member, member.access === 'admin', asker))
    throw notAsked('Only who asked a question can withdraw it.');
  if (ask.withdrawn === 1) throw askClosed();
  return { ask, asker, option: null, withdrawn: true };
}

function answer(
  member: MemberRow,
  ask: AskRow,
  asker: MemberRow,
  request: AnswerRequest | undefined,
): Answering | null {
  if (!mayAnswer(member, asker, ask.to_id)) {
    if (request) throw notAsked();
    return null;
  }
  if (ask.withdrawn === 1)
    throw askClosed(`To say something all the same: service say --reply ${ask.seq} --comment "…".`);
  if (!request && ask.answer_seq !== null) return null;
  return { ask, asker, option: request?.option ?? null, withdrawn: false };
}

/** The options an ask was posted with. */
async function optionsOf(tx: WriteTx, ask: AskRow): Promise<string[]> {
  const [posted] = await postedEvents(tx, [ask.message_id]);
  return (posted && postedIn(posted).ask?.options) ?? [];
}

/** An answer also goes to the asker, a withdrawal to the one asked; if they have left, it may have no recipient. */
export async function addressAnswer(
  tx: WriteTx,
  from: Addressee,
  to: string[] | undefined,
  rootSeq: number,
  { ask, withdrawn }: Answering,
): Promise<Addressing> {
  if (!to) return addressThread(tx, from, rootSeq).catch((error: unknown) => alone(from, error));
  const addressing = await addressTo(tx, from, to);
  const other = await memberById(tx, withdrawn ? ask.to_id : ask.from_id);
  const covered = addressing.everyone || addressing.recipients?.some((member) => member.id === other?.id);
  if (!other || covered || other.status !== 'active' || other.id === from.sender.id) return addressing;
  return addressTo(tx, from, [...addressing.to, `@${other.name}`]);
}

function alone({ sender }: Addressee, error: unknown): Addressing {
  if (!(error instanceof Refusal) || error.code !== 'reply_has_no_recipients') throw error;
  return { to: [`@${sender.name}`], everyone: false, recipients: [], named: [sender.id] };
}
