/** The header of the start screen: how many things need the person, and the first of them. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { itemPlace, toItem } from '../inbox/items.ts';
import { Icon } from '../parts/icon.tsx';
import { Options, Question } from '../parts/options.tsx';
import { PaletteButton } from '../parts/palette-button.tsx';
import { agoPhrase, until } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { isClosedElsewhere } from '../state/answers.ts';
import { serverNow } from '../state/clock.ts';
import { isFocusLost } from '../state/focus.ts';
import { type Need, needs, needsError, openAsks, rank } from '../state/needs.ts';
import { openOverlay } from '../state/overlay.ts';
import { hrefOf } from '../state/route.ts';

const LIMIT = 3;
const numbers = [
  'No',
  'One',
  'Two',
  'Three',
  'Four',
  'Five',
  'Six',
  'Seven',
  'Eight',
  'Nine',
  'Ten',
  'Eleven',
  'Twelve',
];
const number = (count: number): string => numbers[count] ?? String(count);

/** "One answer is due in 22 minutes, one holds up a task." */
function urgencySentence(all: Need[]): string {
  const due = all.filter((need) => rank(need, serverNow.value) === 0);
  const blocking = all.filter((need) => rank(need, serverNow.value) === 1);
  const first = due[0]?.kind === 'ask' ? due[0].message.ask?.going_at : null;
  const facts: string[] = [];
  if (first) {
    const answers = due.length === 1 ? 'one answer is' : `${number(due.length).toLowerCase()} answers are`;
    facts.push(`${answers} due${due.length === 1 ? '' : ', the first'} in ${until(first)}`);
  }
  if (blocking.length > 0) {
    const some = number(blocking.length).toLowerCase();
    facts.push(blocking.length === 1 ? `${some} holds up work` : `${some} hold up work`);
  }
  const text = facts.join(', ');
  return text && `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

export function NeedsSummary({ guest }: { guest: boolean }) {
  const all = needs.value;
  // While the list has the focus it stays as it is: an answered item that disappears would lose the focus.
  const [held, hold] = useState<Need[] | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const first = held ?? all.slice(0, LIMIT);
  const title =
    all.length === 0
      ? 'Nothing needs you'
      : `${number(all.length)} ${all.length === 1 ? 'thing needs' : 'things need'} you`;
  return (
    <>
      <div class="row w">
        <h1>{openAsks.value === null ? 'Boards' : title}</h1>
        <span class="sp" />
        <PaletteButton />
        {!guest && (
          <button type="button" class="b pri" onClick={() => openOverlay('new-board')}>
            <Icon name="plus" />
            <span class="label">New board</span>
          </button>
        )}
      </div>
      {openAsks.value === null && needsError.value === null && <div aria-busy="true" />}
      {first.length > 0 && (
        <section aria-label="Needs you">
          <div class="row under-title">
            <span class="q2">{urgencySentence(all)}</span>
            <span class="sp" />
            <a href="/inbox" class="q2 nw">
              Open all
            </a>
            <span class="desk nw" aria-hidden="true">
              <kbd>g</kbd> <kbd>i</kbd>
            </span>
          </div>
          <ul
            class="nlist"
            ref={list}
            onFocusCapture={() => hold(first)}
            onBlurCapture={({ relatedTarget }) => {
              if (!list.current?.contains(relatedTarget as Node | null)) hold(null);
            }}
          >
            {first.map((need, index) => (
              <Row key={need.id} need={need} highlighted={index === 0} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Row({ need, highlighted }: { need: Need; highlighted: boolean }) {
  const item = toItem(need);
  const { who, board, before, title, rest, whole, note } = item;
  const href = hrefOf(itemPlace(item));
  const link = useRef<HTMLAnchorElement>(null);
  const closed = need.kind === 'ask' && isClosedElsewhere(need.message);
  useLayoutEffect(() => {
    if (closed && isFocusLost()) link.current?.focus();
  }, [closed]);
  return (
    <li class={highlighted ? 'nrow hot' : 'nrow'}>
      <Glyph who={who} size={28} />
      <span class="sp">
        <span class="q2 sm nm">
          <b class={who.kind === 'agent' ? 'mono' : undefined}>{who.name}</b>
          {board && ` in ${board}`}, {need.kind === 'ask' && `${agoPhrase(need.at)}, `}
          {closed ? <span role="status">answered or closed meanwhile</span> : note}
        </span>
        <a class="qq" ref={link} href={href}>
          <Question before={before} title={title} rest={rest} />
        </a>
      </span>
      {need.kind === 'ask' && !closed && whole && need.message.ask?.options.length ? (
        <Options message={need.message} class="desk" />
      ) : (
        <a class="b desk" href={href}>
          Look at it
        </a>
      )}
    </li>
  );
}
