/** What stands between messages: board events, and separators for days and new messages. */
import type { ComponentChildren } from 'preact';
import { memo } from 'preact/compat';
import { Icon } from '../parts/icon.tsx';
import { useTalk } from './context.ts';
import type { EventLine } from './entries.ts';
import { describeEvent } from './event-words.tsx';
import { When } from './message.tsx';

interface Props {
  line: EventLine;
  /** Whether the task that it opened was started with it. */
  startedAtOnce: boolean;
}

export const LineView = memo(function LineView({ line: { seq, event }, startedAtOnce }: Props) {
  const talk = useTalk();
  const { tasks, files } = talk.items;
  const about = { board: talk.room.name, tasks: tasks.value, files: files.value, nameOf: talk.room.nameOf };
  const { icon, who, text } = describeEvent(
    startedAtOnce ? { ...event, type: 'task.opened_and_started' } : event,
    about,
  );
  return (
    <div class="ev" data-seq={seq}>
      <Icon name={icon} />
      <span class="tx">
        <b>{who ?? 'The server'}</b> {text}
        <When at={event.at} />
      </span>
    </div>
  );
});

export const Separator = ({ kind, children }: { kind: 'day' | 'new'; children: ComponentChildren }) => (
  // biome-ignore lint/a11y: a rule cannot hold words, and nothing moves this one
  <div class={kind} role="separator">
    {children}
  </div>
);
