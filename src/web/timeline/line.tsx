/** What stands between messages: board events as short quiet lines, days, and where the new ones begin. */
import type { ComponentChildren } from 'preact';
import { memo } from 'preact/compat';
import { Icon } from '../parts/icon.tsx';
import { useTalk } from './context.ts';
import type { Line } from './entries.ts';
import { tell } from './event-words.tsx';
import { When } from './message.tsx';

export const LineView = memo(function LineView({ line: { seq, event } }: { line: Line }) {
  const talk = useTalk();
  const { tasks, files } = talk.around;
  const { icon, who, text } = tell(event, { board: talk.room.name, tasks: tasks.value, files: files.value });
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
