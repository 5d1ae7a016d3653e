import type { Command } from '@oclif/core/command';
import { WriteCommand } from '../../../cli/base.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import type { AdminActionInput } from './ask-person.ts';

/** A command that an agent may ask its person to carry out, with `--request`. */
export abstract class AskingCommand<T extends typeof Command> extends WriteCommand<T> {
  /** Sends an agent's request to its person and shows what became of it. */
  protected async request(session: Session, body: AdminActionInput): Promise<void> {
    const { askPerson, askedText } = await import('./ask-person.ts');
    const asked = await askPerson(session, body, this.key);
    const { warnOfLoopback } = await import('../../invite/lib/invite.ts');
    warnOfLoopback(this.out, asked.invite?.invite);
    this.out.print(asked, () => askedText(asked, this.times));
  }
}
