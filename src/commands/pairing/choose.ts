import { booleanFlag, required, WriteCommand } from '../../cli/base.ts';
import { changedText } from './lib/pairing-text.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingChoose extends WriteCommand<typeof PairingChoose> {
  static override summary = 'Ask one of your agents to accept proposed work';
  static override description =
    'For whom the work was proposed to. Posts a message to the agent with the work and the command to run; the session that\nruns it is the one that takes part. Choosing another agent needs --replace.';
  static override examples = [
    'service pairing choose prq_01K5A0000000000000000000P1 codex',
    'service pairing choose prq_01K5A0000000000000000000P1 claude --replace',
  ];
  static override seeAlso = ['pairing show', 'pairing decline'];
  static override args = {
    pairing: required('Id of the request'),
    agent: required('Name or id of an agent of yours on its board'),
  };
  static override flags = { replace: booleanFlag('Instead of the agent that was chosen before') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { pairing, agent } = this.args;
    const params = { pairing };
    const { data: before } = await client.call('getPairingRequest', { params });
    const board = before.display?.boards[0]?.name ?? '';
    const named = agent.replace(/^@/, '');
    const agent_id = named.startsWith('mem_')
      ? named
      : (await client.call('getMember', { params: { board, member: named } })).data.id;
    const body = { agent_id, generation: before.generation, replace: this.flags.replace ?? false };
    const { data: request, again } = await this.write(client, 'choosePairingAgent', { params, body });
    this.print<typeof json>({ request }, () => changedText(request, again));
  }
}
