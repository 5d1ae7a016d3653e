/** Flags that have the same meaning on every command that takes them. */
import * as Flags from '@oclif/core/flags';
import { usage } from '../local/failure.ts';

const GLOBAL = 'GLOBAL';

/** On every command. */
export const globalFlags = {
  server: Flags.string({ char: 's', helpValue: 'NAME|URL|local', description: 'Server to talk to', helpGroup: GLOBAL }),
  board: Flags.string({
    char: 'b',
    helpValue: 'NAME',
    description: 'Board to work on, by name or id',
    helpGroup: GLOBAL,
  }),
  as: Flags.string({ char: 'a', helpValue: 'AGENT', description: 'Act as this agent of yours', helpGroup: GLOBAL }),
  json: Flags.boolean({
    description: 'Print one JSON object; --json=FIELD,… only these fields, of each item where the command lists some',
    helpGroup: GLOBAL,
  }),
  jq: Flags.string({
    helpValue: 'EXPRESSION',
    description: 'Print what this jq expression makes of the JSON',
    helpGroup: GLOBAL,
  }),
  quiet: Flags.boolean({ char: 'q', description: 'Print nothing on success', helpGroup: GLOBAL }),
  verbose: Flags.boolean({ description: 'One line per request on standard error', helpGroup: GLOBAL }),
  'no-color': Flags.boolean({ description: 'No colour', helpGroup: GLOBAL }),
  color: Flags.string({ options: ['auto', 'always', 'never'], description: 'When to use colour', helpGroup: GLOBAL }),
  time: Flags.string({
    options: ['relative', 'local', 'iso'],
    description: 'How times are shown (default relative)',
    helpGroup: GLOBAL,
  }),
  'no-input': Flags.boolean({ description: 'Never ask a question', helpGroup: GLOBAL }),
  timeout: Flags.string({
    helpValue: 'SECONDS',
    description: "Longest wait for the command's requests (default 30, 0 = none)",
    helpGroup: GLOBAL,
  }),
  help: Flags.boolean({ char: 'h', description: 'Show help', helpGroup: GLOBAL }),
};

/** On commands that print a list or a stream. */
export const listFlags = {
  ndjson: Flags.boolean({ description: 'Print one JSON object per line', exclusive: ['json'] }),
};

/** On commands that write. */
export const writeFlags = {
  'idempotency-key': Flags.string({
    helpValue: 'KEY',
    description: 'Running the command again with the same key changes nothing twice',
    parse: async (value) => {
      if (/^[A-Za-z0-9._:-]{1,100}$/.test(value)) return value;
      throw usage('--idempotency-key takes 1 to 100 letters, digits and . _ : -');
    },
  }),
};

/** On commands that may wait. */
export const waitFlags = {
  'fail-timeout': Flags.boolean({ description: 'Exit with 3 when the wait runs out' }),
};

/** On commands that post and may wait for what comes back. */
export const replyWaitFlags = {
  'wait-reply': Flags.integer({
    min: 0,
    max: 86_400,
    helpValue: 'SECONDS',
    description: 'Wait for a reply; implies --expect-reply',
  }),
  ...waitFlags,
};

/** On commands of people whose action an agent may ask its person for. */
export const requestFlags = {
  request: Flags.boolean({ description: 'As an agent: ask your person to allow it' }),
};

/** On commands that bind the session they run in. */
export const bindFlags = {
  here: Flags.boolean({ description: 'This session is the one that is meant' }),
  replace: Flags.boolean({ description: 'In the place of a session that is there' }),
};

/** On commands that ask before they act. */
export const confirmFlags = { yes: Flags.boolean({ char: 'y', description: 'Answer the question with yes' }) };

/** `--limit`, with the largest page the API gives. */
export const limitFlag = (max = 200) =>
  Flags.integer({ char: 'n', min: 1, max, helpValue: 'N', description: `At most this many, 1 to ${max}` });

/** A whole number that is not negative, such as a message number. */
export const numberFlag = (description: string) => Flags.integer({ min: 0, helpValue: 'N', description });

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
  maintained: Flags.boolean({ description: 'It is kept current' }),
  'one-off': Flags.boolean({ description: 'It is not kept current' }),
};

export const noTasksFlag = { 'no-tasks': Flags.boolean({ description: 'It is for no task' }) };

/** On commands about a server's data folder. */
export const storageFlags = {
  data: Flags.string({ helpValue: 'DIR', description: 'Folder of the server’s data' }),
  db: Flags.string({ helpValue: 'URL', description: 'Its database, where that is not in the folder' }),
};
