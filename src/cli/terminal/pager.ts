/** Runs the user's own programs in the terminal, such as the pager for text that is longer than it. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { inSession } from '../session/here.ts';
import { interruptWith, undoAtExit } from '../signals.ts';
import { show, shown } from './terminal.ts';

/** A shell that finds no program ends with 127 too, but says so. */
const LESS = 'command -v less >/dev/null || exit 127; exec less';

/** Prints a text of ours, through `PAGER` (else less) where somebody looks at a terminal that cannot hold it. */
export async function paged(text: string, noPager = false): Promise<void> {
  const whole = `${text}\n`;
  if (noPager || !isTooLong(whole) || !(await throughPager(shown(whole)))) show(process.stdout, whole);
}

function isTooLong(text: string): boolean {
  const { isTTY, rows } = process.stdout;
  const { TERM, PAGER, CI, SERVICE_NO_INPUT } = process.env;
  if (!isTTY || !process.stdin.isTTY || TERM === 'dumb' || CI || SERVICE_NO_INPUT === '1' || inSession()) return false;
  return PAGER !== '' && PAGER !== 'cat' && text.split('\n').length > (rows || 24);
}

/** Whether there was a pager that took it. */
function throughPager(text: string): Promise<boolean> {
  const { env, platform } = process;
  const pager = env.PAGER ?? (platform === 'win32' ? 'more' : LESS);
  // What less needs to show colours, and to end by itself where everything fits.
  const child = inForeground(pager, [], { stdio: ['pipe', 'inherit', 'inherit'], env: { LESS: 'FRX', ...env } });
  // The reader may close it early.
  child.stdin!.on('error', () => {});
  child.stdin!.end(text);
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code !== 127));
  });
}

/**
 * Runs a command by the shell, because such a program is often named with its options. Ctrl-C is the program's, which the
 * terminal sends it to as well; what else ends this run ends the program too. @param words `$1` and so on of the command
 */
export function inForeground(command: string, words: string[], options: SpawnOptions): ChildProcess {
  // A shell that waited for the program would end without it.
  const line = /[=;&|()]/.test(command) ? command : `exec ${command}`;
  const child =
    process.platform === 'win32'
      ? spawn(command, words, { ...options, shell: true })
      : spawn('/bin/sh', ['-c', line, 'sh', ...words], options);
  const interruptible = interruptWith(() => {});
  const ended = undoAtExit(() => child.kill());
  child.on('close', () => {
    interruptible();
    ended();
  });
  return child;
}
