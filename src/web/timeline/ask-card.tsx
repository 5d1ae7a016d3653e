/** A question with its numbered options: yellow while it waits on this person. */
import { useId } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { ago, timeOfDay } from '../parts/time.tsx';
import { change, choose, isAnswerable, refusals, sending, stateOf, withdraw } from './asks.ts';
import { type Talk, useTalk } from './context.ts';

type Ask = NonNullable<Message['ask']>;

/** @param marks marks names and tasks in the question */
export function AskCard(props: { message: Message; question: string; marks: (fragment: DocumentFragment) => void }) {
  const { message, question, marks } = props;
  const talk = useTalk();
  const id = useId();
  const ask = message.ask as Ask;
  const state = stateOf(message);
  const toMe = talk.isMe(ask.to);
  const mine = toMe && ask.can_answer && (state === 'open' || state === 'went_with');
  const can = isAnswerable(message) && talk.writable.value;
  const refusal = refusals.value.get(message.id);
  return (
    <div class={state === 'open' && mine ? 'askc mine' : 'askc'}>
      <div class="h" id={`${id}h`}>
        <Head message={message} ask={ask} state={state} mine={mine} talk={talk} />
      </div>
      {question && (
        <div class="question" id={id}>
          <Markdown text={question} decorate={marks} />
        </div>
      )}
      {ask.options.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring a border and a legend of its own
        <div class="opts" role="group" aria-labelledby={question ? id : `${id}h`}>
          {ask.options.map((option, index) => (
            <Option key={option} message={message} number={index + 1} can={can} state={state} talk={talk} />
          ))}
        </div>
      )}
      {(can || (ask.can_answer && state === 'answered') || ask.can_withdraw) && talk.writable.value && (
        <div class="row w more">
          {can && (
            <button type="button" class="b bare" onClick={() => talk.reply(message)}>
              <Icon name="reply" />
              Write an answer
            </button>
          )}
          {ask.can_answer && state === 'answered' && !can && (
            <button type="button" class="b bare" onClick={() => change(message.id)}>
              Change
            </button>
          )}
          {ask.can_withdraw && state !== 'answered' && (
            <button type="button" class="b bare" onClick={() => void withdraw(message)}>
              Withdraw
            </button>
          )}
        </div>
      )}
      {!toMe && !ask.can_answer && state === 'open' && message.sender !== 'self' && (
        <p class="q sm">{ask.to.name} answers this; you can reply beside it.</p>
      )}
      {refusal !== undefined && <ProblemLine error={refusal} />}
    </div>
  );
}

function Head(props: { message: Message; ask: Ask; state: Ask['state'] | undefined; mine: boolean; talk: Talk }) {
  const { message, ask, state, mine, talk } = props;
  const blocks = ask.blocking && ask.task && (
    <>
      blocks{' '}
      <a class="ref" href={talk.href({ tab: 'tasks', task: ask.task.ref })}>
        {ask.task.ref}
      </a>
    </>
  );
  if (state === 'withdrawn')
    return (
      <span class="st">
        <Icon name="x" small /> Withdrawn
      </span>
    );
  if (state === 'answered') {
    const reply = talk.timeline.find(message.seq)?.root.thread?.replies.value.find(({ seq }) => seq === ask.answer_seq);
    const by = reply?.message.value;
    return (
      <>
        <span class="st ok">
          <Icon name="check" small /> Answered
        </span>
        {by && (
          <span>
            by {by.sender === 'self' ? 'you' : by.from.name}, {timeOfDay(by.at)}
          </span>
        )}
      </>
    );
  }
  if (state === 'went_with')
    return (
      <>
        <Icon name="clock" small />
        <span>
          went with {ask.going_with}
          {ask.going_at && ` at ${timeOfDay(ask.going_at)}`}
          {ask.can_answer && '; you may still answer'}
        </span>
      </>
    );
  if (mine)
    return (
      <>
        <span class="you">Needs you</span>
        <span>
          {ask.going_with !== null && ask.going_at
            ? `${message.from.name} goes with ${ask.going_with} at ${timeOfDay(ask.going_at)} unless you say otherwise`
            : blocks || `${message.from.name} waits for your answer`}
        </span>
      </>
    );
  return (
    <>
      <Icon name="ask" small />
      <span>
        asks <b class="at">@{ask.to.name}</b>, {ago(message.at)}
        {blocks && <>, {blocks}</>}
        {ask.can_answer && '; you may answer too'}
      </span>
    </>
  );
}

const LONG = 14;

function Option(props: { message: Message; number: number; can: boolean; state: string | undefined; talk: Talk }) {
  const { message, number, can, state, talk } = props;
  const ask = message.ask as Ask;
  const option = ask.options[number - 1]!;
  const chosen = state === 'answered' && ask.answer_option === number;
  const answer = talk.timeline.find(ask.answer_seq ?? 0)?.post.message.value;
  const note = chosen
    ? answer?.sender === 'self'
      ? 'your answer'
      : 'answer'
    : ask.going_with === option
      ? state === 'went_with'
        ? 'went with'
        : 'default'
      : null;
  const kind = `opt${option.length > LONG ? ' long' : ''}`;
  const content = (
    <>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: it cannot have the focus */}
      <kbd aria-hidden="true">{number}</kbd>
      <span>{option}</span>
      {note && <span class="d">{note}</span>}
    </>
  );
  if (!can) return <span class={chosen ? `${kind} chosen` : `${kind} not`}>{content}</span>;
  return (
    <button
      type="button"
      class={kind}
      aria-pressed={chosen}
      aria-disabled={sending.value.has(message.id)}
      onClick={() => void choose(message, number)}
    >
      {content}
    </button>
  );
}
