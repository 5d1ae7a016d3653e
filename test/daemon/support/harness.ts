/**
 * A program whose hooks behave as they should, whatever becomes of the daemon: it waits when it is idle, comes back when
 * the connection breaks, and runs a turn when it is woken. What it was given is what its session has read.
 */
import { processRef } from '../../../src/local/process-ref.ts';
import { Line } from './line.ts';
import { nowUs } from './rig.ts';

type Frame = Record<string, unknown>;

export interface Given {
  id: string;
  text: string;
}

export class FakeHarness {
  readonly given: Given[] = [];
  /** The next hook that is told to wake is killed before it writes anything. */
  killNext = false;
  readonly #socket: string;
  readonly #header: Frame;
  #stopped = false;
  #heard = false;
  #line: Line | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(socket: string, session = 'one') {
    this.#socket = socket;
    this.#header = { harness: 'claude-code', session, boot: '00000000000000aa', process: processRef(process.pid) };
  }

  /** How often a text was given. */
  times = (text: string): number => this.given.filter((one) => one.text.includes(text)).length;

  async register(): Promise<Frame> {
    return this.ask('register', { source: 'startup' });
  }

  async ask(op: string, fields: Frame = {}): Promise<Frame> {
    const line = await Line.open(this.#socket);
    try {
      const answer = await line.send({ op, ...this.#header, started: nowUs(), ...fields }).next(10_000);
      await this.#take(line, answer);
      return answer;
    } finally {
      await line.end();
    }
  }

  /** Idles, and wakes when it is told to, until it is stopped. */
  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#line?.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    let resumed = false;
    let started = nowUs();
    while (!this.#stopped) {
      const woken = await this.#wait(resumed, started).catch(() => null);
      if (woken === null) {
        // The daemon is gone; this very hook goes on waiting. It comes back only to where it was heard.
        resumed ||= this.#heard;
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      this.#heard = false;
      await this.#turn(woken);
      resumed = false;
      started = nowUs();
    }
  }

  async #wait(resumed: boolean, started: number): Promise<string | null> {
    const line = await Line.open(this.#socket);
    this.#line = line;
    try {
      line.send({ op: 'wait', ...this.#header, started, ...(resumed ? { resumed } : {}) });
      for (;;) {
        const frame = await line.next(60_000);
        if (frame['event'] !== 'deliver') {
          this.#heard ||= frame['event'] === 'waiting';
          if (frame['event'] === 'waiting') continue;
          return null;
        }
        if (this.killNext) {
          this.killNext = false;
          // The turn it would have woken does not begin; the next prompt or hook finds the text waiting.
          this.#heard = false;
          return null;
        }
        await this.#take(line, frame);
        return String(frame['handoff_id']);
      }
    } finally {
      await line.end();
    }
  }

  /** The text is in the session before anybody is told so; whether the word arrives does not matter to it. */
  async #take(line: Line, frame: Frame): Promise<void> {
    const text = ['nudge', 'bundle', 'notice'].map((part) => frame[part] ?? '').join('\n');
    if (text.trim() === '') return;
    this.given.push({ id: String(frame['handoff_id'] ?? ''), text });
    if (frame['handoff_id'])
      await line
        .send({ op: 'received', handoff_id: frame['handoff_id'] })
        .next()
        .catch(() => null);
  }

  async #turn(wokenBy: string): Promise<void> {
    await this.#hook('turn_start', { wake: true, handoff_id: wokenBy });
    await this.#hook('boundary');
  }

  /** A hook that does not reach the daemon ends, and the harness goes on. */
  async #hook(op: string, fields: Frame = {}): Promise<void> {
    await this.ask(op, fields).catch(() => null);
  }
}
