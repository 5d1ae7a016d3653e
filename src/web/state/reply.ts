/** The message that the message box replies to. */
import { signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';

/** Null: the next message starts a new thread. Setting it moves the focus to the message box. */
export const replyTarget = signal<Message | null>(null);
