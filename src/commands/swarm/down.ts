import { BaseCommand, optional } from '../../cli/base.ts';
import { chooseSwarm } from './lib/choose.ts';
import { takeDown } from './lib/down.ts';
import { requireNoProblem } from './lib/failing.ts';
import { fileFlag, onlyFlag } from './lib/flags.ts';
import { down } from './lib/shapes.ts';
import { downText } from './lib/swarm-text.ts';

export const json = () => down;

export default class SwarmDown extends BaseCommand<typeof SwarmDown> {
  static override summary = 'Stop the agents that were started for a swarm';
  static override description =
    'Each through the launcher that started it, within ten seconds. Their seats and the board stay, and what somebody\nstarted by hand goes on; service swarm up starts them again, in the conversations they had.';
  static override examples = ['service swarm down', 'service swarm down --only triage', 'service swarm down payments'];
  static override seeAlso = ['swarm up', 'swarm ps', 'agent remove'];
  static override args = { swarm: optional('Name of the swarm, or of its board (default: that of service.yaml)') };
  static override flags = { ...fileFlag, ...onlyFlag };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { file, only = [] } = this.flags;
    const record = await takeDown(
      await chooseSwarm(this.args.swarm ?? this.globals.board, file, this.globals.server),
      only,
      this.out,
    );
    requireNoProblem(record.agents);
    const text = await downText(record);
    this.print<typeof json>(record, () => text);
  }
}
