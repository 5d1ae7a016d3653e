/**
 * A server lives on while its Postgres is restarted and its connections are ended, says meanwhile that it cannot answer,
 * and keeps what it acknowledged. SERVICE_TEST_LONG=1 does each of it 20 times, and kills it 100 times.
 */
import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { Client } from '../../src/client/client.ts';
import type { Message } from '../../src/contract/types.ts';
import { type Answered, Api, type Call, detailsOf } from '../support/api.ts';
import { newAgent, newBoard } from '../support/cast.ts';
import { bytesOf, tryPut } from '../support/files.ts';
import { TestStream } from '../support/stream.ts';
import { until } from '../support/until.ts';
import type { Answer } from './api.ts';
import { type Cluster, type Ending, newFolder, remove, startCluster } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { expectAllKept, expectSameAgain, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const ROUNDS = process.env['SERVICE_TEST_LONG'] === '1' ? 20 : 1;
/** How often every process of the engine is killed. */
const KILLS = ROUNDS * (ROUNDS > 1 ? 5 : 1);
const WRITERS = 16;
const STREAMS = 20;
/** After this time a database that takes connections again has to be used again. */
const BACK_MS = 5_000;

describe('a server whose Postgres goes away', () => {
  let cluster: Cluster;
  const dataDir = newFolder('data');
  let server: Child;
  let dana: Api;

  before(async () => {
    cluster = await startCluster();
    server = launchServer({ dataDir, db: cluster.db });
    dana = new Api(await server.ready, localKey(dataDir));
  });
  after(async () => {
    await server.stop();
    await cluster.stop();
    remove(dataDir);
  });

  /** Ends every connection of the server, one after the other. */
  async function endEachConnection(then: () => Promise<void>): Promise<void> {
    const pids = await cluster.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    for (const { pid } of pids) {
      await cluster.query('SELECT pg_terminate_backend($1)', [pid]);
      await then();
    }
  }

  /** It answers again within the time it has. */
  const back = () => until(async () => (await dana.call('getMe')).status === 200, 'it answers again', BACK_MS);

  it(`lives through ${ROUNDS} restarts of each kind under load, and loses nothing`, async function () {
    this.timeout((ROUNDS + KILLS + 1) * 60_000);
    const place: Place = { url: dana.url, token: dana.token ?? '', board: await newBoard(dana) };
    const quiet = (await newBoard(dana)).name;
    const agent = await newAgent(dana, quiet);
    const waiting = waitForMessages(agent);
    const followers = Array.from({ length: STREAMS }, (_unused, n) =>
      TestStream.open(dana, n % 2 === 0 ? { board: place.board.name, after: 0 } : {}),
    );
    const streams = await Promise.all(followers);
    const target = new Target();
    target.up(dana.url);
    const refusals: Answer[] = [];
    const fleet = new Fleet({
      target,
      token: place.token,
      board: place.board.name,
      writers: WRITERS,
      mayRepeat: (answer) => answer.status === 503 && refusals.push(answer) > 0,
    });
    const acknowledged = (count: number) =>
      Promise.race([new Promise<void>((resolve) => fleet.after('acknowledged', count, resolve)), fleet.failure]);
    const files = new Uploads(dana, place.board.name);
    const restarted = async (how: Ending) => {
      await acknowledged(WRITERS * 4);
      await cluster.end(how);
      await cluster.start();
      const started = performance.now();
      await acknowledged(1);
      expect(performance.now() - started, `until the first post after a restart (${how})`).to.be.below(BACK_MS);
      expect(server.process.exitCode, 'exit code of the server').to.equal(null);
    };
    for (let round = 0; round < ROUNDS; round++) {
      await restarted('fast');
      await restarted('immediate');
      await endEachConnection(() => acknowledged(WRITERS));
      expect(server.process.exitCode, 'exit code of the server').to.equal(null);
    }
    for (let n = 0; n < KILLS; n++) await restarted('killed');
    await fleet.finish();
    await files.finish();

    const record = new Reading(place.board.id);
    await record.catchUp(place);
    expectAllKept(fleet, record);
    expect(fleet.pending.size).to.equal(0);
    expect(fleet.lost, 'answers that were lost').to.equal(0);
    await expectSameAgain(place, fleet.acknowledged.filter((sent) => sent.tries > 1).slice(-200));
    for (const refusal of refusals) expectAway(JSON.parse(refusal.body), refusal.headers['retry-after'] ?? '');
    await files.expectAll();

    const events = Array.from({ length: record.headSeq }, (_unused, n) => n + 1);
    for (const [n, stream] of streams.entries()) {
      const last = () => (n % 2 === 0 ? Number(stream.named('event').at(-1)?.id) : headOf(stream, place.board.id));
      await stream.until(() => last() >= record.headSeq);
      expect(stream.ended, 'the stream ended').to.equal(false);
      if (n % 2 === 0) expect(stream.named('event').map(({ id }) => Number(id))).to.deep.equal(events);
      stream.close();
    }
    await dana.ok('postMessage', { params: { board: quiet }, body: { body: 'at last' } });
    expect((await waiting).messages.map(({ body }: Message) => body)).to.deep.equal(['at last']);
  });

  /** Waits until there are some. `fetch` gives up what has no answer within five minutes, so a long run asks again. */
  async function waitForMessages(agent: Api): Promise<{ messages: Message[] }> {
    for (;;) {
      const { status, body, text } = await agent.call('readInbox', { query: { wait: 240 } });
      if (status === 200 && body.messages.length > 0) return body;
      if (status !== 200 && status !== 503) throw new Error(`the wait ended with ${status}: ${text}`);
      if (status === 503) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  it('answers 503 with Retry-After meanwhile, and 200 soon after it came back', async () => {
    const board = (await newBoard(dana)).name;
    const agent = await newAgent(dana, board);
    await tryPut(dana, board, 'a.md', 'text');
    const params = { board };
    const calls: [Api, Parameters<Api['call']>[0], Call][] = [
      [dana, 'getMe', {}],
      [dana, 'listMessages', { params }],
      [dana, 'postMessage', { params, body: { body: 'hi' }, key: randomUUID() }],
      [dana, 'postMessage', { params, body: { body: 'hi' } }],
      [dana, 'search', { query: { q: 'hi' } }],
      [dana, 'uploadFile', { params, query: { name: 'b.md' }, bytes: 'text' }],
      [dana, 'uploadFile', { params, query: { name: 'b.md' }, bytes: 'text', key: randomUUID() }],
      [dana, 'downloadFile', { params: { board, file: 'a.md', version: 'latest' } }],
      [agent, 'readInbox', { query: { wait: 5 } }],
      [new Api(dana.url), 'connectPerson', { body: { invite: 'abi_none', handle: 'maya', key_name: 'box' } }],
    ];
    await cluster.end('fast');
    for (let round = 0; round < 2; round++) {
      for (const [from, name, call] of calls) {
        const started = performance.now();
        const answer = await from.call(name, call);
        expect(performance.now() - started, name).to.be.below(2_000);
        expect(answer.status, `${name}: ${answer.text}`).to.equal(503);
        expectAway(answer.body, answer.headers.get('retry-after') ?? '');
      }
      const stream = await TestStream.open(dana, { board });
      expect(stream.status).to.equal(503);
    }
    expect((await new Api(dana.url).call('getInfo')).status).to.equal(200);
    await cluster.start();
    await back();
    const { messages } = await dana.ok('listMessages', { params });
    expect(messages).to.deep.equal([]);
  });

  it('keeps its locks by name when their connection ends', async () => {
    const board = (await newBoard(dana)).name;
    for (let n = 0; n < ROUNDS * 5; n++) {
      const put = tryPut(dana, board, `${n}.md`, Buffer.alloc(200_000, `${n} `), {}, { key: randomUUID() });
      await cluster.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'service locks'`,
      );
      const answer = await put;
      expect([201, 503], answer.text).to.include(answer.status);
      await until(async () => (await tryPut(dana, board, `next-${n}.md`, 'text')).status === 201, 'it takes files');
    }
    expect(server.process.exitCode, 'exit code of the server').to.equal(null);
  });

  it('says that an outcome is not known when it went away after the commit, and a repeat tells it', async () => {
    const { owner, board, close } = await cutAfterCommit('cut', ['once and no more']);
    try {
      const call = { params: { board }, body: { body: 'once and no more' }, key: randomUUID() };
      const first = await owner.call('postMessage', call);
      expectUnknown(first, 'It may have been done: send it again with the same Idempotency-Key.');
      const again = await owner.call('postMessage', call);
      expect([again.status, again.replayed]).to.deep.equal([201, true]);
      const { messages } = await owner.ok('listMessages', { params: { board } });
      expect(messages.map(({ body }) => body)).to.deep.equal(['once and no more']);
    } finally {
      await close();
    }
  });

  it('says to look first where a repeat would do it again, and the client does not repeat it', async () => {
    const { owner, board, close } = await cutAfterCommit('cut_unkept', ['no key', 'key-of-curl', 'key-of-client']);
    try {
      const look = 'It may have been done: look at what is there before you send it again.';
      expectUnknown(await owner.call('postMessage', { params: { board }, body: { body: 'no key' } }), look);
      expectUnknown(await owner.call('createKey', { body: { name: 'key-of-curl' }, key: randomUUID() }), look);
      const client = new Client({ origin: owner.url, token: owner.token });
      const error = await client.call('createKey', { body: { name: 'key-of-client' } }).catch((thrown) => thrown);
      expect([error.code, error.attempts]).to.deep.equal(['outcome_unknown', 1]);
      const names = (await owner.ok('listKeys')).keys.map(({ name }) => name);
      expect(names).to.include.members(['key-of-curl', 'key-of-client']);
    } finally {
      await close();
    }
  });

  it('leaves no doubt where it went away after the commit of a count, before anything was done', async () => {
    const { owner, close } = await cutAfterCommit('cut_count', ['join_code_failures']);
    try {
      const answer = await owner.call('joinBoard', { body: { code: 'none' } });
      expect([answer.status, detailsOf(answer)]).to.deep.equal([503, { cause: 'database' }]);
      expect(answer.body).to.have.nested.property('error.hint', 'Try again.');
    } finally {
      await close();
    }
  });

  /** A server of a database of its own, whose connection is cut after the commit of each of some texts. */
  async function cutAfterCommit(name: string, texts: string[]) {
    const cutter = await Cutter.start(cluster.port, texts);
    const place = newFolder('data');
    const url = new URL(cluster.db);
    url.port = String(cutter.port);
    await cluster.query(`CREATE DATABASE ${name}`);
    url.pathname = `/${name}`;
    const child = launchServer({ dataDir: place, db: url.href });
    const close = async () => {
      await child.stop();
      cutter.close();
      remove(place);
    };
    const owner = new Api(await child.ready, localKey(place));
    return { owner, board: (await newBoard(owner)).name, close };
  }
});

function expectUnknown(answer: Answered<unknown>, hint: string): void {
  expect(answer.status, answer.text).to.equal(503);
  expect(detailsOf(answer)).to.deep.equal({ cause: 'database', outcome: 'unknown' });
  expect(answer.body).to.have.nested.property('error.hint', hint);
}

function expectAway(body: unknown, retryAfter: string): void {
  const { error } = body as { error: { code: string; details?: Record<string, unknown> } };
  expect(error.code).to.equal('unavailable');
  expect(error.details).to.include({ cause: 'database' });
  expect(Number(retryAfter)).to.be.within(1, 5);
}

const headOf = (stream: TestStream, boardId: string): number =>
  Number(stream.named('head').findLast(({ data }) => data.board_id === boardId)?.data.seq);

/** Puts one file after the other, each until it is answered for. */
class Uploads {
  readonly #api: Api;
  readonly #board: string;
  readonly #kept = new Map<string, Buffer>();
  readonly #loop: Promise<void>;
  #stopping = false;

  constructor(api: Api, board: string) {
    this.#api = api;
    this.#board = board;
    this.#loop = this.#run();
    this.#loop.catch(() => {});
  }

  async finish(): Promise<void> {
    this.#stopping = true;
    await this.#loop;
  }

  async expectAll(): Promise<void> {
    expect(this.#kept.size).to.be.greaterThan(0);
    for (const [name, bytes] of this.#kept)
      expect((await bytesOf(this.#api, this.#board, name)).equals(bytes), name).to.equal(true);
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#stopping; n++) {
      const [name, bytes, key] = [`file-${n}.bin`, Buffer.alloc(100_000, `${n} `), randomUUID()];
      await until(
        async () => {
          const { status, text } = await tryPut(this.#api, this.#board, name, bytes, {}, { key });
          if (status !== 201 && status !== 503) throw new Error(`an upload got ${status}: ${text}`);
          return status === 201;
        },
        `${name} is stored`,
        30_000,
      );
      this.#kept.set(name, bytes);
    }
  }
}

/** Stands before Postgres, and ends the connection that first brings one of the texts once Postgres answers its commit, which it keeps to itself. */
class Cutter {
  readonly port: number;
  readonly close: () => void;

  private constructor(port: number, close: () => void) {
    this.port = port;
    this.close = close;
  }

  static start(to: number, texts: string[]): Promise<Cutter> {
    const sockets = new Set<Socket>();
    const left = new Set(texts);
    const listener = createServer((client) => {
      const engine = connect(to, '127.0.0.1');
      let [meant, cut] = [false, false];
      for (const socket of [client, engine]) {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          client.destroy();
          engine.destroy();
        });
      }
      client.on('data', (bytes) => {
        for (const text of left) {
          if (!bytes.includes(text)) continue;
          left.delete(text);
          meant = true;
        }
        cut ||= meant && bytes.includes('COMMIT');
        engine.write(bytes);
      });
      engine.on('data', (bytes) => {
        if (!cut) client.write(bytes);
        // Before that Postgres may still find the connection gone, and take everything back.
        else if (bytes.includes('COMMIT')) engine.destroy();
      });
    });
    return new Promise((resolve) => {
      listener.listen(0, '127.0.0.1', () => {
        const close = () => {
          listener.close();
          for (const socket of sockets) socket.destroy();
        };
        resolve(new Cutter((listener.address() as AddressInfo).port, close));
      });
    });
  }
}
