import { expect } from 'chai';
import { inParts } from '../../../src/server/db/rows.ts';
import type { WriteTx } from '../../../src/server/db/tx.ts';
import { type MemberRow, memberById } from '../../../src/server/members/members.store.ts';
import { type MessageRow, messageBySeq, messagesIn } from '../../../src/server/messages/messages.store.ts';
import { threadSenders } from '../../../src/server/messages/threads.store.ts';
import { type EventRow, eventsAfter } from '../../../src/server/record/events.store.ts';
import { countWake } from '../../../src/server/seats/wake-count.steps.ts';
import { newId } from '../../../src/server/text/ids.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const MESSAGES = 5_000;
const SMALL_BOARDS = 1_000;

forEachDatabase('a large board beside many small ones', (engine) => {
  let server: TestServer;
  let boardId: string;
  let me: MemberRow;

  before(async () => {
    server = await startTestServer(engine);
    const board = await newBoard(server.dana);
    const { memberId } = await newAgent(server.dana, board.name);
    const { seq } = await post(server.dana, board.name, 'one of many');
    boardId = board.id;
    await server.db.write(async (tx) => {
      me = (await memberById(tx, memberId)) as MemberRow;
      const message = (await messageBySeq(tx, boardId, seq)) as MessageRow;
      const [event] = (await eventsAfter(tx, boardId, seq - 1, 1)) as [EventRow];
      const there = (n: number) => (n < MESSAGES ? { seq: seq + 1 + n } : { board_id: newId('brd', tx.now), seq: 1 });
      const copies = Array.from({ length: MESSAGES + SMALL_BOARDS }, (_, n) => there(n));
      // Each second one replies to the one before.
      const reply = (n: number) => (n % 2 === 0 || n >= MESSAGES ? {} : { reply_to_seq: seq + n, root_seq: seq + n });
      const messages = copies.map((at, n) => ({ ...message, ...reply(n), ...at, id: newId('msg', tx.now) }));
      // A message is unique by its sender and number.
      const sent = messages.map((row, n) => (n < MESSAGES ? row : { ...row, sender_id: newId('mem', tx.now) }));
      await inParts(sent, (part) => tx.change((db) => db('messages').insert(part)));
      const events = copies.map((at) => ({ ...event, ...at, id: newId('evt', tx.now) }));
      await inParts(events, (part) => tx.change((db) => db('events').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE'));
    });
  });
  after(() => server.stop());

  /** What a transaction finds, and how many rows it read on Postgres. */
  const reading = <T>(read: (tx: WriteTx) => Promise<T>): Promise<{ found: T; rows: number }> =>
    server.db.write(async (tx) => {
      const rows = async () => {
        if (engine === 'sqlite') return 0;
        const sum = 'COALESCE(SUM(idx_tup_fetch), 0)::int AS rows';
        const [of] = await tx.query<{ rows: number }>((db) => db('pg_stat_xact_user_tables').select(db.raw(sum)));
        return of!.rows;
      };
      const before = await rows();
      const found = await read(tx);
      return { found, rows: (await rows()) - before };
    });

  const reader = () => ({ memberId: me.id, readsAll: true });

  it('shows a page from its middle by reading that page', async () => {
    const window = { after: MESSAGES / 2, before: null };
    const { found, rows } = await reading((tx) => messagesIn(tx, { boardId, reader: reader() }, window, 'asc', 50));
    expect(found.map((row) => row.seq)).to.deep.equal(Array.from({ length: 50 }, (_, n) => MESSAGES / 2 + 1 + n));
    expect(rows).to.be.below(600);
  });

  it('tells who wrote in a page of threads by reading these', async () => {
    const roots = Array.from({ length: 50 }, (_, n) => MESSAGES - 2 * n).map((seq) => seq - (seq % 2));
    const { rows } = await reading((tx) => threadSenders(tx, boardId, roots, reader()));
    expect(rows).to.be.below(600);
  });

  it('finds the mentions of a member without asking of each message', async () => {
    const filter = { boardId, reader: reader(), asked: { has: 'mention_me' } } as const;
    const { rows } = await reading((tx) => messagesIn(tx, filter, { after: 0, before: null }, 'desc', 50));
    expect(rows).to.be.below(600);
  });

  it('counts a wake by what was acknowledged', async () => {
    const { rows } = await reading((tx) => countWake(tx, me, MESSAGES - 50, MESSAGES));
    expect(rows).to.be.below(600);
  });
});
