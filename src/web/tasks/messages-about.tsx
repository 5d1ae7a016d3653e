/** The messages about a task, and a form to post one. */
import { useState } from 'preact/hooks';
import type { Message, Task } from '../../contract/types.ts';
import { Markdown } from '../parts/markdown.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { Glyph, Name } from '../parts/who.tsx';
import { useAction } from '../state/action.ts';
import { write } from '../state/attempts.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import { ownName, readStorage, writeStorage } from '../state/storage.ts';
import type { AboutTask } from './about-task.ts';

function Line({ message }: { message: Message }) {
  const { from, at, seq, board, body } = message;
  return (
    <li class="tmsg">
      <Glyph who={from} size={24} />
      <div>
        <span class="row w">
          <Name who={from} />
          <a class="q sm" href={hrefOf({ screen: 'board', board, tab: 'talk', message: seq })}>
            <Time at={at} relative />
            <span class="vh">, in the conversation</span>
          </a>
        </span>
        <Markdown text={body} />
      </div>
    </li>
  );
}

export function MessagesAbout(props: { task: Task; about: AboutTask; room: Room; writable: boolean }) {
  const { task, about, room, writable } = props;
  const earlier = useAction();
  if (about.messages.length === 0 && !writable) return null;
  return (
    <section class="ps" aria-labelledby="task-messages">
      <h3 id="task-messages">
        Messages about it {task.message_count > 0 && <span class="q">{task.message_count}</span>}
      </h3>
      {about.more && (
        <button
          type="button"
          class="link q2"
          aria-disabled={earlier.busy}
          onClick={() => void earlier.run(about.loadMore)}
        >
          Earlier messages
        </button>
      )}
      <ProblemLine error={earlier.error} />
      <ol>
        {about.messages.map((message) => (
          <Line key={message.id} message={message} />
        ))}
      </ol>
      {writable && <MessageForm task={task} room={room} />}
    </section>
  );
}

function MessageForm({ task, room }: { task: Task; room: Room }) {
  const draft = ownName(`draft-${task.id}`);
  const [text, setText] = useState(readStorage(draft) ?? '');
  const { busy, error, run } = useAction();
  const change = (next: string): void => {
    setText(next);
    writeStorage(draft, next || null);
  };
  const post = (event: Event): void => {
    event.preventDefault();
    if (!text.trim()) return;
    void run(async () => {
      await write('postMessage', { params: { board: room.name }, body: { body: text, about: [task.ref] } });
      // What was typed meanwhile stays.
      if (readStorage(draft) === text) change('');
    });
  };
  return (
    <form class="tsay" onSubmit={post}>
      <textarea
        class="in"
        rows={2}
        aria-label={`Write to everyone about ${task.ref}`}
        placeholder={`Write to everyone about ${task.ref}`}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
      />
      <button type="submit" class="b" aria-disabled={busy || !text.trim()}>
        Post
      </button>
      <ProblemLine error={error} />
    </form>
  );
}
