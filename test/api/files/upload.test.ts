import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bytesOf, lose, put, refusedPut, tryPut } from '../../support/files.ts';
import { lines, open } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard, setRoles } from '../../support/state.ts';
import { until } from '../../support/until.ts';

const sha256 = (bytes: Buffer | string): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

forEachDatabase('uploading files', (engine) => {
  let server: TestServer;
  let dana: Api;
  let agent: Agent;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
    board = (await newBoard(dana)).name;
    agent = await newAgent(dana, board, { name: 'writer' });
  });
  after(() => server.stop());

  const types = async (name = board): Promise<string[]> => {
    const { events } = await dana.ok('listEvents', { params: { board: name }, query: { limit: 200 } });
    return events.map((event) => event.type).filter((type) => type.startsWith('file.'));
  };

  it('keeps every byte as it came, and tells of the version', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_unused, index) => (index * 7) % 256));
    const file = await put(agent, board, 'data/blob.bin', bytes, { maintained: true });
    expect(file).to.include({ name: 'data/blob.bin', board, maintained: true, removed_at: null, mine: null });
    expect(file.latest).to.include({ version: 1, base: 0, size: 100_000, media_type: 'application/octet-stream' });
    expect(file.latest.digest).to.equal(sha256(bytes));
    expect(file.latest.by).to.include({ id: agent.memberId, name: 'writer', kind: 'agent' });
    expect(await bytesOf(dana, board, 'data/blob.bin')).to.deep.equal(bytes);
    expect(await bytesOf(dana, board, file.id, 1)).to.deep.equal(bytes);
  });

  it('records what was added, with its base', async () => {
    const { name } = await newBoard(dana);
    const file = await put(dana, name, 'notes/api.md', 'one');
    await put(dana, name, 'notes/api.md', 'two', { base: 1, file_id: file.id });
    const { events } = await dana.ok('listEvents', { params: { board: name }, query: { limit: 200 } });
    const added = events.filter((event) => event.type === 'file.version_added').map((event) => event.data);
    expect(added).to.deep.equal([
      {
        file_id: file.id,
        name: 'notes/api.md',
        version: 1,
        digest: sha256('one'),
        size: 3,
        media_type: 'text/markdown',
        base_version: 0,
        maintained: false,
        about: [],
      },
      {
        file_id: file.id,
        name: 'notes/api.md',
        version: 2,
        digest: sha256('two'),
        size: 3,
        media_type: 'text/markdown',
        base_version: 1,
        maintained: false,
        about: [],
      },
    ]);
  });

  it('takes an empty file', async () => {
    const file = await put(dana, board, 'empty.txt', '');
    expect(file.latest).to.include({ size: 0, digest: sha256('') });
    expect((await bytesOf(dana, board, 'empty.txt')).length).to.equal(0);
  });

  it('makes a new version of identical bytes', async () => {
    await put(dana, board, 'same.txt', 'same');
    expect((await put(dana, board, 'same.txt', 'same', { base: 1 })).latest.version).to.equal(2);
  });

  it('keeps marker, tasks and nothing else from the version before', async () => {
    const first = await dana.ok('createTask', { params: { board }, body: { title: 'First' } });
    const second = await dana.ok('createTask', { params: { board }, body: { title: 'Second' } });
    const about = [first.ref, String(second.number), first.id];
    const one = await put(dana, board, 'kept.md', '1', { maintained: true, about, media_type: 'Text/X; Charset=a' });
    expect(one.about.map((task) => task.id)).to.deep.equal([first.id, second.id]);
    expect(one.latest.media_type).to.equal('text/x; Charset=a');
    const two = await put(dana, board, 'kept.md', '2', { base: 1 });
    expect([two.maintained, two.latest.media_type]).to.deep.equal([true, 'text/markdown']);
    expect(two.about.map((task) => task.ref)).to.deep.equal([first.ref, second.ref]);
    const three = await put(dana, board, 'kept.md', '3', { base: 2, about: [''], maintained: false });
    expect([three.about, three.maintained]).to.deep.equal([[], false]);
  });

  it('derives media types from names alone', async () => {
    const expected = {
      'a.MD': 'text/markdown',
      'b.jpeg': 'image/jpeg',
      'c.tar.gz': 'application/gzip',
      'd.x/README': 'application/octet-stream',
      'e.unknown': 'application/octet-stream',
      'f.svg': 'image/svg+xml',
    };
    for (const [name, type] of Object.entries(expected)) {
      expect((await put(dana, board, name, 'x')).latest.media_type, name).to.equal(type);
    }
  });

  it('refuses what does not fit the table of conditions, with what is there now', async () => {
    const { name } = await newBoard(dana);
    const old = await put(dana, name, 'notes/api.md', '1');
    for (const base of [1, 2]) await put(dana, name, 'notes/api.md', `${base + 1}`, { base });
    const there = { version: 3, file_id: old.id, name: 'notes/api.md' };
    const cases: [string, Record<string, string | number>, object][] = [
      ['file_exists', {}, there],
      ['file_exists', { base: 0, file_id: old.id }, there],
      ['file_changed', { base: 2 }, there],
      ['file_changed', { base: 4 }, there],
      ['file_changed', { base: 3, file_id: 'fil_01K5A0000000000000000000F1' }, there],
      ['file_changed', { base: 0, file_id: 'fil_01K5A0000000000000000000F1' }, there],
    ];
    for (const [code, query, details] of cases) {
      const refused = await refusedPut(dana, name, 'notes/api.md', 'x', query);
      expect(refused.code, JSON.stringify(query)).to.equal(code);
      expect(refused.details, JSON.stringify(query)).to.include(details);
      expect(refused.details['by']).to.include({ kind: 'human' }).and.have.property('id');
      expect(refused.details['at']).to.match(/Z$/);
    }
    const never = { version: 0, by: null, at: null, file_id: null, name: null };
    expect(await refusedPut(dana, name, 'never.md', 'x', { base: 1 })).to.deep.equal({
      code: 'file_changed',
      details: never,
    });
    await dana.ok('removeFile', { params: { board: name, file: 'notes/api.md' } });
    const gone = await refusedPut(dana, name, 'notes/api.md', 'x', { base: 3, file_id: old.id });
    expect(gone.code).to.equal('file_changed');
    expect(gone.details).to.include({ ...there, removed: true });
    expect(await types(name)).to.deep.equal([...Array(3).fill('file.version_added'), 'file.removed']);
  });

  it('says what to do about a change: get what is there, under its name now, or put it as new', async () => {
    const { name } = await newBoard(dana);
    const hintOf = async (path: string, query: Record<string, string | number | boolean>) => {
      const { body } = await tryPut(dana, name, path, 'x', query);
      return (body as unknown as { error: { code: string; hint: string } }).error.hint;
    };
    const asNew = (of: string) => `Put it as new, with base 0 and no file_id: service ${of} put PATH --base 0.`;
    const get = (path: string) =>
      `Read what is there, put your change in again: service file get ${path}, then service file put.`;
    const file = await put(dana, name, 'a.md', '1');
    const of = { base: 1, file_id: file.id };
    expect(await hintOf('a.md', { base: 2 })).to.equal(get('a.md'));
    await dana.ok('updateFile', { params: { board: name, file: file.id }, body: { name: 'b.md' } });
    expect(await hintOf('a.md', of)).to.equal(get('b.md'));
    await dana.ok('removeFile', { params: { board: name, file: file.id } });
    expect(await hintOf('b.md', of)).to.equal(asNew('file'));
    expect(await hintOf('never.md', { base: 1 })).to.equal(asNew('file'));
    const brief = await put(dana, name, 'brief.md', '1', { brief: true });
    const ofBrief = { brief: true, base: 1, file_id: brief.id };
    await dana.ok('updateFile', { params: { board: name, file: brief.id }, body: { name: 'old.md' } });
    expect(await hintOf('brief.md', ofBrief)).to.equal(asNew('brief'));
    await dana.ok('removeFile', { params: { board: name, file: brief.id } });
    expect(await hintOf('brief.md', ofBrief)).to.equal(asNew('brief'));
  });

  it('gives a reused path a new identity with version 1', async () => {
    const old = await put(dana, board, 'again.md', 'old');
    await dana.ok('removeFile', { params: { board, file: 'again.md' } });
    const fresh = await put(dana, board, 'again.md', 'new');
    expect([fresh.latest.version, fresh.id === old.id]).to.deep.equal([1, false]);
    expect((await bytesOf(dana, board, old.id)).toString()).to.equal('old');
    expect((await refusedPut(dana, board, 'again.md', 'x', { base: 1, file_id: old.id })).code).to.equal(
      'file_changed',
    );
  });

  it('lets one of two writers with the same base win', async () => {
    const file = await put(dana, board, 'race.md', '0');
    for (const base of [1, 2, 3]) {
      const answers = await Promise.all(
        [dana, agent, dana, agent].map((api, n) =>
          tryPut(api, board, 'race.md', `by ${n}`, { base, file_id: file.id }),
        ),
      );
      expect(answers.map((answer) => answer.code ?? 'ok').sort()).to.deep.equal([
        ...Array(3).fill('file_changed'),
        'ok',
      ]);
    }
    const detail = await dana.ok('getFile', { params: { board, file: file.id } });
    expect(detail.versions.map((version) => version.version)).to.deep.equal([4, 3, 2, 1]);
  });

  it('lets one of many creators of a path win', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_unused, n) => tryPut(n % 2 ? dana : agent, board, 'created.md', `${n}`)),
    );
    expect(answers.filter((answer) => answer.status === 201)).to.have.length(1);
    expect(answers.filter((answer) => answer.code === 'file_exists')).to.have.length(5);
  });

  it('refuses requests that make no sense', async () => {
    const broken: [string, Record<string, string | number | boolean | string[]>][] = [
      ['', {}],
      ['/a', {}],
      ['a//b', {}],
      ['../up', {}],
      ['a b', {}],
      ['.hidden', {}],
      ['fil_01K5A0000000000000000000F1', {}],
      [`${'a'.repeat(201)}`, {}],
      ['a.md', { base: -1 }],
      ['a.md', { base: '1.5' }],
      ['a.md', { base: ['1', '1'] }],
      ['a.md', { file_id: 'fil_x' }],
      ['a.md', { brief: true }],
      ['notes/brief.md', { brief: true }],
      ['a.md', { replace_format: true }],
      ['a.md', { maintained: 'yes' }],
      ['a.md', { media_type: 'text' }],
      ['a.md', { media_type: 'text/plain\r\nx: y' }],
      ['a.md', { media_type: `text/${'x'.repeat(100)}` }],
      ['a.md', { about: Array.from({ length: 9 }, (_unused, n) => String(n + 1)) }],
      ['a.md', { about: ['', '1'] }],
      ['a.md', { about: ['not a task'] }],
    ];
    for (const [name, query] of broken) {
      const answer = await tryPut(dana, board, name, 'x', query);
      expect(`${answer.status} ${answer.code}`, `${name} ${JSON.stringify(query)}`).to.equal('400 invalid_request');
    }
    expect((await refusedPut(dana, board, 'a.md', 'x', { about: ['999'] })).code).to.equal('task_not_found');
    const types = ['text/plain', 'application/octet-stream; charset=utf-8', 'application/octet-stream;', ''];
    for (const type of types) {
      const typed = await tryPut(dana, board, 'a.md', 'x', {}, { headers: { 'content-type': type } });
      expect(`${typed.status} ${typed.code}`, type).to.equal('415 unsupported_media_type');
    }
    const shouted = { 'content-type': 'Application/Octet-Stream' };
    expect((await tryPut(dana, board, 'typed.md', 'x', {}, { headers: shouted })).status).to.equal(201);
  });

  it('asks for access, a board that is active, and the permission', async () => {
    const eve = await server.person('eve');
    const { name } = await newBoard(dana, { visibility: 'private' });
    const own = await newAgent(dana, name);
    expect((await tryPut(eve, name, 'a.md', 'x')).code).to.equal('board_not_found');
    expect((await tryPut(agent, name, 'a.md', 'x')).code).to.equal('board_not_found');
    await changeBoard(server, name, { visibility: 'open' });
    expect((await tryPut(eve, name, 'a.md', 'x')).code).to.equal('not_on_board');
    await putOnBoard(server, name, eve);
    await put(eve, name, 'a.md', 'x');
    await setRoles(server, name, { member: { can: ['post'] } });
    const refused = await refusedPut(own, name, 'b.md', 'x');
    expect(refused).to.deep.equal({ code: 'forbidden', details: { permission: 'upload_files' } });
    await changeBoard(server, name, { lifecycle: 'archived' });
    expect((await tryPut(own, name, 'b.md', 'x')).code).to.equal('board_archived');
    expect((await bytesOf(eve, name, 'a.md')).toString()).to.equal('x');
  });

  it('compares Content-Digest with what came', async () => {
    const header = (text: string) => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`;
    const send = (digest: string, name: string) =>
      tryPut(dana, board, name, 'bytes', {}, { headers: { 'content-digest': digest } });
    expect((await send(header('bytes'), 'digest.md')).status).to.equal(201);
    expect((await send(header('other'), 'digest2.md')).code).to.equal('invalid_request');
    expect((await send('sha-256=nonsense', 'digest2.md')).code).to.equal('invalid_request');
    expect((await send('md5=:AAAA:', 'digest3.md')).status).to.equal(201);
    expect((await refusedPut(dana, board, 'digest2.md', 'x')).code).to.equal(undefined);
  });

  it('puts the bytes again where another process may have taken them away meanwhile', async () => {
    const { db } = server;
    const plain = db.claim;
    let lost = 0;
    db.claim = async (name, ...more) => {
      const free = await plain.call(db, name, ...more);
      if (!free || !name.startsWith('blob ') || lost++ > 0) return free;
      const losing = async (): Promise<void> => {
        await lose(server, name.slice('blob '.length));
        await free();
      };
      return Object.assign(losing, { held: () => Promise.resolve(false) });
    };
    try {
      await put(dana, board, 'twice.md', 'put twice');
    } finally {
      Reflect.deleteProperty(db, 'claim');
    }
    expect((await bytesOf(dana, board, 'twice.md')).toString()).to.equal('put twice');
    expect(lost).to.equal(2);
  });

  /** An upload whose server asks for its bytes, which never come. */
  const begin = ({ token }: Api, n: number) => {
    const socket = open(server.url);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => {});
    socket.write(
      lines(
        `POST /v1/boards/${board}/files?name=slow-${n} HTTP/1.1`,
        `Host: ${new URL(server.url).host}`,
        `Authorization: Bearer ${token}`,
        `Idempotency-Key: slow-${n}`,
        'Content-Type: application/octet-stream',
        'Content-Length: 5',
        'Expect: 100-continue',
      ),
    );
    return { socket, asked: until(() => answer.startsWith('HTTP/1.1 100'), 'the bytes are asked for') };
  };

  it('gives at most 32 places to one person with all their agents', async () => {
    const pia = await server.person('pia');
    await putOnBoard(server, board, pia);
    const agents = await Promise.all(
      Array.from({ length: 4 }, (_unused, n) => newAgent(pia, board, { name: `p${n}` })),
    );
    const begun = agents.flatMap((agent) => Array.from({ length: 8 }, (_unused, n) => begin(agent, n)));
    try {
      await Promise.all(begun.map(({ asked }) => asked));
      const { code, body } = await tryPut(pia, board, 'of-pia.md', 'x');
      expect([code, JSON.stringify(body).includes('32 uploads of this person')]).to.deep.equal(['rate_limited', true]);
      expect((await tryPut(dana, board, 'of-others.md', 'x')).status).to.equal(201);
    } finally {
      for (const { socket } of begun) socket.destroy();
    }
    await until(async () => (await tryPut(pia, board, 'of-pia.md', 'x')).status === 201, 'a place is free again');
  });

  it('has 64 places for uploads, of which a credential that does not work takes none', async () => {
    const persons = await Promise.all(Array.from({ length: 8 }, (_unused, n) => server.person(`uploader-${n}`)));
    for (const person of persons) await putOnBoard(server, board, person);
    const begun = persons.flatMap((person) => Array.from({ length: 8 }, (_unused, n) => begin(person, n)));
    try {
      await Promise.all(begun.map(({ asked }) => asked));
      expect((await tryPut(dana, board, 'one-more.md', 'x')).code).to.equal('rate_limited');
      const ended = await server.person('ended', 'member', { expiresIn: 0 });
      expect((await tryPut(ended, board, 'one-more.md', 'x')).code).to.equal('unauthorized');
    } finally {
      for (const { socket } of begun) socket.destroy();
    }
    await until(async () => (await tryPut(dana, board, 'one-more.md', 'x')).status === 201, 'a place is free again');
  });
});
