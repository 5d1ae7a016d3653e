import { BaseCommand, booleanFlag, choiceFlag, stringFlag, words } from '../../cli/base.ts';
import { Exit } from '../../cli/errors.ts';
import { count, object, text } from '../../cli/shapes.ts';
import { duration } from '../../cli/terminal/time.ts';
import { usage } from '../../local/failure.ts';
import { RunLimit } from './lib/limit.ts';
import { serveWith } from './lib/serving.ts';

export const json = () => object({ session: text, runs: count });

export default class Run extends BaseCommand<typeof Run> {
  static override strict = false;
  static override summary = 'Run a program once for every bundle of messages an agent gets';
  static override description =
    'For programs that are no session: what comes for the agent is given to the program as an argument {bundle}, on its\nstandard input, or as a file {bundle_file}. Exit 0 acknowledges it, 75 means not now, everything else is tried again. The\nprogram gets SERVICE_SESSION, SERVICE_AGENT and SERVICE_HANDOFF, and no token. With --headless the program of --harness is\nrun by its own command lines, in one conversation that goes on; what stands after -- is added to them.\nSIGINT and SIGTERM are passed on to a program that runs, which then has five seconds.';
  static override examples = [
    "service run --as triage -- my-agent --prompt '{bundle}'",
    'service run --as triage --reply -- ./answer.sh',
    "service run --as triage --input file --timeout 10m -- my-agent --file '{bundle_file}'",
    'service run --as triage --harness claude-code --headless --model opus',
  ];
  static override seeAlso = ['inbox', 'agent create', 'harness test', 'swarm up'];
  static override args = { program: words('The program and its words, after --') };
  static override flags = {
    harness: stringFlag('NAME', 'What runs in the program (default command)'),
    input: choiceFlag(['arg', 'stdin', 'file'], 'How the text is given (default: by the braces)'),
    reply: booleanFlag('Post what the program prints as a reply to the newest message'),
    timeout: stringFlag('DURATION', 'Longest run of the program (default 600s)'),
    headless: booleanFlag('Run the program of --harness by its own command lines', {
      dependsOn: ['harness'],
      exclusive: ['input'],
    }),
    model: stringFlag('NAME', 'Its model, with --headless', { dependsOn: ['headless'] }),
    'max-runs': stringFlag('N/DURATION|off', 'Starts because of agents’ messages, beside 6 in 10s (default 30/10m)'),
    'idle-exit': stringFlag('DURATION', 'End after this time without a message'),
  };

  override async run(): Promise<void> {
    const end = this.argv.indexOf('--');
    const argv = end < 0 ? [] : this.argv.slice(end + 1);
    const { headless = false, model } = this.flags;
    if (!argv[0] && !headless) throw usage('The program to run is missing.', 'service run --as NAME -- PROGRAM …');
    const { harness = 'command', input, reply = false, timeout, 'idle-exit': idle } = this.flags;
    const limit = new RunLimit(this.flags['max-runs']);
    this.globals.timeout = undefined;
    const session = await this.session('G');
    const ms = duration(timeout ?? '600s', '--timeout') * 1000;
    const idleMs = idle === undefined ? null : duration(idle, '--idle-exit') * 1000;
    const way = { argv, harness, input, reply, headless: headless ? { model } : null };
    const { record, exit } = await serveWith(session, { ...way, ms, idleMs, limit, out: this.out });
    this.print<typeof json>(record, () => `Ran the program ${record.runs} ${record.runs === 1 ? 'time' : 'times'}.`);
    if (exit !== 0) throw new Exit(exit);
  }
}
