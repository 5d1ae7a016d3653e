import { BaseCommand, listFlags } from '../../cli/base.ts';
import { flagWords, pageFlags, readList } from '../../cli/list.ts';
import { staying } from '../../cli/session/open-session.ts';
import { answer, nextText, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../contract/text.ts';
import type { Answer } from '../../contract/types.ts';

export const json = () => object({ threads: answer('listThreads').shape.threads, next_after: nextText });

export default class BoardThreads extends BaseCommand<typeof BoardThreads> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'List the threads of a board, the newest reply first';
  static override description = 'A thread is a message with at least one reply.';
  static override examples = ['service board threads', 'service board threads --limit 5 --json'];
  static override seeAlso = ['board thread', 'board read'];
  static override flags = { ...pageFlags(), ...listFlags };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { client, board } = session;
    const read = async (after: string | undefined, limit: number | undefined) =>
      (await client.call('listThreads', { params: { board }, query: { limit, after } })).data;
    const found = await readList(this.out, this.flags, 'threads', read);
    if (!found) return;
    const { threads, next_after: next } = found.page;
    await this.printList<typeof json>({ threads, next_after: next }, threads, {
      of: board,
      rows: () => threadRows(threads, this.times),
      empty: `A reply begins one: service say --reply NUMBER "TEXT"${staying(session)}`,
      next:
        next !== null &&
        `More: service board threads --after ${next}${flagWords(this.flags, ['limit'])}${staying(session)}`,
    });
  }
}

const SHOWN = 40;

function threadRows(threads: Answer<'listThreads'>['threads'], times: TimeStyle): Promise<string[]> {
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
