/** Messages that are being sent or failed to send. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Time } from '../parts/time.tsx';
import { copy, toast } from '../parts/toast.tsx';
import { Glyph } from '../parts/who.tsx';
import type { Room } from '../state/room.ts';
import { discard, edit, isShown, isStale, isWaiting, tryAgain, type Unsent, unknownOutcome, unsent } from './outbox.ts';

export function Outbox({ room }: { room: Room }) {
  const items = unsent.value.filter((item) => !isShown(item));
  if (items.length === 0) return null;
  return (
    <div class="unsent">
      {items.map((item) => (
        <Item key={item.id} item={item} room={room} />
      ))}
    </div>
  );
}

const focusBox = (): void => document.querySelector<HTMLElement>('.cmp textarea')?.focus();

function Item({ item, room }: { item: Unsent; room: Room }) {
  const me = room.me.value;
  const failed = item.state === 'failed';
  return (
    <article
      class={`m first ${failed ? 'failed' : item.state}`}
      aria-label={`${me}, ${failed ? 'not posted' : 'sending'}`}
    >
      <Glyph who={{ name: me, kind: 'human', owner: null }} />
      <div>
        <div class="who">
          <b class="n">{me}</b>
          <Time at={item.at} />
        </div>
        <Markdown text={item.body.body} />
        {failed ? (
          <Failed item={item} archived={room.board.value?.lifecycle === 'archived'} />
        ) : (
          item.state === 'sending' && <Slow />
        )}
      </div>
    </article>
  );
}

/** Shown only if sending takes a moment. */
function Slow() {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return slow ? <div class="foot q sm">Sending</div> : null;
}

function Failed({ item, archived }: { item: Unsent; archived: boolean }) {
  const { problem } = item;
  const offline = problem?.code === 'server_unreachable';
  return (
    <div class="foot">
      <span class="st bad">
        <Icon name="urgent" small />
        {isStale(item)
          ? unknownOutcome
          : offline
            ? 'Not posted: no connection.'
            : `Not posted. ${problem?.message ?? ''}`}
      </span>
      {isWaiting(item) && !archived ? (
        <span class="q2 sm">It is posted once there is a connection.</span>
      ) : (
        !offline && problem?.hint && <span class="q2 sm">{problem.hint}</span>
      )}
      {archived && (
        <button type="button" class="b t28" onClick={() => void copy(item.body.body, 'your message')}>
          <Icon name="copy" />
          Copy
        </button>
      )}
      {!archived && !isStale(item) && (
        <button
          type="button"
          class="b t28"
          onClick={() => {
            tryAgain(item);
            focusBox();
          }}
        >
          <Icon name="retry" />
          Try again
        </button>
      )}
      {!archived && (
        <button
          type="button"
          class="b bare t28"
          onClick={() => {
            if (!edit(item)) toast('The message box is not empty. Post or clear what is in it first.');
            focusBox();
          }}
        >
          Edit
        </button>
      )}
      <button
        type="button"
        class="b bare t28"
        onClick={() => {
          discard(item);
          focusBox();
        }}
      >
        Discard
      </button>
      {item.unclear && !archived && !isStale(item) && <span class="q sm desk">It can never post twice.</span>}
    </div>
  );
}
