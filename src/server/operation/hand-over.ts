/** The command that a person runs where their agent may not, told with the refusal. It is guidance, never permission. */
import type { NextStep } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';

/** A path parameter stands in braces. */
const steps: Partial<Record<OperationName, NextStep>> = {
  createInvite: {
    command: 'service invite --person',
    resume: 'In a session this asks your person for the invite; in their own terminal they make it at once.',
  },
  listInvites: {
    command: 'service invite list',
    resume: 'Your person runs it in their own terminal and tells you what you need of it.',
  },
  getInvite: {
    command: 'service invite show {invite}',
    resume: 'Your person runs it in their own terminal and tells you what you need of it.',
  },
  revokeInvite: {
    command: 'service invite revoke {invite}',
    resume: 'Your person runs it in their own terminal; the invite then stops working.',
  },
};

/** What to run for this operation on the server at this address; undefined where nothing is told. */
export function handOver(
  name: OperationName,
  params: Readonly<Record<string, string>>,
  baseUrl: string,
): NextStep | undefined {
  const step = steps[name];
  if (!step) return undefined;
  const command = step.command.replaceAll(/\{([a-z_]+)\}/g, (_match, key: string) => shellArgument(params[key] ?? ''));
  return { ...step, command: `${command} --server ${shellArgument(baseUrl, true)}` };
}

/** As POSIX shells read one argument. */
export const shellArgument = (text: string, always = false): string =>
  !always && /^[A-Za-z0-9_./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
