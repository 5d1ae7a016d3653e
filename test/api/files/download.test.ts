import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { type Api, detailsOf, pathOf } from '../../support/api.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { damage, damageAt, lose, put, tryPut } from '../../support/files.ts';
import { holdNextRead } from '../../support/hold-read.ts';
import { open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser, putOnBoard, revokeKey } from '../../support/state.ts';
import { until } from '../../support/until.ts';

forEachDatabase('the bytes of a version', (engine) => {
  let server: TestServer;
  let dana: Api;
  let board: string;
  const page = '<script>alert(1)</script>';
  const digest = `sha256:${createHash('sha256').update(page).digest('hex')}`;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
    board = (await newBoard(dana)).name;
    await put(dana, board, 'pages/a.html', page);
  });
  after(() => server.stop());

  const read = (headers: Record<string, string> = {}, file = 'pages/a.html', version: string | number = 'latest') =>
    dana.call('downloadFile', { params: { board, file, version }, headers });

  it('come as an attachment that nothing may run, with their digest as tag', async () => {
    const { headers, text, status } = await read();
    expect([status, text]).to.deep.equal([200, page]);
    const file = await dana.ok('getFile', { params: { board, file: 'pages/a.html' } });
    const expected = {
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(page.length),
      'accept-ranges': 'bytes',
      etag: `"${digest}"`,
      'content-disposition': 'attachment; filename="a.html"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-cache',
      vary: 'Authorization, Cookie',
      'x-service-file-id': file.id,
      'x-service-file-version': '1',
      'content-encoding': null,
    };
    for (const [name, value] of Object.entries(expected)) expect(headers.get(name), name).to.equal(value);
  });

  it('are told of by HEAD without being sent', async () => {
    const url =
      server.url +
      pathOf('/v1/boards/{board}/files/{file}/versions/{version}', {
        params: { board, file: 'pages/a.html', version: 1 },
      });
    const answer = await fetch(url, { method: 'HEAD', headers: { ...dana.headers({}), range: 'bytes=0-1' } });
    expect([answer.status, answer.headers.get('content-length')]).to.deep.equal([200, String(page.length)]);
    expect((await answer.arrayBuffer()).byteLength).to.equal(0);
  });

  it('are not sent to a client that has them', async () => {
    for (const tag of [`"${digest}"`, `W/"${digest}"`, `"x", "${digest}"`, '*']) {
      const answer = await fetchBytes({ 'if-none-match': tag });
      expect([answer.status, answer.headers.get('etag')], tag).to.deep.equal([304, `"${digest}"`]);
    }
    expect((await read({ 'if-none-match': '"sha256:0"' })).status).to.equal(200);
  });

  const fetchBytes = (headers: Record<string, string>) =>
    fetch(`${server.url}/v1/boards/${board}/files/pages%2Fa.html/versions/latest`, {
      headers: { ...dana.headers({}), ...headers },
    });

  it('come in parts', async () => {
    const parts: [string, string, string][] = [
      ['bytes=0-3', page.slice(0, 4), `bytes 0-3/${page.length}`],
      ['bytes=8-', page.slice(8), `bytes 8-${page.length - 1}/${page.length}`],
      ['bytes=-5', page.slice(-5), `bytes ${page.length - 5}-${page.length - 1}/${page.length}`],
      [`bytes=20-${'9'.repeat(400)}`, page.slice(20), `bytes 20-${page.length - 1}/${page.length}`],
      ['bytes=20-999', page.slice(20), `bytes 20-${page.length - 1}/${page.length}`],
    ];
    for (const [range, text, told] of parts) {
      const answer = await read({ range });
      expect([answer.status, answer.text, answer.headers.get('content-range')], range).to.deep.equal([206, text, told]);
    }
    for (const range of ['bytes=0-1,3-4', 'bytes=5-2', 'lines=0-1', 'bytes=-', 'bytes=x']) {
      expect((await read({ range })).status, range).to.equal(200);
    }
    expect((await read({ range: 'bytes=0-3', 'if-range': `"${digest}"` })).status).to.equal(206);
    expect((await read({ range: 'bytes=0-3', 'if-range': '"other"' })).status).to.equal(200);
    for (const range of [
      `bytes=${page.length}-`,
      `bytes=${'9'.repeat(16)}-`,
      `bytes=${'9'.repeat(400)}-`,
      'bytes=-0',
    ]) {
      const answer = await read({ range });
      expect([answer.status, answer.code], range).to.deep.equal([416, 'range_not_satisfiable']);
      expect(answer.headers.get('content-range')).to.equal(`bytes */${page.length}`);
    }
  });

  it('are found by path and id, number and latest', async () => {
    const file = await put(dana, board, 'many.txt', 'one');
    await put(dana, board, 'many.txt', 'two', { base: 1 });
    expect((await read({}, 'many.txt', 1)).text).to.equal('one');
    expect((await read({}, file.id)).text).to.equal('two');
    expect((await read({}, 'many.txt', 3)).code).to.equal('version_not_found');
    expect((await read({}, 'many.txt', 3)).text).to.include('service file show many.txt shows');
    const gone = await put(dana, board, 'gone.txt', 'one');
    await dana.ok('removeFile', { params: { board, file: gone.id }, key: 'gone' });
    expect((await read({}, gone.id, 9)).text).to.include(`service file show ${gone.id} shows`);
    expect((await read({}, 'none.txt')).code).to.equal('file_not_found');
    for (const version of ['0', '01', 'newest', '-1', '1234567890']) {
      expect((await read({}, 'many.txt', version)).code, version).to.equal('invalid_request');
    }
  });

  it('are read in a browser by its cookie', async () => {
    const browser = await newBrowser(server, dana);
    const answer = await browser.call('downloadFile', { params: { board, file: 'pages/a.html', version: 1 } });
    expect(answer.text).to.equal(page);
  });

  it('stay whole over the pieces they are kept in', async () => {
    const bytes = Buffer.alloc(3_500_000, 'abcdefghij');
    await put(dana, board, 'large.bin', bytes);
    expect((await read({}, 'large.bin')).bytes.equals(bytes)).to.equal(true);
    const part = await read({ range: 'bytes=1048570-2097160' }, 'large.bin');
    expect(part.bytes.equals(bytes.subarray(1_048_570, 2_097_161))).to.equal(true);
  });

  /** As a client sends it that reads the answer when it likes. */
  const requestOf = ({ url, token }: Api, file: string, on = board): string => {
    const lines = [
      `GET /v1/boards/${on}/files/${file}/versions/latest HTTP/1.1`,
      `Host: ${new URL(url).host}`,
      `Authorization: Bearer ${token}`,
      'Connection: close',
    ];
    return `${lines.join('\r\n')}\r\n\r\n`;
  };

  /** How many bytes still come until the connection ends, however it does. */
  async function restOf(socket: Socket): Promise<number> {
    let received = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    await once(socket, 'close');
    return received;
  }

  for (const when of ['while they come', 'just before']) {
    it(`stop coming when the credential stops working ${when}`, async () => {
      const name = when.replaceAll(' ', '-');
      const ron = await server.person(name);
      await putOnBoard(server, board, ron);
      const bytes = Buffer.alloc(30_000_000, 'x');
      await put(dana, board, `${name}.bin`, bytes);
      // A use that is to be noted would find the key revoked.
      await ron.ok('getMe');
      const reading = when === 'just before' ? holdNextRead(server, 'operation/read.ts', 'after') : null;
      const socket = open(server.url);
      socket.write(requestOf(ron, `${name}.bin`));
      await (reading?.begun ?? once(socket, 'readable'));
      let received = (socket.read() as Buffer | null)?.length ?? 0;
      await revokeKey(server, ron);
      const started = performance.now();
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      reading?.goOn();
      await once(socket, 'close');
      Reflect.deleteProperty(server.db, 'read');
      expect(received).to.be.lessThan(bytes.length);
      expect(performance.now() - started).to.be.lessThan(5_000);
    });
  }

  const endings = {
    'is taken off the board': (on: string, handle: string) =>
      dana.ok('removeBoardPerson', { params: { board: on, handle } }),
    'has no such board any more': async (on: string) => {
      await dana.ok('archiveBoard', { params: { board: on } });
      await dana.ok('deleteBoard', { params: { board: on } });
    },
  };
  for (const [what, end] of Object.entries(endings)) {
    it(`stop coming when their reader ${what}`, async () => {
      const handle = what.split(' ')[1] as string;
      const ron = await server.person(handle);
      const { name } = await newBoard(dana);
      await putOnBoard(server, name, ron);
      const bytes = Buffer.alloc(30_000_000, 'x');
      await put(dana, name, 'large.bin', bytes);
      const socket = open(server.url);
      socket.write(requestOf(ron, 'large.bin', name));
      await once(socket, 'readable');
      await until(() => server.clock.waiting(300_000) === 1, 'the server waits for its reader');
      await end(name, handle);
      await until(() => server.clock.waiting(300_000) === 0, 'the server waits for it no longer');
      expect(await restOf(socket)).to.be.lessThan(bytes.length);
    });
  }

  it('stop coming when nobody takes them', async () => {
    const bytes = Buffer.alloc(30_000_000, 'x');
    await put(dana, board, 'unread.bin', bytes);
    const socket = open(server.url);
    socket.write(requestOf(dana, 'unread.bin'));
    await once(socket, 'readable');
    await until(() => server.clock.waiting(300_000) === 1, 'the server waits for its reader');
    server.clock.advance(300_000);
    expect(await restOf(socket)).to.be.lessThan(bytes.length);
    expect(server.clock.waiting(300_000)).to.equal(0);
  });

  const told = (what: string, of: string) => server.log.some((line) => line.includes(what) && line.includes(of));

  it('that are not what was stored are refused where they are few, and never sent whole where they are many', async () => {
    const few = await put(dana, board, 'damaged.txt', 'as it was');
    await damage(server, few.latest.digest, 'as it is!');
    const refused = await read({}, 'damaged.txt');
    expect([refused.status, refused.code]).to.deep.equal([503, 'unavailable']);
    expect(detailsOf(refused)).to.deep.equal({ digest: few.latest.digest });
    expect(refused.text).to.include('service doctor').and.not.include('as it is');
    expect(told('blob_corrupt', few.latest.digest)).to.equal(true);
    // Brought back from a copy, they are as they were.
    await damage(server, few.latest.digest, 'as it was');
    expect((await read({}, 'damaged.txt')).text).to.equal('as it was');

    const bytes = Buffer.alloc(3_000_000, 'much');
    const many = await put(dana, board, 'damaged.bin', bytes);
    const other = Buffer.from(bytes);
    other[2_999_999] = 0;
    await damageAt(server, many.latest.digest, other);
    const failed = await read({}, 'damaged.bin').then(
      () => 'sent',
      () => 'cut off',
    );
    expect(failed).to.equal('cut off');
    await until(() => told('blob_corrupt', many.latest.digest), 'the log tells of it');
  });

  it('that are not what was stored are not handed out part by part either', async () => {
    const bytes = Buffer.alloc(5_000_000, 'much');
    const { latest } = await put(dana, board, 'resumed.bin', bytes);
    const parts = [
      'bytes=4999999-',
      'bytes=-1',
      'bytes=4500000-',
      'bytes=1048577-',
      'bytes=0-',
      'bytes=2000000-2000001',
    ];
    for (const range of parts) {
      const [, first = '', last = ''] = /(\d*)-(\d*)/.exec(range) ?? [];
      const from = first === '' ? bytes.length - Number(last) : Number(first);
      const expected = bytes.subarray(from, first === '' || last === '' ? undefined : Number(last) + 1);
      const part = await read({ range }, 'resumed.bin');
      expect([part.status, part.bytes.equals(expected)], range).to.deep.equal([206, true]);
    }
    const other = Buffer.from(bytes);
    other[7] = 0;
    await damageAt(server, latest.digest, other);
    for (const range of ['bytes=4999999-', 'bytes=-1', 'bytes=4500000-']) {
      const refused = await read({ range, 'if-range': `"${latest.digest}"` }, 'resumed.bin');
      expect([refused.status, refused.code], range).to.deep.equal([503, 'unavailable']);
      expect(detailsOf(refused)).to.deep.equal({ digest: latest.digest });
    }
    // Taken up where it was cut off, again and again, as a client does that knows nothing of digests.
    let from = 0;
    let refusal: string | undefined;
    for (let attempt = 0; attempt < 100 && refusal === undefined; attempt++) {
      const answer = await fetch(`${server.url}/v1/boards/${board}/files/resumed.bin/versions/1`, {
        headers: { ...dana.headers({}), range: `bytes=${from}-` },
      });
      if (answer.status !== 206) {
        refusal = ((await answer.json()) as { error: { code: string } }).error.code;
        continue;
      }
      try {
        for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) from += chunk.length;
      } catch {
        // Cut off.
      }
      expect(from).to.be.below(bytes.length);
    }
    expect(refusal).to.equal('unavailable');
    const small = await put(dana, board, 'few.txt', 'as it was');
    await damage(server, small.latest.digest, 'as it is!');
    expect((await read({ range: 'bytes=0-1' }, 'few.txt')).code).to.equal('unavailable');
  });

  it('are not held in memory where only the last of them are asked for', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const bytes = Buffer.alloc(10_000_000);
    await put(dana, board, 'ending.bin', bytes);
    // Each piece is hashed as it comes.
    const hashes = Object.getPrototypeOf(createHash('sha256')) as { update(piece: Buffer): Hash };
    const { update } = hashes;
    const pieces: WeakRef<ArrayBufferLike>[] = [];
    let seen = 0;
    let held = 0;
    hashes.update = function (this: Hash, piece: Buffer): Hash {
      if (piece.length > 10_000) {
        pieces.push(new WeakRef(piece.buffer));
        seen += piece.length;
      }
      if (seen === bytes.length && held === 0) {
        collect();
        held = pieces.filter((each) => each.deref() !== undefined).length;
      }
      return update.call(this, piece);
    };
    const last = await read({ range: 'bytes=-1' }, 'ending.bin').finally(() => {
      hashes.update = update;
    });
    expect([last.text, seen]).to.deep.equal(['\0', bytes.length]);
    expect(held).to.be.within(1, pieces.length / 2);
  });

  it('that are gone are not served, which the log names, until they are there again', async () => {
    const file = await put(dana, board, 'lost.txt', 'soon lost');
    await lose(server, file.latest.digest);
    for (const headers of [{}, { range: 'bytes=0-1' }] as Record<string, string>[]) {
      const answer = await read(headers, 'lost.txt');
      expect([answer.status, answer.code]).to.deep.equal([503, 'unavailable']);
      expect(answer.headers.get('etag')).to.equal(null);
    }
    expect(told('blob_missing', file.latest.digest)).to.equal(true);
    // What else there is of it goes on.
    expect((await dana.ok('getFile', { params: { board, file: 'lost.txt' } })).latest.version).to.equal(1);
    // Uploaded again they are there again.
    expect((await tryPut(dana, board, 'found.txt', 'soon lost')).status).to.equal(201);
    expect((await read({}, 'lost.txt')).text).to.equal('soon lost');
  });

  it('leave nothing behind where they waited', () => {
    expect(readdirSync(join(server.dataDir, 'files', 'tmp'))).to.deep.equal([]);
  });
});
