/** Threads as rows. */

import { table } from '../../../cli/table.ts';
import { showTime, type TimeStyle } from '../../../cli/time.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Answer } from '../../../contract/types.ts';

const SHOWN = 40;

export function threadRows(threads: Answer<'listThreads'>['threads'], times: TimeStyle): Promise<string[]> {
  return table(
    ['MESSAGE', 'FROM', 'REPLIES', 'LAST', 'WITH', 'BEGINS'],
    threads.map(({ root, participants }) => {
      const others = participants.filter((name) => name !== root.from.name);
      return [
        `#${root.seq}`,
        `@${root.from.name}`,
        String(root.reply_count ?? 0),
        root.last_reply_at === undefined ? '' : showTime(root.last_reply_at, times),
        others.map((name) => `@${name}`).join(', '),
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
