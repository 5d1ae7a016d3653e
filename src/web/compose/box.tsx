/** The message box: text with mentions, recipients, attachments and asks. */
import { Suspense } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Board, Message } from '../../contract/types.ts';
import { lostAt } from '../live/link.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { plainText } from '../parts/plain-text.ts';
import { moveFocus, useKeys } from '../state/keys.ts';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { describeWakes, othersOn, replyTargets } from './audience.ts';
import { Completion, comboboxProps, useCompletion } from './completion.tsx';
import { changeDraft, type Draft, getDraft, newAsk } from './draft.ts';
import { sendDraft } from './outbox.ts';
import { toRequest, validateDraft } from './request.ts';
import { resumedReply, useThread } from './thread.ts';
import { ToMenu } from './to-menu.tsx';
import { uploads } from './uploads.ts';

const loadAttachments = () => import('./attachments.tsx');
const Attachments = lazy(loadAttachments);
/** The upload code is loaded on demand. */
const loadAttach = () => import('./attach.ts');
const AskForm = lazy(() => import('./ask-form.tsx'));

interface Props {
  /** The name of the draft. */
  name: string;
  room: Room;
  board: Board;
  target: Message | null;
}

export function Box({ name, room, board, target: chosen }: Props) {
  const draft = getDraft(name).value;
  const change = (parts: Partial<Draft>): void => changeDraft(name, parts);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [dragging, setDragging] = useState(false);
  const others = othersOn(room.members.value, room.me.value);
  const thread = useThread(room, chosen);
  /** As it is by now: a question may have been withdrawn since it was chosen. */
  const target = thread.find(({ id }) => id === chosen?.id) ?? chosen;
  const to = draft.to ?? (target ? replyTargets(thread, others) : ['all']);
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
    setError(null);
    // Focus when the person chooses to reply, but not when a reply is restored after a reload.
    if (target && resumedReply.peek()?.id !== target.id) focus();
  }, [target?.id]);
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${current.scrollHeight}px`;
    if (caret.current !== null) current.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [draft.text]);

  /** Key bindings keep the `post` of an older render, so it reads the message replied to from a ref. */
  const latest = useRef(target);
  latest.current = target;
  function post() {
    const current = getDraft(name).peek();
    const uploading = uploads.peek().some((upload) => upload.draft === name);
    const problem = uploading ? 'Wait until the files are there, or cancel them.' : validateDraft(current);
    setError(problem);
    focus();
    if (problem !== null) return;
    sendDraft(room, name, toRequest(current, latest.current), latest.current);
    completion.close();
    if (target) replyTarget.value = null;
  }

  async function attach(files: Iterable<File>): Promise<void> {
    // The browser clears the list after the drop event.
    const list = [...files];
    try {
      const { attach, MAX_FILES } = await loadAttach();
      const leftOut = attach(room.name, name, list);
      if (leftOut > 0)
        setError(`A message carries ${MAX_FILES} files: ${leftOut} ${leftOut === 1 ? 'was' : 'were'} left out.`);
    } catch {
      setError('Not attached: no connection. Once there is one, load the page again and try again.');
    }
  }

  const leave = (event: KeyboardEvent) => {
    if (completion.handleKey(event) || event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    const conversation = document.querySelector<HTMLElement>('.tl[tabindex]');
    if (conversation) conversation.focus();
    else field.current?.blur();
  };
  const ask = draft.ask;
  return (
    <form
      class={dragging ? 'cmp over' : 'cmp'}
      aria-label={target ? 'Reply' : 'New message'}
      onSubmit={(event) => {
        event.preventDefault();
        post();
      }}
      onKeyDown={keepFromPosting}
      onFocusIn={() => {
        // Loads the upload code early, in case the connection is lost before a file is attached.
        void Promise.allSettled([loadAttach(), loadAttachments()]);
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        setDragging(false);
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
          aria-describedby={error ? 'message-wrong' : undefined}
          {...comboboxProps(completion)}
          placeholder={
            dragging ? 'Drop to attach' : ask ? 'Your question' : target ? 'Your reply' : `Write to ${room.name}`
          }
          value={draft.text}
          onInput={({ currentTarget }) => {
            setError(null);
            change({ text: currentTarget.value });
            completion.update();
          }}
          onSelect={completion.update}
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
              onChange={change}
              answers={target?.ask?.can_answer && target.ask.state !== 'answered' ? target.from.name : null}
            />
          )}
          <span class="q sm desk cut hint">
            {hintText(
              draft,
              lostAt.value === null
                ? describeWakes(ask ? [`@${ask.to}`] : to, draft.text, others, board)
                : draft.text && 'Draft kept',
            )}
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
          <IconButton icon="clip" label="Attach a file" onClick={() => picker.current?.click()} />
          {!target && (
            <IconButton
              icon="ask"
              label="Ask a question with options"
              on={ask !== null}
              onClick={() => {
                change({ ask: ask ? null : newAsk });
                focus();
              }}
            />
          )}
          {!ask && (
            <Toggle
              icon="clock"
              label="Expects a reply"
              on={draft.expectsReply}
              set={(expectsReply) => change({ expectsReply })}
            />
          )}
          <Toggle
            icon="urgent"
            label="Urgent"
            on={draft.urgent}
            set={(urgent) => change({ urgent })}
            onPhone={ask !== null}
          />
          <button type="submit" class="b pri" aria-keyshortcuts="Control+Enter Meta+Enter" title="Ctrl Enter">
            <Icon name="send" />
            {ask ? 'Ask' : 'Post'}
          </button>
        </div>
        {error && (
          <p id="message-wrong" class="wrong" role="alert">
            {error}
          </p>
        )}
      </div>
    </form>
  );
}

const hintText = ({ urgent, expectsReply }: Draft, wakes: string): string =>
  [urgent && 'Urgent', expectsReply && 'Reply expected', wakes].filter(Boolean).join('. ');

/** Enter in a field of a form submits it. Here it chooses a recipient, or goes on to the next option. */
function keepFromPosting(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, isComposing, repeat } = event;
  if (!(target instanceof HTMLInputElement) || key !== 'Enter' || ctrlKey || metaKey || isComposing) return;
  event.preventDefault();
  if (repeat) return;
  if (target.type === 'checkbox') target.click();
  else moveFocus(target.closest('fieldset'), 'input', 1);
}

interface ToggleProps {
  icon: string;
  label: string;
  on: boolean;
  set: (on: boolean) => void;
  onPhone?: boolean;
}

/** A toggle in the bar. On a phone, the list of recipients has it instead, which a question lacks. */
const Toggle = ({ icon, label, on, set, onPhone }: ToggleProps) => (
  <IconButton
    icon={icon}
    label={label}
    class={onPhone ? undefined : 'desk'}
    title={label}
    on={on}
    onClick={() => set(!on)}
  />
);

function ReplyLine({ target, focus }: { target: Message; focus: () => void }) {
  return (
    <div class="reply-line">
      <Icon name="reply" />
      <span class="cut sp">
        Reply to <b>{target.from.name}</b> <span class="q">{plainText(target.body)}</span>
      </span>
      <IconButton
        icon="x"
        label="Not a reply after all"
        onClick={() => {
          replyTarget.value = null;
          focus();
        }}
      />
    </div>
  );
}
