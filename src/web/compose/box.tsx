/** The message box: text with completion of names, who gets it, files, a question, and posting. */
import { Suspense } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Board, Message } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { plainText } from '../parts/plain-text.ts';
import { useKeys } from '../state/keys.ts';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { othersOn, threadTargets, wakesOf } from './audience.ts';
import { Completion, comboboxOf, useCompletion } from './completion.tsx';
import { changeDraft, type Draft, draftNamed, newAsk } from './draft.ts';
import { sendDraft } from './outbox.ts';
import { missing, requestOf } from './request.ts';
import { resumed, useThread } from './thread.ts';
import { ToMenu } from './to-menu.tsx';
import { uploads } from './uploads.ts';

const loadAttachments = () => import('./attachments.tsx');
const Attachments = lazy(loadAttachments);
/** What moves files is loaded with the first one. */
const loadAttach = () => import('./attach.ts');
const AskForm = lazy(() => import('./ask-form.tsx'));

interface Props {
  /** The name of the draft. */
  name: string;
  room: Room;
  board: Board;
  target: Message | null;
}

export function Box({ name, room, board, target }: Props) {
  const draft = draftNamed(name).value;
  const change = (parts: Partial<Draft>): void => changeDraft(name, parts);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [over, setOver] = useState(false);
  const others = othersOn(room.members.value, session.value?.person.handle);
  const thread = useThread(room, target);
  const to = draft.to ?? (target ? threadTargets(thread, others) : ['all']);
  const focus = (): void => field.current?.focus();
  const completion = useCompletion({
    field,
    others,
    board,
    replace: (text, position) => {
      caret.current = position;
      change({ text });
    },
  });

  useKeys(
    'Message box',
    [
      { keys: 'm', label: 'Write a message', run: focus },
      {
        keys: 'Mod Enter',
        label: 'Post it',
        everywhere: true,
        run: () => field.current?.form?.contains(document.activeElement) === true && post(),
      },
    ],
    [name],
  );
  useLayoutEffect(() => {
    // A reply that was chosen is written next; one that was found again after a reload waits.
    if (target && resumed.peek()?.id !== target.id) focus();
  }, [target?.id]);
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${current.scrollHeight}px`;
    if (caret.current !== null) current.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [draft.text]);

  /** The newest state counts: the function outlives the render that made it. */
  const latest = useRef({ to });
  latest.current = { to };
  function post() {
    const now = draftNamed(name).peek();
    const waits = uploads.peek().some((upload) => upload.draft === name);
    const lacking = waits ? 'Wait until the files are there, or cancel them.' : missing(now);
    setWrong(lacking);
    focus();
    if (lacking !== null) return;
    sendDraft(room, name, requestOf(now, latest.current.to, target?.id));
    completion.close();
    if (target) replyTarget.value = null;
  }

  async function attach(files: Iterable<File>): Promise<void> {
    // The browser takes a dropped list back when the event is over.
    const list = [...files];
    try {
      (await loadAttach()).attach(room.name, name, list);
    } catch {
      setWrong('Not attached: no connection. Try again.');
    }
  }

  const leave = (event: KeyboardEvent) => {
    if (completion.press(event) || event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    const conversation = document.querySelector<HTMLElement>('.tl[tabindex]');
    if (conversation) conversation.focus();
    else field.current?.blur();
  };
  const ask = draft.ask;
  return (
    <form
      class={over ? 'cmp over' : 'cmp'}
      aria-label={target ? 'Reply' : 'New message'}
      onSubmit={(event) => {
        event.preventDefault();
        post();
      }}
      onFocusIn={() => {
        // Somebody who begins to write may lose the connection before a file is attached.
        void Promise.allSettled([loadAttach(), loadAttachments()]);
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void attach(event.dataTransfer.files);
        focus();
      }}
    >
      {completion.open && <Completion {...completion} />}
      <div class="box">
        {target && <ReplyLine target={target} focus={focus} />}
        {(draft.files.length > 0 || uploads.value.some((upload) => upload.draft === name)) && (
          <Suspense fallback={null}>
            <Attachments name={name} focus={focus} />
          </Suspense>
        )}
        <textarea
          ref={field}
          rows={1}
          aria-label="Message"
          aria-describedby={wrong ? 'message-wrong' : undefined}
          {...comboboxOf(completion)}
          placeholder={
            over ? 'Drop to attach' : ask ? 'Your question' : target ? 'Your reply' : `Write to ${room.name}`
          }
          value={draft.text}
          onInput={({ currentTarget }) => {
            setWrong(null);
            change({ text: currentTarget.value });
            completion.look();
          }}
          onSelect={completion.look}
          onKeyDown={leave}
          onBlur={completion.close}
          onPaste={(event) => {
            const data = event.clipboardData;
            if (!data?.files.length || data.types.includes('text/plain')) return;
            event.preventDefault();
            void attach(data.files);
          }}
        />
        {ask && (
          <Suspense fallback={<div class="askf" aria-busy="true" />}>
            <AskForm
              ask={ask}
              others={others}
              board={room.name}
              change={(parts) => change({ ask: { ...ask, ...parts } })}
            />
          </Suspense>
        )}
        <div class="bar">
          {ask ? (
            <span class="tosum">
              <Icon name="ask" />
              <span class="cut">
                {ask.to ? (
                  <>
                    Asks <b>{ask.to}</b>
                  </>
                ) : (
                  'A question'
                )}
              </span>
            </span>
          ) : (
            <ToMenu
              to={to}
              others={others}
              board={board}
              draft={draft}
              change={change}
              answers={target?.ask?.can_answer && target.ask.state !== 'answered' ? target.from.name : null}
            />
          )}
          <span class="q sm desk cut hint">
            {hintOf(draft, wakesOf(ask ? [`@${ask.to}`] : to, draft.text, others, board))}
          </span>
          <span class="sp mob" />
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={({ currentTarget }) => {
              void attach(currentTarget.files ?? []);
              currentTarget.value = '';
              focus();
            }}
          />
          <button type="button" class="b bare ic" aria-label="Attach a file" onClick={() => picker.current?.click()}>
            <Icon name="clip" />
          </button>
          {!target && (
            <button
              type="button"
              class={ask ? 'b bare ic on' : 'b bare ic'}
              aria-label="Ask a question with options"
              aria-pressed={ask !== null}
              onClick={() => {
                change({ ask: ask ? null : newAsk });
                focus();
              }}
            >
              <Icon name="ask" />
            </button>
          )}
          {!ask && (
            <>
              <Toggle
                icon="clock"
                label="Expects a reply"
                on={draft.expectsReply}
                set={(expectsReply) => change({ expectsReply })}
              />
              <Toggle icon="urgent" label="Urgent" on={draft.urgent} set={(urgent) => change({ urgent })} />
            </>
          )}
          <button type="submit" class="b pri" aria-keyshortcuts="Control+Enter Meta+Enter" title="Ctrl Enter">
            <Icon name="send" />
            {ask ? 'Ask' : 'Post'}
          </button>
        </div>
        {wrong && (
          <p id="message-wrong" class="wrong" role="alert">
            {wrong}
          </p>
        )}
      </div>
    </form>
  );
}

/** Facts about the message that its bar does not say otherwise. */
const hintOf = ({ urgent, expectsReply }: Draft, wakes: string): string =>
  [urgent && 'Urgent', expectsReply && 'Reply expected', wakes].filter(Boolean).join('. ');

/** On a phone the same stands in the list of who gets it. */
const Toggle = ({ icon, label, on, set }: { icon: string; label: string; on: boolean; set: (on: boolean) => void }) => (
  <button
    type="button"
    class={on ? 'b bare ic desk on' : 'b bare ic desk'}
    aria-label={label}
    title={label}
    aria-pressed={on}
    onClick={() => set(!on)}
  >
    <Icon name={icon} />
  </button>
);

function ReplyLine({ target, focus }: { target: Message; focus: () => void }) {
  return (
    <div class="reply-line">
      <Icon name="reply" />
      <span class="cut sp">
        Reply to <b>{target.from.name}</b> <span class="q">{plainText(target.body)}</span>
      </span>
      <button
        type="button"
        class="b bare ic"
        aria-label="Not a reply after all"
        onClick={() => {
          replyTarget.value = null;
          focus();
        }}
      >
        <Icon name="x" />
      </button>
    </div>
  );
}
