/** A terminal with somebody at it: the program runs on a pseudo terminal and is typed to. */
import type { Home } from './home.ts';
import { collect, until } from './home.ts';

/** Waits for each text to appear, then types the answer; gives all that was shown, without escape sequences. */
export async function typed(home: Home, command: string, dialogue: [string, string][]): Promise<string> {
  return withoutSequences(await typedRaw(home, command, dialogue));
}

const withoutSequences = (text: string): string => text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '');

/** The same as the terminal gets it. */
export async function typedRaw(home: Home, command: string, dialogue: [string, string][]): Promise<string> {
  const child = home.startShell(`exec script -qec '${command}' /dev/null`, { stdin: 'pipe', env: { TERM: 'xterm' } });
  const printed = collect(child);
  const shown = () => withoutSequences(printed().stdout);
  // Up to where the questions that were answered stand.
  let read = 0;
  for (const [waitFor, answer] of dialogue) {
    await until(`"${waitFor}" is shown; so far: ${shown()}`, () => shown().indexOf(waitFor, read) >= 0);
    read = shown().indexOf(waitFor, read) + waitFor.length;
    child.stdin?.write(`${answer}\r`);
  }
  await until('it ends', () => child.exitCode !== null);
  return printed().stdout;
}
