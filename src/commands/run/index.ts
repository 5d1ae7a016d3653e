import { randomBytes } from 'node:crypto';
import { BaseCommand, booleanFlag, choiceFlag, stringFlag, words } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { runtime } from '../../cli/runtime.ts';
import { refOf } from '../../cli/session/ask-daemon.ts';
import { inSession } from '../../cli/session/here.ts';
import { savedSeats } from '../../cli/session/own-seats.ts';
import { count, object, text } from '../../cli/shapes.ts';
import { endWith, exitAfter } from '../../cli/signals.ts';
import { duration } from '../../cli/terminal/time.ts';
import { loadProfiles } from '../../harness/load.ts';
import { withoutRemoved } from '../../launch/environment.ts';
import { selectorOf } from '../../local/actors.ts';
import { Failure, usage } from '../../local/failure.ts';
import { endLeftBehind, inputOf, requireProgram, runChild, STOP_GRACE_MS } from './lib/child.ts';
import { Headless } from './lib/headless.ts';
import { RunLimit } from './lib/limit.ts';
import { Answers } from './lib/reply.ts';
import { Runner } from './lib/runner.ts';
import { UsageReports } from './lib/usage.ts';

export const json = () => object({ session: text, runs: count });

export default class Run extends BaseCommand<typeof Run> {
  static override strict = false;
  static override loops = true;
  static override summary = 'Run a program once for every bundle of messages an agent gets';
  static override description =
    'For programs that are no session: what comes for the agent is given to the program as an argument {bundle}, on its\nstandard input, or as a file {bundle_file}. Other users of the machine can see arguments. Exit 0 acknowledges it, 75 means\nnot now, everything else is tried again. The program gets SERVICE_SESSION, SERVICE_AGENT and SERVICE_HANDOFF, and no token.\nWith --headless the program of --harness is run by its own command lines, in one conversation that goes on; what stands\nafter -- is added to them. SIGINT, SIGTERM and SIGHUP are passed on to a program that runs, which then has five seconds.';
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
    timeout: stringFlag('DURATION', 'Longest run of the program (default 600s, 0 for no limit)'),
    headless: booleanFlag('Run the program of --harness by its own command lines', {
      dependsOn: ['harness'],
      exclusive: ['input'],
    }),
    model: stringFlag('NAME', 'Its model, with --headless', { dependsOn: ['headless'] }),
    'max-runs': stringFlag('N/DURATION|off', 'Starts because of agents’ messages, beside 6 in 10s (default 30/10m)'),
    'idle-exit': stringFlag('DURATION', 'End after this time without a message (default 0, never)'),
  };

  /** Serves the seat until it is told to stop; the exit code is that of a signal which ended it. */
  override async run(): Promise<void> {
    const end = this.argv.indexOf('--');
    const argv = end < 0 ? [] : this.argv.slice(end + 1);
    const { headless: bare, model, harness: named = 'command', reply, timeout, 'idle-exit': idle } = this.flags;
    if (!argv[0] && !bare) throw usage('The program to run is missing.', 'service run --as NAME -- PROGRAM …');
    const limit = new RunLimit(this.flags['max-runs']);
    this.globals.timeout = undefined;
    const session = await this.session('G');
    const [ms, idleMs] = [longest(timeout ?? '600s', '--timeout'), longest(idle ?? '0', '--idle-exit')];
    const { seat } = session;
    if (!seat || inSession())
      throw new Failure('agent_seat_elsewhere', 'The runner serves a seat of this machine, from outside a session.', {
        hint: 'Make one: service agent create NAME --board BOARD; then name it with --as',
      });
    const note = (text: string) => this.out.note(text);
    const headless = bare ? await Headless.of({ harness: named, model, args: argv, note }, seat.memberId) : null;
    requireProgram(headless?.turn().argv[0] ?? argv[0]!, runtime().env);
    const input = headless ? 'arg' : inputOf(argv, this.flags.input);
    const { harness, id } = await identity(named);
    const key = `${harness}:${id}`;
    const own = {
      ...withoutRemoved(runtime().env),
      SERVICE_SESSION: key,
      SERVICE_AGENT: selectorOf(refOf(seat), savedSeats()),
    };
    const stop = new AbortController();
    /** Ends the requests that the last run still makes. */
    const late = new AbortController();
    let exit: number = EXIT.done;
    endWith((signal) => {
      exit = exitAfter[signal];
      stop.abort(signal);
      setTimeout(() => late.abort(signal), STOP_GRACE_MS).unref();
    });
    let runs = 0;
    const answers = new Answers(session, note, late.signal);
    const reports = new UsageReports(session, seat.memberId, note, late.signal);
    const take = async (text: string, handoff: string) => {
      // Its work is done: only what it answered is posted again, and what it used told.
      if (answers.has(handoff)) {
        await reports.tell();
        return await answers.post(handoff, text);
      }
      runs++;
      const turn = headless?.turn();
      const childEnv = { ...own, SERVICE_HANDOFF: handoff };
      const child = { memberId: seat.memberId, argv, input, ...turn, env: childEnv, ms, keep: reply };
      const outcome = await runChild(text, child, stop.signal);
      const cut = stop.signal.aborted && outcome.kind !== 'done';
      const used = cut ? undefined : await turn?.done(outcome);
      if (used) await reports.add(used);
      if (outcome.kind !== 'done' || !reply) return outcome;
      return await answers.post(handoff, text, turn?.answer(outcome.output) ?? outcome.output);
    };
    await endLeftBehind(seat.memberId);
    const serving = { harness, session: id, agent: refOf(seat), idleMs, stop: stop.signal, limit, note, take };
    await new Runner(serving).run();
    this.print<typeof json>({ session: key, runs }, () => `Ran the program ${runs} ${runs === 1 ? 'time' : 'times'}.`);
    if (exit !== 0) throw new Exit(exit);
  }
}

/** Milliseconds; null for 0, which sets no limit. */
const longest = (text: string, flag: string): number | null => duration(text, flag) * 1000 || null;

/** A program with delivery points of its own is served here as any other, under its name. */
async function identity(harness: string): Promise<{ harness: string; id: string }> {
  const { all } = await loadProfiles(runtime().folders.config);
  const runner = all.find((profile) => profile.harness === harness)?.identity.kind === 'runner';
  const random = randomBytes(8).toString('hex');
  return runner
    ? { harness, id: `run-${random}` }
    : { harness: 'command', id: `${harness.replaceAll(/[^a-z0-9-]/g, '')}-${random}` };
}
