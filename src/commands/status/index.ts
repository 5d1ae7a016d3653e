import * as Flags from '@oclif/core/flags';
import { z } from 'zod';
import { BaseCommand } from '../../cli/base.ts';
import type { Output } from '../../cli/output.ts';
import { fields } from '../../cli/print/fields.ts';
import { registerHere } from '../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../cli/session/here.ts';
import type { Given } from '../../cli/session/read-only.ts';
import { answer, count, flag, inbox, object, problem, text } from '../../cli/shapes.ts';
import { isTicket } from '../../launch/ticket.ts';
import { Failure, usage } from '../../local/failure.ts';
import { readStatus, statusLines } from './lib/status.ts';

export const json = () =>
  object({
    server_running: flag,
    daemon: z.strictObject({
      running: flag,
      pid: z.int().nullable(),
      version: text.nullable(),
      problem: text.nullable(),
    }),
    setup: z.array(z.strictObject({ harness: text, scope: z.enum(['global', 'project']) })),
    board_source: z.enum(['flag', 'env', 'project_file', 'only', 'agent', 'none']),
    agent: text.nullable(),
    agent_source: z.enum(['flag', 'token', 'env', 'session', 'none']),
    delivery: inbox.shape.delivery_mode.nullable(),
    presence: answer('getMember').shape.presence,
    current_task: inbox.shape.work.shape.oldest_open,
    line: inbox.shape.work.shape.line,
    policy: z.strictObject({ preset: text, visibility: text }).nullable(),
    people: count.nullable(),
    unread: count.nullable(),
    seats: z.array(z.strictObject({ agent: text, board: text, member_id: text })),
    subagent: text.optional(),
    problem: problem.nullable(),
  });

export default class Status extends BaseCommand<typeof Status> {
  static override readOnly = ({ flags }: Given) => !flags.launch;
  static override summary = 'Show server, board and agent in use, and where each was chosen';
  static override description =
    'Starts nothing: a local server that does not run is reported, not started. A session that was started for a seat takes\nit with --launch, once; a ticket that was used or is too old changes nothing.';
  static override examples = ['service status', 'service status --json'];
  static override seeAlso = ['whoami', 'servers list', 'swarm up'];
  static override flags = {
    launch: Flags.string({ helpValue: 'TICKET', description: 'Take the seat that this session was started for' }),
  };

  override async run(): Promise<void> {
    const { launch } = this.flags;
    if (launch !== undefined) await takeLaunch(launch, this.out);
    const status = await readStatus(() => this.session('A', { autostart: false }), this.globals, this.out);
    this.print<typeof json>(status, () => fields(statusLines(status, this.out.base)).join('\n'));
  }
}

/** Outside a session, and with a ticket that was used or is too old, nothing happens. Where nobody can be asked, it is said. */
async function takeLaunch(ticket: string, out: Output): Promise<void> {
  if (!isTicket(ticket)) throw usage('--launch takes a ticket, lch_ and 24 letters and digits.', 'service status');
  const session = sessionHere();
  if (!session) return;
  try {
    await registerHere(session, ticket);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    out.warn(error.code, error.message, error.hint);
  }
}
