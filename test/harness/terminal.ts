/** A program in a pseudo-terminal, its screen read as a person would see it. */
import { type IPty, spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';

const { Terminal: Screen } = headless;
const size = { cols: 120, rows: 40 };

export class Terminal {
  readonly ended: Promise<number>;
  private readonly screen = new Screen({ ...size, allowProposedApi: true });

  private readonly pty: IPty;

  private constructor(pty: IPty) {
    this.pty = pty;
    // The screen answers what a program asks of its terminal (place of the cursor, colours), and so is a full one.
    this.screen.onData((answer) => pty.write(answer));
    pty.onData((data) => this.screen.write(data));
    this.ended = new Promise((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  static start(program: string, args: string[], options: { cwd: string; env: Record<string, string> }): Terminal {
    return new Terminal(spawn(program, args, { name: 'xterm-256color', ...size, ...options }));
  }

  get pid(): number {
    return this.pty.pid;
  }

  /** The lines on the screen now. */
  text(): string {
    const { active } = this.screen.buffer;
    const lines = Array.from(
      { length: size.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
    );
    return lines.filter((line) => line.trim() !== '').join('\n');
  }

  /** Resolves once the screen shows it; fails with what the screen shows instead. */
  async until(what: RegExp, milliseconds = 30_000): Promise<void> {
    const end = performance.now() + milliseconds;
    while (!what.test(this.text())) {
      if (performance.now() > end) throw new Error(`the screen does not show ${what}; it shows:\n${this.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Resolves once the screen has stopped showing it. */
  async gone(what: RegExp, milliseconds = 30_000): Promise<void> {
    await this.until(new RegExp(`^(?![\\s\\S]*(?:${what.source}))`), milliseconds);
  }

  /** Presses a key until the screen shows what comes of it. */
  async press(keys: string, shows: RegExp): Promise<void> {
    await this.pressUntil(keys, () => shows.test(this.text()), `the screen does not show ${shows}`);
  }

  /** Presses Ctrl-C, as often as the program wants it, until it has ended. */
  async leave(): Promise<void> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    await this.pressUntil('\x03', () => over, 'it does not end');
  }

  key(keys: string): void {
    this.pty.write(keys);
  }

  /**
   * Types a line and enters it. A program takes an Enter that follows at once for a part of pasted text, so it is pressed
   * again until the line was taken.
   */
  async enter(words: string, taken: () => boolean): Promise<void> {
    this.pty.write(words);
    await this.until(new RegExp(words.slice(0, 40).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')));
    await this.pressUntil('\r', taken, 'the line was not taken');
  }

  /** Types a command of the program itself; where it has refused it because it still worked, again. */
  async command(words: string, shown: (screen: string) => boolean): Promise<void> {
    for (let tries = 0; tries < 5; tries += 1) {
      await this.gone(/esc to interrupt|Working…/);
      this.pty.write(words);
      await this.until(new RegExp(words));
      if (await this.pressed('\r', () => shown(this.text()), 10)) return;
    }
    throw new Error(`${words} has shown nothing of its own; the screen shows:\n${this.text()}`);
  }

  kill(signal = 'SIGKILL'): void {
    this.pty.kill(signal);
  }

  private async pressUntil(keys: string, done: () => boolean, otherwise: string): Promise<void> {
    if (!(await this.pressed(keys, done))) throw new Error(`${otherwise}; the screen shows:\n${this.text()}`);
  }

  /** A program that draws itself may not listen yet: what it did not take within 400 ms is pressed again, so many times. */
  private async pressed(keys: string, done: () => boolean, times = 40): Promise<boolean> {
    for (let presses = 0; presses < times; presses += 1) {
      this.key(keys);
      for (let looks = 0; looks < 16; looks += 1) {
        if (done()) return true;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }
    return false;
  }
}
