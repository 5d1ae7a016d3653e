/**
 * Whoever can write to the database can change a stored event; whoever checks the record finds it. One byte at a time is
 * changed behind the server's back, at a place drawn by chance, and put back after the check.
 *
 * The short form runs with all tests, SERVICE_TEST_LONG=1 changes 1,000 bytes on each database.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import pg from 'pg';
import { Client } from '../../../src/client/client.ts';
import { verifyBoard } from '../../../src/client/verify.ts';
import { type Chance, chance } from '../../faults/random.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { setPolicy } from '../../support/state.ts';

const CHANGES = process.env['SERVICE_TEST_LONG'] === '1' ? 1_000 : 60;

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const TEXTS = ['id', 'board_id', 'type', 'actor', 'data'] as const;
const NUMBERS = ['seq', 'at'] as const;
const HASHES = ['data_hash', 'prev_hash', 'hash'] as const;
const COLUMNS = [...TEXTS, ...NUMBERS, ...HASHES];
type Column = (typeof COLUMNS)[number];
type Stored = Record<Column, string | number | Buffer>;

/** The table behind the server's back, with nothing that keeps it from being changed. */
interface Backdoor {
  rows(boardId: string): Promise<Stored[]>;
  /** Writes bytes as they are, also such as are no text. */
  write(id: Buffer, column: Column, value: Buffer | number): Promise<void>;
  close(): Promise<void>;
}

async function backdoor(engine: Engine, server: TestServer): Promise<Backdoor> {
  if (engine === 'postgres') {
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    await client.query('ALTER TABLE events DISABLE TRIGGER USER');
    return {
      rows: async (boardId) =>
        (await client.query('SELECT * FROM events WHERE board_id = $1 ORDER BY seq', [boardId])).rows.map((row) => ({
          ...row,
          seq: Number(row.seq),
          at: Number(row.at),
        })),
      async write(id, column, value) {
        const bytes = (TEXTS as readonly string[]).includes(column) ? value.toString() : value;
        await client.query(`UPDATE events SET ${column} = $1 WHERE id = $2`, [bytes, id.toString()]);
      },
      close: () => client.end(),
    };
  }
  const file = new Sqlite(join(server.dataDir, 'service.db'), { timeout: 5_000 });
  file.exec('DROP TRIGGER events_no_update');
  return {
    rows: async (boardId) =>
      file.prepare('SELECT * FROM events WHERE board_id = ? ORDER BY seq').all(boardId) as Stored[],
    async write(id, column, value) {
      const bytes = (TEXTS as readonly string[]).includes(column) ? 'CAST(? AS TEXT)' : '?';
      file.prepare(`UPDATE events SET ${column} = ${bytes} WHERE id = CAST(? AS TEXT)`).run(value, id);
    },
    async close() {
      file.close();
    },
  };
}

