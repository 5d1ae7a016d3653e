/** Runs an agent program without a terminal, with its profile's command lines, and continues its conversation. */
import { isDeepStrictEqual } from 'node:util';
import { runtime } from '../../../cli/runtime.ts';
import { loadProfiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { configFolder, fillPlaceholders } from '../../../harness/programs.ts';
import { usage } from '../../../local/failure.ts';
import { isRecord, noteFile } from '../../../local/private-file.ts';
import type { Input, Outcome } from './child.ts';
import { FieldFinder } from './field-finder.ts';
import { programOf } from './programs.ts';
import { UsageReader, type Used } from './usage.ts';

/** A conversation that could not be taken up so often in a row is given up, and a new one begun. */
const TRIES = 2;

interface HeadlessOptions {
  harness: string;
  model: string | undefined;
  /** What the person adds to the program's own words. */
  args: readonly string[];
  note(text: string): void;
}

/** What one run needs: its words, with `{bundle}` for a text that it gets as an argument, and somebody who reads what it prints. */
interface Turn {
  argv: string[];
  input: Input;
  read(part: string): void;
  /** Its answer in what it printed; empty where it gave none. */
  answer(output: string): string;
  /** Notes how its conversation goes on. @returns what it used, as far as it told */
  done(outcome: Outcome): Promise<Used>;
}

export class Headless {
  readonly #profile: Profile;
  readonly #options: HeadlessOptions;
  readonly #memberId: string;
  #lost = 0;

  private constructor(profile: Profile, options: HeadlessOptions, memberId: string) {
    this.#profile = profile;
    this.#options = options;
    this.#memberId = memberId;
  }

  /** @throws Failure `invalid_request` (exit 2) for a program that is not known, or cannot be run so */
  static async of(options: HeadlessOptions, memberId: string): Promise<Headless> {
    const { all } = await loadProfiles(runtime().folders.config);
    const profile = all.find(({ harness }) => harness === options.harness);
    if (!profile)
      throw usage(
        `There is no harness called ${options.harness}.`,
        `Choose: ${all.map(({ harness }) => harness).join(', ')}`,
      );
    const { headless, identity } = profile;
    if (identity.kind === 'runner' || headless?.via !== 'native' || !headless.run)
      throw usage(
        `${profile.name} has no command lines of its own to be run without a terminal.`,
        'service run --help',
      );
    if (options.model !== undefined && !headless.model)
      throw usage(`${profile.name} takes no --model.`, 'Leave it out, or add its own words after --');
    return new Headless(profile, options, memberId);
  }

  turn(): Turn {
    const { harness, headless } = this.#profile;
    const { run, resume, session_field: field, reply, usage: used, model: modelWords = [] } = headless!;
    const { model, args } = this.#options;
    const dir = process.cwd();
    const before = resume && field ? conversationOf(this.#memberId, harness, dir) : null;
    const session = before?.session ?? null;
    const lines = [...(session === null ? run! : resume!), ...(model === undefined ? [] : modelWords)];
    const values = {
      prompt: '{bundle}',
      session: session ?? '',
      dir,
      model: model ?? '',
      config_dir: configFolder(this.#profile, runtime().env),
    };
    const [name = '', ...rest] = [...fillPlaceholders(lines, values), ...args];
    const finder = FieldFinder.ofId(field ?? '');
    const answer = reply && new FieldFinder(reply);
    const usage = new UsageReader(used);
    return {
      argv: [programOf(name) ?? name, ...rest],
      input: lines.some((word) => word.includes('{prompt}')) ? 'arg' : 'stdin',
      read: (part) => {
        finder.read(part);
        answer?.read(part);
        usage.read(part);
      },
      answer: (output) => (answer ? (answer.value() ?? '') : output),
      done: async (outcome) => {
        const { used, total } = usage.used(before?.used);
        // One that did not start, did not end by itself, or names the conversation says nothing against that.
        const ended = outcome.kind === 'failed' && outcome.code !== undefined;
        const lost = ended && session !== null && finder.value() !== session;
        if (outcome.kind !== 'later') this.#lost = lost ? this.#lost + 1 : 0;
        const found = outcome.kind === 'done' ? finder.value() : null;
        const given = this.#lost >= TRIES;
        if (given) {
          this.#lost = 0;
          this.#options.note('The conversation could not be taken up again; it begins a new one.');
        }
        const next = given ? null : (found ?? session);
        if (next !== session || (next !== null && !isDeepStrictEqual(total, before?.used ?? {})))
          await noteConversation(this.#memberId, { harness, dir }, next, total);
        return used;
      },
    };
  }
}

interface Conversation {
  harness: string;
  session: string;
  /** A program finds its conversations by the folder they were had in. */
  dir: string;
  at: string;
  /** What it had used after its last run, where the program counts that. */
  used?: Used;
}

interface Conversations {
  v: 1;
  /** By the member id of the agent. */
  conversations: Record<string, Conversation>;
}

const KEPT_MS = 90 * 86_400_000;
const isConversations = (value: unknown): value is Conversations =>
  isRecord(value) && value['v'] === 1 && isRecord(value['conversations']);
const file = noteFile<Conversations>('conversations.json', { v: 1, conversations: {} }, isConversations);

/** The conversation of an agent with a program in a folder; null where there is none. */
function conversationOf(memberId: string, harness: string, dir: string): Conversation | null {
  const found = file.read(runtime().folders).conversations[memberId];
  return found && found.harness === harness && found.dir === dir ? found : null;
}

/** Notes the conversation, or that there is none any more. Those of ninety days ago are dropped. */
function noteConversation(
  memberId: string,
  where: { harness: string; dir: string },
  session: string | null,
  used: Used,
): Promise<void> {
  return file.change(runtime().folders, ({ conversations }) => {
    const old = Date.now() - KEPT_MS;
    const kept = Object.entries(conversations).filter(([id, { at }]) => id !== memberId && Date.parse(at) > old);
    const own =
      session === null ? [] : [[memberId, { ...where, session, at: new Date().toISOString(), used }] as const];
    return { v: 1, conversations: Object.fromEntries([...kept, ...own]) };
  });
}
