/** An ask about a task, with its options and a text answer. */
import type { Message } from '../../contract/types.ts';
import { consequenceOf, questionOf } from '../parts/ask.ts';
import { Markdown } from '../parts/markdown.tsx';
import { AnswerProblem, Options, Question } from '../parts/options.tsx';
import { ago } from '../parts/time.tsx';
import { answerAttempts, pickOption, sendAnswer } from '../state/answers.ts';
import { useKeys } from '../state/keys.ts';
import { isAskedOfMe } from '../state/needs.ts';
import { useStored } from '../state/storage.ts';

interface Props {
  message: Message;
  /** False if the keys 1 to 4 do not answer this ask; else whether they do at the moment. */
  keys: false | (() => boolean);
  onAnswered: () => void;
}

export function AskCard({ message, keys, onAnswered }: Props) {
  const [words, setWords, drop] = useStored(`words:${message.id}`, '');
  const ask = message.ask!;
  const sending = answerAttempts.value.get(message.id)?.state === 'sending';
  const mine = isAskedOfMe(message) && ask.can_answer && ask.state === 'open';
  const { question, rest } = questionOf(message);
  const stakes = ask.blocking ? null : consequenceOf(message);
  useKeys(
    'The ask of the task',
    keys
      ? ask.options.map((text, index) => ({
          keys: String(index + 1),
          label: `Answer ${text}`,
          run: () => !keys() || pickOption(message, index + 1),
        }))
      : [],
    [keys !== false, message.id],
  );
  const id = `ask-${message.seq}`;
  return (
    <div class={mine ? 'askc mine' : 'askc'}>
      <div class="h">
        {mine ? <span class="you">Needs you</span> : ask.state === 'open' && <b>{`Waits on ${ask.to.name}`}</b>}
        <span>
          {message.from.name} asks, {ago(message.at)}
        </span>
        {stakes && <span>{stakes}</span>}
      </div>
      <strong id={id} class="question">
        <Question title={question} />
      </strong>
      {rest && <Markdown text={rest} />}
      <Options message={message} labelledBy={id} onAnswered={onAnswered} />
      {ask.can_answer && (
        <form
          class="row words"
          onSubmit={(event) => {
            event.preventDefault();
            if (!words.trim()) return;
            void sendAnswer(message, { body: words }).then((posted) => {
              if (!posted) return;
              drop();
              onAnswered();
            });
          }}
        >
          <input
            class="in"
            aria-label={ask.options.length > 0 ? 'Or answer in words' : 'Answer in words'}
            placeholder={ask.options.length > 0 ? 'Or in words' : 'Your answer'}
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
          <button type="submit" class="b" aria-disabled={sending || !words.trim()}>
            Answer
          </button>
        </form>
      )}
      {ask.options.length === 0 && <AnswerProblem message={message} />}
    </div>
  );
}
