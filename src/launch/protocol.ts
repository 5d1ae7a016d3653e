/** The launcher protocol, version 1: one JSON object as request, and one as answer. */
import { z } from 'zod';
import { Failure } from '../local/failure.ts';
import { parseJson, parseJsonObject } from '../local/json.ts';
import { EXIT_OF, launcherCodes } from './codes.ts';

export const LAUNCHER_PROTOCOL = 1;

export const modes = ['interactive', 'headless'] as const;
export type LaunchMode = (typeof modes)[number];

/** Identifies an agent; the handle is the one that the launcher returned when it started it. */
export interface Place {
  swarm: string;
  agent: string;
  handle: string;
}

export interface StartRequest extends Omit<Place, 'handle'> {
  harness: string;
  mode: LaunchMode;
  /** Run as it stands, without a shell. */
  argv: string[];
  /** Added to the launcher's own environment. Never contains a token. */
  env: Record<string, string>;
  /** Absolute. */
  dir: string;
}

export interface Requests {
  info: object;
  start: StartRequest;
  status: Place;
  stop: Place;
}

const line = (most: number) => z.string().min(1).max(most);

/** Fields that are not known are ignored. */
const answers = {
  info: z.object({ name: line(40), modes: z.array(z.enum(modes)).min(1) }),
  start: z.object({ handle: line(4_096), attach: line(1_000).optional(), pid: z.int().positive().optional() }),
  status: z.object({ state: z.enum(['running', 'exited', 'unknown']), blocked: line(500).optional() }),
  stop: z.object({ state: z.literal('exited') }),
} as const;

export type Op = keyof typeof answers;
export type Answers = { [Name in Op]: z.infer<(typeof answers)[Name]> };

/** A launcher, built in or not. */
export type Launcher = { [Name in Op]: (request: Requests[Name]) => Promise<Answers[Name]> };

/** With `already_running`, a launcher may return the handle of the running agent. */
const found = { handle: answers.start.shape.handle.optional(), attach: answers.start.shape.attach };
const refusal = z.object({
  error: z.object({ code: z.string(), message: z.string().default(''), hint: z.string().default(''), ...found }),
});

type Refusal = z.infer<typeof refusal>['error'];
type Found = Pick<Refusal, 'handle' | 'attach'>;

/** The error of a launcher. @param code of the protocol, or `launcher_failed` */
export function launchFailure(
  code: (typeof launcherCodes)[number],
  message: string,
  hint = '',
  { handle, attach }: Found = {},
): Failure {
  const details = { ...(handle ? { handle } : {}), ...(attach ? { attach } : {}) };
  return new Failure(code, message, { hint, exit: EXIT_OF[code], ...(handle ? { details } : {}) });
}

/** Parses the handle of an agent. @throws Failure `invalid_request` for a handle of another launcher */
export function parseHandle<T>(schema: z.ZodType<T>, { handle, agent }: Place): T {
  const read = schema.safeParse(parseJson(handle));
  if (read.success) return read.data;
  throw launchFailure('invalid_request', `That is no handle of ${agent} that this launcher gave.`);
}

/** Parses a launcher's output. @throws Failure the launcher's own error, or `launcher_failed` if the answer is invalid */
export function readAnswer<Name extends Op>(op: Name, name: string, output: string): Answers[Name] {
  const value = parseJsonObject(output);
  if (value === null) throw launcherFailure(name, op, 'printed no JSON object');
  const { v = LAUNCHER_PROTOCOL } = value;
  if (v !== LAUNCHER_PROTOCOL)
    throw launchFailure(
      'launcher_protocol_mismatch',
      `The launcher ${name} speaks version ${JSON.stringify(v)} of the protocol; this program speaks ${LAUNCHER_PROTOCOL}.`,
      `Install a launcher ${name} for this version`,
    );
  const refused = refusal.safeParse(value);
  if (refused.success) throw asFailure(name, refused.data.error);
  const answer = answers[op].safeParse(value);
  if (answer.success) return answer.data as Answers[Name];
  const { path, message } = answer.error.issues[0]!;
  throw launcherFailure(name, op, `answered with a wrong ${path.join('.') || 'object'}: ${message}`);
}

/** The error for a launcher that violates the protocol. */
export const launcherFailure = (name: string, op: string, what: string): Failure =>
  launchFailure('launcher_failed', `The launcher ${name} ${what} (${op}).`, 'Choose another launcher in service.yaml');

function asFailure(name: string, { code, message, hint, ...more }: Refusal): Failure {
  const known = launcherCodes.find((one) => one === code && one !== 'launcher_failed');
  const said = message.slice(0, 500) || code;
  return known
    ? launchFailure(known, said, hint.slice(0, 500), more)
    : launcherFailure(name, code.slice(0, 80), `failed: ${said}`);
}