forEachDatabase('a byte of the record changed in the database', (engine) => {
  let server: TestServer;
  let board: { id: string; name: string };
  let door: Backdoor;
  before(async () => {
    server = await startTestServer(engine);
    const { dana } = server;
    board = await newBoard(dana, { template: 'writer-reviewer' });
    const writer = await newAgent(dana, board.name, { name: 'writer', harness: 'codex' });
    await setPolicy(server, board.name, { visibility: 'addressed' });
    const params = { board: board.name };
    for (let n = 0; n < 8; n++) {
      const text = `Line ${n} \u001b[31m é 🎉 \u2028 "quoted" \\ @writer\n`;
      const { id } = await post(n % 2 === 0 ? dana : writer, board.name, text, {
        to: n % 3 === 0 ? ['@writer'] : ['all'],
      });
      await dana.ok('addReaction', { params: { message: id, reaction: 'heart' } });
    }
    await dana.ok('createTask', { params, body: { title: 'Find what was changed' } });
    door = await backdoor(engine, server);
  });
  after(async () => {
    await door.close();
    await server.stop();
  });

  const verify = () =>
    verifyBoard(new Client({ origin: server.url, token: server.dana.token ?? '' }), board, { sha256 });

  it(`is found and named by its number, ${CHANGES} times`, async function () {
    this.timeout(120_000 + CHANGES * 1_000);
    const luck = chance();
    const rows = await door.rows(board.id);
    const numbers = new Set(rows.map((row) => row.seq));
    expect((await verify()).problem).to.equal(null);
    for (let n = 0; n < CHANGES; n++) {
      const row = luck.pick(rows);
      const column = luck.pick(COLUMNS);
      const changed = changedByte(row[column], column, luck, engine);
      if (changed === null || (column === 'seq' && numbers.has(changed as number))) {
        n--;
        continue;
      }
      const id = Buffer.from(row.id as string);
      await door.write(id, column, changed);
      const { problem } = await verify();
      const said = `${column} of ${row.seq} became ${changed} (SERVICE_TEST_SEED=${luck.seed})`;
      expect(problem?.seq, said).to.equal(row.seq);
      await door.write(column === 'id' ? (changed as Buffer) : id, column, asBytes(row[column]));
    }
    expect((await verify()).problem).to.equal(null);
  });

  it('leaves the record readable where it is no JSON any more: the event comes without what cannot be read', async () => {
    const writer = await newAgent(server.dana, board.name, { name: 'reader' });
    for (const column of ['data', 'actor'] as const) {
      const row = (await door.rows(board.id)).find((each) => each.type === 'message.posted') as Stored;
      const id = Buffer.from(row.id as string);
      await door.write(id, column, Buffer.from(String(row[column]).replace('{', '[')));
      for (const reader of [server.dana, writer]) {
        const { events } = await reader.ok('listEvents', { params: { board: board.name }, query: { limit: 200 } });
        const event = events.find(({ seq }) => seq === row.seq);
        if (column === 'data') expect(event).not.to.have.any.keys('data', 'data_withheld');
        else expect(event?.actor.name).to.equal('(unreadable)');
      }
      const reason = column === 'data' ? 'payload_missing' : 'hash_mismatch';
      expect((await verify()).problem).to.deep.equal({ seq: row.seq, reason });
      await door.write(id, column, asBytes(row[column]));
    }
  });

  it('keeps only itself from being found', async () => {
    const lost = await post(server.dana, board.name, 'heron one');
    const kept = await post(server.dana, board.name, 'heron two');
    const task = await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'heron three' } });
    const rows = (await door.rows(board.id)).filter(({ seq }) => (seq as number) >= lost.seq);
    for (const row of rows.filter(({ seq }) => seq !== kept.seq)) {
      const changed = String(row['data']).replace(row.seq === lost.seq ? 'body' : '{', 'x');
      await door.write(Buffer.from(row.id as string), 'data', Buffer.from(changed));
    }
    const { results } = await server.dana.ok('search', { query: { q: 'heron', board: board.name } });
    expect(results.map(({ message }) => message?.id)).to.deep.equal([kept.id]);
    for (const row of rows) await door.write(Buffer.from(row.id as string), 'data', asBytes(row['data']));
    await server.dana.ok('updateTask', {
      params: { board: board.name, task: task.ref },
      body: { title: 'heron four' },
    });
    expect((await server.dana.ok('search', { query: { q: 'heron', kind: 'task' } })).results).to.have.length(1);
  });

  it('keeps only itself from being found also where it became an event of another kind', async () => {
    const lost = await post(server.dana, board.name, 'egret one');
    const kept = await post(server.dana, board.name, 'egret two');
    await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'egret three' } });
    const rows = (await door.rows(board.id)).filter(({ seq }) => (seq as number) >= lost.seq && seq !== kept.seq);
    for (const row of rows) {
      const type = row.seq === lost.seq ? 'task.updated' : 'message.posted';
      await door.write(Buffer.from(row.id as string), 'type', Buffer.from(type));
    }
    const { results } = await server.dana.ok('search', { query: { q: 'egret', board: board.name } });
    expect(results.map(({ message }) => message?.id)).to.deep.equal([kept.id]);
    for (const row of rows) await door.write(Buffer.from(row.id as string), 'type', asBytes(row.type));
  });

  it('keeps no list from being read with a message whose text is lost', async () => {
    const { dana } = server;
    const params = { board: board.name };
    const agent = await newAgent(dana, board.name, { name: 'keeper' });
    const first = await post(dana, board.name, 'osprey one', { to: ['@keeper'] });
    const ask = { options: ['osprey', 'kite'] };
    const asked = await post(agent, board.name, 'osprey two', { ask });
    await post(dana, board.name, 'osprey three', { reply_to: first.id });
    await post(dana, board.name, 'osprey four', { reply_to: asked.id, answer: { option: 1 } });
    await dana.ok('search', { query: { q: 'osprey' } });
    const rows = (await door.rows(board.id)).filter(({ seq }) => (seq as number) >= first.seq);
    const damages = ['{', 'body', 'to', 'mentions', 'ask_id":"msg_'];
    for (const row of rows) {
      const id = Buffer.from(row.id as string);
      for (const damage of damages.filter((part) => String(row['data']).includes(part))) {
        await door.write(id, 'data', Buffer.from(String(row['data']).replace(damage, `${damage.slice(0, -1)}0`)));
        for (const reader of [dana, agent]) {
          const { messages } = await reader.ok('listMessages', { params, query: { after: first.seq - 1 } });
          expect(messages).to.have.length(rows.length);
          await reader.ok('listThreads', { params });
          await reader.ok('search', { query: { q: 'osprey' } });
          await reader.ok('listAsks', {});
          for (const { id: message, seq } of messages) {
            await reader.ok('getMessage', { params: { message } });
            await reader.ok('listReplies', { params: { message } });
            await reader.ok('listReceipts', { params: { board: board.name, seq } });
          }
        }
        const inbox = await agent.ok('readInbox', {});
        expect(inbox.messages).to.have.length(inbox.unread);
      }
      await door.write(id, 'data', asBytes(row['data']));
    }
  });

  it('keeps nothing from being read or done where it is JSON of another shape', async () => {
    const { dana } = server;
    const params = { board: board.name };
    const agent = await newAgent(dana, board.name, { name: 'shaper' });
    const pam = await server.person('pam');
    await dana.ok('addBoardPerson', { params, body: { handle: 'pam' } });
    await put(dana, board.name, 'plan.md', 'The plan');
    const ask = { options: ['yes', 'no'], approval: true };
    const asked = await post(agent, board.name, 'May I?', { to: ['@pam'], ask, files: [{ file: 'plan.md' }] });
    const answer = { reply_to: asked.id, answer: { option: 1 } };
    const rows = await door.rows(board.id);
    const damaged = rows.filter(({ type, seq }) => type === 'person.added' || seq === asked.seq);
    for (const row of damaged) {
      const id = Buffer.from(row.id as string);
      const whole = JSON.parse(String(row['data'])) as Record<string, unknown>;
      const changes = Object.keys(whole).flatMap((key) => [{ [key]: 5 }, { [key]: [null] }, { [key]: {} }]);
      for (const text of [...changes.map((change) => JSON.stringify({ ...whole, ...change })), '5', 'null', '{']) {
        await door.write(id, 'data', Buffer.from(text));
        for (const reader of [agent, pam]) {
          const { messages } = await reader.ok('listMessages', { params, query: { after: asked.seq - 1 } });
          expect(messages, text).to.have.length(1);
          await reader.ok('listEvents', { params, query: { after: asked.seq - 1 } });
          await reader.ok('listReceipts', { params: { ...params, seq: asked.seq } });
          await reader.ok('listBoards', {});
        }
        await door.write(id, 'data', asBytes(row['data']));
      }
    }
    const [added, asking] = damaged;
    await door.write(Buffer.from(added?.id as string), 'actor', Buffer.from('['));
    await pam.ok('listBoards', {});
    await door.write(Buffer.from(added?.id as string), 'actor', asBytes(added?.actor as string));
    const id = Buffer.from(asking?.id as string);
    for (const text of ['{', String(asking?.data).replace('"options":[', '"options":[5,')]) {
      await door.write(id, 'data', Buffer.from(text));
      expect(await pam.refused('postMessage', { params, body: { body: 'Yes', ...answer } })).to.equal(
        '422 ask_invalid',
      );
      await post(pam, board.name, 'In words', { reply_to: asked.id });
    }
    await door.write(id, 'data', asBytes(asking?.data as string));
    expect((await post(pam, board.name, 'Yes', answer)).answer?.option_text).to.equal('yes');
  });

  it('leaves the record readable where it is no time any more', async () => {
    const row = (await door.rows(board.id))[2] as Stored;
    const id = Buffer.from(row.id as string);
    await door.write(id, 'at', 8_640_000_000_000_001);
    expect((await verify()).problem).to.deep.equal({ seq: row.seq, reason: 'hash_mismatch' });
    await door.write(id, 'at', row.at as number);
    expect((await verify()).problem).to.equal(null);
  });
});

