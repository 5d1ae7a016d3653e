/** The strip above the conversation that shows what needs the person on this board, one item at a time. */
import { Suspense } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { consequenceOf } from '../parts/ask.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { AnswerProblem, Options, Question } from '../parts/options.tsx';
import { Glyph } from '../parts/who.tsx';
import { answerAttempts, isClosedElsewhere, pickOption } from '../state/answers.ts';
import { isFocusLost } from '../state/focus.ts';
import { useKeys, useStanding } from '../state/keys.ts';
import { type Need, needsOnBoard } from '../state/needs.ts';
import { openTalk } from '../state/open-talk.ts';
import type { Room } from '../state/room.ts';
import { hrefOf, type Place } from '../state/route.ts';
import { visibleAsks } from '../state/visible-asks.ts';
import { itemPlace, toItem } from './items.ts';

const loadWriteAnswer = () => import('./write-answer.tsx').then(({ WriteAnswer }) => ({ default: WriteAnswer }));
const WriteAnswer = lazy(loadWriteAnswer);

export function NeedStrip({ room }: { room: Room }) {
  const [chosen, choose] = useState<string | null>(null);
  /** The id of the ask to which an answer is written. */
  const [writingTo, setWritingTo] = useState<string | null>(null);
  // While the strip has the focus, it keeps an answered ask: removing it would lose the focus.
  const [held, hold] = useState<Need | null>(null);
  const strip = useRef<HTMLElement>(null);
  const write = useRef<HTMLButtonElement>(null);
  const waiting = needsOnBoard(room.name).filter(({ id }) => !visibleAsks.value.has(id) || id === chosen);
  const need = held ?? waiting.find(({ id }) => id === chosen) ?? waiting[0];
  const at = waiting.findIndex(({ id }) => id === need?.id);
  const next = waiting.length > 0 ? waiting[(at + 1) % waiting.length] : undefined;

  // A field that came back with its ask would take the focus. An effect could run after the ask is back.
  if (writingTo !== null && writingTo !== need?.id) setWritingTo(null);
  /** Moves the focus once the strip shows what comes next, before another key is pressed. */
  const moveFocus = useRef<(() => void) | null>(null);
  useLayoutEffect(() => {
    moveFocus.current?.();
    moveFocus.current = null;
  });
  const goToNext = (): void => {
    hold(null);
    choose(next?.id ?? null);
    moveFocus.current = () => strip.current?.querySelector<HTMLElement>('.opt, .look')?.focus();
  };
  const message = need?.kind === 'ask' ? need.message : null;
  const item = need && toItem(need);
  const whole = item?.whole === true;
  const closed = message !== null && isClosedElsewhere(message);
  useLayoutEffect(() => {
    if (closed && isFocusLost()) strip.current?.querySelector<HTMLElement>('.look')?.focus();
  }, [closed]);
  const isStanding = useStanding(need?.id, need?.id === chosen);
  const answer = (number: number): boolean => {
    if (!message || !whole || closed || writingTo !== null || isAtAsk()) return false;
    return !isStanding() || pickOption(message, number);
  };
  useKeys(
    'Asks',
    [
      ...[1, 2, 3, 4].map((number) => ({
        keys: String(number),
        label: 'Pick that option',
        run: () => answer(number),
      })),
      { keys: 'n', label: 'Next that needs you', run: () => (next && next.id !== need?.id ? goToNext() : false) },
    ],
    [need, next, closed, writingTo],
  );
  if (!item) return null;
  const { who, before, title, rest, note } = item;
  const sent = answerAttempts.value.get(need.id)?.state === 'sent';
  const writing = writingTo === need.id;
  const task = message?.ask?.task;
  return (
    <section
      class="need"
      aria-label="Needs you"
      ref={strip}
      onFocusCapture={() => {
        hold(need);
        // The field takes the focus sooner.
        void Promise.allSettled([loadWriteAnswer()]);
      }}
      onBlurCapture={({ relatedTarget }) => {
        if (!strip.current?.contains(relatedTarget as Node | null)) hold(null);
      }}
    >
      <div class="hd1">
        <Glyph who={who} size={24} />
        <div>
          <p class="wh q2">
            <b class={who.kind === 'agent' ? 'mono' : undefined}>{who.name}</b>
            {message ? (
              <>
                {' '}
                asks you
                {task && (
                  <>
                    {' '}
                    about{' '}
                    <a class="ref" href={hrefOf({ screen: 'board', board: room.name, tab: 'tasks', task: task.ref })}>
                      {task.ref}
                    </a>
                  </>
                )}
                {consequenceOf(message) && `; ${consequenceOf(message)}`}
              </>
            ) : (
              `, ${note}`
            )}
          </p>
          <p class="ask" id="need-question">
            <Question before={before} title={title} rest={rest} />
          </p>
        </div>
        <span class="row nw steps">
          {waiting.length > 1 && at >= 0 && (
            <span class="q2 desk">
              {at + 1} of {waiting.length}
            </span>
          )}
          {next && next.id !== need.id && (
            <IconButton icon="right" label="Next that needs you" class="t28" onClick={goToNext} />
          )}
        </span>
      </div>
      {closed && (
        <p class="under q2" role="status">
          It was answered or closed meanwhile.
        </p>
      )}
      {message && (!closed || writing) ? (
        <>
          <div class="row w under">
            {!closed && whole && <Options message={message} labelledBy="need-question" />}
            {!closed && !whole && (
              <Look
                at={{ screen: 'board', board: room.name, tab: 'talk', message: message.seq }}
                onClick={() => choose(null)}
              />
            )}
            {!writing && !sent && message.ask?.can_answer && (
              <button type="button" class="b bare" ref={write} onClick={() => setWritingTo(need.id)}>
                <Icon name="reply" />
                Write an answer
              </button>
            )}
          </div>
          {message.ask?.options.length === 0 && <AnswerProblem message={message} />}
          {writing && (
            <div class="under">
              <Suspense fallback={null}>
                <WriteAnswer
                  key={message.id}
                  message={message}
                  open
                  setOpen={() => {
                    setWritingTo(null);
                    moveFocus.current = () => {
                      // A person who went on elsewhere while the answer was sent stays there.
                      if (isFocusLost()) (write.current ?? strip.current?.querySelector('button'))?.focus();
                    };
                  }}
                />
              </Suspense>
            </div>
          )}
        </>
      ) : (
        <div class="opts">
          <Look at={itemPlace(item)} />
        </div>
      )}
    </section>
  );
}

/** Whether the focus is at another question, or in its thread, in the conversation. */
function isAtAsk(): boolean {
  const seq = document.activeElement?.closest<HTMLElement>('article')?.dataset['seq'];
  return openTalk.peek()?.timeline.find(Number(seq))?.root.message.peek().ask != null;
}

const Look = ({ at, onClick }: { at: Place; onClick?: () => void }) => (
  <a class="b look" href={hrefOf(at)} onClick={onClick}>
    Look at it
  </a>
);
