/** Reactions, and the toolbar of a message: react, reply, copy, receipts, print. */
import type { ButtonHTMLAttributes } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { emojis, type ReactionName } from '../../contract/values.ts';
import { call } from '../api/client.ts';
import { errorText } from '../api/errors.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { copy, toastError } from '../parts/toast.tsx';
import { type Talk, useTalk } from './context.ts';
import type { Post } from './thread.ts';

/** The icon and name of each reaction. */
const drawn: Record<ReactionName, [icon: string, words: string]> = {
  thumbsup: ['thumb', 'thumbs up'],
  check: ['check', 'check'],
  eyes: ['eyes', 'eyes'],
  heart: ['heart', 'heart'],
  tada: ['tada', 'hooray'],
  question: ['what', 'question'],
};

const isMine = ({ reactions }: Message, wanted: ReactionName): boolean =>
  reactions.some(({ name, mine }) => name === wanted && mine);

const busy = new Set<string>();

async function react(talk: Talk, message: Message, name: ReactionName): Promise<void> {
  const params = { message: message.id, reaction: name };
  const id = `${message.id} ${name}`;
  if (busy.has(id)) return;
  busy.add(id);
  try {
    const { reactions } = await call(isMine(message, name) ? 'removeReaction' : 'addReaction', { params });
    const post = talk.timeline.find(message.seq)?.post;
    if (post) post.message.value = { ...post.message.peek(), reactions };
  } catch (error) {
    toastError(`Not done: ${errorText(error)}`);
  } finally {
    busy.delete(id);
  }
}

type ReactionProps = { message: Message; name: ReactionName; label: string } & ButtonHTMLAttributes;

/** Toggles the person's own reaction. */
function ReactionButton({ message, name, label, ...rest }: ReactionProps) {
  const talk = useTalk();
  return (
    <button {...rest} type="button" aria-label={label} title={label} onClick={() => void react(talk, message, name)} />
  );
}

/** The reactions to a message. */
export function Reactions({ message }: { message: Message }) {
  const talk = useTalk();
  return (
    <>
      {message.reactions.map(({ name, by, count, mine }) => {
        const [icon, words] = drawn[name];
        const who = mine ? ['you', ...by.filter((each) => each !== talk.room.me.value)] : by;
        const label = `${count} ${words}, ${who.join(', ')}`;
        const content = (
          <>
            <Icon name={icon} small />
            {count}
          </>
        );
        return talk.writable.value ? (
          <ReactionButton key={name} class="rx" aria-pressed={mine} message={message} name={name} label={label}>
            {content}
          </ReactionButton>
        ) : (
          <span key={name} class="rx" role="img" aria-label={label} title={label}>
            {content}
          </span>
        );
      })}
    </>
  );
}

/** Prints a thread with all its replies. */
async function print(talk: Talk, root: Post): Promise<void> {
  await root.thread?.load();
  const set = (on: boolean): void => {
    talk.printing.value = on ? root.seq : null;
    if (root.thread) root.thread.showAll.value = on;
  };
  set(true);
  addEventListener('afterprint', () => set(false), { once: true });
  // After the thread is rendered.
  requestAnimationFrame(() => window.print());
}

const showReceipts = (talk: Talk, seq: number): void => {
  talk.receipts.value = new Set(talk.receipts.peek()).add(seq);
};

/** The toolbar of the message with the pointer or the focus. */
export function Actions({ post }: { post: Post }) {
  const talk = useTalk();
  const message = post.message.value;
  const writable = talk.writable.value;
  // Menus open towards the middle of the screen.
  const up = useMemo(() => {
    const top = document.getElementById(`m${post.seq}`)?.getBoundingClientRect().top ?? 0;
    return top > innerHeight / 2;
  }, [post.seq]);
  const link = location.origin + talk.href({ message: post.seq });
  return (
    <div class="acts" role="toolbar" aria-label="Message actions">
      {writable && (
        <>
          <Menu class="b bare ic react" label="React" opensUp={up} button={<Icon name="smile" />}>
            <div class="reactions">
              {(Object.keys(emojis) as ReactionName[]).map((name) => {
                const [icon, words] = drawn[name];
                const mine = isMine(message, name);
                return (
                  <ReactionButton
                    key={name}
                    role="menuitemcheckbox"
                    aria-checked={mine}
                    message={message}
                    name={name}
                    label={words}
                  >
                    <Icon name={icon} />
                  </ReactionButton>
                );
              })}
            </div>
          </Menu>
          <IconButton icon="reply" label="Reply" title="Reply (r)" onClick={() => talk.reply(message)} />
        </>
      )}
      <IconButton icon="link" label="Copy link" title="Copy link" onClick={() => void copy(link, 'the link')} />
      <Menu class="b bare ic" label="More" opensUp={up} button={<Icon name="dots" />}>
        <button type="button" role="menuitem" onClick={() => void copy(message.body, 'the message as Markdown')}>
          <Icon name="copy" />
          Copy as Markdown
        </button>
        <button type="button" role="menuitem" onClick={() => showReceipts(talk, post.seq)}>
          <Icon name="people" />
          Who got it
        </button>
        <button
          type="button"
          role="menuitem"
          onClick={() => {
            const root = talk.timeline.find(post.seq)?.root;
            if (root) void print(talk, root);
          }}
        >
          <Icon name="file" />
          Print the thread
        </button>
      </Menu>
    </div>
  );
}
