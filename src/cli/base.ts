/** The base class of every command: parses flags, opens sessions, prints results and reports errors. */
import type { Interfaces } from '@oclif/core';
import { Command } from '@oclif/core/command';
import type { z } from 'zod';
import type { CallInput, Client } from '../client/client.ts';
import type { ClientError } from '../client/errors.ts';
import type { OperationName } from '../contract/operations.ts';
import { shellArgument } from '../contract/text.ts';
import type { Answer } from '../contract/types.ts';
import { Failure, usage } from '../local/failure.ts';
import { forCommand, hintIfReplayed, report } from './errors.ts';
import { globalFlags, writeFlags } from './flags.ts';
import { usageHint } from './help/help-text.ts';
import { type ListWords, listText } from './list.ts';
import type { Output } from './output.ts';
import { modeOf } from './output.ts';
import { refuseEmpty, usageError } from './parsing/errors.ts';
import { flagsIn, parsed } from './parsing/parsing.ts';
import { runtime } from './runtime.ts';
import type { ReadOnly } from './session/here.ts';
import { blockedHere, forAgent, here, inSession, lookAround, requireWhole } from './session/here.ts';
import type { BoardSession, Session, SessionChoice, Who } from './session/open-session.ts';
import { paintFor, setColours, wantsColor } from './terminal/color.ts';
import { prepareReading } from './terminal/table.ts';
import type { TimeStyle } from './terminal/time.ts';

export {
  booleanFlag,
  choice,
  choiceFlag,
  confirmFlags,
  integerFlag,
  limitFlag,
  listFlag,
  listFlags,
  optional,
  optionalChoice,
  required,
  requiredFlag,
  secretFlags,
  storageFlags,
  stringFlag,
  tagFlags,
  waitFlag,
  waitFlags,
  words,
} from './flags.ts';

/** The flags of a command; its own one takes the place of a global one of its name. */
export type FlagsOf<T extends typeof Command> = Omit<Interfaces.InferredFlags<T['baseFlags']>, keyof T['flags']> &
  Interfaces.InferredFlags<T['flags']>;
type ArgsOf<T extends typeof Command> = Interfaces.InferredArgs<T['args']>;
type GlobalFlags = Interfaces.InferredFlags<typeof globalFlags>;

type SessionOptions = Partial<Pick<SessionChoice, 'autostart' | 'ofBoard' | 'seat'>>;

export abstract class BaseCommand<T extends typeof Command = typeof Command> extends Command {
  static override baseFlags = globalFlags;
  /** Commands whose `--json` is a stream print one object per line; some are one only with `--follow`. */
  static stream: boolean | 'follow' = false;
  /** Whether it changes nothing: only such commands may be run by a subagent. */
  static readOnly: ReadOnly = false;
  /**
   * Whether the board may be given as the first argument, instead of with --board. Not for a command that takes a text: there
   * a surplus word is rather a text without its quotes.
   */
  static boardFirst = false;
  /** What its one argument may be, where it may be left out: any other word in its place is the board. */
  static ownWords: readonly string[] | undefined;
  /** Flags and arguments to which an empty value says something; every other one is refused. */
  static mayBeEmpty: string[] = [];
  /** Whether it sends as many requests as there is to read or to do, so that --timeout is for each of them. */
  static loops = false;
  /** Other commands worth knowing, for the help. */
  static seeAlso: string[] = [];

  protected flags!: FlagsOf<T>;
  protected args!: ArgsOf<T>;
  protected globals!: GlobalFlags;
  protected out!: Output;
  private opened: Session | null = null;

  abstract override run(): Promise<void>;

  /** Runs the command to its exit code; nothing escapes. */
  async perform(): Promise<number> {
    const { stream, readOnly } = this.constructor as typeof BaseCommand;
    const follows = this.argv.some((word) => /^(--follow$|-[qAuhy]*f)/.test(word));
    this.out = modeOf(this.argv, runtime().env, stream === true || (stream === 'follow' && follows));
    try {
      await lookAround();
      await this.readFlags();
      requireWhole(typeof readOnly === 'function' ? readOnly({ flags: this.flags, args: this.args }) : readOnly);
      await this.run();
      return 0;
    } catch (error) {
      await this.explain(error);
      const keyed = 'idempotency-key' in { ...this.ctor.baseFlags, ...this.ctor.flags };
      return report(forCommand(blockedHere(error), this.help, this.howToUse, keyed), this.out, this.verbose);
    }
  }

