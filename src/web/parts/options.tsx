/** The options of an ask as numbered buttons. One press answers; changing an answer takes two. */
import type { Message } from '../../contract/types.ts';
import { answerAttempts, chosenOption, isAnswerLocked, pickOption, sendAnswer, setChanging } from '../state/answers.ts';
import { isHeldNumber, singleKeys } from '../state/keys.ts';
import { type Brief, briefOf } from './ask.ts';
import { ProblemLine } from './problem.tsx';

/** Longer options take a whole row on a phone. In characters. */
const LONG_OPTION = 14;

/**
 * @param labelledBy the id of the element with the question; without it, the question becomes the label
 * @param onAnswered called with the message that was posted
 */
export function Options(props: {
  message: Message;
  labelledBy?: string;
  class?: string;
  onAnswered?: (posted: Message) => void;
}) {
  const { message } = props;
  const { ask } = message;
  if (!ask || ask.options.length === 0) return null;
  const { before, title, rest } = briefOf(message);
  const attempt = answerAttempts.value.get(message.id);
  // The button looks pressed only after the server has stored the answer.
  const chosen = chosenOption(message);
  const sending = attempt?.state === 'sending' ? attempt.option : undefined;
  const locked = isAnswerLocked(message);
  const send = async (option: number): Promise<void> => {
    if (locked) return;
    const posted = await sendAnswer(message, { option });
    if (posted) props.onAnswered?.(posted);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that is shown elsewhere */}
      <div
        class={props.class ? `opts ${props.class}` : 'opts'}
        role="group"
        aria-labelledby={props.labelledBy}
        aria-label={props.labelledBy ? undefined : [before, title, rest].filter(Boolean).join(' ')}
        aria-busy={attempt?.state === 'sending'}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey || isHeldNumber(event) || !singleKeys.peek()) return;
          if (/^[1-4]$/.test(event.key) && pickOption(message, Number(event.key))) event.preventDefault();
        }}
      >
        {ask.options.map((text, index) => {
          const number = index + 1;
          const style = [
            'opt',
            chosen !== null && chosen !== number && 'not',
            sending === number && 'going',
            (text.length > LONG_OPTION || ask.options.length === 1) && 'long',
          ];
          const inside = (
            <>
              {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a kbd takes no focus, and the number is not part of the name */}
              <kbd aria-hidden="true">{number}</kbd>
              <span>{text}</span>
              {text === ask.going_with && chosen === null && <span class="d">default</span>}
            </>
          );
          return ask.can_answer ? (
            <button
              key={number}
              type="button"
              class={style.filter(Boolean).join(' ')}
              aria-pressed={chosen === number}
              aria-disabled={locked || attempt?.state === 'sending' || undefined}
              onClick={() => void send(number)}
            >
              {inside}
            </button>
          ) : (
            <span key={number} class={[...style, 'still', chosen === number && 'on'].filter(Boolean).join(' ')}>
              {inside}
              {chosen === number && <span class="vh">, answered</span>}
            </span>
          );
        })}
        {ask.can_answer && locked && (
          <button
            type="button"
            class="b bare"
            onClick={({ currentTarget }) => {
              setChanging(message.id, true);
              // This button disappears and would lose the focus.
              currentTarget.parentElement?.querySelector('button')?.focus();
            }}
          >
            Change
          </button>
        )}
      </div>
      {attempt?.state === 'failed' && <AnswerProblem message={message} />}
    </>
  );
}

/** A text in which no reference to a task, such as PAY-12, and no amount, such as 60 s, is broken over two lines. */
const unbroken = (text: string) =>
  text
    .split(/\b([A-Z][A-Z\d]{1,5}-\d+|\d+ (?:[kMG]?B|ms|s|min|h))\b/)
    .map((part, index) => (index % 2 ? <span class="nw">{part}</span> : part));

/** The question of an ask in a list, or of something else, and what else it says. */
export const Question = ({ before, title, rest }: { title: string } & Partial<Brief>) => (
  <span>
    {before && <span class="rest before">{unbroken(before)} </span>}
    {unbroken(title)}
    {rest && <span class="rest"> {unbroken(rest)}</span>}
  </span>
);

/** The error of the last answer, with a retry button. */
export function AnswerProblem({ message }: { message: Message }) {
  const attempt = answerAttempts.value.get(message.id);
  if (attempt?.state !== 'failed') return null;
  return <ProblemLine error={attempt.error} onRetry={() => sendAnswer(message, attempt)} />;
}
