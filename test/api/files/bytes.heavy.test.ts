import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put, refusedPut, tryPut } from '../../support/files.ts';
import { open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, revokeKey, setRoles } from '../../support/state.ts';
import { until } from '../../support/until.ts';

const MAX = 52_428_800;
const secret = `ghp_${'a1B2c3D4'.repeat(5)}`;

forEachDatabase('bytes on their way', (engine) => {
  let server: TestServer;
  let dana: Api;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
    board = (await newBoard(dana)).name;
  });
  after(() => server.stop());

  const staged = () => readdirSync(join(server.dataDir, 'files', 'tmp'));
  const blobs = () => server.db.read((tx) => tx.query<{ digest: string }>((db) => db('blobs').select('digest')));
  const target = (name: string, more = '') => `/v1/boards/${board}/files?name=${name}${more}`;

  /** Sends a body in pieces, without a length. */
  function chunked(
    name: string,
    pieces: Iterable<Buffer>,
  ): Promise<{ status: number; text: string; connection: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...dana.headers({}),
        'content-type': 'application/octet-stream',
        'transfer-encoding': 'chunked',
      };
      const outgoing = request(server.url + target(name), { method: 'POST', headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            connection: answer.headers.connection ?? '',
          }),
        );
      });
      let answered = false;
      outgoing.on('response', () => {
        answered = true;
      });
      outgoing.on('error', (error) => {
        if (!answered) reject(error);
      });
      Readable.from(pieces).pipe(outgoing);
    });
  }

  function* pieces(total: number): Generator<Buffer> {
    const piece = randomBytes(1_048_576);
    for (let left = total; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length));
  }

  it('are taken up to exactly 50 MiB, and one more is cut off', async () => {
    expect((await chunked('largest.bin', pieces(MAX))).status).to.equal(201);
    const more = await chunked('larger.bin', pieces(MAX + 1));
    expect([more.status, more.connection]).to.deep.equal([413, 'close']);
    expect(more.text).to.include('file_too_large');
    expect(staged()).to.deep.equal([]);
    expect(await dana.refused('getFile', { params: { board, file: 'larger.bin' } })).to.equal('404 file_not_found');
  });

  it('are refused by their declared length before they have come', async () => {
    const call = { params: { board }, query: { name: 'declared.bin' }, bytes: 'only the first of them' };
    const headers = { 'content-length': String(MAX + 1) };
    expect(await dana.refused('uploadFile', { ...call, headers })).to.equal('413 file_too_large');
  });

  const headOf = (path: string, api: Api, more: string[]): string =>
    `${[
      `POST ${path} HTTP/1.1`,
      `Host: ${new URL(server.url).host}`,
      `Authorization: Bearer ${api.token}`,
      'Content-Type: application/octet-stream',
      ...more,
    ].join('\r\n')}\r\n\r\n`;

  it('are asked for only when nothing stands against them', async () => {
    await put(dana, board, 'there.md', 'x');
    const socket = open(server.url);
    socket.write(headOf(target('there.md'), dana, ['Content-Length: 5', 'Expect: 100-continue']));
    const [refused] = (await once(socket, 'data')) as [Buffer];
    expect(refused.toString())
      .to.match(/^HTTP\/1\.1 409 /)
      .and.include('file_exists');
    socket.destroy();
    const other = open(server.url);
    other.write(headOf(target('asked.md'), dana, ['Content-Length: 5', 'Expect: 100-continue']));
    const [asked] = (await once(other, 'data')) as [Buffer];
    expect(asked.toString()).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
    other.write('hello');
    const [done] = (await once(other, 'data')) as [Buffer];
    expect(done.toString()).to.match(/^HTTP\/1\.1 201 /);
    other.destroy();
  });

  it('are refused while they come, and the refusal arrives', async () => {
    const eve = await server.person('eve');
    const { name } = await newBoard(dana, { visibility: 'private' });
    const large = Buffer.alloc(20_000_000, 'x');
    for (let n = 0; n < 3; n++) {
      const answer = await tryPut(eve, name, 'large.bin', large);
      expect([answer.status, answer.code]).to.deep.equal([404, 'board_not_found']);
      const gone = await tryPut(server.nobody, board, 'large.bin', large);
      expect([gone.status, gone.code]).to.deep.equal([401, 'unauthorized']);
      const stale = await tryPut(dana, board, 'large.bin', large, { base: 7 });
      expect([stale.status, stale.code]).to.deep.equal([409, 'file_changed']);
    }
  });

  /** How many bytes of an upload lie aside. */
  const aside = (): number => {
    const [name] = staged();
    return name === undefined ? 0 : statSync(join(server.dataDir, 'files', 'tmp', name)).size;
  };

  /** An upload of which four bytes have come. */
  async function begun(name: string) {
    const socket = open(server.url);
    socket.write(headOf(target(name), dana, ['Content-Length: 1000']));
    socket.write('some');
    await until(() => aside() === 4 && server.clock.waiting(30_000) > 0, 'the server waits for more');
    return { socket, answer: once(socket, 'data') as Promise<[Buffer]> };
  }

  async function expectGivenUp({ socket, answer }: Awaited<ReturnType<typeof begun>>): Promise<void> {
    const [text] = await answer;
    expect(text.toString())
      .to.match(/^HTTP\/1\.1 408 /)
      .and.include('request_timeout');
    socket.destroy();
    await until(() => staged().length === 0, 'what had come is gone');
  }

  it('that stop coming are given up after 30 seconds', async () => {
    const upload = await begun('stopped.bin');
    let given = false;
    void upload.answer.then(() => {
      given = true;
    });
    // Other waits may be as long as this one: time moves on until the answer is there.
    await until(() => {
      server.clock.advance(30_000);
      return given;
    }, 'it is given up');
    await expectGivenUp(upload);
  });

  it('that never stop coming are given up after 15 minutes', async () => {
    const upload = await begun('trickle.bin');
    for (let come = 5; come < 5 + 31; come++) {
      upload.socket.write('x');
      await until(() => aside() === come && server.clock.waiting(30_000) > 0, 'it has come');
      server.clock.advance(29_000);
    }
    server.clock.advance(2_000);
    await expectGivenUp(upload);
  });

  it('of a client that leaves are thrown away', async () => {
    const socket = open(server.url);
    socket.write(headOf(target('left.bin'), dana, ['Content-Length: 1000']));
    socket.write('some');
    await until(() => staged().length > 0, 'they are kept aside');
    socket.destroy();
    await until(() => staged().length === 0, 'they are gone');
  });

  it('with a credential are refused, whatever they say they are, and leave nothing', async () => {
    const before = (await blobs()).length;
    const text = (at: number) =>
      Buffer.concat([Buffer.alloc(at, 'x\n'), Buffer.from(`token: ${secret}\n`), Buffer.alloc(9_000, 'y')]);
    for (const at of [0, 65_530, 65_536 - 4_096, 131_060]) {
      const refused = await refusedPut(dana, board, 'leak.bin', text(at), { media_type: 'application/octet-stream' });
      expect(refused.code, String(at)).to.equal('file_has_secret');
      expect(refused.details).to.deep.equal({ kinds: [{ kind: 'github_token', count: 1 }], line: at / 2 + 1 });
    }
    const wide = Buffer.from(`\ufeff\n\ntoken ${secret} and again ${secret}`, 'utf16le');
    expect((await refusedPut(dana, board, 'wide.txt', wide)).details).to.deep.equal({
      kinds: [{ kind: 'github_token', count: 2 }],
      line: 3,
    });
    const key = Buffer.from('-----BEGIN RSA PRIVATE KEY-----\nonly its begin');
    expect((await refusedPut(dana, board, 'key.pem', key)).details['kinds']).to.deep.equal([
      { kind: 'private_key', count: 1 },
    ]);
    expect([(await blobs()).length, staged()]).to.deep.equal([before, []]);
    expect(await dana.refused('getFile', { params: { board, file: 'leak.bin' } })).to.equal('404 file_not_found');
    expect(server.log.join('')).not.to.include(secret);
  });

  it('that are no text, or hold what files may, are taken', async () => {
    const binary = Buffer.concat([Buffer.from([0]), Buffer.from(secret)]);
    expect((await tryPut(dana, board, 'binary.bin', binary)).status).to.equal(201);
    const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(30)}`;
    const allowed = `Authorization: Bearer ${'z'.repeat(30)}\n${jwt}\nhttps://user:hunter2-secret@host/`;
    expect((await tryPut(dana, board, 'fixtures.txt', allowed)).status).to.equal(201);
  });

  it('under one key are uploaded once', async () => {
    const file = await put(dana, board, 'keyed.md', 'one');
    const call = (bytes: string, query: Record<string, string | number> = {}) =>
      tryPut(dana, board, 'keyed.md', bytes, { base: 1, file_id: file.id, ...query }, { key: 'upload once' });
    const first = await call('two');
    expect([first.status, first.replayed]).to.deep.equal([201, false]);
    await put(dana, board, 'keyed.md', 'three', { base: 2 });
    const again = await call('two');
    expect([again.status, again.replayed, again.text]).to.deep.equal([201, true, first.text]);
    expect((await call('other')).code).to.equal('idempotency_conflict');
    expect((await call('two', { name: 'other.md' })).code).to.equal('idempotency_conflict');
    expect((await dana.ok('getFile', { params: { board, file: file.id } })).latest.version).to.equal(3);
    expect(staged()).to.deep.equal([]);
  });

  it('under a key that was used otherwise are not even read', async () => {
    await tryPut(dana, board, 'bound.md', 'x', {}, { key: 'bound' });
    const socket = open(server.url);
    socket.write(
      headOf(target('elsewhere.md'), dana, ['Content-Length: 5', 'Idempotency-Key: bound', 'Expect: 100-continue']),
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString())
      .to.match(/^HTTP\/1\.1 422 /)
      .and.include('idempotency_conflict');
    socket.destroy();
  });

  it('that were refused are refused again under their key, but for what the gate said', async () => {
    const name = (await newBoard(dana)).name;
    const agent = await newAgent(dana, name);
    await put(agent, name, 'a.md', '1');
    const again = (key: string, base: number) => tryPut(agent, name, 'a.md', 'mine', { base }, { key });
    const changed = await again('stale', 7);
    expect([changed.code, changed.replayed]).to.deep.equal(['file_changed', false]);
    for (const base of [1, 2, 3, 4, 5, 6]) await put(agent, name, 'a.md', `${base}`, { base });
    const replayed = await again('stale', 7);
    expect([replayed.code, replayed.replayed, replayed.text]).to.deep.equal(['file_changed', true, changed.text]);
    await changeBoard(server, name, { lifecycle: 'archived' });
    expect((await again('later', 7)).code).to.equal('board_archived');
    await changeBoard(server, name, { lifecycle: 'active' });
    await setRoles(server, name, { member: { can: ['post'] } });
    expect((await again('later', 7)).code).to.equal('forbidden');
    await setRoles(server, name, { member: { can: ['upload_files'] } });
    expect((await again('later', 7)).status).to.equal(201);
    const leak = (key: string) => tryPut(agent, name, 'leak.md', secret, {}, { key });
    expect([(await leak('leak')).replayed, (await leak('leak')).replayed]).to.deep.equal([false, true]);
  });

  it('that were taken are reported again only to callers who still have access', async () => {
    const name = (await newBoard(dana, { visibility: 'private' })).name;
    const pam = await server.person(`pam-${name}`);
    await dana.ok('addBoardPerson', { params: { board: name }, body: { handle: `pam-${name}` } });
    const again = () => tryPut(pam, name, 'a.md', 'x', {}, { key: 'access' });
    expect((await again()).status).to.equal(201);
    await changeBoard(server, name, { lifecycle: 'archived' });
    expect((await again()).replayed).to.equal(true);
    await changeBoard(server, name, { lifecycle: 'active' });
    await pam.ok('leaveBoard', { params: { board: name } });
    expect((await again()).code).to.equal('board_not_found');
  });

  it('sent twice at once under one key have one effect', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => tryPut(dana, board, 'twice.md', 'same', {}, { key: 'twice' })),
    );
    expect(answers.map((answer) => answer.status)).to.deep.equal([201, 201, 201, 201]);
    expect(answers.filter((answer) => !answer.replayed)).to.have.length(1);
    expect(new Set(answers.map((answer) => answer.text)).size).to.equal(1);
  });

  it('under a key wait for the first upload, unread, and not for ever', async () => {
    const socket = open(server.url);
    socket.write(headOf(target('held.md'), dana, ['Content-Length: 5', 'Idempotency-Key: held']));
    socket.write('he');
    await until(() => staged().length > 0, 'the first is under way');
    const second = open(server.url);
    second.write(
      headOf(target('held.md'), dana, ['Content-Length: 5', 'Idempotency-Key: held', 'Expect: 100-continue']),
    );
    await until(() => server.clock.waiting(30_000) > 1, 'the second waits');
    const answer = once(second, 'data') as Promise<[Buffer]>;
    socket.write('l');
    server.clock.advance(29_000);
    socket.write('l');
    await until(() => server.clock.waiting(30_000) > 0, 'the first still comes');
    server.clock.advance(1_100);
    const [told] = await answer;
    expect(told.toString())
      .to.match(/^HTTP\/1\.1 409 /)
      .and.include('idempotency_in_progress')
      .and.match(/retry-after: 1/i);
    socket.destroy();
    second.destroy();
    await until(() => staged().length === 0, 'nothing is left');
  });

  it('of a credential that is revoked meanwhile are not named', async () => {
    const ron = await server.person('ron');
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'ron' } });
    const { head_seq } = await dana.ok('getBoard', { params: { board } });
    const socket = open(server.url);
    socket.write(headOf(target('revoked.md'), ron, ['Content-Length: 5']));
    socket.write('he');
    await until(() => staged().length > 0, 'they come');
    await revokeKey(server, ron);
    socket.write('llo');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 401 /);
    socket.destroy();
    expect((await dana.ok('getBoard', { params: { board } })).head_seq).to.equal(head_seq);
  });

  it('come from one credential eight uploads at a time', async () => {
    const sockets = Array.from({ length: 8 }, (_unused, n) => {
      const socket = open(server.url);
      socket.write(headOf(target(`many-${n}.md`), dana, ['Content-Length: 5']));
      socket.write('x');
      return socket;
    });
    await until(() => staged().length === 8, 'eight are under way');
    const ninth = await tryPut(dana, board, 'many-9.md', 'x');
    expect([ninth.status, ninth.code, ninth.headers.get('retry-after')]).to.deep.equal([429, 'rate_limited', '5']);
    for (const socket of sockets) socket.destroy();
    await until(
      async () => staged().length === 0 && (await tryPut(dana, board, 'many-9.md', 'x')).status === 201,
      'there is room again',
    );
  });

  it('wait 30 seconds at most for others that are the same', async () => {
    const digest = createHash('sha256').update('contended').digest('hex');
    const free = (await server.db.claim(`blob sha256:${digest}`, 0))!;
    const before = server.clock.waiting(30_000);
    const waiting = tryPut(dana, board, 'contended.md', 'contended');
    await until(() => server.clock.waiting(30_000) > before, 'it waits');
    server.clock.advance(30_000);
    const { status, code } = await waiting;
    expect([status, code]).to.deep.equal([503, 'unavailable']);
    await free();
    await put(dana, board, 'contended.md', 'contended');
  });

  /** The next collection is due in six hours: none is running. */
  const collected = () => until(() => server.clock.waiting(6 * 3_600_000) > 0, 'no collection is running');

  if (engine === 'postgres') {
    it('are noted in the database for as long as they lie in it', async () => {
      const digest = `sha256:${'0'.repeat(64)}`;
      await server.db.write(async (tx) => {
        await tx.change((db) => db('blobs').insert({ digest, size: 1, touched_at: 0 }));
        await tx.change((db) => db('blob_chunks').insert({ digest, n: 0, bytes: Buffer.from('x'), at: 0 }));
        await tx.query((db) =>
          db.raw(
            `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''kept''; END';
             CREATE TRIGGER refuse BEFORE DELETE ON blob_chunks FOR EACH ROW EXECUTE FUNCTION refuse()`,
          ),
        );
      });
      await collected();
      server.clock.advance(6 * 3_600_000);
      await until(() => server.log.some((line) => line.includes('cannot be removed')), 'it was tried');
      expect((await blobs()).map((row) => row.digest)).to.include(digest);
      await server.db.write((tx) => tx.query((db) => db.raw('DROP FUNCTION refuse CASCADE')));
      await collected();
      server.clock.advance(6 * 3_600_000);
      await until(async () => !(await blobs()).some((row) => row.digest === digest), 'both are removed');
    });
  }

  it('nobody names any more are collected after a day, and no others', async () => {
    const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const there = async (text: string) => (await blobs()).some((row) => row.digest === digest(text));
    const removed = await put(dana, board, 'removed.md', 'of a removed file');
    await dana.ok('removeFile', { params: { board, file: removed.id } });
    // Uploaded, but refused when it was to be named.
    const socket = open(server.url);
    socket.write(headOf(target('raced.md'), dana, ['Content-Length: 8']));
    socket.write('unna');
    await until(() => staged().length > 0, 'it comes');
    await put(dana, board, 'raced.md', 'came first');
    socket.write('med!');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.include('file_exists');
    socket.destroy();
    expect(await there('unnamed!')).to.equal(true);
    await collected();
    server.clock.advance(6 * 3_600_000);
    await collected();
    await put(dana, board, 'still.md', 'still there');
    server.clock.advance(19 * 3_600_000);
    await until(async () => !(await there('unnamed!')), 'it is collected');
    // To files whose times are true ones an upload of now is a day old, too: what tidies them has to be done.
    await collected();
    for (const kept of ['of a removed file', 'came first', 'still there'])
      expect(await there(kept), kept).to.equal(true);
    expect((await dana.call('downloadFile', { params: { board, file: removed.id, version: 1 } })).text).to.equal(
      'of a removed file',
    );
    expect((await put(dana, board, 'named.md', 'unnamed!')).latest.size).to.equal(8);
    expect((await dana.call('downloadFile', { params: { board, file: 'named.md', version: 1 } })).text).to.equal(
      'unnamed!',
    );
  });
});
