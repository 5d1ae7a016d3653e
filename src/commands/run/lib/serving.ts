/** Sets up `service run`: the runner, and the environment of the program. */
import { randomBytes } from 'node:crypto';
import { EXIT } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { refOf } from '../../../cli/session/ask-daemon.ts';
import { inSession } from '../../../cli/session/here.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { endWith, exitAfter } from '../../../cli/signals.ts';
import { loadProfiles } from '../../../harness/load.ts';
import { Failure } from '../../../local/failure.ts';
import { inputOf, requireProgram, runChild } from './child.ts';
import { Headless } from './headless.ts';
import type { RunLimit } from './limit.ts';
import { replyWith } from './reply.ts';
import { Runner } from './runner.ts';
import { reportUsage } from './usage.ts';

interface RunFlags {
  /** The program and its words; with `headless` what is added to those of its profile. */
  argv: string[];
  harness: string;
  /** Run by the command lines of the harness's profile, perhaps with a model. */
  headless: { model: string | undefined } | null;
  input: string | undefined;
  reply: boolean;
  ms: number;
  idleMs: number | null;
  limit: RunLimit;
  out: Output;
}

interface RunRecord {
  session: string;
  runs: number;
}

/**
 * Serves the seat until it is told to stop. @returns what it did, and the exit code: that of a signal which ended it
 * @throws Failure for a credential that is no seat of this machine.
 */
export async function serveWith(session: Session, options: RunFlags): Promise<{ record: RunRecord; exit: number }> {
  const { seat } = session;
  if (!seat || inSession())
    throw new Failure('agent_seat_elsewhere', 'The runner serves a seat of this machine, from outside a session.', {
      hint: 'Make one: service agent create NAME --board BOARD; then name it with --as',
    });
  const headless = options.headless
    ? await Headless.of({ harness: options.harness, model: options.headless.model, args: options.argv }, seat.memberId)
    : null;
  requireProgram(headless?.turn().argv[0] ?? options.argv[0]!, runtime().env);
  const input = headless ? 'arg' : inputOf(options.argv, options.input);
  const { harness, id } = await identity(options.harness);
  const key = `${harness}:${id}`;
  const { SERVICE_TOKEN: _, SERVICE_TOKEN_FILE: __, ...env } = runtime().env;
  const own = { ...env, SERVICE_SESSION: key, SERVICE_AGENT: `${seat.saved.name}@${seat.saved.board}` };
  const stop = new AbortController();
  let exit: number = EXIT.done;
  endWith((signal) => {
    exit = exitAfter[signal];
    stop.abort(signal);
  });
  let runs = 0;
  const runner = new Runner({
    harness,
    session: id,
    agent: refOf(seat),
    idleMs: options.idleMs,
    stop: stop.signal,
    limit: options.limit,
    note: (text) => options.out.note(text),
    take: async (text, handoff) => {
      runs++;
      const childEnv = { ...own, SERVICE_HANDOFF: handoff };
      const turn = headless?.turn();
      const argv = turn?.argv ?? options.argv;
      const child = { argv, input, env: childEnv, ms: options.ms, keep: options.reply, read: turn?.read };
      const outcome = await runChild(text, child, stop.signal);
      const used = stop.signal.aborted ? undefined : await turn?.done(outcome);
      if (used) await reportUsage(session, used, (text) => options.out.note(text));
      if (outcome.kind === 'done' && options.reply)
        await replyWith(session, text, turn?.answer(outcome.output) ?? outcome.output, (text) =>
          options.out.note(text),
        );
      return outcome;
    },
  });
  await runner.run();
  return { record: { session: key, runs }, exit };
}

/** A program with delivery points of its own is served here as any other, under its name. */
async function identity(harness: string): Promise<{ harness: string; id: string }> {
  const { all } = await loadProfiles(runtime().folders.config);
  const runner = all.find((profile) => profile.harness === harness)?.identity.kind === 'runner';
  const random = randomBytes(8).toString('hex');
  return runner
    ? { harness, id: `run-${random}` }
    : { harness: 'command', id: `${harness.replaceAll(/[^a-z0-9-]/g, '')}-${random}` };
}
