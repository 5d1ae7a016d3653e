import * as Flags from '@oclif/core/flags';
import { BaseCommand, confirmFlags, waitFlags } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { runtime } from '../../cli/runtime.ts';
import { usage } from '../../local/failure.ts';
import { requireNoProblem } from './lib/failing.ts';
import { readSwarmFile } from './lib/file.ts';
import { fileFlag, onlyFlag } from './lib/flags.ts';
import { up } from './lib/shapes.ts';
import { upText } from './lib/swarm-text.ts';
import { bringUp } from './lib/up.ts';

export const json = () => up;

export default class SwarmUp extends BaseCommand<typeof SwarmUp> {
  static override summary = 'Start the agents of service.yaml on their board';
  static override description =
    'Makes the board and a seat for each agent where they are missing, starts every agent that does not run, and waits until\nall have taken their seats. What runs is left alone, so it can be run again at any time. In a folder\nwhere nothing was ever started it shows what it would start, and asks. The file:\n\n  board: payments\n  agents:\n    - name: claude\n      harness: claude-code\n      role: member\n    - name: triage\n      harness: command\n      args: [./answer.sh]\n      reply: true\n\nA program that is named by a path is looked for from the folder of the file. An agent may also have a model, args for its\nprogram, a dir, and a launcher: tmux (where a program needs a terminal), headless (in the background, once for each bundle\nof messages), or NAME for a program service-launcher-NAME. With reply: true, which needs no terminal, what the program\nprints is posted as its answer.';
  static override examples = [
    'service swarm up',
    'service swarm up --file team/service.yaml --only triage --wait 10',
    'service swarm up --json --fail-timeout',
  ];
  static override seeAlso = ['swarm ps', 'swarm down', 'run', 'init'];
  static override flags = {
    ...fileFlag,
    ...onlyFlag,
    wait: Flags.integer({
      char: 'w',
      min: 0,
      max: 86_400,
      default: 120,
      helpValue: 'SECONDS',
      description: 'Wait at most so long for all seats (default 120)',
    }),
    ...waitFlags,
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { file: path, only = [], wait, 'fail-timeout': fails } = this.flags;
    const file = await readSwarmFile(path);
    const { board = file.board } = this.globals;
    if (board !== file.board)
      throw usage(`${file.path} is about the board ${file.board}.`, 'Leave --board out, or change the file');
    this.globals.server ??= runtime().env.SERVICE_SERVER ?? file.server;
    const session = await this.session('P');
    const agree = (question: string, facts: string[]) => this.confirm(question, this.flags.yes, facts);
    const record = await bringUp(session, { file, only, waitMs: wait * 1000, out: this.out, agree });
    const text = await upText(record, this.out.base.board ?? file.board);
    requireNoProblem(record.agents);
    this.print<typeof json>(record, () => text);
    if (record.timed_out && fails) throw new Exit(EXIT.checkFailed);
  }
}