  /** Adds to an error what this machine knows of it. */
  private async explain(error: unknown): Promise<void> {
    const code = String((error as { code?: unknown } | null)?.code);
    const known = error as Error | null;
    const { actor, board } = this.out.base;
    if (
      /_not_found$|^(unknown_recipient|invalid_target|server_unknown|server_outdated|agent_seat_elsewhere)$/.test(code)
    ) {
      const { nameNearest } = await import('./parsing/unknown-name.ts');
      const { flags, args, opened: session } = this;
      await nameNearest(error as object, { flags, args, board, session });
    }
    if (this.opened && known?.name === 'ClientError') {
      const { keepThere } = await import('./session/open-session.ts');
      keepThere(error as ClientError, this.opened);
    }
    if (code === 'invalid_request' && known?.name === 'ClientError') {
      const { asTyped } = await import('./parsing/typed-names.ts');
      const { args, baseFlags, flags } = this.ctor;
      known.message = asTyped(known.message, { args, flags: { ...baseFlags, ...flags } });
    }
    const seat = this.opened?.seat;
    // Where several seats acted, the one that was refused need not be the last.
    if (/^(agent_removed|unauthorized)$/.test(code) && (!seat || seat.memberId === actor?.id)) {
      const { afterRefusal } = await import('./session/ended-key.ts');
      await afterRefusal(error, this.opened, this.out);
    }
    if (known?.name === 'ClientError' && this.key !== undefined) hintIfReplayed(error, 'another --idempotency-key');
  }

  /** The boards there are; null where nobody could be asked. Only for a hint, so nothing is started. */
  private async boardsThere(flags: Record<string, unknown>): Promise<string[] | null> {
    this.globals = flags as GlobalFlags;
    const { boardNames } = await import('./parsing/unknown-name.ts');
    return this.session('A', { autostart: false })
      .then(boardNames)
      .catch(() => null);
  }

  /** The framework's way in; leads to the same place. */
  protected override async _run<R>(): Promise<R> {
    process.exitCode = await this.perform();
    return undefined as R;
  }

  protected get verbose(): boolean {
    return this.globals?.verbose === true || runtime().env.SERVICE_DEBUG === '1';
  }

  protected get noInput(): boolean {
    return this.globals['no-input'] === true;
  }

  /** What this run's flags say about requests, prompts and output. */
  protected get deps() {
    const { out, timeoutMs, perRequest, verbose, noInput } = this;
    return { out, timeoutMs, perRequest, verbose, noInput };
  }

  /** Where more about this command is said. */
  private get help(): string {
    return `service ${(this.id ?? '').replaceAll(':', ' ')} --help`;
  }

  /** How this command is typed, with an example. */
  private get howToUse(): string {
    const { args, usage, examples } = this.ctor;
    const named = Object.entries(args).map(([name, arg]) => [name, { ...arg, name }]);
    const { boardFirst } = this.constructor as typeof BaseCommand;
    const command = {
      id: this.id ?? '',
      args: Object.fromEntries(named),
      usage: usage as string | undefined,
      boardFirst,
    };
    return usageHint(command, examples as string[] | undefined);
  }

  /** Milliseconds one command's requests may take; 0 = no limit. */
  protected get timeoutMs(): number {
    const { timeout } = this.globals;
    const given = timeout ?? (runtime().env.SERVICE_TIMEOUT || '30');
    const name = timeout === undefined ? 'SERVICE_TIMEOUT' : '--timeout';
    if (!/^\d{1,6}(\.\d+)?$/.test(given)) throw usage(`${name} takes seconds, but got "${given}".`);
    return Math.round(Number(given) * 1000);
  }

  /** Whether that is for each request: where it goes through a list or input of any length, or follows what comes. */
  private get perRequest(): boolean {
    const { loops, stream } = this.constructor as typeof BaseCommand;
    const flags = this.globals as Record<string, unknown>;
    const listed = ['all', 'all-servers', 'follow', 'ndjson-in'].some((name) => flags[name]);
    return loops || stream === true || listed || this.out.mode === 'ndjson';
  }

