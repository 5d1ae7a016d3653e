import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { ChainVerifier } from '../../../src/contract/chain.ts';
import type { BoardEvent } from '../../../src/contract/types.ts';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { boardRow, fillLog, setPolicy } from '../../support/state.ts';

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

forEachDatabase('the record of a board', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  async function log(reader: Api, board: string): Promise<{ events: BoardEvent[]; head: number }> {
    const events: BoardEvent[] = [];
    let head = 0;
    for (let after: number | null = 0; after !== null; ) {
      const page: { events: BoardEvent[]; head_seq: number; next_after: number | null } = await reader.ok(
        'listEvents',
        {
          params: { board },
          query: { after, limit: 200 },
        },
      );
      events.push(...page.events);
      head = page.head_seq;
      after = page.next_after;
    }
    return { events, head };
  }

  async function verify(reader: Api, board: { id: string; name: string }): Promise<ChainVerifier> {
    const { events, head } = await log(reader, board.name);
    const verifier = new ChainVerifier(board.id, { sha256 });
    for (const event of events) await verifier.add(event);
    expect(verifier.finish(head)).to.equal(null);
    expect(verifier.events).to.equal(head);
    return verifier;
  }

  it('starts with the creation and the creator', async () => {
    const board = await newBoard(server.dana, { title: 'Title', visibility: 'private', template: 'general' });
    const { name } = await server.dana.ok('getMe');
    const { events } = await log(server.dana, board.name);
    expect(events.map(({ seq, type }) => [seq, type])).to.deep.equal([
      [1, 'board.created'],
      [2, 'member.joined'],
    ]);
    expect(events[0]?.data).to.deep.equal({
      board_id: board.id,
      name: board.name,
      template: 'general',
      charter: board.charter,
      roles: board.roles,
      policy: board.policy,
      agents_add_people: false,
      title: 'Title',
      visibility: 'private',
    });
    expect(events[1]?.data).to.deep.include({ name, kind: 'human', access: 'admin', role: null, owner: null });
    expect(events[0]?.actor).to.deep.include({ kind: 'human', name, owner: null });
    expect(events[0]?.prev_hash).to.equal(`sha256:${'0'.repeat(64)}`);
  });

  it('verifies for everybody on the board, with what is withheld from them', async () => {
    const board = await newBoard(server.dana);
    const reader = await newAgent(server.dana, board.name, { harness: 'codex' });
    const other = await newAgent(server.dana, board.name, { harness: 'claude-code' });
    const odd = 'é e\u0301 \u{1f389} \u2028 \\ " \u0001\r\n\t[redacted:x] sk-';
    for (const to of [['all'], [`@${other.name}`], [`@${reader.name}`]])
      await post(server.dana, board.name, odd, { to });
    expect((await verify(reader, board)).payloadsWithheld).to.equal(0);
    await setPolicy(server, board.name, { visibility: 'addressed', show_harness: false });
    expect((await verify(reader, board)).payloadsWithheld).to.equal(2);
    expect((await verify(server.dana, board)).payloadsWithheld).to.equal(0);
  });

  it('verifies over many pages', async () => {
    const board = await newBoard(server.dana);
    await fillLog(server, board.name, 450);
    expect((await verify(server.dana, board)).events).to.equal(452);
  });

  it('has one number after the other and one chain after 50 posts at once', async () => {
    const board = await newBoard(server.dana);
    const agents = await Promise.all(Array.from({ length: 5 }, () => newAgent(server.dana, board.name)));
    const writers = [server.dana, ...agents];
    await Promise.all(Array.from({ length: 50 }, (_, n) => post(writers[n % 6] as Api, board.name, `${n}`)));
    const verifier = await verify(server.dana, board);
    expect(verifier.events).to.equal(57);
    const row = await boardRow(server, board.name);
    expect([row.head_seq, row.message_count]).to.deep.equal([57, 50]);
    expect(`sha256:${row.head_hash.toString('hex')}`).to.equal(verifier.head?.hash);
  });

  it('never goes back in time when the clock does', async () => {
    const board = await newBoard(server.dana);
    server.clock.advance(60_000);
    const first = await post(server.dana, board.name, 'later');
    server.clock.advance(-3_600_000);
    const second = await post(server.dana, board.name, 'after that');
    expect(second.at).to.equal(first.at);
    server.clock.advance(3_600_000);
    const { events } = await log(server.dana, board.name);
    const times = events.map(({ at }) => at);
    expect(times).to.deep.equal([...times].sort());
    await verify(server.dana, board);
  });

  it('is only ever added to: the database itself refuses to change or remove an event', async () => {
    const board = await newBoard(server.dana);
    const failure = (change: (db: import('knex').Knex) => import('knex').Knex.QueryBuilder) =>
      server.db
        .write((tx) => tx.change(change))
        .then(
          () => 'done',
          (error: Error) => error.message,
        );
    const where = { board_id: board.id, seq: 1 };
    expect(await failure((db) => db('events').where(where).update({ type: 'nothing' }))).to.include('append-only');
    expect(await failure((db) => db('events').where(where).delete())).to.include('append-only');
    // The same statements pass on a table that may change.
    expect(await failure((db) => db('boards').where('id', board.id).update({ title: 'x' }))).to.equal('done');
    await verify(server.dana, board);
  });

  it('is read by type, both ways and in windows', async () => {
    const board = await newBoard(server.dana);
    await newAgent(server.dana, board.name);
    for (let n = 0; n < 4; n++) await post(server.dana, board.name, `${n}`);
    const read = async (query: Record<string, string | number | boolean>) => {
      const page = await server.dana.ok('listEvents', { params: { board: board.name }, query });
      return [page.events.map(({ seq }) => seq), page.prev_before, page.next_after];
    };
    expect(await read({})).to.deep.equal([[1, 2, 3, 4, 5, 6, 7], null, null]);
    expect(await read({ type: 'member.joined' })).to.deep.equal([[2, 3], null, null]);
    expect(await read({ type: 'board.created,message.posted', limit: 2 })).to.deep.equal([[1, 4], null, 4]);
    expect(await read({ newest: true, limit: 2 })).to.deep.equal([[6, 7], 6, null]);
    expect(await read({ newest: true, limit: 2, before: 6 })).to.deep.equal([[4, 5], 4, 5]);
    expect(await read({ after: 7 })).to.deep.equal([[], null, null]);
    expect(await read({ type: 'no.such' })).to.deep.equal([[], null, null]);
    for (const type of ['', 'A', 'a,,b', Array(21).fill('a.b').join()]) {
      expect(await server.dana.refused('listEvents', { params: { board: board.name }, query: { type } })).to.equal(
        '400 invalid_request',
      );
    }
  });

  if (engine === 'sqlite') {
    it('is durable: the log is written ahead and synced, also after a restart', async () => {
      for (let start = 0; start < 2; start++) {
        // What the file is set to for every connection; how the writer syncs is asserted by the server at its start.
        const file = new Sqlite(join(server.dataDir, 'service.db'), { readonly: true });
        expect(file.pragma('journal_mode', { simple: true })).to.equal('wal');
        file.close();
        const [writer] = await server.db.write((tx) =>
          tx.query<{ synchronous: number }>((db) => db.raw('PRAGMA synchronous')),
        );
        const [drive] = await server.db.write((tx) =>
          tx.query<{ fullfsync: number }>((db) => db.raw('PRAGMA fullfsync')),
        );
        const [mode] = await server.db.write((tx) =>
          tx.query<{ journal_mode: string }>((db) => db.raw('PRAGMA journal_mode')),
        );
        expect([writer?.synchronous, drive?.fullfsync, mode?.journal_mode]).to.deep.equal([2, 1, 'wal']);
        await server.restart();
      }
    });
  }
});
