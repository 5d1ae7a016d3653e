/** What stands between messages: board events, and separators for days and new messages. */
import type { ComponentChildren } from 'preact';
import { memo } from 'preact/compat';
import { Icon } from '../parts/icon.tsx';
import { text, wordsOf } from '../state/event-words.ts';
import { useTalk } from './context.ts';
import type { EventLine } from './entries.ts';
import { When } from './message.tsx';

interface Props {
  line: EventLine;
  /** Whether the task that it opened was started with it. */
  startedAtOnce: boolean;
}

export const LineView = memo(function LineView({ line: { seq, event }, startedAtOnce }: Props) {
  const { room, items } = useTalk();
  const { type, data = {}, actor } = event;
  const { icon, verb, name, afterName, link, more, quote } = wordsOf(
    startedAtOnce ? { ...event, type: 'task.opened_and_started' } : event,
    room.name,
    { member: room.names.of, file: (id) => items.files.value.get(id)?.name },
  );
  const who = type === 'member.joined' ? text(data['name']) : (actor.name ?? 'The server');
  return (
    <div class="ev" data-seq={seq}>
      <Icon name={icon} />
      <span class="tx">
        <b>{who}</b> {verb}
        <Part as="b">{name}</Part>
        <Part>{afterName}</Part>
        {link && (
          <>
            {' '}
            <a class={link.about === 'file' ? 'ref path' : 'ref'} href={link.href}>
              {link.text}
            </a>
          </>
        )}
        {link?.about === 'task' && (
          <Part>{text(data['title']) || items.tasks.value.get(text(data['task_id']))?.title}</Part>
        )}
        <Part class="q">{more}</Part>
        <Part class="q">{quote}</Part>
        <When at={event.at} />
      </span>
    </div>
  );
});

/** A text after a space, in its own direction. */
const Part = (props: { as?: 'b'; class?: string; children: string | undefined }) => {
  const { as: Tag = 'bdi', class: name, children } = props;
  if (!children) return null;
  return (
    <>
      {' '}
      <Tag class={name} dir="auto">
        {children}
      </Tag>
    </>
  );
};

export const Separator = ({ kind, children }: { kind: 'day' | 'new'; children: ComponentChildren }) => (
  // biome-ignore lint/a11y: a rule cannot hold words, and nothing moves this one
  <div class={kind} role="separator">
    {children}
  </div>
);
