/** Fills a board with messages, many to a transaction: posting ten thousand one by one would take half a minute. */
import { lockPlace } from '../../../src/server/access/board-access.ts';
import { toEveryone } from '../../../src/server/messages/addressing.steps.ts';
import { noRun } from '../../../src/server/messages/agent-run.rules.ts';
import { writePost } from '../../../src/server/messages/posting.steps.ts';
import type { Caller } from '../../../src/server/operation/caller.ts';
import type { Api } from '../../support/api.ts';
import type { TestServer } from '../../support/server.ts';

const PER_TRANSACTION = 1_000;

/** Posts `Message 1` and so on in the name of a person; answers the number of the last one. */
export async function fillBoard(server: TestServer, person: Api, handle: string, board: string, count: number) {
  const caller = { kind: 'PK', seat: null, person: { person_id: person.personId, handle }, shown: {} };
  let last = 0;
  for (let from = 1; from <= count; from += PER_TRANSACTION)
    await server.db.write(async (tx) => {
      const place = await lockPlace(tx, caller as unknown as Caller, board);
      for (let n = from; n < Math.min(from + PER_TRANSACTION, count + 1); n++) {
        const { row } = await writePost(tx, caller as unknown as Caller, place, {
          post: { redacted: { text: `Message ${n}`, counts: [] }, sent: {} },
          parent: null,
          run: noRun,
          addressing: toEveryone,
          ...{ mentions: [], about: [], files: [], asking: null, answering: null },
        });
        last = row.seq;
      }
    });
  return last;
}
