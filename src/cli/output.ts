/** Prints results, notes and errors. Text, `--json` and `--ndjson` are made from the same record. */
import type { z } from 'zod';
import { usage } from '../local/failure.ts';
import type { Env } from '../local/folders.ts';
import { autostarted, called } from './runtime.ts';
import type { base } from './shapes.ts';
import { type Paint, plain } from './terminal/color.ts';
import { show, showData, showJson } from './terminal/terminal.ts';

type Mode = 'text' | 'json' | 'ndjson';

/** What every successful answer may carry besides the command's own fields. */
export type Base = z.infer<typeof base>;

export class Output {
  mode: Mode;
  quiet: boolean;
  /** Colours of standard output; set once the flags are known. */
  paint: Paint = plain;
  errorPaint: Paint = plain;
  readonly base: Base = {};
  /** Whether standard output is for the values of `--jq` alone, so that a failure is told on standard error. */
  readonly values: boolean;
  /** What `--json=FIELD,…` leaves of a record; set once the flags are known. */
  pick: (record: object) => unknown = (record) => record;
  /** What `--jq` makes of a record; set once the flags are known. */
  filter: ((record: unknown) => string) | null = null;
  /** Whether the text of the result has tags and lines of ours for an agent, and what others wrote is escaped in it. */
  tagged = false;
  /** Whether the one object of `--json` is printed. */
  private printed = false;
  /** Whether a line of several was. */
  private wroteLine = false;
  private unsaid: string[] = [];

  constructor(mode: Mode, quiet: boolean, values = false) {
    this.mode = mode;
    this.quiet = quiet;
    this.values = values;
  }

  /** Whether an error goes to standard error, as text: in text mode, and where standard output is for the result alone. */
  get errorAside(): boolean {
    return this.mode === 'text' || this.values || (this.mode === 'json' && this.printed);
  }

  /** Whether a person may be looking at the result right now. */
  get terminal(): boolean {
    return process.stdout.isTTY === true;
  }

  /**
   * The result of a command: one JSON object, or the text made from the same record.
   *
   * @param secret what is shown this one time only: it is printed with --quiet too, alone
   */
  print(record: object, text: () => string, secret?: string): void {
    if (this.quiet && secret === undefined) return;
    if (this.mode === 'text') {
      this.write(this.quiet ? (secret as string) : text());
      for (const reminder of this.saidReminders()) this.note(`Reminder: ${reminder}`);
      return;
    }
    const whole = { ...this.base, ...autostarted(), ...record };
    this.show(whole, this.mode === 'json' && this.terminal ? 2 : undefined);
    this.printed = true;
  }

  private write(text: string): void {
    if (text !== '') show(process.stdout, `${text}\n`, this.tagged);
  }

  private show(record: object, indent?: number): void {
    const picked = this.pick(record);
    if (this.filter) showData(this.filter(picked));
    else showJson(picked, indent);
  }

  /**
   * Whether the messages of a record are printed with it, each to its end: `--quiet`, `--json=FIELD,…` and `--jq` may leave
   * them out. It is tried with marks in the place of their texts.
   *
   * @param field where the texts are
   */
  shows(record: object, field = 'body'): boolean {
    if (this.quiet) return false;
    const marks: string[] = [];
    const marked = JSON.parse(JSON.stringify(record), (key, value) => {
      if (key === 'bundle' || key === 'wrapped') return marks.join(' ');
      if (key !== field) return value;
      marks.push(`<${marks.length} ${'.'.repeat(String(value).length)}>`);
      return marks.at(-1);
    });
    try {
      const picked = this.pick(marked);
      const printed = this.filter ? this.filter(picked) : JSON.stringify(picked);
      return marks.every((mark) => printed.includes(mark));
    } catch {
      // An expression that reads the texts does not understand the marks.
      return false;
    }
  }

  /** Those of a list that are printed to their end: each by itself with `--ndjson`, else all or none. @param name of the list in its record */
  shownOf<Item extends object>(name: string, items: Item[], field?: string): Item[] {
    if (this.mode === 'ndjson') return items.filter((item) => this.shows(item, field));
    return this.shows({ [name]: items }, field) ? items : [];
  }

