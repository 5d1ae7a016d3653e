/**
 * Wake-ups between the processes of one Postgres. NOTIFY carries the keys of what was committed, on a connection of its
 * own and never inside a writing transaction, because it takes a server-wide lock at commit. Nothing rests on it: a
 * counter that every write moves tells the others within a second that something was committed, also when the writer
 * died between commit and NOTIFY or the connection was lost.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Clock } from './clock.ts';
import { DataNewer, requireKnown } from './migrate.ts';
import { connect, end, LISTENER, persist } from './postgres-connection.ts';
import type { Follower } from './tx.ts';

const CHANNEL = 'service_wake';
/** At most one NOTIFY in this many milliseconds. */
const COALESCE_MS = 5;
/** A NOTIFY holds at most 8,000 bytes. */
const MAX_PAYLOAD = 7_500;
const POLL_MS = 1_000;
/** Polls that compare what is watched after the counter moved: a transaction draws its number seconds before it commits. */
const COMPARISONS = 6;
const PING_MS = 5_000;
const ECHO_MS = 2_000;

/** Reads the counter and the state of what is watched, on the pool. */
interface PollSource {
  /** The last number of the counter every write draws from. */
  counter(): Promise<number>;
  /** A number per key that changes whenever the key's state does. */
  versions(keys: string[]): Promise<Map<string, number>>;
}

export class PostgresWake {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #follower: Follower;
  readonly #source: PollSource;
  readonly #self = randomBytes(8).toString('hex');
  readonly #waiting = new Set<string>();
  readonly #cancels = new Set<() => void>();
  #client: pg.Client | null = null;
  #last: Promise<void> = Promise.resolve();
  #sending = false;
  #closed = false;
  #echoed = true;
  #counter = -1;
  #comparisonsLeft = 0;
  #versions = new Map<string, number>();

  constructor(url: string, clock: Clock, follower: Follower, source: PollSource) {
    this.#url = url;
    this.#clock = clock;
    this.#follower = follower;
    this.#source = source;
  }

  /** Listens before it answers, so that nothing that is served misses a wake-up. @throws DataNewer */
  async start(): Promise<void> {
    await this.#connect();
    this.#later(POLL_MS, () => void this.#poll());
    this.#later(PING_MS, () => this.#ping());
  }

  /** Tells the other processes; merged with what else is committed within a few milliseconds. */
  send(keys: readonly string[]): void {
    for (const key of keys) this.#waiting.add(key);
    if (this.#sending) return;
    this.#sending = true;
    this.#later(COALESCE_MS, () => void this.#flush());
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#cancels) cancel();
    // What was committed last is told too, unless the connection does not answer.
    const told = this.#flush().then(() => this.#last);
    await Promise.race([told, new Promise<void>((resolve) => void this.#clock.after(ECHO_MS, resolve))]);
    await end(this.#client, this.#clock);
  }

  async #flush(): Promise<void> {
    this.#sending = false;
    const client = this.#client;
    // What waits is sent once there is a connection again.
    if (!client) return;
    const keys = [...this.#waiting];
    this.#waiting.clear();
    try {
      for (const payload of packed(this.#self, keys)) await this.#notify(client, payload);
    } catch {
      // Not every key has a state that the others' polls could compare.
      this.#lost(client);
      this.send(keys);
    }
  }

  /** One after the other: a connection runs one query at a time. */
  #notify(client: pg.Client, payload: string): Promise<void> {
    const sent = this.#last.then(async () => {
      await client.query({ name: 'notify', text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, payload] });
    });
    this.#last = sent.catch(() => {});
    return sent;
  }

  async #connect(): Promise<void> {
    const client = await connect(this.#url, LISTENER, () => this.#lost(client));
    client.on('notification', ({ payload }) => this.#heard(payload ?? ''));
    try {
      await client.query(`LISTEN ${CHANNEL}`);
      await requireKnown(client);
    } catch (error) {
      if (error instanceof DataNewer) this.#follower.outdated?.(error);
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    this.#echoed = true;
    if (this.#closed) await client.end().catch(() => {});
  }

  /** Comes back, and then wakes everybody once: what was missed is not known. */
  #lost(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = null;
    void client.end().catch(() => {});
    this.#follower.gap('lost');
    const stopped = () => this.#closed;
    void persist(this.#clock, () => this.#connect(), stopped).then(() => {
      if (stopped()) return;
      this.#follower.gap('restored');
      this.send([]);
    });
  }

  #heard(payload: string): void {
    const wakeUp = parse(payload);
    if (!wakeUp) return;
    const { from, keys } = wakeUp;
    if (from !== this.#self) this.#follower.committed(keys);
    else if (keys.length === 0) this.#echoed = true;
  }

  /** A connection can be dead without saying so: it must bring back what was sent to itself. */
  #ping(): void {
    if (this.#client) {
      this.#echoed = false;
      const client = this.#client;
      void this.#notify(client, JSON.stringify({ from: this.#self, keys: [] })).catch(() => {});
      // It may lie unread where this process was busy until now.
      const check = (): void => {
        if (!this.#echoed) this.#lost(client);
      };
      this.#later(ECHO_MS, () => void setImmediate(check));
    }
    this.#later(PING_MS, () => this.#ping());
  }

  /** Looks at the counter; only when it moved lately, at what is watched here. */
  async #poll(): Promise<void> {
    try {
      const counter = await this.#source.counter();
      if (counter !== this.#counter) {
        this.#counter = counter;
        this.#comparisonsLeft = COMPARISONS;
      }
      if (this.#comparisonsLeft > 0) {
        await this.#compare();
        this.#comparisonsLeft--;
      }
    } catch {
      // The database is away; the next poll asks again.
    }
    this.#later(POLL_MS, () => void this.#poll());
  }

  async #compare(): Promise<void> {
    const now = await this.#source.versions(this.#follower.watched());
    const changed = [...now].filter(([key, version]) => this.#versions.get(key) !== version).map(([key]) => key);
    this.#versions = now;
    if (changed.length > 0) this.#follower.committed(changed);
  }

  #later(ms: number, fn: () => void): void {
    if (this.#closed) return;
    const cancel = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel);
      if (!this.#closed) fn();
    });
    this.#cancels.add(cancel);
  }
}

/** Null where it is no wake-up: every user of the database may notify the channel. */
function parse(payload: string): { from: string; keys: string[] } | null {
  try {
    const { from, keys } = JSON.parse(payload) as { from: unknown; keys: unknown };
    const fits = typeof from === 'string' && Array.isArray(keys) && keys.every((key) => typeof key === 'string');
    return fits ? { from, keys } : null;
  } catch {
    return null;
  }
}

/** The keys in as few payloads as fit. */
function packed(from: string, keys: string[]): string[] {
  const payloads: string[] = [];
  let part: string[] = [];
  let size = 64;
  for (const key of keys) {
    if (size + key.length + 3 > MAX_PAYLOAD) {
      payloads.push(JSON.stringify({ from, keys: part }));
      part = [];
      size = 64;
    }
    part.push(key);
    size += key.length + 3;
  }
  if (part.length > 0) payloads.push(JSON.stringify({ from, keys: part }));
  return payloads;
}
