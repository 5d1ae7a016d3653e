/** An ask in the conversation with its options; highlighted while it waits for this person. */
import { useId } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { announce } from '../parts/announce.tsx';
import { Icon } from '../parts/icon.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Options } from '../parts/options.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { ago, formatDayTime, formatUnder } from '../parts/time.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../state/action.ts';
import { withdrawAsk } from '../state/answers.ts';
import { serverNow } from '../state/clock.ts';
import { useVisibleAsk } from '../state/visible-asks.ts';
import { type Talk, useTalk } from './context.ts';

type Ask = NonNullable<Message['ask']>;

/** The current state of an ask. No event reports that the time for its default has passed. */
function stateOf({ state, going_at }: Ask): Ask['state'] {
  return state === 'open' && going_at !== null && Date.parse(going_at) <= serverNow.value ? 'went_with' : state;
}

/** @param marks a `decorate` function for the question, see {@link Markdown} */
export function AskCard(props: { message: Message; question: string; marks: (fragment: DocumentFragment) => void }) {
  const { message, question, marks } = props;
  const talk = useTalk();
  const id = useId();
  const action = useAction();
  const card = useVisibleAsk(message.id);
  const ask = message.ask as Ask;
  const state = stateOf(ask);
  const canAnswer = ask.can_answer && state !== 'withdrawn';
  const mine = talk.room.isMe(ask.to) && canAnswer && state !== 'answered';
  const withdraw = async (): Promise<void> => {
    if (await action.run(() => withdrawAsk(message))) announce('Withdrawn');
  };
  return (
    <div class={state === 'open' && mine ? 'askc mine' : 'askc'} ref={card}>
      <div class="h" id={`${id}h`}>
        <Head message={message} ask={ask} state={state} mine={mine} talk={talk} />
      </div>
      {question && (
        <div class="question" id={id}>
          <Markdown text={question} decorate={marks} />
        </div>
      )}
      <Options
        message={message}
        labelledBy={question ? id : `${id}h`}
        onAnswered={(posted) => toast(`Answered “${posted.body}”.`)}
      />
      {(canAnswer || ask.can_withdraw) && (
        <div class="row w more">
          {canAnswer && state !== 'answered' && (
            <button type="button" class="b bare" onClick={() => talk.reply(message)}>
              <Icon name="reply" />
              Write an answer
            </button>
          )}
          {ask.can_withdraw && state !== 'answered' && (
            <button type="button" class="b bare withdraw" aria-disabled={action.busy} onClick={() => void withdraw()}>
              Withdraw
            </button>
          )}
        </div>
      )}
      {!canAnswer && state === 'open' && message.sender !== 'self' && talk.writable.value && (
        <p class="q sm">{ask.to.name} answers this; you can reply beside it.</p>
      )}
      <ProblemLine error={action.error} />
    </div>
  );
}

function Head(props: { message: Message; ask: Ask; state: Ask['state']; mine: boolean; talk: Talk }) {
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
    // The answer may come after what says that there is one.
    void talk.timeline.find(message.seq)?.root.thread?.replies.value;
    const reply = talk.timeline.find(ask.answer_seq ?? 0)?.post.message.value;
    return (
      <>
        <span class="st ok">
          <Icon name="check" small /> Answered
        </span>
        {reply && (
          <span>
            by {reply.sender === 'self' ? 'you' : reply.from.name}, {formatUnder(reply.at, message.at)}
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
          {ask.going_at && `, ${formatDayTime(ask.going_at)}`}
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
            ? `${message.from.name} goes with ${ask.going_with}, ${formatDayTime(ask.going_at)}, unless you say otherwise`
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
