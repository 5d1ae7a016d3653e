import { expect } from 'chai';
import { inParts } from '../../../src/server/db/rows.ts';
import type { ReadTx, WriteTx } from '../../../src/server/db/tx.ts';
import { newestWakingAfter, toEveryone } from '../../../src/server/inbox/inbox.store.ts';
import { type MemberRow, memberById } from '../../../src/server/members/members.store.ts';
import {
  type MessageFilter,
  type MessageRow,
  messageBySeq,
  messagesIn,
} from '../../../src/server/messages/messages.store.ts';
import { type EventRow, eventsAfter, eventsIn } from '../../../src/server/record/events.store.ts';
import { budgetOf } from '../../../src/server/seats/budgets.store.ts';
import { countWake } from '../../../src/server/seats/wake-count.steps.ts';
import { newId } from '../../../src/server/text/ids.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { readFor as rowsReadFor } from '../../support/rows-read.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const MESSAGES = 20_000;
const SMALL_BOARDS = 300;
/** On each of these. */
const FEW = 10;

forEachDatabase('a large board beside many small ones', (engine) => {
  let server: TestServer;
  let boardId: string;
  let me: MemberRow;
  let away: MemberRow;
  let first: number;
  let taskId: string;

  before(async () => {
    server = await startTestServer(engine);
    const board = await newBoard(server.dana);
    const { memberId } = await newAgent(server.dana, board.name);
    const { memberId: awayId } = await newAgent(server.dana, board.name);
    taskId = (await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'one' } })).id;
    const { seq } = await post(server.dana, board.name, 'one of many');
    boardId = board.id;
    first = seq;
    await server.db.write(async (tx) => {
      me = (await memberById(tx, memberId)) as MemberRow;
      away = (await memberById(tx, awayId)) as MemberRow;
      const message = (await messageBySeq(tx, boardId, seq)) as MessageRow;
      const [event] = (await eventsAfter(tx, boardId, seq - 1)) as [EventRow];
      const seats = Array.from({ length: SMALL_BOARDS }, () => {
        const ids = { id: newId('mem', tx.now), board_id: newId('brd', tx.now) };
        return { ...me, ...ids, token_digest: null, session_digest: null };
      });
      await inParts(seats, (part) => tx.change((db) => db('members').insert(part)));
      const copies = Array.from({ length: MESSAGES + SMALL_BOARDS * FEW }, (_, n) => {
        if (n < MESSAGES) return { board_id: boardId, seq: seq + 1 + n, sender_id: me.id };
        const { id, board_id } = seats[n % SMALL_BOARDS]!;
        return { board_id, seq: 1 + Math.floor((n - MESSAGES) / SMALL_BOARDS), sender_id: id };
      });
      // Each second one replies to the one before.
      const reply = (n: number) => (n % 2 === 0 || n >= MESSAGES ? {} : { reply_to_seq: seq + n, root_seq: seq + n });
      const messages = copies.map((at, n) => ({ ...message, ...reply(n), ...at, id: newId('msg', tx.now) }));
      await inParts(messages, (part) => tx.change((db) => db('messages').insert(part)));
      const events = copies.map(({ board_id, seq }) => ({ ...event, board_id, seq, id: newId('evt', tx.now) }));
      await inParts(events, (part) => tx.change((db) => db('events').insert(part)));
      const rare = ['board.archived', 'board.restored', 'board.archived'].map((type, n) => {
        return { ...event, type, seq: seq + MESSAGES + 1 + n, id: newId('evt', tx.now) };
      });
      await tx.change((db) => db('events').insert(rare));
      const about = messages.filter(({ seq }, n) => n < MESSAGES && seq > MESSAGES / 2).slice(0, 3);
      const links = about.map(({ id, seq }) => {
        return { message_id: id, task_id: taskId, board_id: boardId, seq, thread_seq: seq, how: 'named', n: 0 };
      });
      await tx.change((db) => db('message_tasks').insert(links));
      for (const { id: message_id, seq, board_id } of about) {
        const cited = { message_id, n: 0, file_id: newId('fil', tx.now), version: 1, seq, board_id };
        await tx.change((db) => db('message_files').insert(cited));
        const ask = {
          message_id,
          board_id,
          seq,
          at: tx.now,
          from_id: me.id,
          to_id: away.id,
          blocking: 0,
          withdrawn: 0,
        };
        await tx.change((db) => db('asks').insert(ask));
        const named = { mentioned: 1, awaits: 1, addressed: 0, wakes: 0, urgent: 0 };
        await tx.change((db) => db('message_members').insert({ member_id: me.id, seq, ...named }));
      }
      await tx.change((db) =>
        db('messages')
          .whereIn(
            'id',
            about.map(({ id }) => id),
          )
          .update({ answer_to: message.id }),
      );
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE'));
    });
  });
  after(() => server.stop());

  const readFor = <T>(work: (tx: WriteTx) => Promise<T>): Promise<{ value: T; read: number }> =>
    server.db.write((tx) => rowsReadFor(tx, () => work(tx)));

  /** What SQLite does for a query. */
  const planOf = (work: (tx: ReadTx) => Promise<object[]>): Promise<string[]> =>
    server.db.read(async (tx) => {
      const query: ReadTx['query'] = (build) => tx.query((db) => db.raw(`EXPLAIN QUERY PLAN ${build(db)}`));
      return (await work({ now: tx.now, query } as ReadTx)).map((step) => (step as { detail: string }).detail);
    });

  const seat = () => ({ member: away, reader: { memberId: away.id, readsAll: true } });

  const filters = (): [string, Partial<MessageFilter>][] => [
    ['all messages', {}],
    ['messages of a role', { senderRole: me.role! }],
    ['messages about a task', { taskId }],
    ...(['ask', 'answer', 'files', 'mention_me', 'awaits_me'] as const).map((has): [string, Partial<MessageFilter>] => [
      has,
      { asked: { has } },
    ]),
  ];

  it('shows a page from its middle by reading that page, whatever is looked for', async () => {
    const middle = MESSAGES / 2;
    for (const [name, wanted] of filters()) {
      const filter = { boardId, reader: { memberId: me.id, readsAll: true }, ...wanted };
      const { value: page, read } = await readFor((tx) =>
        messagesIn(tx, filter, { after: middle, before: null }, 'asc', 50),
      );
      const seqs = Array.from({ length: 50 }, (_, n) => middle + 1 + n);
      expect(
        page.map((row) => row.seq),
        name,
      ).to.deep.equal(wanted.taskId || wanted.asked ? seqs.slice(0, 3) : seqs);
      expect(read, name).to.be.below(600);
    }
  });

  it('finds events of rare types without reading the record', async () => {
    const end = first + MESSAGES + 1;
    for (const [types, before, order, found] of [
      [['board.archived'], null, 'asc', [end, end + 2]],
      [['board.archived'], null, 'desc', [end + 2, end]],
      [['board.archived', 'board.restored', 'board.archived'], null, 'desc', [end + 2, end + 1]],
      [['board.archived'], end, 'desc', []],
    ] as const) {
      const { value, read } = await readFor((tx) =>
        eventsIn(tx, { boardId, after: 0, before, types: [...types] }, order, 2),
      );
      expect(value.map((row) => row.seq)).to.deep.equal(found);
      expect(read).to.be.below(600);
    }
    if (engine !== 'sqlite') return;
    const steps = await planOf((tx) =>
      eventsIn(tx, { boardId, after: 0, before: null, types: ['board.archived', 'board.restored'] }, 'desc', 50),
    );
    const searched = steps.flatMap((step) => /(?<=^SEARCH events USING )(?:COVERING )?INDEX \w+/.exec(step) ?? []);
    expect(searched).to.have.members([
      'INDEX events__board_id__seq',
      'COVERING INDEX events_by_type',
      'COVERING INDEX events_by_type',
    ]);
  });

  it('tells an agent that was away what wakes it without reading all that agents wrote', async () => {
    const reader = { memberId: away.id, readsAll: true };
    const since = (after: number) => readFor((tx) => newestWakingAfter(tx, reader, { boardId, after, people: true }));
    expect((await since(first - 1)).value).to.equal(first);
    const { value, read } = await since(first);
    expect(value).to.equal(0);
    expect(read).to.be.below(600);
    const urgent = await readFor((tx) => toEveryone(tx, { boardId, after: 0, urgentOnly: true, limit: 50 }));
    expect(urgent.value).to.deep.equal([]);
    expect(urgent.read).to.be.below(600);
  });

  it('acknowledges all that an agent missed by looking at the newest of it', async () => {
    const { read } = await readFor((tx) => countWake(tx, seat(), { after: 0, upTo: first + MESSAGES }));
    expect(read).to.be.below(MESSAGES);
  });

  it('counts no wake of an agent that missed a word of a person, however long before', async () => {
    const member = { ...away, delivery_mode: 'all' as const };
    const buckets = (after: number) =>
      server.db.write(async (tx) => {
        await countWake(tx, { ...seat(), member }, { after, upTo: first + MESSAGES });
        return (await budgetOf(tx, member.id)).buckets;
      });
    expect(await buckets(first - 1)).to.deep.equal([]);
    expect(await buckets(first)).to.not.deep.equal([]);
  });

  if (engine === 'sqlite')
    it('leaves out what is not looked for before it reads the rest of a message', async () => {
      const filter = { boardId, reader: { memberId: me.id, readsAll: true } };
      const wanted: [Partial<MessageFilter>, index: string, tables: RegExp][] = [
        [{ senderRole: 'rare' }, 'messages__board_id__seq', /^m w e s/],
        [{ asked: { has: 'ask' } }, 'asks_in', /^f m e s/],
        [{ asked: { has: 'files' } }, 'message_files_on', /^f m e s/],
        [{ asked: { has: 'mention_me' } }, 'message_members_mentioned', /^f m e s/],
        [{ asked: { has: 'awaits_me' } }, 'message_members_owed', /^f m e s/],
        [{ asked: { has: 'answer' } }, 'messages_answering', /^m e s/],
      ];
      for (const [part, index, tables] of wanted) {
        const steps = await planOf((tx) =>
          messagesIn(tx, { ...filter, ...part }, { after: 0, before: null }, 'desc', 50),
        );
        expect(steps[0]).to.match(new RegExp(`^SEARCH . USING (?:COVERING )?INDEX ${index} \\(.*seq>`));
        const searched = steps.flatMap((step) => /(?<=^SEARCH )\w+/.exec(step) ?? []);
        expect(searched.join(' ')).to.match(tables);
        expect(steps.join('\n')).not.to.include('TEMP B-TREE');
      }
    });
});
