import { required, stringFlag, WriteCommand } from '../../cli/base.ts';
import { object } from '../../cli/shapes.ts';
import { readWhole } from '../../cli/stdin.ts';
import { requireFeature } from '../../client/features.ts';
import { boardIdOf, personIdOf } from '../approval/lib/ask-person.ts';
import { beginner } from '../invite/lib/invite.ts';
import { changedText } from './lib/pairing-text.ts';
import { pairing } from './lib/shapes.ts';

export const json = () => object({ request: pairing, next: pairing.shape.next.optional() });

export default class PairingRequestCommand extends WriteCommand<typeof PairingRequestCommand> {
  static override summary = 'Propose work to somebody, or to another session of yours';
  static override description =
    'On one board, between an agent of yours and one of theirs; "me" means another session of your own. None of their agents\nis woken: they decide. An agent proposes for itself; its person names one with --agent. Where the recipient first has to\ncome onto a private board, and the agent may not add them, its person is asked.';
  static override examples = [
    'service pairing request maya "Review the API" --board payments --agent claude',
    'service pairing request me "Write the tests" --board payments --agent claude',
    'service pairing request maya - --board payments --agent claude < work.md',
  ];
  static override seeAlso = ['pairing list', 'pairing select', 'invite create'];
  static override args = {
    handle: required('Whom it is proposed to; me: another session of yours'),
    work: required('What the work is; - reads it from standard input'),
  };
  static override flags = { agent: stringFlag('NAME', 'Which of your agents begins, if there are several') };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const { client, board } = session;
    const { handle, work: given } = this.args;
    const work = given === '-' ? await readWhole('-', this.out, 'the work') : given;
    await requireFeature(client, 'onboarding');
    const initiating_agent_id = await beginner(session, board, this.flags.agent);
    const board_id = await boardIdOf(session);
    const body = { board_id, recipient_id: await personIdOf(client, handle), initiating_agent_id, work };
    const { data: request, again } = await this.write(client, 'createPairingRequest', { body });
    const record = { request, ...(request.next ? { next: request.next } : {}) };
    this.print<typeof json>(record, () => changedText(request, again));
  }
}