  /** Says what became of those that `shows` found missing. @param what they are */
  noteUnshown(what = 'messages'): void {
    const note = `These ${what} stay unread, as their texts are not printed. To read them, leave out --jq and --json=FIELD.`;
    this.note(note, { always: true });
  }

  /** As text, what of a result is known before the rest of it. */
  begin(text: string): void {
    if (!this.quiet && this.mode === 'text') this.write(text);
  }

  /** One record of a list or stream, on a line of its own. */
  each(record: object, text?: () => string): void {
    if (this.quiet) return;
    if (this.mode === 'text' && text) this.write(text());
    else this.show(record);
    this.wroteLine = true;
  }

  /** Prints a list that is wanted as one record per line; whether it is. */
  listed(records: readonly object[]): boolean {
    if (this.mode !== 'ndjson') return false;
    for (const record of records) this.each(record);
    return true;
  }

  /** Data of the result as it is, such as the bytes of a file, a script or log lines. */
  raw(data: string | Uint8Array): void {
    if (!this.quiet) showData(data);
  }

  /** The result is a document for programs, whatever the mode. */
  document(record: object): void {
    if (!this.quiet) this.show(record, this.mode === 'text' ? 2 : undefined);
  }

  /** Refuses what is of no use where nobody sees it. @param what comes of it @param hint what to type instead */
  requireShown(what: string, hint: string): void {
    if (this.quiet) throw usage(`With --quiet nothing is shown, so that ${what}.`, hint);
  }

  /**
   * A word besides the result, on standard error: progress, what was started, what to type next.
   *
   * @param always beside JSON too, for what no record says
   */
  note(text: string, { always = false } = {}): void {
    if (!this.quiet && (always || this.mode === 'text')) show(process.stderr, `${called(text)}\n`);
  }

  /** One line for an agent, given with the result. */
  remind(nudge: { code: string; text: string }): void {
    const text = called(nudge.text);
    this.base.nudges = [...(this.base.nudges ?? []), { ...nudge, text }];
    this.unsaid.push(text);
  }

  /** The reminders that nobody has shown yet, for who shows them now. */
  saidReminders(): string[] {
    return this.unsaid.splice(0);
  }

  /** Something was done, but a person should know this about it. */
  warn(code: string, said: string, advice: string): void {
    const [message, hint] = [called(said), called(advice)];
    this.base.warnings = [...(this.base.warnings ?? []), { code, message, hint }];
    if (this.quiet || this.mode !== 'text') return;
    const tail = hint ? `\nHint: ${hint}` : '';
    show(process.stderr, `${this.errorPaint.yellow('Warning:')} ${message}${tail}\n`);
  }

  /** An error object for programs; after the first line of a stream it is the last line. */
  printError(body: object): void {
    if (this.values) show(process.stderr, `${JSON.stringify(body)}\n`, true);
    else showJson(body, this.mode === 'json' && this.terminal && !this.wroteLine ? 2 : undefined);
  }
}

/** Everything written to standard output has left this process. */
export const flushed = (): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write('', (error) => (error ? reject(error) : resolve())));

/** The output the words ask for, known before the flags are parsed: a wrong flag is told in that form too. */
export function modeOf(argv: string[], env: Env, stream = false): Output {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const quiet = words.includes('--quiet') || words.includes('-q');
  return new Output(chosen(words, env, stream), quiet, has(words, '--jq'));
}

function chosen(words: string[], env: Env, stream: boolean): Mode {
  if (words.includes('--ndjson')) return 'ndjson';
  const json = has(words, '--json') || has(words, '--jq') || env.SERVICE_CONTENT_TYPE?.toLowerCase() === 'json';
  if (!json) return 'text';
  return stream ? 'ndjson' : 'json';
}

const has = (words: string[], flag: string): boolean =>
  words.some((word) => word === flag || word.startsWith(`${flag}=`));
