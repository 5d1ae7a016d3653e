import { BaseCommand, listFlags, optional } from '../../cli/base.ts';
import { chooseSwarm } from './lib/choose.ts';
import { fileFlag } from './lib/flags.ts';
import { psOf } from './lib/ps.ts';
import { ps } from './lib/shapes.ts';
import { psText } from './lib/swarm-text.ts';

export const json = () => ps;

export default class SwarmPs extends BaseCommand<typeof SwarmPs> {
  static override summary = 'Show how the agents of a swarm stand';
  static override description =
    'What their launchers say, whether a session holds their seats, and how to look at each. Starts nothing. A launcher that\ncannot tell counts its agent as running.';
  static override examples = ['service swarm ps', 'service swarm ps payments', 'service swarm ps --ndjson'];
  static override seeAlso = ['swarm up', 'swarm list', 'daemon status', 'agents'];
  static override args = { swarm: optional('Name of the swarm, or of its board (default: that of service.yaml)') };
  static override flags = { ...fileFlag, ...listFlags };

  override async run(): Promise<void> {
    await this.requirePerson();
    const chosen = await chooseSwarm(this.args.swarm ?? this.globals.board, this.flags.file, this.globals.server);
    const record = await psOf(chosen);
    const board = chosen.record?.board ?? chosen.file?.board;
    if (board) this.out.base.board = board;
    if (this.out.listed(record.agents)) return;
    const text = await psText(record, this.times);
    this.print<typeof json>(record, () => text);
  }
}
