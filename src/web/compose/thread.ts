/**
 * The thread that the message box replies to: loaded for its default recipients, and restored after a reload.
 */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import { getDraft, isEmpty } from './draft.ts';

/** The id of the first message of a message's thread. */
export const threadOf = ({ id, thread_root }: Message): string => thread_root ?? id;

/** The messages in the thread of `target`, oldest first, updated live. */
export function useThread(room: Room, target: Message | null): Message[] {
  const messages = useMemo(() => signal<Message[]>(target ? [target] : []), [target?.id]);
  useEffect(() => {
    if (!target) return;
    const root = threadOf(target);
    void readThread(root, messages);
    return room.subscribe(({ message }) => {
      if (message?.thread_root !== root) return;
      messages.value = [...messages.peek(), message];
      // The question is then another: it is answered, or withdrawn.
      if (message.answer) void readThread(root, messages);
    });
  }, [target?.id]);
  return messages.value;
}

async function readThread(root: string, into: Signal<Message[]>): Promise<void> {
  try {
    const all: Message[] = [];
    for await (const page of listAll('listReplies', { params: { message: root }, query: { limit: 200 } })) {
      if (all.length === 0 && page.root) all.push(page.root);
      all.push(...page.replies);
    }
    const last = all.at(-1)?.seq ?? 0;
    // Others may have come meanwhile.
    if (all.length > 0) into.value = [...all, ...into.peek().filter(({ seq }) => seq > last)];
  } catch {
    // The recipients then come from the target message alone.
  }
}

let current: { name: string; stop: () => void } | null = null;

/**
 * Stores which message of a board is being replied to, and restores it when the board opens again: neither without a text, nor
 * in place of a new message that is written meanwhile.
 *
 * @param draftOf the name of the draft in a thread, by the id of its first message
 */
export function rememberReply(name: string, board: string, draftOf: (thread: string) => string): void {
  if (current?.name === name) return;
  current?.stop();
  const id = readStorage(name);
  const before = replyTarget.peek();
  const draft = getDraft(draftOf('new'));
  const written = draft.peek();
  if (id !== null && before?.board !== board)
    call('getMessage', { params: { message: id } }).then(
      ({ message }) => {
        if (current?.name !== name || replyTarget.peek()?.board === board) return;
        if (isEmpty(getDraft(draftOf(threadOf(message))).peek())) return writeStorage(name, null);
        if (draft.peek() !== written || document.activeElement?.closest('.cmp')) return;
        resumedReply.value = message;
        replyTarget.value = message;
      },
      () => {},
    );
  let first = true;
  const stop = replyTarget.subscribe((target) => {
    if (first) first = false;
    else if (target === null || target.board === board) writeStorage(name, target?.id ?? null);
  });
  current = { name, stop };
}

/** The reply that was restored, for which the focus must not move. */
export const resumedReply = signal<Message | null>(null);
