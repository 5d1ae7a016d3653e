/**
 * A server behind a pooler, which, as PgBouncer does, takes no settings when a connection begins and gives each a process
 * number of its own: by session as it has to be, and by transaction, which a start refuses.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { openDatabase } from '../../../src/server/db/open.ts';
import { useData } from '../../../src/server/upkeep/data-folder.ts';
import { newFolder, remove } from '../../faults/databases.ts';
import { TestClock } from '../../support/clock.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { finishedWith, newPostgresDatabase } from '../../support/postgres.ts';

const TAKEN = ['user', 'database', 'application_name', 'client_encoding'];

forEachDatabase('a database behind a pooler', (engine) => {
  if (engine === 'sqlite') return;

  let url: string;
  before(async () => {
    url = await newPostgresDatabase();
  });
  after(() => finishedWith(url));

  it('of sessions gets its settings once a connection is open', async () => {
    const pooler = await Pooler.before(url, 'session');
    const db = await openDatabase({ url: pooler.url, clock: new TestClock(), migrate: true });
    const shown = (name: string) =>
      db.read((tx) => tx.query<Record<string, string>>((knex) => knex.raw(`SHOW ${name}`)));
    const settings = ['plan_cache_mode', 'enable_seqscan', 'jit', 'statement_timeout'];
    const found = await Promise.all(settings.map(async (name) => (await shown(name))[0]?.[name]));
    expect(found).to.deep.equal(['force_generic_plan', 'off', 'off', '15s']);
    expect(pooler.refused).to.deep.equal([]);
    await db.close();
    pooler.close();
  });

  for (const [what, backends] of [
    ['the one that it has', 1],
    ['the next one', 2],
  ] as const)
    it(`of transactions, each on ${what}, is refused with what to do`, async () => {
      const pooler = await Pooler.before(url, backends);
      await expectRefused(pooler.url);
      pooler.close();
    });

  it('of transactions, of several processes of which each has connections of its own, is refused too', async () => {
    const poolers = [await Pooler.before(url, 1), await Pooler.before(url, 1)];
    const open: Socket[] = [];
    const balancer = createServer((near) => {
      const far = connect(Number(new URL(poolers[(open.length / 2) % 2]!.url).port), '127.0.0.1');
      open.push(near, far);
      near.pipe(far).pipe(near);
      near.on('error', () => {}).on('close', () => far.destroy());
      far.on('error', () => {}).on('close', () => near.destroy());
    });
    await once(balancer.listen(0, '127.0.0.1'), 'listening');
    const before = new URL(url);
    before.port = String((balancer.address() as AddressInfo).port);
    await expectRefused(before.href);
    for (const socket of open) socket.destroy();
    balancer.close();
    for (const pooler of poolers) pooler.close();
  });
});

async function expectRefused(db: string): Promise<void> {
  const dataDir = newFolder('pooled');
  const error = await useData({ dataDir, db, waitForDb: 60 }, new TestClock(), async () => {}).catch(
    (failed) => failed,
  );
  expect(error).to.include({ code: 'storage_unsupported' });
  expect(error.hint).to.include('pool_mode = session');
  remove(dataDir);
}

/** A connection of the engine that is open. */
interface Backend {
  socket: Socket;
  /** Who it works for, if anybody. */
  client: Socket | null;
}

const DIGITS = 4;

/** Puts clients through to a Postgres that asks for no password. */
class Pooler {
  /** Settings with which a connection began, and which are none that a pooler knows. */
  readonly refused: string[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #port: number;
  readonly #mode: 'session' | number;
  readonly #sockets = new Set<Socket>();
  /** Those that are free, the longest one first. */
  readonly #free: Backend[] = [];
  readonly #waiting: (() => void)[] = [];
  #opened = 0;

  /** @param mode how many connections share all transactions, each of which is given the one that is free for the longest. */
  static async before(databaseUrl: string, mode: 'session' | number): Promise<Pooler> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new Pooler(databaseUrl, server, mode);
  }

  private constructor(databaseUrl: string, server: Server, mode: 'session' | number) {
    const url = new URL(databaseUrl);
    this.#port = Number(url.port);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    this.#mode = mode;
    this.#server = server.on('connection', (client) => this.#greet(client));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #greet(client: Socket): void {
    this.#sockets.add(client.on('error', () => {}));
    client.once('data', (first) => {
      const words = first.subarray(8).toString().split('\0');
      this.refused.push(...words.filter((word, n) => n % 2 === 0 && word !== '' && !TAKEN.includes(word)));
      if (this.refused.length > 0) return client.destroy();
      // It may sign in, its process has this number, and it may ask.
      client.write(message('R', Buffer.alloc(4)));
      client.write(message('K', Buffer.from([127, 0, 0, 0, 0, 0, 0, 1])));
      client.write(message('Z', Buffer.from('I')));
      void this.#serve(client, first);
    });
  }

  async #serve(client: Socket, first: Buffer): Promise<void> {
    let backend: Backend | null = null;
    let last = Promise.resolve();
    client.on('data', (part) => {
      // The end of a client ends nothing else.
      if (part[0] === 'X'.charCodeAt(0)) return client.destroy();
      last = last.then(async () => {
        backend = backend?.client === client ? backend : await this.#backendFor(client, first);
        backend.socket.write(part);
      });
    });
    client.on('close', () => {
      if (this.#mode === 'session') backend?.socket.destroy();
    });
  }

  async #backendFor(client: Socket, first: Buffer): Promise<Backend> {
    const most = this.#mode === 'session' ? Number.POSITIVE_INFINITY : this.#mode;
    while (this.#free.length === 0 && this.#opened >= most)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const backend = this.#opened < most ? await this.#open(first) : (this.#free.shift() as Backend);
    backend.client = client;
    return backend;
  }

  async #open(first: Buffer): Promise<Backend> {
    this.#opened++;
    const socket = connect(this.#port, '127.0.0.1').on('error', () => {});
    this.#sockets.add(socket);
    const backend: Backend = { socket, client: null };
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    let unread = Buffer.alloc(0);
    socket.on('data', (part) => {
      unread = Buffer.concat([unread, part]);
      for (let size = sizeOf(unread); size !== null; size = sizeOf(unread)) {
        const one = unread.subarray(0, size);
        unread = unread.subarray(size);
        backend.client?.write(one);
        if (one[0] !== 'Z'.charCodeAt(0)) continue;
        resolve();
        if (one.at(-1) === 'I'.charCodeAt(0) && backend.client && this.#mode !== 'session') this.#release(backend);
      }
    });
    socket.write(first);
    await ready;
    return backend;
  }

  #release(backend: Backend): void {
    backend.client = null;
    this.#free.push(backend);
    this.#waiting.shift()?.();
  }
}

/** A message of the engine: its kind, its length and what it says. */
function message(kind: string, content: Buffer): Buffer {
  const head = Buffer.alloc(1 + DIGITS);
  head.write(kind);
  head.writeInt32BE(DIGITS + content.length, 1);
  return Buffer.concat([head, content]);
}

/** The length of the first message; null: it is not all there yet. */
function sizeOf(bytes: Buffer): number | null {
  if (bytes.length < 1 + DIGITS) return null;
  const size = 1 + bytes.readInt32BE(1);
  return bytes.length < size ? null : size;
}
