/** A message with its header, text and footer. */
import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { memo, Suspense } from 'preact/compat';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { HOUR } from '../../contract/durations.ts';
import type { BoardFile, Message, Task } from '../../contract/types.ts';
import { withdrawnText } from '../../contract/values.ts';
import { bytesHref } from '../api/bytes.ts';
import { splitAsk } from '../parts/ask.ts';
import { Icon, taskIcons } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { Markdown } from '../parts/markdown.tsx';
import { plural } from '../parts/number.ts';
import { ago, formatExact, formatUnder, Time } from '../parts/time.tsx';
import { Glyph, Name } from '../parts/who.tsx';
import { serverNow } from '../state/clock.ts';
import { AskCard } from './ask-card.tsx';
import { useTalk } from './context.ts';
import { Actions, Reactions } from './message-actions.tsx';
import { createMarker, redactionNote } from './text.ts';
import type { Post } from './thread.ts';

const Receipts = lazy(() => import('./receipts.tsx').then(({ Receipts }) => ({ default: Receipts })));

/** Relative within the last hour, then the time; the exact time is the tooltip. @param day a time of the day that it stands under */
export const When = ({ at, day = at }: { at: string; day?: string | undefined }) => (
  <time dateTime={at} title={formatExact(at)}>
    {serverNow.value - Date.parse(at) < HOUR ? ago(at) : formatUnder(at, day)}
  </time>
);

interface Props {
  post: Post;
  /** Continues the previous message, so has no header. */
  run: boolean;
  /** When the message was posted that it is a reply to. */
  day?: string;
  children?: ComponentChildren;
}

export const MessageView = memo(function MessageView({ post, run, day, children }: Props) {
  const talk = useTalk();
  const message = post.message.value;
  const isReply = message.thread_root !== null;
  const active = useComputed(() => talk.hovered.value === post.seq || talk.focused.value === post.seq).value;
  const tabbable = useComputed(() => talk.tabStop.value === post.seq).value;
  const highlighted = useComputed(
    () => talk.timeline.target.value.highlight && talk.timeline.target.value.seq === post.seq,
  ).value;
  const state = useComputed(() => talk.states.value.get(post.message.value.from.id) ?? null).value;
  const printed = useComputed(() => talk.printing.value === post.seq).value;
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => (body.current ? talk.seen.watch(body.current, post.seq) : undefined), []);
  const { from } = message;
  const whose = from.kind === 'agent' ? `, agent of ${from.owner}` : '';
  const classes = [
    'm',
    run ? '' : 'first',
    post.live ? 'in-new' : '',
    active && !isReply ? 'hot' : '',
    highlighted ? 'aimed' : '',
    printed ? 'print' : '',
  ];
  return (
    <article
      id={`m${post.seq}`}
      data-seq={post.seq}
      class={classes.filter(Boolean).join(' ')}
      aria-label={`${from.name}${whose}, ${formatUnder(message.at, day ?? message.at)}`}
      tabIndex={tabbable ? 0 : -1}
      onPointerOver={(event) => {
        event.stopPropagation();
        talk.hovered.value = post.seq;
      }}
      onFocusIn={(event) => {
        event.stopPropagation();
        // Opening a board moves the focus too, but must not show the actions.
        if ((event.target as Element).matches(':focus-visible')) talk.focused.value = post.seq;
        talk.tabStop.value = post.seq;
      }}
    >
      {run ? (
        <span class="hov">
          <Time at={message.at} />
        </span>
      ) : (
        <Glyph who={{ ...from, state }} size={isReply ? 24 : 32} others={talk.agents.value} />
      )}
      <div class="col2">
        <div ref={body}>
          {!run && <Header message={message} day={day} />}
          <MessageBody message={message} />
        </div>
        <Footer post={post} run={run} />
        {children}
      </div>
      {active && <Actions post={post} />}
    </article>
  );
});

function Header({ message, day }: { message: Message; day: string | undefined }) {
  const talk = useTalk();
  const { from, urgent, expects_reply, ask, held } = message;
  return (
    <div class="who">
      <Name who={from} />
      <Recipients message={message} />
      <a class="at-link" href={talk.href({ message: message.seq })}>
        <When at={message.at} day={day} />
      </a>
      {urgent && (
        <span class="st bad">
          <Icon name="urgent" small />
          urgent
        </span>
      )}
      {expects_reply && !ask && (
        <span class="st">
          <Icon name="clock" small />
          reply expected
        </span>
      )}
      {held && <span class="st">held, wakes nobody</span>}
    </div>
  );
}

