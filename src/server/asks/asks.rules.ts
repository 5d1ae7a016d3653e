/** What an ask must be, what state it is in, and who may end it. */
import { DAY } from '../../contract/durations.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import type { MemberRow } from '../members/member.rules.ts';
import { type RedactionCounts, redact } from '../text/redaction.ts';

type AskRequest = Partial<NonNullable<Body<'postMessage'>['ask']>>;

/** An ask without secrets, with what does not fit in its texts; null: they fit. */
export type RedactedAsk = AskRequest & { problem: string | null };

export type AnswerRequest = NonNullable<Body<'postMessage'>['answer']>;

type AskState = 'open' | 'answered' | 'withdrawn' | 'went_with';

/** What the record keeps of an ask, its keys in canonical order. */
export interface AskData {
  approval?: true;
  blocking: boolean;
  going_at: string | null;
  going_with: string | null;
  options: string[];
  task_id: string | null;
  to: string;
}

/** What the record says of asking and answering. */
export interface AskingData {
  ask?: AskData;
  answer?: { ask_id: string; option: number | null; withdrawn: boolean };
}

const MAX_OPTIONS = 4;
const MAX_OPTION = 80;
const MAX_GOING_WITH = 120;
const AHEAD_MS = 30 * DAY;

const invalid = (rule: string, hint: string): Refusal =>
  new Refusal('ask_invalid', `${rule}.`, { hint, details: { reason: rule } });

export const askInvalid = (rule: string): Refusal =>
  invalid(rule, 'An ask goes to one member: service ask @NAME "…" "Option" "Option".');

export const answerInvalid = (rule: string): Refusal =>
  invalid(rule, 'service asks --can-answer shows what you can answer; then service answer N --option K, or in words.');

export const withdrawalInvalid = (): Refusal =>
  invalid('That message is no ask', 'service asks --from-me shows what you asked; then service withdraw N.');

export const notAsked = (message = 'This question was asked of somebody else.'): Refusal =>
  new Refusal('not_asked', message, {
    hint: 'Reply as a comment instead: service say --reply N --comment "…".',
  });

export const askClosed = (hint = 'Ask again if it matters: service ask.'): Refusal =>
  new Refusal('ask_closed', 'The question was withdrawn.', { hint });

/** What is asked, its options and default trimmed. */
export interface Asking {
  options: string[];
  goingWith: string | null;
  goingAt: number | null;
  approval: boolean;
}

/** What does not fit in the texts of an ask as they were sent; null: they fit. What redaction makes longer or equal still does. */
function textProblem({ options = [], going_with }: AskRequest): string | null {
  if (options.length > MAX_OPTIONS) return `An ask has at most ${MAX_OPTIONS} options`;
  if (!options.every((option) => fits(option, MAX_OPTION))) return `An option has 1 to ${MAX_OPTION} characters`;
  if (new Set(options.map((option) => option.trim())).size < options.length) return 'Two options are the same';
  if (going_with !== undefined && !fits(going_with, MAX_GOING_WITH))
    return `going_with has 1 to ${MAX_GOING_WITH} characters`;
  return null;
}

/** An ask without secrets, and how many there were of each kind. */
export function redactAsk(ask: AskRequest): { ask: RedactedAsk; counts: RedactionCounts } {
  const options = ask.options?.map((option) => redact(option));
  const goingWith = ask.going_with === undefined ? undefined : redact(ask.going_with);
  return {
    ask: {
      ...ask,
      problem: textProblem(ask),
      ...(options && { options: options.map(({ text }) => text) }),
      ...(goingWith && { going_with: goingWith.text }),
    },
    counts: [...(options ?? []), goingWith].flatMap((text) => text?.counts ?? []),
  };
}

function fits(text: string, max: number): boolean {
  const { length } = [...text.trim()];
  return length > 0 && length <= max;
}

/** What a post asks, before anybody is looked up. @throws Refusal `ask_invalid`. */
export function readAsk(
  ask: RedactedAsk,
  post: { reply_to?: string | undefined; answer?: unknown; files?: readonly unknown[] | undefined },
  now: number,
): Asking {
  if (post.reply_to !== undefined || post.answer !== undefined) throw askInvalid('An ask is no reply and no answer');
  if (ask.problem !== null) throw askInvalid(ask.problem);
  const options = (ask.options ?? []).map((option) => option.trim());
  const goingWith = ask.going_with?.trim() ?? null;
  if (ask.going_at !== undefined && goingWith === null) throw askInvalid('going_at goes with going_with');
  const goingAt = goingWith === null ? null : (ask.going_at ?? now);
  if (goingAt !== null && goingAt > now + AHEAD_MS) throw askInvalid('going_at is more than 30 days ahead');
  const approval = ask.approval === true;
  if (approval && (post.files ?? []).length === 0) throw askInvalid('An approval is asked for files of the board');
  if (approval && options.length === 0)
    throw askInvalid('An approval ask needs an option; the first one means approve');
  return { options, goingWith, goingAt, approval };
}

/** At most one of option, withdrawal and comment. @throws Refusal `ask_invalid`. */
export function checkAnswer({ option, withdrawn, comment }: AnswerRequest): void {
  const given = [option !== undefined, withdrawn === true, comment === true].filter(Boolean).length;
  if (given > 1) throw answerInvalid('An answer is one of an option, a withdrawal and a comment');
}

/** A member as far as asking goes. */
type Party = Pick<MemberRow, 'id' | 'kind' | 'person_id' | 'status'>;

/** The member asked; and where an agent asks, its person. Never the asker itself. */
export function mayAnswer(member: Pick<Party, 'id' | 'kind' | 'person_id'>, asker: Party, askedId: string): boolean {
  if (member.id === asker.id) return false;
  if (member.id === askedId) return true;
  return asker.kind === 'agent' && member.kind === 'human' && member.person_id === asker.person_id;
}

/** The asker; and once its seat has ended, its person and the board's owners, so that no question blocks for ever. */
export function mayWithdraw(member: Pick<Party, 'id' | 'kind' | 'person_id'>, owner: boolean, asker: Party): boolean {
  if (member.id === asker.id) return true;
  if (asker.status === 'active' || member.kind !== 'human') return false;
  return owner || member.person_id === asker.person_id;
}

/** What follows from the latest answer and the clock; never stored. */
export function askState(
  ask: { answer_seq: number | null; withdrawn: number; going_at: number | null },
  now: number,
): AskState {
  if (ask.withdrawn === 1) return 'withdrawn';
  if (ask.answer_seq !== null) return 'answered';
  return ask.going_at !== null && now >= ask.going_at ? 'went_with' : 'open';
}
