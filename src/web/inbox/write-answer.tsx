/** A field for a written answer. Its draft is stored in this browser. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { answerAttempts, sendAnswer } from '../state/answers.ts';
import { ownName, readStorage, writeStorage } from '../state/storage.ts';

export function WriteAnswer(props: { message: Message; open: boolean; setOpen: (open: boolean) => void }) {
  const { message, open, setOpen } = props;
  const name = ownName(`answer ${message.id}`);
  const [text, setText] = useState(readStorage(name) ?? '');
  const field = useRef<HTMLTextAreaElement>(null);
  const line = useRef<HTMLButtonElement>(null);
  const opened = useRef(false);
  const busy = answerAttempts.value.get(message.id)?.state === 'sending';
  useLayoutEffect(() => {
    if (open) field.current?.focus();
    else if (opened.current) line.current?.focus();
    opened.current = open;
  }, [open]);
  const change = (value: string): void => {
    setText(value);
    writeStorage(name, value || null);
  };
  const send = async (): Promise<void> => {
    const body = text.trim();
    if (!body || !(await sendAnswer(message, { body }))) return;
    // What was typed meanwhile stays.
    if (readStorage(name) !== text) return;
    change('');
    setOpen(false);
  };
  if (!open)
    return (
      <button type="button" class="rbox full" ref={line} onClick={() => setOpen(true)}>
        <Icon name="reply" />
        <span class="sp cut">{text ? `Draft: ${text}` : `Write an answer to ${message.from.name}`}</span>
        <kbd class="desk">r</kbd>
      </button>
    );
  return (
    <form
      class="write"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={field}
        class="in"
        rows={3}
        aria-label={`Answer to ${message.from.name}`}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setOpen(false);
          else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="row">
        <button type="submit" class="b pri" aria-disabled={busy || !text.trim() || undefined}>
          <Icon name="send" />
          Answer
        </button>
        <button type="button" class="b" onClick={() => setOpen(false)}>
          Leave, keep the draft
        </button>
        <span class="sp" />
        <span class="q2 sm desk">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
      </div>
    </form>
  );
}
