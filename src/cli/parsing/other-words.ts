/** Words that other programs have for what ours are called: people and agents try those first. */

/** Verbs of one meaning. */
const sameVerbs = [
  ['new', 'create', 'add'],
  ['start', 'claim', 'take', 'assign', 'pick'],
  ['done', 'close', 'finish', 'complete', 'resolve'],
  ['note', 'comment', 'progress'],
  ['show', 'get', 'cat', 'view', 'read', 'download', 'status', 'info'],
  ['put', 'upload', 'write', 'save'],
  ['remove', 'delete', 'rm', 'end', 'revoke', 'forget'],
  ['list', 'ls', 'all'],
];

/** All verbs that mean the same as this one. */
export const verbsLike = (verb: string): string[] => sameVerbs.filter((verbs) => verbs.includes(verb)).flat();

/** Whether a word says only that something is to be shown. */
export const meansToShow = (word: string): boolean =>
  verbsLike(word).some((verb) => verb === 'show' || verb === 'list');

/** What a first word that is no command means; N is the number behind it. */
const firstWords: Record<string, string> = {
  send: 'service say --to @NAME "…"',
  tell: 'service say --to @NAME "…"',
  reply: 'service say --reply N "…"',
  respond: 'service say --reply N "…"',
  show: 'service board message N',
};

/** The command that a first word means, for a message of this number. */
export function meantByWord(word: string, next: string | undefined): string | undefined {
  const number = /^#?(\d+)$/.exec(next ?? '')?.[1];
  if (word === 'show' && number === undefined) return undefined;
  return Object.hasOwn(firstWords, word) ? firstWords[word]!.replace(/\bN\b/, number ?? 'N') : undefined;
}

const FLAGLESS = 'The text is an argument: service board post "…"';
const CLOSING = 'A task is closed with: service task done REF "…"; given up with: service task drop REF';
const OPTIONS = 'Options are arguments: service ask @NAME "…" "Option" "Option"';
const WHOM = 'Whom you ask comes first: service ask @NAME "…" "Option" "Option"';

/** Flags that a command does not have, by its id: what says the same. */
const flags: Record<string, Record<string, string>> = {
  'board:post': {
    thread: '--reply',
    'in-reply-to': '--reply',
    message: FLAGLESS,
    m: FLAGLESS,
    body: FLAGLESS,
    text: FLAGLESS,
  },
  ask: {
    to: WHOM,
    option: OPTIONS,
    options: OPTIONS,
  },
  'task:update': { state: CLOSING, status: CLOSING },
  'task:list': { status: '--state', assignee: '--owner' },
  'board:read': { since: '--after' },
};

/** What a flag that the command does not have was meant to be: another flag, or a sentence. */
export function meantByFlag(id: string, flag: string): string | undefined {
  const known = flags[id] ?? {};
  return Object.hasOwn(known, flag) ? known[flag] : undefined;
}