/** The recipients; nothing if a message goes to everyone or to its thread. */
function Recipients({ message: { to, thread_root } }: { message: Message }) {
  const me = useTalk().room.me.value;
  if (thread_root !== null || to.includes('all')) return null;
  const names = to.map((target) => {
    if (target === `@${me}`) return 'you';
    if (target.startsWith('role:')) return `role ${target.slice(5)}`;
    return target.startsWith('owner:') ? `${target.slice(6)}’s agents` : target;
  });
  return (
    <span class="to">
      to <b>{names.join(', ')}</b>
    </span>
  );
}

function MessageBody({ message }: { message: Message }) {
  const talk = useTalk();
  const known = talk.prefixes.value;
  const me = talk.room.me.value;
  const marks = useMemo(
    () => createMarker(message, { board: talk.room.name, me, prefixes: known ? known.split(',') : [] }),
    [message.id, known, me],
  );
  const { answer, ask, body } = message;
  // The text that was sent for the sender says nothing more.
  const isStockText = answer?.withdrawn ? [withdrawnText, 'Withdrawn'].includes(body) : answer?.option_text === body;
  const { before, asking } = ask ? splitAsk(body) : { before: body, asking: '' };
  return (
    <>
      {answer && (
        <p class="answers">
          <Icon name={answer.withdrawn ? 'x' : 'check'} small />
          {answer.withdrawn
            ? 'withdrew the question'
            : answer.option_text
              ? `answered ${answer.option_text}`
              : 'answered'}
        </p>
      )}
      {before && !isStockText && <Markdown text={before} decorate={marks} />}
      <Images message={message} />
      {ask && <AskCard message={message} question={asking} marks={marks} />}
    </>
  );
}

/** What a file's preview shows as an image, by its name: a message does not tell the type. */
const isImage = ({ name }: { name: string }): boolean => /[^/]\.(png|jpe?g|gif|webp|avif|svg)$/i.test(name);

function Images({ message: { files } }: { message: Message }) {
  const talk = useTalk();
  return files.filter(isImage).map(({ id, name, version }) => (
    <a key={`${id}${version}`} class="shot" href={talk.href({ tab: 'files', file: id, version })}>
      <img loading="lazy" src={bytesHref({ board: talk.room.name, file: id, version })} alt={name} />
    </a>
  ));
}

function Footer({ post, run }: { post: Post; run: boolean }) {
  const talk = useTalk();
  const message = post.message.value;
  const { files, about, reactions, redactions, thread_root } = message;
  // Consecutive messages repeat the current task only once.
  const shown = run ? ['given'] : ['given', 'current'];
  const tasks = thread_root === null ? about.filter(({ how }) => shown.includes(how)) : [];
  const receipts = talk.receipts.value.has(post.seq);
  if (files.length + tasks.length + reactions.length + redactions.length === 0 && !receipts) return null;
  return (
    <div class="foot">
      {files.map(({ id, name, version }) => (
        <a key={`${id}${version}`} class="chip" href={talk.href({ tab: 'files', file: id, version })}>
          <Icon name="file" small />
          <span class="mono cut">{name}</span>
          <span class="nw">v{version}</span>
          <Freshness file={talk.items.files.value.get(id)} version={version} />
        </a>
      ))}
      {tasks.map(({ id, ref }) => (
        <TaskChip
          key={id}
          name={ref}
          task={talk.items.tasks.value.get(id)}
          href={talk.href({ tab: 'tasks', task: ref })}
        />
      ))}
      <Reactions message={message} />
      {redactions.length > 0 && <span class="rc">{redactionNote(message)}</span>}
      {receipts && (
        <Suspense fallback={null}>
          <Receipts seq={post.seq} />
        </Suspense>
      )}
    </div>
  );
}

/** How up to date an attached version is. */
function Freshness({ file, version }: { file: BoardFile | undefined; version: number }) {
  if (!file) return null;
  if (file.removed_at !== null) return <span>taken off</span>;
  const words = freshnessOf(file, version);
  return words ? <span class="nw">{words}</span> : null;
}

/** Whether a version was approved or replaced, or how much happened since; empty if none of these. */
export function freshnessOf({ latest, approvals, freshness }: BoardFile, version = latest.version): string {
  if (approvals.some((approval) => approval.version === version)) return 'approved';
  if (latest.version > version) return `now v${latest.version}`;
  const [approval] = approvals.toSorted((a, b) => b.version - a.version);
  if (approval) return `${plural(approval.changes_since, 'change')} since approved`;
  const { messages_since: count } = freshness;
  return count > 0 ? `${plural(count, 'message')} since` : '';
}

const TaskChip = ({ name, task, href }: { name: string; task: Task | undefined; href: string }) => (
  <a class="chip" href={href}>
    {task && <Icon name={task.blocked ? 'block' : taskIcons[task.state]} small />}
    <span class="mono">{name}</span>
    {task && <span class="cut">{task.title}</span>}
    {task && <span class="vh">{task.blocked ? 'blocked' : task.state.replace('_', ' ')}</span>}
  </a>
);
