/**
 * Exactly once per cursor: readers of a stream and of an inbox are cut off at moments drawn by chance, while others
 * write and the server is killed or restarted; whoever goes on from the last thing it saw misses and repeats nothing.
 *
 * The short form runs with all tests, SERVICE_TEST_LONG=1 cuts each reader 100 times on each database.
 */
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import type { Inbox } from '../../src/contract/types.ts';
import { forEachDatabase } from '../support/databases.ts';
import { must } from './api.ts';
import { newPlace, remove, type Where } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Chance, chance } from './random.ts';
import { Fleet, Target } from './writers.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const CUTS = LONG ? 100 : 12;
const RESTARTS = LONG ? 10 : 1;
const WRITERS = 2;
/** How long a connection lasts at most before it is cut, in milliseconds. */
const MOST_MS = 80;

const places: Where[] = [];

after(() => {
  for (const { dataDir } of places) remove(dataDir);
});

/** Somebody who reads by a cursor, over as many connections as it takes. */
abstract class Reader {
  readonly seen: number[] = [];
  cuts = 0;
  readonly #luck: Chance;
  readonly #target: Target;

  constructor(luck: Chance, target: Target) {
    this.#luck = luck;
    this.#target = target;
  }

  /** Reads until it was cut off often enough. */
  async run(): Promise<void> {
    while (this.cuts < CUTS) {
      const url = await this.#target.whenUp();
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), this.#luck.between(1, MOST_MS));
      await this.read(url, controller.signal).catch(() => {});
      clearTimeout(timer);
      if (controller.signal.aborted) this.cuts++;
      // The server went away by itself: whoever asks again at once would only hear that it is away.
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Reads on one connection from where the last one ended, until it is cut. */
  abstract read(url: string, signal: AbortSignal): Promise<void>;
}

class StreamReader extends Reader {
  #last = '0';
  readonly #board: string;
  readonly #token: string;

  constructor(luck: Chance, target: Target, board: string, token: string) {
    super(luck, target);
    this.#board = board;
    this.#token = token;
  }

  async read(url: string, signal: AbortSignal): Promise<void> {
    const response = await fetch(`${url}/v1/stream?board=${this.#board}`, {
      headers: { authorization: `Bearer ${this.#token}`, 'last-event-id': this.#last },
      signal,
    });
    if (!response.ok) throw new Error(`the stream answered ${response.status}: ${await response.text()}`);
    const parser = createParser({
      onEvent: ({ event, id }) => {
        this.#last = id ?? this.#last;
        if (event === 'event') this.seen.push(Number(id));
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
    }
  }

  /** Reads up to the end without a cut. */
  async rest(url: string, head: number): Promise<void> {
    const controller = new AbortController();
    const reading = this.read(url, controller.signal).catch(() => {});
    while ((this.seen.at(-1) ?? 0) < head) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    await reading;
  }
}

class InboxReader extends Reader {
  readonly #token: string;

  constructor(luck: Chance, target: Target, token: string) {
    super(luck, target);
    this.#token = token;
  }

  async read(url: string, signal: AbortSignal): Promise<void> {
    for (;;) await this.page(url, 30, signal);
  }

  /** Waits for messages after the last one seen, and acknowledges some of what came; answers whether more follow. */
  async page(url: string, wait: number, signal?: AbortSignal): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const query = `wait=${wait}&limit=50&after=${this.seen.at(-1) ?? 0}`;
    const response = await fetch(`${url}/v1/me/inbox?${query}`, { headers, signal });
    if (!response.ok) throw new Error(`the inbox answered ${response.status}: ${await response.text()}`);
    const inbox = (await response.json()) as Inbox;
    this.seen.push(...inbox.messages.map(({ seq }) => seq));
    if (this.seen.length % 3 === 0) {
      const body = JSON.stringify({ up_to: this.seen.at(-1) ?? 0 });
      await fetch(`${url}/v1/me/inbox/ack`, { method: 'POST', headers, body, signal });
    }
    return inbox.more;
  }
}

forEachDatabase('readers that are cut off while others write and the server dies', (engine) => {
  it(`get everything once and in order, over ${CUTS} cuts each and ${RESTARTS} restart(s)`, async function () {
    this.timeout(LONG ? 300_000 : 120_000);
    const luck = chance();
    console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
    const where = await newPlace(engine);
    places.push(where);
    let server: Child = launchServer(where);
    let url = await server.ready;
    const token = localKey(where.dataDir);
    const person = { token, method: 'POST' };
    await must({ ...person, url, path: '/v1/boards', body: '{"name":"cuts"}' });
    const body = JSON.stringify({ board: 'cuts', role: 'member' });
    const { token: agentToken } = await must<{ token: string }>({ ...person, url, path: '/v1/join', body });

    const target = new Target();
    const fleet = new Fleet({ target, token, board: 'cuts', writers: WRITERS });
    const stream = new StreamReader(luck, target, 'cuts', token);
    const agentStream = new StreamReader(luck, target, 'cuts', agentToken);
    const inbox = new InboxReader(luck, target, agentToken);
    const readers = [stream, agentStream, inbox];
    target.up(url);
    const reading = Promise.all(readers.map((reader) => reader.run()));
    for (let n = 1; n <= RESTARTS; n++) {
      const share = (n / (RESTARTS + 1)) * CUTS;
      while (inbox.cuts < share) await new Promise((resolve) => setTimeout(resolve, 5));
      target.down();
      await (luck.pick([true, false]) ? server.kill() : server.stop());
      server = launchServer(where);
      url = await server.ready;
      target.up(url);
    }
    await Promise.race([reading, fleet.failure]);
    await fleet.finish();

    const { head_seq } = await must<{ head_seq: number }>({ url, token, path: '/v1/boards/cuts' });
    const posted = fleet.acknowledged.map(({ answer }) => (JSON.parse(answer) as { seq: number }).seq);
    for (const reader of [stream, agentStream]) {
      await reader.rest(url, head_seq);
      expect(reader.seen).to.deep.equal(Array.from({ length: head_seq }, (_unused, n) => n + 1));
    }
    while (await inbox.page(url, 0)) {
      // Up to the end.
    }
    expect(inbox.seen).to.deep.equal(posted.sort((a, b) => a - b));
    console.log(`        ${posted.length} posts, ${readers.map(({ cuts }) => cuts).join(' + ')} cuts`);
    expect(await server.stop()).to.equal(0);
  });
});
