/** The message that the next one from the message box replies to. */
import { signal } from '@preact/signals';
import type { Message } from '../../contract/types.ts';

/** Null: the next message begins a thread of its own. Setting it moves the focus into the message box. */
export const replyTarget = signal<Message | null>(null);
