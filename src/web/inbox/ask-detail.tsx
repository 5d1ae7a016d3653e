/** Details of an ask: question, options, written answer, and the messages around it. */
import { useRef, useState } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { briefOf, consequenceOf, questionOf } from '../parts/ask.ts';
import { Icon } from '../parts/icon.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { AnswerProblem, Options, Question } from '../parts/options.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { formatDayTime, formatExact, formatPast } from '../parts/time.tsx';
import { Glyph, Name } from '../parts/who.tsx';
import { useAction } from '../state/action.ts';
import { answerAttempts, chosenOption, pickOption, withdrawAsk } from '../state/answers.ts';
import { useKeys } from '../state/keys.ts';
import { useLoad } from '../state/load.ts';
import { isAskedOfMe, openAsks } from '../state/needs.ts';
import { hrefOf, navigate, type Place } from '../state/route.ts';
import { useHead } from '../state/use-head.ts';
import { Blocks } from './blocks.tsx';
import { Heading, isShown } from './heading.tsx';
import { ownAsks, readLists } from './lists.ts';
import { WriteAnswer } from './write-answer.tsx';

/** The place of the ask in its board's conversation. */
const inBoard = ({ board, seq }: Message): Place => ({ screen: 'board', board, tab: 'talk', message: seq });

/** An ask of the lists, or one that is not, or no longer, in them. */
export function AskDetail({ id }: { id: string }) {
  const listed = [...(openAsks.value ?? []), ...ownAsks.value].find((message) => message.id === id);
  const [board, setBoard] = useState(listed?.board);
  const head = useHead(board);
  const sent = answerAttempts.value.get(id)?.state === 'sent';
  const read = async (): Promise<Message> => listed ?? (await call('getMessage', { params: { message: id } })).message;
  const { value, error, reload } = useLoad(read, [id], [listed, sent, head]);
  const message = listed ?? value;
  if (!message) return <ProblemLine error={error} onRetry={reload} />;
  if (message.board !== board) setBoard(message.board);
  return <Ask message={message} />;
}

function Ask({ message }: { message: Message }) {
  const { ask, from, board, files } = message;
  const { question, rest } = questionOf(message);
  const [writing, setWriting] = useState(false);
  const withdrawal = useAction();
  const title = useRef<HTMLHeadingElement>(null);
  const withdraw = async (): Promise<void> => {
    if (!(await withdrawal.run(() => withdrawAsk(message)))) return;
    title.current?.focus();
    void readLists();
  };
  const pick = (number: number) => ({
    keys: String(number),
    label: 'Pick that option',
    run: () => (briefOf(message).whole || isShown(title)) && pickOption(message, number),
  });
  useKeys(
    'Asks',
    [
      ...[1, 2, 3, 4].map(pick),
      {
        keys: 'r',
        label: 'Write the answer',
        run: () => (ask?.can_answer && isShown(title) ? setWriting(true) : false),
      },
      {
        keys: 'w',
        label: 'Withdraw your own',
        run: () => (ask?.can_withdraw && isShown(title) ? void withdraw() : false),
      },
      {
        keys: 'Enter',
        label: 'Open it in the board',
        run: ({ target }) =>
          (target as Element).closest('a:not(.cur), button, summary') ? false : navigate(inBoard(message)),
      },
    ],
    [message],
  );
  if (!ask) return null;
  const stakes = consequenceOf(message);
  return (
    <article aria-labelledby="inbox-title">
      <Heading
        who={from}
        at={message.at}
        title={<Question title={question} />}
        titleRef={title}
        aside={
          stakes &&
          ask.state === 'open' && (
            <>
              <span class="sp" />
              {ask.blocking ? <Blocks note={stakes} /> : <span class="q2">{stakes}</span>}
            </>
          )
        }
      >
        asks {isAskedOfMe(message) ? 'you' : ask.to.name} in <a href={hrefOf(inBoard(message))}>{board}</a>
      </Heading>
      {rest && <Markdown text={rest} />}
      {files.length > 0 && (
        <div class="foot">
          {files.map(({ id, name, version }) => (
            <a key={id} class="chip" href={hrefOf({ screen: 'board', board, tab: 'files', file: id, version })}>
              <Icon name="file" small />
              <span class="mono cut">{name}</span>
              <span class="nw">v{version}</span>
            </a>
          ))}
          {ask.approval && isAskedOfMe(message) && (
            <span class="q sm">Your approval counts for exactly these bytes.</span>
          )}
        </div>
      )}
      <State message={message} />
      <div class="ans">
        <Options message={message} labelledBy="inbox-title" />
        {ask.options.length === 0 && <AnswerProblem message={message} />}
        {ask.can_answer && <WriteAnswer message={message} open={writing} setOpen={setWriting} />}
        {ask.can_withdraw && (
          <button type="button" class="b withdraw" onClick={() => void withdraw()}>
            Withdraw this question <kbd class="desk">w</kbd>
          </button>
        )}
        <ProblemLine error={withdrawal.error} />
      </div>
      <Around message={message} />
    </article>
  );
}

/** How the ask ended, if it is no longer open. */
function State({ message }: { message: Message }) {
  const { ask } = message;
  const own = answerAttempts.value.get(message.id);
  const chosen = chosenOption(message);
  if (!ask) return null;
  const answered = own?.state === 'sent' || ask.state === 'answered';
  const words =
    ask.state === 'withdrawn'
      ? 'Withdrawn: it needs no answer.'
      : answered
        ? `Answered${chosen === null ? ' in words' : `: ${ask.options[chosen - 1]}`}.`
        : ask.state === 'went_with'
          ? `Went with ${ask.going_with}${ask.going_at ? `, ${formatDayTime(ask.going_at)}` : ''}. An answer still counts.`
          : null;
  // An answer from here is announced by itself.
  return words ? (
    <p class="q2 stands" role={own?.state === 'sent' ? undefined : 'status'}>
      {words}
    </p>
  ) : null;
}

/** Replies to the ask, and the messages before it; only those about its task, if it has one. */
function Around({ message }: { message: Message }) {
  const { id, board, seq, ask } = message;
  const task = ask?.task?.ref;
  const query = { before: seq, newest: true, limit: 3, ...(task ? { task } : {}) };
  const before = useLoad(() => call('listMessages', { params: { board }, query }), [board, seq, task]);
  const replies = { params: { message: id }, query: { limit: 50 } };
  const since = useLoad(() => call('listReplies', replies), [id], [useHead(board)]);
  return (
    <>
      <Said title="Since then" messages={since.value?.replies} />
      <Said title={task ? `What came before, about ${task}` : 'What came before'} messages={before.value?.messages} />
    </>
  );
}

const Said = ({ title, messages = [] }: { title: string; messages: Message[] | undefined }) =>
  messages.length === 0 ? null : (
    <section class="ctx" aria-label={title}>
      <h2 class="q2">{title}</h2>
      {messages.map(({ id, from, at, body }) => (
        <article key={id} class="m first" aria-label={`${from.name}, ${formatPast(at)}`}>
          <Glyph who={from} size={24} />
          <div>
            <div class="who">
              <Name who={from} />{' '}
              <time dateTime={at} title={formatExact(at)}>
                {formatPast(at)}
              </time>
            </div>
            <Markdown text={body} />
          </div>
        </article>
      ))}
    </section>
  );
