/**
 * The thread that a reply goes into: read for its recipients, and remembered so that a half-written reply is found
 * again.
 */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Message } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import { replyTarget } from '../state/reply.ts';
import type { Room } from '../state/room.ts';
import { readStorage, writeStorage } from '../state/storage.ts';

/** The messages of the thread of `target`, oldest first, kept up to date. */
export function useThread(room: Room, target: Message | null): Message[] {
  const messages = useMemo(() => signal<Message[]>(target ? [target] : []), [target?.id]);
  useEffect(() => {
    if (!target) return;
    const root = target.thread_root ?? target.id;
    void readThread(root, messages);
    return room.subscribe(({ message }) => {
      if (message?.thread_root === root) messages.value = [...messages.peek(), message];
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
    if (all.length > 0) into.value = all;
  } catch {
    // The message that is replied to names its sender, which is enough to go on.
  }
}

let following: { name: string; stop: () => void } | null = null;

/** Remembers which message of a board is replied to, and takes it up again when the board is opened. */
export function keepThread(name: string, board: string): void {
  if (following?.name === name) return;
  following?.stop();
  const id = readStorage(name);
  const before = replyTarget.peek();
  if (id !== null && before?.board !== board)
    call('getMessage', { params: { message: id } }).then(
      ({ message }) => {
        if (following?.name !== name || replyTarget.peek()?.board === board) return;
        resumed.value = message;
        replyTarget.value = message;
      },
      () => {},
    );
  let first = true;
  const stop = replyTarget.subscribe((target) => {
    if (first) first = false;
    else if (target === null || target.board === board) writeStorage(name, target?.id ?? null);
  });
  following = { name, stop };
}

/** The reply that was taken up again by itself, for which the focus stays where it is. */
export const resumed = signal<Message | null>(null);
