/** The keys of the conversation. */
import { pickOption } from '../state/answers.ts';
import { useKeys } from '../state/keys.ts';
import type { Talk } from './context.ts';
import type { Scroll } from './scroll.ts';
import type { Post } from './thread.ts';

/** The number of the next unseen message, preferably one out of view. */
function nextUnseen({ timeline, scroll }: Talk): number | undefined {
  const view = new Set(inView(scroll));
  const waiting = [...timeline.unread.unseen.peek().keys()].sort((a, b) => a - b);
  return waiting.find((seq) => !view.has(seq)) ?? waiting[0];
}

/** Scrolls to the next unseen message; without any, to the newest. */
export async function nextUnread(talk: Talk): Promise<unknown> {
  const next = nextUnseen(talk);
  return next === undefined ? talk.timeline.toNewest(true) : talk.timeline.goTo(next, { focus: true });
}

/** Whether the next unseen message stands above what is shown; a reply in a closed thread stands with its first message. */
export function isNextUnreadAbove(talk: Talk): boolean {
  const { timeline, scroll } = talk;
  const next = nextUnseen(talk);
  const first = scroll.firstInView();
  if (next === undefined || !first) return false;
  const root = timeline.unread.unseen.peek().get(next) ?? next;
  const elementOf = (seq: number) => scroll.elements().find(({ dataset }) => Number(dataset['seq']) === seq);
  const element = elementOf(next) ?? elementOf(root);
  return element
    ? element.getBoundingClientRect().top < first.getBoundingClientRect().top
    : root < Number(first.dataset['seq']);
}

const inView = (scroll: Scroll): number[] =>
  scroll
    .elements()
    .filter((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    })
    .map(({ dataset }) => Number(dataset['seq']));

const focusedElement = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>('.tl article') ?? null;

/** Moves the focus by one message; without a focused message, to the first one in view. */
function move(scroll: Scroll, by: 1 | -1): void {
  const all = scroll.elements();
  const at = all.indexOf(focusedElement()!);
  const to = at < 0 ? scroll.firstInView() : all[at + by];
  if (!to) return;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'nearest' });
}

function focusedPost(talk: Talk): Post | undefined {
  const element = focusedElement();
  return element ? talk.timeline.find(Number(element.dataset['seq']))?.post : undefined;
}

/** Focuses the next open ask that the person may answer. Returns false if none is loaded. */
function nextAsk(talk: Talk, scroll: Scroll): false | undefined {
  const asks = scroll.elements().filter(({ dataset }) => {
    const message = talk.timeline.find(Number(dataset['seq']))?.post.message.peek();
    return message?.ask && message.ask.state === 'open' && message.ask.can_answer;
  });
  const at = asks.indexOf(focusedElement()!);
  const to = asks[(at + 1) % asks.length];
  if (!to) return false;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'center' });
}

export function useTalkKeys(talk: Talk): void {
  const { timeline, scroll } = talk;
  /** Calls `run` with the focused message. Returns false without one, so that other bindings are tried. */
  const withPost = (run: (post: Post) => unknown) => (): unknown => {
    const post = focusedPost(talk);
    return post ? run(post) : false;
  };
  /** Clicks a button in the focused message. */
  const press = (selector: string): unknown => {
    const button = focusedElement()?.querySelector<HTMLElement>(selector);
    return button ? button.click() : false;
  };
  const onMessage = () => document.activeElement?.matches('.tl article') === true;
  const answerWith = (option: number) => withPost((post) => pickOption(post.message.peek(), option));
  useKeys(
    'Conversation',
    [
      { keys: 'j', label: 'Next message', run: () => move(scroll, 1) },
      { keys: 'k', label: 'Message before', run: () => move(scroll, -1) },
      { keys: 'Shift j', label: 'Next unread message', run: () => void nextUnread(talk) },
      { keys: 'End', label: 'Newest message', run: () => void timeline.toNewest(true) },
      {
        keys: 'Enter',
        label: 'Open or close the thread',
        run: withPost((post) => {
          if (!onMessage() || !post.thread || !post.message.peek().reply_count) return false;
          return void timeline.setOpen(post, !post.thread.open.peek());
        }),
      },
      {
        keys: 'r',
        label: 'Reply',
        run: withPost((post) => (talk.writable.peek() ? talk.reply(post.message.peek()) : false)),
      },
      {
        keys: 'e',
        label: 'React',
        run: () => press(':scope > .acts .react'),
      },
      { keys: 'n', label: 'Next ask', run: () => nextAsk(talk, scroll) },
      ...[1, 2, 3, 4].map((option) => ({
        keys: String(option),
        label: 'Pick that option',
        run: answerWith(option),
      })),
      {
        keys: 'w',
        label: 'Withdraw an ask',
        run: () => press('.withdraw'),
      },
      {
        keys: 'h',
        label: timeline.showEvents.value ? 'Hide board events' : 'Show board events',
        run: () => void talk.setShowEvents(!timeline.showEvents.peek()),
      },
      { keys: 'Shift e', label: 'Mark all as read', run: () => timeline.markAllSeen() },
    ],
    [talk, timeline.showEvents.value],
  );
}
