/** Which messages go on where the one before them ended. */
import type { Message } from '../../contract/types.ts';

const RUN_MS = 5 * 60_000;

/** Whether a message needs no header: the same sender, to the same, within five minutes, with nothing between. */
export function isRun(before: Message | undefined, message: Message): boolean {
  return (
    before !== undefined &&
    before.from.id === message.from.id &&
    Date.parse(message.at) - Date.parse(before.at) < RUN_MS &&
    !message.urgent &&
    !message.expects_reply &&
    !before.reply_count &&
    String(before.to) === String(message.to)
  );
}
