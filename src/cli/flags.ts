/** Builders for flags and arguments, and the flags that have the same meaning on every command that takes them. */
import type { Interfaces } from '@oclif/core';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { usage } from '../local/failure.ts';

/** An argument that may be left out. None is ever filled from a pipe: only `stdin.ts` reads standard input. */
export const optional = (description: string) => Args.string({ description, ignoreStdin: true });

/** An argument that must be given. */
export const required = (description: string) => Args.string({ description, required: true, ignoreStdin: true });

/** An argument that is one of a few words and must be given. */
export const choice = <const Word extends string>(description: string, options: readonly Word[]) =>
  Args.custom<Word>({ options, ignoreStdin: true })({ description, required: true });

/** The same where it may be left out. */
export const optionalChoice = <const Word extends string>(description: string, options: readonly Word[]) =>
  Args.custom<Word>({ options, ignoreStdin: true })({ description });

/** Any number of words. */
export const words = (description: string) => Args.string({ description, multiple: true, ignoreStdin: true });

/** What else is said of a flag: its letter, and which other flags it excludes or needs. */
type More = Partial<Pick<Interfaces.OptionFlag<string>, 'char' | 'exclusive' | 'dependsOn' | 'helpGroup' | 'hidden'>>;

/** A flag without a value. */
export const booleanFlag = (description: string, more: More & { allowNo?: boolean } = {}) =>
  Flags.boolean({ description, ...more });

/** A flag with a text as its value, which `helpValue` stands for in the help. */
export const stringFlag = (helpValue: string, description: string, more: More = {}) =>
  Flags.string({ helpValue, description, ...more });

/** The same where it must be given. */
export const requiredFlag = (helpValue: string, description: string) =>
  Flags.string({ helpValue, description, required: true });

/** The same where it may be given several times; a comma is a part of a value. */
export const repeatedFlag = (helpValue: string, description: string) =>
  Flags.string({ helpValue, description, multiple: true, multipleNonGreedy: true });

/** A flag whose value is one of a few words. */
export const choiceFlag = <const Word extends string>(options: readonly Word[], description: string, more: More = {}) =>
  Flags.custom<Word>()({ options, description, ...more });

/** A flag with a whole number as its value. */
export const integerFlag = (helpValue: string, description: string, more: More & { min?: number; max?: number } = {}) =>
  Flags.integer({ helpValue, description, ...more });

/** `--wait`, with the seconds of a day at most. */
export const waitFlag = (description: string) =>
  integerFlag('SECONDS', description, { char: 'w', min: 0, max: 86_400 });

const GLOBAL = { helpGroup: 'GLOBAL' };

/** On every command. */
export const globalFlags = {
  server: stringFlag('NAME|URL|local', 'Server to talk to', { char: 's', ...GLOBAL }),
  board: stringFlag('NAME', 'Board to work on, by name or id', { char: 'b', ...GLOBAL }),
  as: stringFlag('AGENT', 'Act as this agent of yours', { char: 'a', ...GLOBAL }),
  json: booleanFlag(
    'Print one JSON object; --json=FIELD,… only these fields, of each item where the command lists some',
    GLOBAL,
  ),
  jq: stringFlag('EXPRESSION', 'Print what this jq expression makes of the JSON', GLOBAL),
  quiet: booleanFlag('Print nothing on success but a new secret', { char: 'q', ...GLOBAL }),
  verbose: booleanFlag('One line per request on standard error', GLOBAL),
  'no-color': booleanFlag('No colour', GLOBAL),
  color: choiceFlag(['auto', 'always', 'never'], 'When to use colour', GLOBAL),
  time: choiceFlag(['relative', 'local', 'iso'], 'How times are shown (default relative)', GLOBAL),
  'no-input': booleanFlag('Never ask a question', GLOBAL),
  /** Listed where there is a question (`confirmFlags`); a script may give it everywhere. */
  yes: booleanFlag('Answer the question with yes', { char: 'y', hidden: true }),
  timeout: stringFlag('SECONDS', "Longest wait for the command's requests (default 30, 0 = none)", GLOBAL),
  help: booleanFlag('Show help', { char: 'h', ...GLOBAL }),
};

/** On commands that print a list or a stream. */
export const listFlags = {
  ndjson: booleanFlag('Print one JSON object per line', { exclusive: ['json'] }),
};

const keyFlag = (description: string) =>
  Flags.string({
    helpValue: 'KEY',
    description,
    parse: async (value) => {
      if (/^[A-Za-z0-9._:-]{1,100}$/.test(value)) return value;
      throw usage('--idempotency-key takes 1 to 100 letters, digits and . _ : -');
    },
  });

/** On commands that write. */
export const writeFlags = {
  'idempotency-key': keyFlag('Running the command again with the same key changes nothing twice'),
};

/** On commands that make a secret, which no server keeps. */
export const secretFlags = {
  'idempotency-key': keyFlag('Key of the request; running the command again makes another one all the same'),
};

/** On commands that may wait. */
export const waitFlags = {
  'fail-timeout': booleanFlag('Exit with 3 when the wait runs out'),
};

/** On commands of people whose action an agent may ask its person for. */
export const requestFlags = {
  request: booleanFlag('As an agent: ask your person to allow it'),
};

/** On commands that ask before they act. */
export const confirmFlags = { yes: booleanFlag('Answer the question with yes', { char: 'y' }) };

/** `--limit`, with the largest page the API gives. */
export const limitFlag = (max = 200) => integerFlag('N', `At most this many, 1 to ${max}`, { char: 'n', min: 1, max });

/** A flag that may be given several times or hold a list with commas. */
export const listFlag = (options: {
  char?: 't' | 'b' | 'T' | 'F';
  helpValue?: string;
  description: string;
  /** What each of its values may be. */
  options?: readonly string[];
}) => Flags.string({ ...options, multiple: true, multipleNonGreedy: true, delimiter: ',' });

/** What a file is for, and whether it is kept current. */
export const tagFlags = {
  task: listFlag({ char: 'T', helpValue: 'TASK', description: 'Task it is for; may be given several times' }),
  maintained: booleanFlag('It is kept current'),
  'one-off': booleanFlag('It is not kept current'),
};

/** On commands about a server's data folder. */
export const storageFlags = {
  data: stringFlag('DIR', 'Folder of the server’s data'),
  db: stringFlag('URL', 'Its database, where that is not in the folder'),
};
