/**
 * Writers that never give up: each posts one message after the other under a key of its own, and where an answer does
 * not come it sends the same key and the same bytes again until there is one. What they were told is kept, to be
 * compared with the record.
 */
import { randomUUID } from 'node:crypto';
import { Agent, type ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, call } from './api.ts';

/** A post and how often it was sent so far. */
export interface Sent {
  key: string;
  /** The message's text, different for every post. */
  text: string;
  /** The request's bytes. */
  bytes: string;
  tries: number;
}

/** One request on its way. */
export interface Try {
  /** Whether all its bytes have left this process. */
  sent: boolean;
  /** Whether an answer came. */
  answered: Promise<boolean>;
}

export interface Acknowledged extends Sent {
  answer: string;
  /** The answer said that an earlier try had done the work. */
  replayed: boolean;
}

/** Where the server is now. While it is down, whoever asks waits. */
export class Target {
  #url: string | null = null;
  #waiting: ((url: string) => void)[] = [];

  up(url: string): void {
    this.#url = url;
    for (const resolve of this.#waiting.splice(0)) resolve(url);
  }

  down(): void {
    this.#url = null;
  }

  whenUp(): Promise<string> {
    return this.#url === null ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(this.#url);
  }
}

/** What happens to writers that a test may wait for. */
export type Happening = 'connected' | 'sent' | 'acknowledged';

interface Hook {
  what: Happening;
  left: number;
  fn: () => void;
}

export interface FleetOptions {
  target: Target;
  token: string;
  board: string;
  writers: number;
  /** Answers that are no outcome: the request is repeated. Default: none. */
  mayRepeat?(answer: Answer): boolean;
}

export class Fleet {
  readonly acknowledged: Acknowledged[] = [];
  /** Posts without an answer so far. */
  readonly pending = new Set<Sent>();
  /** Tries that ended without an answer, and answers that were no outcome. */
  lost = 0;
  repeated = 0;
  readonly #tries = new Set<Try>();
  readonly #options: FleetOptions;
  readonly #loops: Promise<void>[];
  #hooks: Hook[] = [];
  #stopping = false;
  #failed: (error: Error) => void = () => {};
  /** Rejects as soon as a writer gets an answer it must never get. */
  readonly failure: Promise<never> = new Promise((_resolve, reject) => {
    this.#failed = reject;
  });

  constructor(options: FleetOptions) {
    this.#options = options;
    this.failure.catch(() => {});
    this.#loops = Array.from({ length: options.writers }, (_, n) => this.#loop(n));
  }

  /** Calls `fn` at once when something has happened `count` times from now on. */
  after(what: Happening, count: number, fn: () => void): void {
    this.#hooks.push({ what, left: count, fn });
  }

  /** Requests whose bytes are out and which have no answer yet. */
  onTheirWay(): Try[] {
    return [...this.#tries].filter((one) => one.sent);
  }

  /** Resolves when everything that was begun is acknowledged. The server has to be up. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await Promise.race([Promise.all(this.#loops), this.failure]);
  }

  #happened(what: Happening): void {
    for (const hook of [...this.#hooks]) {
      if (hook.what !== what || --hook.left > 0) continue;
      this.#hooks = this.#hooks.filter((other) => other !== hook);
      hook.fn();
    }
  }

  async #loop(writer: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (let n = 1; !this.#stopping; n++) {
        const text = `writer ${writer}, message ${n}, ${randomUUID()}`;
        const post: Sent = { key: randomUUID(), text, bytes: JSON.stringify({ body: text }), tries: 0 };
        this.pending.add(post);
        await this.#untilAcknowledged(post, agent);
      }
    } catch (error) {
      this.#failed(error as Error);
    } finally {
      agent.destroy();
    }
  }

  async #untilAcknowledged(post: Sent, agent: Agent): Promise<void> {
    for (;;) {
      const answer = await this.#try(post, agent);
      if (answer?.status === 201) {
        const replayed = answer.headers['idempotent-replayed'] === 'true';
        this.pending.delete(post);
        this.acknowledged.push({ ...post, answer: answer.body, replayed });
        this.#happened('acknowledged');
        return;
      }
      if (answer === null) this.lost++;
      else if (this.#options.mayRepeat?.(answer)) this.repeated++;
      else throw new Error(`a writer got ${answer.status}: ${answer.body}`);
      // A server that refuses at once must not be asked so often that whoever restarts it starves.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #try(post: Sent, agent: Agent): Promise<Answer | null> {
    const { target, board, token } = this.#options;
    const url = await target.whenUp();
    post.tries++;
    const one: Try = { sent: false, answered: Promise.resolve(false) };
    const answer = call({
      url,
      method: 'POST',
      path: `/v1/boards/${board}/messages`,
      token,
      key: post.key,
      body: post.bytes,
      agent,
      onRequest: (request) => this.#watch(request, one),
    }).catch(() => null);
    one.answered = answer.then((found) => found !== null);
    this.#tries.add(one);
    const found = await answer;
    this.#tries.delete(one);
    return found;
  }

  #watch(request: ClientRequest, one: Try): void {
    request.on('socket', (socket: Socket) => {
      if (socket.connecting) socket.once('connect', () => this.#happened('connected'));
    });
    request.on('finish', () => {
      one.sent = true;
      this.#happened('sent');
    });
  }
}
