/** Asks questions on standard error. Every question has a flag that answers it, for scripts. */
import { type Failure, usage } from '../../local/failure.ts';
import { EXIT, Exit } from '../errors.ts';
import type { Output } from '../output.ts';
import { isDone, runtime } from '../runtime.ts';
import { inSession } from '../session/here.ts';
import { interruptWith, undoAtExit } from '../signals.ts';
import { show, showCursor, shown } from './terminal.ts';

/** Whether somebody is there who can be asked. */
export function mayAsk(out: Output, noInput: boolean): boolean {
  const { env } = runtime();
  if (inSession() || out.mode !== 'text' || noInput || env.SERVICE_NO_INPUT === '1' || env.CI) return false;
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** A yes or no; no is the default, and no ends the run with nothing more changed. */
export async function askYes(question: string): Promise<void> {
  const yes = await asking({ type: 'confirm', message: shown(question), default: false });
  if (yes !== true) throw unchanged(EXIT.other);
}

/** A word or line; what is suggested is taken by Enter. */
export async function askText(question: string, suggested: string): Promise<string> {
  const answer = await asking({ type: 'input', message: shown(question), default: shown(suggested) });
  return String(answer ?? '').trim();
}

/** One of a few ways to go on, by its name; the first is what Enter takes. */
export async function askChoice<Name extends string>(question: string, ways: Record<Name, string>): Promise<Name> {
  const choices = Object.entries<string>(ways).map(([value, name]) => ({ value, name: shown(name) }));
  const answer = await asking({ type: 'select', message: shown(question), choices });
  return answer as Name;
}

/** A secret, not shown while it is typed. */
export async function askSecret(question: string): Promise<string> {
  const answer = await asking({ type: 'password', message: shown(question) });
  return String(answer ?? '').trim();
}

type Question =
  | { type: 'confirm'; message: string; default: boolean }
  | { type: 'input'; message: string; default: string }
  | { type: 'select'; message: string; choices: { value: string; name: string }[] }
  | { type: 'password'; message: string };

/** Line by line where the terminal cannot move the cursor, or its screen is read aloud; a secret is never shown. */
function asking(question: Question): Promise<unknown> {
  const { TERM, ACCESSIBLE } = runtime().env;
  if (question.type === 'password' || (TERM !== 'dumb' && !ACCESSIBLE)) return drawn(question);
  if (question.type === 'confirm') return answerLine(`${question.message} (y/N) `, yesOrNo);
  if (question.type === 'input') {
    const suggested = question.default;
    return answerLine(`${question.message} ${suggested && `(${suggested}) `}`, (line) => line || suggested);
  }
  const { message, choices } = question;
  const numbered = choices.map(({ name }, i) => `  ${i + 1} ${name}`);
  return answerLine([message, ...numbered, 'Number (1): '].join('\n'), (line) => choices[Number(line || 1) - 1]?.value);
}

const yesOrNo = (line: string): boolean | undefined => {
  if (/^(n|no|)$/i.test(line)) return false;
  return /^y(es)?$/i.test(line) ? true : undefined;
};

/** Asks until a line is an answer. Ctrl-C and the end of the input change nothing. */
async function answerLine<T>(question: string, read: (line: string) => T | undefined): Promise<T> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false, prompt: question });
  const restore = interruptWith(() => lines.close());
  try {
    lines.prompt();
    for await (const line of lines) {
      const answer = read(line.trim());
      if (answer !== undefined) return answer;
      lines.prompt();
    }
  } finally {
    lines.close();
    restore();
  }
  throw unchanged(EXIT.interrupted);
}

/** What it is given was made harmless before: the prompts draw with codes of their own. */
async function drawn(question: Question): Promise<unknown> {
  const { default: inquirer } = await import('inquirer');
  const prompt = inquirer.createPromptModule({ output: process.stderr, input: process.stdin });
  const answered = undoAtExit(() => showCursor(process.stderr));
  try {
    return (await prompt([{ ...question, name: 'answer' }])).answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') throw unchanged(EXIT.interrupted);
    throw error;
  } finally {
    answered();
  }
}

function unchanged(code: number): Exit {
  show(process.stderr, isDone() ? 'Nothing more changed.\n' : 'Nothing changed.\n');
  return new Exit(code);
}

/** Where a value is missing and nobody can be asked. */
export function missing(what: string, flag: string): Failure {
  return usage(`${what} is missing.`, flag);
}
