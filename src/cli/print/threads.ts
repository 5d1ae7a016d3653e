/** Threads as rows. */
import { escapeUntrusted } from '../../contract/text.ts';
import type { Answer } from '../../contract/types.ts';
import { table } from '../table.ts';
import { showTime, type TimeStyle } from '../time.ts';
import { plural } from './fields.ts';

const SHOWN = 40;

export function threadRows(threads: Answer<'listThreads'>['threads'], times: TimeStyle): Promise<string[]> {
  return table(
    threads.map(({ root, participants }) => {
      const others = participants.filter((name) => name !== root.from.name);
      const last = root.last_reply_at === undefined ? '' : `, last ${showTime(root.last_reply_at, times)}`;
      return [
        `#${root.seq}`,
        `@${root.from.name}`,
        `${plural(root.reply_count ?? 0, 'reply', 'replies')}${last}${others.length > 0 ? `, with ${others.join(', ')}` : ''}`,
        `"${beginning(root.body)}"`,
      ];
    }),
  );
}

/** The first characters of a text, on one line. */
export function beginning(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  // A character has at most two units, so that these hold enough of them.
  const line = [...escapeUntrusted(plain.slice(0, 2 * SHOWN))];
  return line.length <= SHOWN ? line.join('') : `${line.slice(0, SHOWN - 1).join('')}…`;
}
