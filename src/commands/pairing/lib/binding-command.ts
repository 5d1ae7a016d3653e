import type { Command } from '@oclif/core/command';
import { booleanFlag, writeFlags } from '../../../cli/flags.ts';
import { requireWhole, sessionHere } from '../../../cli/session/here.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { DelegatedCommand } from '../../board/lib/delegated-command.ts';
import { changedText } from './pairing-text.ts';

export const bindFlags = {
  here: booleanFlag('This session is the one that is meant'),
  replace: booleanFlag('In the place of a session that is there'),
  ...writeFlags,
};

/** A command that binds one side of proposed work to the session that runs it, through the daemon, which holds its proof. */
export abstract class BindingCommand<T extends typeof Command> extends DelegatedCommand<T> {
  /**
   * Binds the initiator's side by `select`, the recipient's by `accept`. The daemon brings the session onto the board first
   * where it has no seat there. A command typed in the wrong window binds nothing.
   */
  protected async bind(action: 'select' | 'accept', pairing: string | undefined): Promise<void> {
    const { here, replace = false } = this.flags as { here?: boolean; replace?: boolean };
    if (!here)
      throw usage(
        'This binds the session it is run in, so it wants --here.',
        `In the session that should do the work: service pairing ${action} PRQ --here`,
      );
    requireWhole(false);
    const session = sessionHere();
    if (!session)
      throw new Failure(
        'agent_session_required',
        'This binds the session of an agent, not a terminal: it has to run in the session that should do the work.',
        {
          hint: `In that session: service pairing ${action} PRQ --here. Its program needs our hooks: service init`,
        },
      );
    const { askFor } = await import('../../../cli/session/ask-daemon.ts');
    const answer = await askFor(session, 'pairing', {
      server: (await this.serverHere(session)).url,
      action,
      replace,
      idempotency_key: this.key ?? newIdempotencyKey(),
      ...(pairing === undefined ? {} : { pairing_id: pairing }),
    });
    const request = answer.pairing!;
    this.out.print({ request }, () => changedText(request, '', action === 'select' ? 'initiator' : 'recipient'));
  }
}
