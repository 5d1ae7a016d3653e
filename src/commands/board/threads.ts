import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { limitFlag, listFlags } from '../../cli/flags.ts';
import { called } from '../../cli/runtime.ts';
import { staying } from '../../cli/session/session.ts';
import { rowsOr } from '../../cli/table.ts';
import { pages } from '../../client/pages.ts';
import { threadRows } from './lib/threads.ts';

export default class BoardThreads extends BaseCommand<typeof BoardThreads> {
  static override summary = 'List the threads of a board, the newest reply first';
  static override description = 'A thread is a message with at least one reply.';
  static override examples = ['service board threads', 'service board threads --limit 5 --json'];
  static override seeAlso = ['board thread', 'board read'];
  static override flags = {
    limit: limitFlag(),
    after: Flags.string({ helpValue: 'POSITION', description: 'The next page, as the last one names it' }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { client, board } = session;
    const { limit, after } = this.flags;
    const input = { params: { board }, query: { limit, after } };
    if (this.out.mode === 'ndjson') {
      for await (const page of pages(client, 'listThreads', input)) {
        for (const thread of page.threads) this.out.each(thread);
        if (limit !== undefined) return;
      }
      return;
    }
    const { threads, next_after: next } = (await client.call('listThreads', input)).data;
    const rows = await threadRows(threads, this.times);
    this.out.print({ threads, next_after: next }, () =>
      [
        `${board} · ${threads.length}`,
        ...rowsOr(rows, `A reply begins one: service say --reply NUMBER "TEXT"${staying(session)}`),
        ...(next === null ? [] : [called(`Later: service board threads --after ${next}${staying(session)}`)]),
      ].join('\n'),
    );
  }
}