  /** How times are shown. */
  protected get times(): TimeStyle {
    const style = this.globals.time ?? (runtime().env.SERVICE_TIME || 'relative');
    if (style === 'relative' || style === 'local' || style === 'iso') return style;
    throw usage(`SERVICE_TIME must be relative, local or iso, but is "${style}".`);
  }

  /** A client that talks to the right server as the right actor. */
  protected async session(who: Who, options: SessionOptions = {}): Promise<Session> {
    const { openSession } = await import('./session/open-session.ts');
    this.opened = await openSession(this.choice(who, options));
    return this.opened;
  }

  /** What this command was told about whom it acts as, and where. */
  protected choice(who: Who, { autostart = true, ofBoard = false, seat }: SessionOptions = {}): SessionChoice {
    const { server, board, as } = this.globals;
    const { out, timeoutMs, perRequest, verbose } = this;
    // In a sandbox nothing is started that would be kept in it.
    const may = autostart && here().sandbox === null;
    return {
      who,
      server,
      board,
      as,
      seat,
      timeoutMs,
      perRequest,
      verbose,
      line: this.line(),
      ofBoard,
      out,
      autostart: may,
    };
  }

  /** A session of the person at the server of this name, without starting it. */
  protected async sessionAt(server: string): Promise<Session> {
    this.globals.server = server;
    return this.session('P', { autostart: false });
  }

  /** Refuses an agent, where a command of a person opens no session that would. */
  protected async requirePerson(): Promise<void> {
    if (!forAgent(this.globals)) return;
    const { forPeopleOnly } = await import('./session/open-session.ts');
    throw forPeopleOnly(this.line());
  }

  /** As `session`, with the board it is about. @param named the board that another argument names, for a person without --board */
  protected async onBoard(
    who: Who,
    { autostart = true, named }: { autostart?: boolean; named?: string | undefined } = {},
  ): Promise<BoardSession> {
    const session = await this.session(who, { autostart, ofBoard: true });
    const { chooseBoard } = await import('./session/board.ts');
    return { ...session, board: (await chooseBoard(session, this.out, named)).name };
  }

  /** Prints the result: one JSON object of the command's shape, or the text that is made from the same record. @param secret see `Output` */
  protected print<Shape extends () => z.ZodType>(
    record: z.input<ReturnType<Shape>>,
    text: () => string,
    secret?: string,
  ): void {
    this.out.print(record as object, text, secret);
  }

  /** Prints a list: one record per line where that is wanted, else as `print` does. @param of which list it is */
  protected async printList<Shape extends () => z.ZodType>(
    record: z.input<ReturnType<Shape>>,
    items: readonly object[],
    { of, rows, ...words }: { of: string; rows(): string[] | Promise<string[]> } & ListWords,
  ): Promise<void> {
    if (this.out.listed(items)) return;
    const lines = this.out.mode === 'text' ? await rows() : [];
    this.print<Shape>(record, () => listText(`${of} · ${items.length}`, lines, words));
  }

  /** The client alone, for commands that need no more. */
  protected async client(who: Who): Promise<Client> {
    return (await this.session(who)).client;
  }

  /** The command's `--idempotency-key`. */
  protected get key(): string | undefined {
    return this.flags['idempotency-key'] as string | undefined;
  }

  /** Carries out a write under the command's `--idempotency-key`; `again` is what its text ends with. */
  protected async write<Name extends OperationName>(
    client: Client,
    name: Name,
    input: CallInput<Name> = {},
  ): Promise<{ data: Answer<Name>; again: string }> {
    const reply = await client.call(name, { ...input, idempotencyKey: this.key });
    return { data: reply.data, again: this.again(reply) };
  }

  /** Notes that the server repeated an earlier answer; what the text line then ends with. */
  protected again(reply: { replayed: boolean }): string {
    if (!reply.replayed) return '';
    this.out.base.replayed = true;
    return ' (already done)';
  }

  /** Asks for a yes, or refuses with the same facts where nobody can be asked. @param facts lines that the question is about */
  protected async confirm(question: string, yes: boolean, facts: string[] = []): Promise<void> {
    if (yes) return;
    const { mayAsk, askYes } = await import('./terminal/prompts.ts');
    if (!mayAsk(this.out, this.noInput))
      throw new Failure('confirmation_required', [...facts, question].join('\n'), { hint: 'Repeat it with --yes' });
    if (facts.length > 0) this.out.note(facts.join('\n'));
    await askYes(question);
  }

