/** Runs a program of the user's choice, an editor or a pager, that owns the terminal until it ends. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { undoAtExit } from '../at-exit.ts';
import { interruptWith } from '../signals.ts';

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
