/** An ask about a task, answered where it is read: by an option or in words. */
import { useState } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { announce } from '../parts/announce.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { ago } from '../parts/time.tsx';
import { useKeys } from '../state/keys.ts';
import { answer, isToMe } from '../state/needs.ts';
import { useWrite } from '../state/write.ts';
import { goingWith } from './columns.ts';

const LONG = 14;

/** @param keys whether 1 to 4 answer this one: the first of those that the person may answer */
export function AskCard({ message, keys, answered }: { message: Message; keys: boolean; answered: () => void }) {
  const [words, setWords] = useState('');
  const { busy, error, run } = useWrite();
  const ask = message.ask!;
  const mine = isToMe(message) && ask.can_answer && ask.state === 'open';
  const send = (choice: { option?: number; body?: string }): void => {
    void run(`answer ${choice.option ?? 'words'}`, async (key) => {
      await answer(message, { ...choice, key });
      announce(`Answered ${choice.body ?? ask.options[(choice.option ?? 1) - 1]}`);
      answered();
    });
  };
  useKeys(
    'The ask of the task',
    keys && ask.can_answer
      ? ask.options.map((text, index) => ({
          keys: String(index + 1),
          label: `Answer ${text}`,
          run: () => send({ option: index + 1 }),
        }))
      : [],
    [keys, message.id, ask.can_answer],
  );
  const question = `ask-${message.seq}`;
  return (
    <div class={mine ? 'askc mine' : 'askc'}>
      <div class="h">
        {mine ? (
          <span class="you">Needs you</span>
        ) : (
          <b>{ask.state === 'went_with' ? `Went with ${ask.going_with}` : `Waits on ${ask.to.name}`}</b>
        )}
        <span>
          {message.from.name} asks, {ago(message.at)}
          {ask.going_with !== null && ask.state === 'open' && `; ${goingWith(ask)}`}
        </span>
      </div>
      <div id={question} class="question">
        <Markdown text={message.body} />
      </div>
      {ask.can_answer && ask.options.length > 0 && (
        <fieldset class="opts" aria-labelledby={question}>
          {ask.options.map((text, index) => (
            <button
              type="button"
              key={text}
              class={text.length > LONG ? 'opt long' : 'opt'}
              disabled={busy}
              onClick={() => send({ option: index + 1 })}
            >
              <kbd>{index + 1}</kbd>
              <span>{text}</span>
              {text === ask.going_with && <span class="d">default</span>}
            </button>
          ))}
        </fieldset>
      )}
      {!ask.can_answer && ask.options.length > 0 && <p class="q2">{ask.options.join(', ')}</p>}
      {ask.can_answer && (
        <form
          class="row words"
          onSubmit={(event) => {
            event.preventDefault();
            if (words.trim()) send({ body: words });
          }}
        >
          <input
            class="in"
            aria-label={ask.options.length > 0 ? 'Or answer in words' : 'Answer in words'}
            placeholder={ask.options.length > 0 ? 'Or in words' : 'Your answer'}
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
          <button type="submit" class="b" disabled={busy || !words.trim()}>
            Answer
          </button>
        </form>
      )}
      {error !== null && <ProblemLine error={error} />}
    </div>
  );
}
