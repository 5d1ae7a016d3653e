/** The opened brief with its age and an edit button. */
import { useRef, useState } from 'preact/hooks';
import type { Brief } from '../../contract/types.ts';
import { bytesHref, MAX_TEXT_BYTES } from '../api/bytes.ts';
import { HtmlPreview } from '../parts/html-preview.tsx';
import { Icon } from '../parts/icon.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { formatBytes, plural } from '../parts/number.ts';
import { ago, formatExact } from '../parts/time.tsx';
import { now } from '../state/clock.ts';
import { isFocusLost } from '../state/focus.ts';
import type { Room } from '../state/room.ts';
import { mayBeOutdated, openBrief, useBriefText, useMessagesSince } from './brief.ts';
import { BriefEditor, hasDraft } from './brief-editor.tsx';
import './brief.css';

export default function BriefPanel({ room }: { room: Room }) {
  const board = room.board.value;
  const brief = board?.brief ?? null;
  const text = useBriefText(room, brief);
  const writable = board?.lifecycle === 'active';
  const [editing, setEditing] = useState(() => writable && (!brief || hasDraft(board.id)));
  /** Whether the button to edit it has to take the focus of the editor, once the text that was saved is loaded. */
  const edited = useRef(false);
  if (!board) return null;
  const close = (): void => {
    openBrief.value = null;
    for (const line of document.querySelectorAll<HTMLElement>('.brf')) line.focus();
  };
  const closeEditor = (): void => {
    setEditing(false);
    if (!room.board.peek()?.brief) close();
    else edited.current = true;
  };
  const takeFocus = (button: HTMLButtonElement | null): void => {
    if (!button || !edited.current) return;
    edited.current = false;
    if (isFocusLost()) button.focus();
  };
  // Editing needs the loaded text.
  const ready = !brief || typeof text === 'string';
  const hasUnsaved = hasDraft(board.id);
  return (
    <section
      id="brief"
      class="brief"
      aria-label="Brief"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
    >
      {editing && writable && (ready || hasUnsaved) ? (
        <BriefEditor room={room} board={board} current={brief && { brief, text: text ?? '' }} onClose={closeEditor} />
      ) : (
        brief && (
          <>
            <div class="brief-head">
              <Freshness brief={brief} room={room} />
              <a
                class="b bare ic t28"
                href={bytesHref({ board: room.name, file: brief.file_id, version: brief.version })}
                download={brief.name}
                aria-label="Download"
                title="Download"
              >
                <Icon name="get" />
              </a>
              {writable && ready && (
                <button type="button" class="b t28" ref={takeFocus} onClick={() => setEditing(true)}>
                  Edit
                </button>
              )}
            </div>
            <BriefText brief={brief} text={text} />
          </>
        )
      )}
    </section>
  );
}

function Freshness({ brief, room }: { brief: Brief; room: Room }) {
  const since = useMessagesSince(room);
  const facts = [
    since > 0 && `${plural(since, 'message')} since`,
    brief.freshness.tasks_done_since > 0 && `${plural(brief.freshness.tasks_done_since, 'task')} done since`,
    mayBeOutdated(brief, since, now.value) && 'may be out of date',
  ].filter(Boolean);
  return (
    <span class="sp q2 sm" title={formatExact(brief.at)}>
      v{brief.version} by {brief.by.name}, {ago(brief.at)}
      {facts.length > 0 && `; ${facts.join(', ')}`}
    </span>
  );
}

function BriefText({ brief, text }: { brief: Brief; text: string | null | undefined }) {
  if (brief.size > MAX_TEXT_BYTES)
    return <p class="q2">It has {formatBytes(brief.size)}, which is too long to be shown here. Download it.</p>;
  if (text === undefined) return <div aria-busy="true" />;
  if (text === null) return <p class="q2">It could not be read. Close it and open it again.</p>;
  return brief.name === 'brief.html' ? <HtmlPreview html={text} title="Brief" /> : <Markdown text={text} />;
}
