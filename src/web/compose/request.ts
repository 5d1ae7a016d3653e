/** Turns a draft into the body of a request. */
import { MAX_BODY } from '../../contract/text.ts';
import type { BodyIn, Message } from '../../contract/types.ts';
import { plural } from '../parts/number.ts';
import { serverTime } from '../state/clock.ts';
import type { AskDraft, Draft } from './draft.ts';

/** Returns why a draft cannot be posted yet, or null. */
export function validateDraft(draft: Draft): string | null {
  const { text, ask } = draft;
  if (!/\S/u.test(text)) return ask ? 'Write the question.' : 'Write something first.';
  const length = text.length > MAX_BODY ? [...text].length : 0;
  if (length > MAX_BODY) return `Shorten it by ${plural(length - MAX_BODY, 'character')}, or attach it as a file.`;
  if (!ask) return null;
  if (ask.to === '') return 'Choose who is asked.';
  const options = optionsOf(ask);
  if (new Set(options).size < options.length) return 'Two options are the same.';
  if (goingWithOf(ask) === '') return 'Write the option that you go with, or choose another.';
  return null;
}

const optionsOf = ({ options }: AskDraft): string[] => options.map((option) => option.trim()).filter(Boolean);

/** The option that applies without an answer, which may be empty; null: the asker waits. */
const goingWithOf = ({ goingWith, options }: AskDraft): string | null =>
  goingWith === null ? null : (options[goingWith]?.trim() ?? '');

/** @param target the message it replies to */
export function toRequest(draft: Draft, target: Message | null): BodyIn<'postMessage'> {
  const { text, to, ask, files, urgent } = draft;
  const attached = files.map(({ id, version }) => ({ file: id, version }));
  const common = { body: text.trim(), ...(urgent && { urgent }), ...(attached.length > 0 && { files: attached }) };
  if (ask) {
    const goingWith = goingWithOf(ask);
    return {
      ...common,
      to: [`@${ask.to}`],
      ask: { options: optionsOf(ask), ...(goingWith && { going_with: goingWith, going_at: timeAfter(ask.minutes) }) },
      ...(ask.task && { about: [ask.task] }),
    };
  }
  return {
    ...common,
    // The server chooses the default recipients.
    ...(to && { to }),
    ...(draft.expectsReply && { expects_reply: true }),
    ...(target && { reply_to: target.id }),
    // A withdrawn question takes no answer.
    ...(target?.ask?.state === 'withdrawn' && { answer: { comment: true } }),
  };
}

/** A request of which less than half of the time for an answer is left: with all of that time from now on. Else itself. */
export function withTimeLeft(request: BodyIn<'postMessage'>, { ask }: Draft): BodyIn<'postMessage'> {
  const { going_at } = request.ask ?? {};
  if (!ask || !going_at || Date.parse(going_at) - serverTime() > ask.minutes * 30_000) return request;
  return { ...request, ask: { ...request.ask, going_at: timeAfter(ask.minutes) } };
}

const timeAfter = (minutes: number): string => new Date(serverTime() + minutes * 60_000).toISOString();
