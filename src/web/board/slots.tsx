/** What stands around the conversation: what needs the person above it, the message box below it. Null: nothing yet. */
import type { ComponentType } from 'preact';
import type { Message } from '../../contract/types.ts';
import type { Room } from '../state/room.ts';

interface Slots {
  strip: ComponentType<{ room: Room }> | null;
  /** `replyTo`: the message it replies to. */
  composer: ComponentType<{ room: Room; replyTo: Message | null }> | null;
}

export const slots: Slots = { strip: null, composer: null };
