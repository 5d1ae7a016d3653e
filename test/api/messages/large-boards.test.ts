import { expect } from 'chai';
import { inParts } from '../../../src/server/db/rows.ts';
import { type MemberRow, memberById } from '../../../src/server/members/members.store.ts';
import { type MessageRow, messageBySeq, messagesIn } from '../../../src/server/messages/messages.store.ts';
import { type EventRow, eventsAfter } from '../../../src/server/record/events.store.ts';
import { newId } from '../../../src/server/text/ids.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const MESSAGES = 20_000;
const SMALL_BOARDS = 300;
/** On each of these. */
const FEW = 10;

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
      const seats = Array.from({ length: SMALL_BOARDS }, () => {
        const ids = { id: newId('mem', tx.now), board_id: newId('brd', tx.now) };
        return { ...me, ...ids, token_digest: null, session_digest: null };
      });
      await inParts(seats, (part) => tx.change((db) => db('members').insert(part)));
      const copies = Array.from({ length: MESSAGES + SMALL_BOARDS * FEW }, (_, n) => {
        if (n < MESSAGES) return { board_id: boardId, seq: seq + 1 + n, sender_id: message.sender_id };
        const { id, board_id } = seats[n % SMALL_BOARDS]!;
        return { board_id, seq: 1 + Math.floor((n - MESSAGES) / SMALL_BOARDS), sender_id: id };
      });
      // Each second one replies to the one before.
      const reply = (n: number) => (n % 2 === 0 || n >= MESSAGES ? {} : { reply_to_seq: seq + n, root_seq: seq + n });
      const messages = copies.map((at, n) => ({ ...message, ...reply(n), ...at, id: newId('msg', tx.now) }));
      await inParts(messages, (part) => tx.change((db) => db('messages').insert(part)));
      const events = copies.map(({ board_id, seq }) => ({ ...event, board_id, seq, id: newId('evt', tx.now) }));
      await inParts(events, (part) => tx.change((db) => db('events').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE'));
    });
  });
  after(() => server.stop());

  it('shows a page from its middle by reading that page', async () => {
    const filter = { boardId, reader: { memberId: me.id, readsAll: true } };
    const middle = MESSAGES / 2;
    const { page, read } = await server.db.write(async (tx) => {
      if (engine === 'postgres') await tx.query((db) => db.raw('SET LOCAL track_counts = on'));
      const page = await messagesIn(tx, filter, { after: middle, before: null }, 'asc', 50);
      if (engine === 'sqlite') return { page, read: 0 };
      const rows = await tx.query<{ read: number }>((db) =>
        db('pg_stat_xact_user_tables').select(db.raw('SUM(idx_tup_fetch)::int AS read')),
      );
      return { page, read: rows[0]!.read };
    });
    expect(page.map((row) => row.seq)).to.deep.equal(Array.from({ length: 50 }, (_, n) => middle + 1 + n));
    expect(read).to.be.below(600);
  });
});
