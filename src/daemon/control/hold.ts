/** A command's hold on deliveries for as long as it runs: the daemon drops each hold after a while, or is itself replaced. */
import { nextFrame } from './ask.ts';
import type { Connection, Frame } from './connection.ts';
import { HOLD_TIMEOUT_MS } from './limits.ts';

const ANSWER_MS = 2_000;
/** A minute before the daemon drops it. */
const RENEWAL_MS = HOLD_TIMEOUT_MS - 60_000;
const RETRY_MS = 1_000;

interface HoldOptions {
  connect(): Promise<Connection>;
  /** What is held. It names no session, because a renewal is no event of one. */
  frame: Frame;
  /** Runs a function after `ms`. @returns a function that cancels it */
  after?(ms: number, run: () => void): () => void;
}

export class Hold {
  readonly #options: Required<HoldOptions>;
  #connection: Connection | null = null;
  #cancel: () => void = () => {};
  #ended = false;

  constructor(options: HoldOptions) {
    this.#options = { after: unlessEnded, ...options };
  }

  /**
   * Takes it, in place of the one before, until `end`. @param more of this one request.
   * @returns the answer; null without a daemon, or where it refuses
   */
  async take(more: Frame = {}): Promise<Frame | null> {
    const { connect, frame } = this.#options;
    let connection: Connection | null = null;
    let answer: Frame | null = null;
    try {
      connection = await connect();
      await connection.send({ ...frame, ...more });
      answer = await nextFrame(connection, ANSWER_MS);
    } catch {
      // Without a daemon nothing is delivered; one may start.
    }
    if (connection && answer !== null && !this.#ended) {
      this.#replace(connection);
      this.#watch(connection);
    } else connection?.close();
    this.#takeAfter(answer === null ? RETRY_MS : RENEWAL_MS);
    return answer;
  }

  /** Asks about what is held, on a connection of its own. @returns the answer; null without a daemon, or where it refuses */
  async ask(about: Frame): Promise<Frame | null> {
    const { connect, frame } = this.#options;
    let connection: Connection | null = null;
    try {
      connection = await connect();
      let answer: Frame | null = null;
      for (const each of [frame, about]) {
        await connection.send(each);
        answer = await nextFrame(connection, ANSWER_MS);
      }
      return answer;
    } catch {
      return null;
    } finally {
      connection?.close();
    }
  }

  end(): void {
    this.#ended = true;
    this.#cancel();
    this.#replace(null);
  }

  #replace(connection: Connection | null): void {
    this.#connection?.close();
    this.#connection = connection;
  }

  /** Takes it again once the daemon ends or has dropped it. */
  #watch(connection: Connection): void {
    const lost = (): void => {
      if (this.#connection !== connection) return;
      this.#replace(null);
      this.#takeAfter(0);
    };
    connection.next().then(lost, lost);
  }

  #takeAfter(ms: number): void {
    this.#cancel();
    if (!this.#ended) this.#cancel = this.#options.after(ms, () => void this.take());
  }
}

/** A timer that keeps no program from ending. */
function unlessEnded(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}
