/** The replies to a message, shown under it. */
import { computed } from '@preact/signals';
import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { least, plural } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { joinNames } from '../parts/who.tsx';
import { useTalk } from './context.ts';
import { continuesRun } from './entries.ts';
import { Separator } from './line.tsx';
import { MessageView, When } from './message.tsx';
import type { Post, Thread } from './thread.ts';

const replies = (count: number): string => plural(count, 'reply', 'replies');

export function ThreadView({ root, thread }: { root: Post; thread: Thread }) {
  const talk = useTalk();
  const message = root.message.value;
  const count = thread.loaded.value ? thread.replies.value.length : (message.reply_count ?? 0);
  const open = thread.open.value || thread.showAll.value;
  const { unread } = talk.timeline;
  // Anew for another thread object: the part of the conversation that is loaded next may hold the same message.
  const fresh = useMemo(
    () => computed(() => unread.inThread(root.seq, thread.open.value || thread.showAll.value).length),
    [thread],
  ).value;
  if (count === 0) return null;
  const names = [...new Set(thread.replies.value.map((reply) => reply.message.value.from.name))];
  return (
    <div class="thr">
      <button
        type="button"
        class="th"
        aria-expanded={open}
        aria-controls={`t${root.seq}`}
        onClick={() => void talk.timeline.setOpen(root, !open)}
      >
        <Icon name={open ? 'down' : 'right'} />
        <span class="nw">{replies(count)}</span>
        {fresh > 0 && <span class="st mine">{fresh} new</span>}
        <RunState message={message} />
        <span class="names">
          {names.length > 0
            ? names.join(', ')
            : message.last_reply_at && <When at={message.last_reply_at} day={message.at} />}
        </span>
      </button>
      {open && (
        // biome-ignore lint/a11y/useSemanticElements: there is no element for a group of messages
        <div class="rs" role="group" aria-label="Replies" id={`t${root.seq}`}>
          <Replies root={root} thread={thread} />
        </div>
      )}
    </div>
  );
}

/** How many messages agents wrote in a row without a person, and whether the thread is held or closed. */
function RunState({ message: { agent_run: run, thread } }: { message: Message }) {
  if (thread === 'stopped') return <span class="st bad">closed for agents</span>;
  if (run === undefined) return null;
  return (
    <span class={thread === 'held' ? 'st bad' : 'st'}>
      {run} by agents in a row{thread === 'held' && ', held'}
    </span>
  );
}

function Replies({ root, thread }: { root: Post; thread: Thread }) {
  const talk = useTalk();
  const { unread } = talk.timeline;
  const error = thread.error.value;
  if (error !== null) return <ProblemLine error={error} onRetry={() => thread.load()} />;
  const shown = thread.visible.value;
  const from = thread.firstVisible.value;
  const later = thread.replies.value.length - from - shown.length;
  const fresh = unread.inThread(root.seq, true);
  const firstFresh = least(fresh);
  return (
    <>
      {from > 0 && (
        <button type="button" class="b bare" onClick={() => thread.moveWindow(-1)}>
          <Icon name="up" small /> {replies(from)} before
        </button>
      )}
      {shown.map((reply, index) => (
        <Fragment key={reply.seq}>
          {reply.seq === firstFresh && <Separator kind="new">{fresh.length} new</Separator>}
          <MessageView
            post={reply}
            day={root.message.value.at}
            run={reply.seq !== firstFresh && continuesRun(shown[index - 1]?.message.value, reply.message.value)}
          />
        </Fragment>
      ))}
      {later > 0 && (
        <button type="button" class="b bare" onClick={() => thread.moveWindow(1)}>
          <Icon name="down" small /> {replies(later)} after
        </button>
      )}
      {talk.writable.value && (
        <button type="button" class="rbox" onClick={() => talk.reply(root.message.peek())}>
          <Icon name="reply" />
          <span class="sp cut">{replyTo(root, thread, talk.room.me.value)}</span>
          <kbd class="desk">r</kbd>
        </button>
      )}
    </>
  );
}

function replyTo(root: Post, thread: Thread, me: string): string {
  const all = [root, ...thread.replies.value].map((post) => post.message.value.from.name);
  const names = [...new Set(all)].filter((name) => name !== me);
  return names.length > 0 ? `Reply to ${joinNames(names)}` : 'Reply';
}
