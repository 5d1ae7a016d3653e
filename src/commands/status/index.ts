import { BaseCommand, stringFlag } from '../../cli/base.ts';
import type { Output } from '../../cli/output.ts';
import { registerHere } from '../../cli/session/ask-daemon.ts';
import type { Given } from '../../cli/session/here.ts';
import { sessionHere } from '../../cli/session/here.ts';
import { fields } from '../../cli/terminal/fields.ts';
import { isTicket } from '../../launch/ticket.ts';
import { Failure, usage } from '../../local/failure.ts';
import { status } from './lib/shapes.ts';
import { readStatus, statusLines } from './lib/status.ts';

export const json = () => status;

export default class Status extends BaseCommand<typeof Status> {
  static override readOnly = ({ flags }: Given) => !flags.launch;
  static override summary = 'Show server, board and agent in use, and where each was chosen';
  static override description =
    'Starts nothing: a local server that does not run is reported, not started. A session that was started for a seat takes\nit with --launch, once; a ticket that was used or is too old changes nothing.';
  static override examples = ['service status', 'service status --json'];
  static override seeAlso = ['whoami', 'servers list', 'swarm up'];
  static override flags = { launch: stringFlag('TICKET', 'Take the seat that this session was started for') };

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
