import { BaseCommand, optional } from '../../cli/base.ts';
import { chooseSwarm } from './lib/choose.ts';
import { fileFlag } from './lib/flags.ts';
import { show } from './lib/shapes.ts';
import { fileOf, showOf } from './lib/show.ts';
import { showText } from './lib/swarm-text.ts';

export const json = () => show;

export default class SwarmShow extends BaseCommand<typeof SwarmShow> {
  static override summary = 'Show what service.yaml comes to on this machine';
  static override description =
    'How each agent would be run, by which launcher, where, and whether its program and its seat are there. It reads the\nfile as strictly as swarm up does, and starts nothing.';
  static override examples = ['service swarm show', 'service swarm show --file team/service.yaml --json'];
  static override seeAlso = ['swarm up', 'swarm ps', 'harness test'];
  static override args = { swarm: optional('Name of the swarm, or of its board (default: that of service.yaml)') };
  static override flags = { ...fileFlag };

  override async run(): Promise<void> {
    await this.requirePerson();
    const chosen = await chooseSwarm(this.args.swarm ?? this.globals.board, this.flags.file, this.globals.server);
    const record = await showOf(await fileOf(chosen), chosen.record);
    const text = await showText(record);
    this.print<typeof json>(record, () => text);
  }
}
