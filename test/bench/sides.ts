/** The servers that the same load is put on: this one, on either database and in several processes, and Parse Server. */
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newIdempotencyKey } from '../../src/client/idempotency.ts';
import { type Child, launchScript } from '../faults/launch.ts';
import type { Side } from './fanout.ts';
import { addPeople } from './people.ts';
import { Follower } from './sse.ts';
import { Subscriber } from './subscriber.ts';
import { request, Wire } from './wire.ts';
import { newFolder, startProduct } from './world.ts';

/** A side whose servers this process started. */
export interface Started extends Side {
  children: Child[];
  end(): Promise<void>;
}

export interface ProductShape {
  name: string;
  /** Default: SQLite. */
  db?: string;
  boards?: number;
  /** Server processes on the one database. */
  processes?: number;
  /** Members of each board; writers and readers are spread over them. */
  people?: number;
  /** Whether a person is on a board; default: everybody is on each. */
  seated?: (board: number, person: number) => boolean;
  /** So many agents of the owner on each board, whose tokens post instead; absent: people post. */
  agents?: number;
  nodeFlags?: string[];
}

const filler = 'The build is green again after the change to the retry loop, and the release notes are up for review. ';
let count = 0;

/** About 200 characters, different each time. */
const text = (): string => `Message ${++count}. ${filler}${filler}`.slice(0, 200);

export interface ProductSide extends Started {
  /** Of the last ten messages of a board. */
  read(reader: number, board: number): Buffer;
}

/** The product with its boards and their members. */
export async function productSide(shape: ProductShape): Promise<ProductSide> {
  const {
    name,
    db,
    boards = 1,
    processes = 1,
    people: number = 16,
    seated = () => true,
    agents = 0,
    nodeFlags,
  } = shape;
  const folders = Array.from({ length: processes }, () => newFolder('side'));
  const [first, ...others] = folders as [string, ...string[]];
  await (await startProduct({ dataDir: first, db })).end();
  const people = await addPeople(first, number, db);
  const owner = await startProduct({ dataDir: first, db, nodeFlags });
  const tokens: string[][] = [];
  for (let n = 0; n < boards; n++) {
    await owner.call('POST', '/v1/boards', { name: `b${n}`, preset: 'starter' });
    for (const { handle } of people.filter((_, k) => seated(n, k)))
      await owner.call('POST', `/v1/boards/b${n}/people`, { handle });
    const seat = { board: `b${n}`, role: 'member' };
    tokens.push([]);
    for (let k = 0; k < agents; k++)
      tokens[n]!.push((await owner.call<{ token: string }>('POST', '/v1/join', seat)).token);
  }
  const twins = [];
  for (const folder of others) {
    mkdirSync(folder, { recursive: true });
    for (const file of ['server-secret', 'local-key']) copyFileSync(join(first, file), join(folder, file));
    twins.push(await startProduct({ dataDir: folder, db, nodeFlags }));
  }
  const products = [owner, ...twins];
  const url = (n: number): string => products[n % products.length]!.url;
  const authorized = (token: string) => ({ Authorization: `Bearer ${token}` });
  const bearer = (n: number) => authorized(people[n % people.length]!.key);
  // As many writers as there are processes share an agent.
  const poster = (writer: number, board: number) =>
    agents > 0 ? authorized(tokens[board]![Math.floor(writer / boards / processes) % agents]!) : bearer(writer);
  return {
    name,
    boards,
    url,
    children: products.map(({ child }) => child),
    post: (writer, board) =>
      request(
        url(writer),
        'POST',
        `/v1/boards/b${board}/messages`,
        { ...poster(writer, board), 'Idempotency-Key': newIdempotencyKey() },
        JSON.stringify({ body: text() }),
      ),
    posted: (body) => (JSON.parse(body.toString()) as { seq: number }).seq,
    read: (reader, board) => request(url(reader), 'GET', `/v1/boards/b${board}/messages?limit=10`, bearer(reader)),
    follow: (reader, board, onMessage) =>
      Follower.open(url(reader), request(url(reader), 'GET', `/v1/stream?board=b${board}`, bearer(reader)), onMessage),
    async end() {
      await Promise.all(products.map((product) => product.end()));
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Parse Server with users who are signed in. @param folder where it is installed. */
export async function parseSide(name: string, folder: string, db: string, idempotency: boolean): Promise<Started> {
  const script = fileURLToPath(new URL('peers/parse-server.ts', import.meta.url));
  const child = launchScript(script, [JSON.stringify({ folder, db, idempotency })]);
  const url = await child.ready;
  const application = { 'X-Parse-Application-Id': 'bench' };
  const sessions: string[] = [];
  const wire = await Wire.open(url);
  for (let n = 0; n < 16; n++) {
    const user = JSON.stringify({ username: `person-${n}`, password: randomUUID() });
    const { status, body } = await wire.send(request(url, 'POST', '/parse/users', application, user));
    if (status !== 201) {
      await child.stop();
      throw new Error(`a user got ${status}: ${body.toString()}`);
    }
    sessions.push((JSON.parse(body.toString()) as { sessionToken: string }).sessionToken);
  }
  wire.close();
  const session = (n: number): string => sessions[n % sessions.length]!;
  return {
    name,
    boards: 1,
    url: () => url,
    children: [child],
    post: (writer) =>
      request(
        url,
        'POST',
        '/parse/classes/Message',
        { ...application, 'X-Parse-Session-Token': session(writer), 'X-Parse-Request-Id': randomUUID() },
        JSON.stringify({ body: text() }),
      ),
    posted: (body) => (JSON.parse(body.toString()) as { objectId: string }).objectId,
    follow: (reader, _board, onMessage) => Subscriber.open(url, session(reader), onMessage),
    async end() {
      await child.stop();
    },
  };
}