const asBytes = (value: Stored[Column]): Buffer | number => (typeof value === 'string' ? Buffer.from(value) : value);

/** The value with one byte changed; null when the draw changes nothing that is said, or cannot be stored. */
function changedByte(value: Stored[Column], column: Column, luck: Chance, engine: Engine): Buffer | number | null {
  if (typeof value === 'number') {
    const digits = String(value);
    const at = luck.between(0, digits.length - 1);
    const changed = Number(digits.slice(0, at) + luck.between(0, 9) + digits.slice(at + 1));
    return changed === value ? null : changed;
  }
  const bytes = Buffer.from(value as string);
  const at = luck.between(0, bytes.length - 1);
  const byte = luck.between(0, 255);
  if (bytes[at] === byte) return null;
  bytes[at] = byte;
  if (typeof value !== 'string') return bytes;
  // Postgres keeps nothing that is no text.
  if (engine === 'postgres' && (byte === 0 || !isUtf8(bytes))) return null;
  // `\u001b` and `\u001B` are the same character, and the record still says what it said.
  return column === 'data' || column === 'actor' ? (sameJson(value, bytes.toString()) ? null : bytes) : bytes;
}

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes);

function sameJson(before: string, after: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(before), JSON.parse(after));
  } catch {
    return false;
  }
}
