/**
 * A program whose hooks behave as they should, whatever becomes of the daemon: it takes what it is given, says so, and goes
 * on. There is one for each way on which a text reaches a session. What it was given is what its session has read.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { processRef } from '../../../src/local/process-ref.ts';
import { Line } from './line.ts';
import { nowUs } from './rig.ts';

type Frame = Record<string, unknown>;

/**
 * How a text gets there: by the waiting hook, by the hooks of a prompt, a tool call or a turn's end, by an extension, or
 * by the queue of the program itself, which then is what notes it.
 */
export type Way = 'wait' | 'prompt' | 'tool' | 'turn_end' | 'extension' | 'queue';
export const ways: readonly Way[] = ['wait', 'prompt', 'tool', 'turn_end', 'extension', 'queue'];

export interface Given {
  id: string;
  text: string;
}

export interface HarnessOptions {
  way?: Way;
  /** What the session is and does otherwise. */
  header?: Frame;
  /** A file of what it was given, line by line, that outlives its process; for a queue the program writes it. */
  transcript?: string;
}

const PAUSE_MS = 5;

export class FakeHarness {
  readonly given: Given[] = [];
  /** The next hook that is given a handoff, at whatever point, is killed before it writes anything. */
  killNext = false;
  readonly #socket: string;
  readonly #way: Way;
  readonly #header: Frame;
  readonly #transcript: string | undefined;
  #stopped = false;
  #heard = false;
  #line: Line | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(socket: string, { way = 'wait', header = {}, transcript }: HarnessOptions = {}) {
    this.#socket = socket;
    this.#way = way;
    this.#transcript = transcript;
    const session = { session: 'one', boot: '00000000000000aa', process: processRef(process.pid) };
    this.#header = { harness: programs[way], ...session, ...header };
  }

  /** How often a text was given. */
  times = (text: string): number => this.texts().filter((one) => one.includes(text)).length;

  texts(): string[] {
    if (this.#way !== 'queue') return this.given.map(({ text }) => text);
    if (!this.#transcript || !existsSync(this.#transcript)) return [];
    return readFileSync(this.#transcript, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"verb":"queue"'));
  }

  register(source = 'startup'): Promise<Frame> {
    return this.ask('register', { source });
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

  /** Lives until it is stopped. */
  start(): void {
    const lives = {
      wait: () => this.#idles(),
      prompt: () => this.#repeats(() => this.#turn()),
      tool: () => this.#repeats(() => this.#hook('boundary')),
      turn_end: () => this.#repeats(() => this.#hook('turn_end', { stop_active: true })),
      extension: () => this.#extends(),
      queue: async () => {},
    };
    this.#running = lives[this.#way]();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#line?.end();
    await this.#running;
  }

  async #repeats(once: () => Promise<void>): Promise<void> {
    if (this.#way !== 'prompt') await this.#hook('turn_start');
    while (!this.#stopped) {
      await once();
      await pause(PAUSE_MS);
    }
  }

  /** Idles, and wakes when it is told to. */
  async #idles(): Promise<void> {
    let resumed = false;
    let started = nowUs();
    while (!this.#stopped) {
      const woken = await this.#wait(resumed, started).catch(() => null);
      if (woken === null) {
        // The daemon is gone; this very hook goes on waiting. It comes back only to where it was heard.
        resumed ||= this.#heard;
        await pause(10);
        continue;
      }
      this.#heard = false;
      await this.#turn({ wake: true, handoff_id: woken });
      resumed = false;
      started = nowUs();
    }
  }

  async #wait(resumed: boolean, started: number): Promise<string | null> {
    const line = await this.#opened();
    try {
      line.send({ op: 'wait', ...this.#header, started, ...(resumed ? { resumed } : {}) });
      for (;;) {
        const frame = await line.next(60_000);
        if (frame['event'] !== 'deliver') {
          this.#heard ||= frame['event'] === 'waiting';
          if (frame['event'] === 'waiting') continue;
          return null;
        }
        if (await this.#take(line, frame)) return String(frame['handoff_id']);
        // The turn it would have woken does not begin; the next prompt or hook finds the text waiting.
        this.#heard = false;
        return null;
      }
    } finally {
      await line.end();
    }
  }

  async #opened(): Promise<Line> {
    const line = await Line.open(this.#socket);
    this.#line = line;
    if (this.#stopped) await line.end();
    return line;
  }

  /** Keeps a connection, and adds nothing twice. */
  async #extends(): Promise<void> {
    for (let resumed = false; !this.#stopped; resumed = true) {
      await this.#connected(resumed).catch(() => null);
      await pause(10);
    }
  }

  async #connected(resumed: boolean): Promise<void> {
    const line = await this.#opened();
    try {
      line.send({ op: 'hello', ...this.#header, source: 'startup', ...(resumed ? { resumed } : {}) });
      for (;;) {
        const frame = await line.next(60_000);
        if (frame['event'] !== 'deliver') continue;
        const id = String(frame['handoff_id']);
        if (!this.given.some((one) => one.id === id)) this.#keep(frame);
        line.send({ op: 'received', handoff_id: id });
      }
    } finally {
      await line.end();
    }
  }

  /**
   * The text is in the session before anybody is told so; whether the word arrives does not matter to it.
   *
   * @returns false if the hook was killed first
   */
  async #take(line: Line, frame: Frame): Promise<boolean> {
    const { handoff_id } = frame;
    if (this.killNext && handoff_id) {
      this.killNext = false;
      return false;
    }
    if (this.#keep(frame) && handoff_id)
      await line
        .send({ op: 'received', handoff_id })
        .next()
        .catch(() => null);
    return true;
  }

  #keep(frame: Frame): boolean {
    const text = ['nudge', 'bundle', 'notice'].map((part) => frame[part] ?? '').join('\n');
    if (text.trim() === '') return false;
    // A notice has numbers of messages, not their words.
    const given = { id: String(frame['handoff_id'] ?? ''), text };
    if (this.#transcript) appendFileSync(this.#transcript, `${JSON.stringify(given)}\n`);
    this.given.push(given);
    return true;
  }

  async #turn(wokenBy: Frame = {}): Promise<void> {
    await this.#hook('turn_start', wokenBy);
    await this.#hook('boundary');
  }

  /** A hook that does not reach the daemon ends, and the harness goes on. */
  async #hook(op: string, fields: Frame = {}): Promise<void> {
    await this.ask(op, fields).catch(() => null);
  }
}

/** Which program each way is one of. A `stopper` has nothing but the hook of a turn's end. */
const programs: Record<Way, string> = {
  wait: 'claude-code',
  prompt: 'claude-code',
  tool: 'claude-code',
  turn_end: 'stopper',
  extension: 'command',
  queue: 'codex',
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