  /** The command as a person would type it again: as themselves, and asked before anything is done. */
  protected line(): string {
    const end = this.argv.indexOf('--');
    const asked = this.argv.flatMap((word, i) =>
      end >= 0 && i >= end ? [word] : ofPerson(word, this.argv[i - 1] ?? '', this.globals.as),
    );
    const kept = asked.map((word) => withoutSecret(shellArgument(word)));
    return ['service', ...(this.id ?? '').split(':'), ...kept].join(' ');
  }

  private async readFlags(): Promise<void> {
    const { args, baseFlags, flags, strict } = this.ctor;
    const id = this.id ?? '';
    const all = { ...baseFlags, ...flags };
    const { boardFirst, ownWords, mayBeEmpty } = this.constructor as typeof BaseCommand;
    const shape = { args, flags: all, strict, context: this, boardFirst, ownWords };
    const given = await parsed(this.prepare(this.argv), shape).catch(async (error) => {
      const boards = () => this.boardsThere(flagsIn(error));
      const { aliases } = this.ctor;
      throw await usageError(error, { id, aliases, args, flags: all, argv: this.argv, boards });
    });
    refuseEmpty({ ...given, mayBeEmpty, help: this.help });
    this.flags = given.flags as FlagsOf<T>;
    this.args = given.args as ArgsOf<T>;
    this.globals = given.flags as GlobalFlags;
    this.out.quiet = this.globals.quiet === true;
    await this.choosePaint();
    await this.chooseValues(given.fields);
  }

  /** What is printed of the JSON. A mistake in it is told before anything is done. */
  private async chooseValues(fields: string | undefined): Promise<void> {
    const { jq } = this.globals;
    if (fields !== undefined) {
      const { fieldPicker } = await import('./json.ts');
      this.out.pick = fieldPicker({ id: this.id ?? '', list: 'ndjson' in (this.ctor.flags ?? {}) }, fields);
    }
    if (jq !== undefined) {
      const { jqFilter } = await import('./json.ts');
      this.out.filter = await jqFilter(jq, this.out.terminal);
    }
  }

  /** Lets a command rewrite words the parser cannot read, such as a flag whose value may be left out. */
  protected prepare(argv: string[]): string[] {
    return argv;
  }

  private async choosePaint(): Promise<void> {
    const { color, 'no-color': noColor } = this.globals;
    const choice = {
      noColor: noColor === true,
      color,
      machine: this.out.mode !== 'text',
      inside: inSession(),
      env: runtime().env,
    };
    this.out.paint = await paintFor(wantsColor(choice, process.stdout.isTTY === true));
    setColours(this.out.paint);
    if (this.out.mode === 'text' && this.out.terminal && !inSession()) await prepareReading();
    this.out.errorPaint = await paintFor(wantsColor(choice, process.stderr.isTTY === true));
  }
}

/** A command that changes something on a server. */
export abstract class WriteCommand<T extends typeof Command = typeof Command> extends BaseCommand<T> {
  static override baseFlags = { ...globalFlags, ...writeFlags };
}

/** A secret that was typed is not repeated; the command asks for it, or reads it from standard input. */
const withoutSecret = (word: string): string => (/\bab[abcdhilp]_[A-Za-z0-9_-]{24,}/.test(word) ? '-' : word);

/**
 * A word without the yes and the agent in it, which may stand among other short flags; none where nothing is left.
 * @param agent undefined also for a command about that of --as, which has unset it: its person types it too
 */
function ofPerson(word: string, before: string, agent: string | undefined): string[] {
  if (word === '--yes') return [];
  let kept = word;
  if (agent !== undefined) {
    if (/^--as(=|$)/.test(word) || (word === agent && /^(--as|-[qfAuhy]*a)$/.test(before))) return [];
    const [, flags = word, value = ''] = /^(-[qfAuhy]*)a(.*)$/s.exec(word) ?? [];
    if (['', agent, `=${agent}`].includes(value)) kept = flags;
  }
  const short = kept.replace(/^-[qfAuhy]+/, (flags) => flags.replaceAll('y', ''));
  return short === '-' && word !== '-' ? [] : [short];
}
