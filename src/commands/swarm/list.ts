import { z } from 'zod';
import { BaseCommand, listFlags } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { allSwarms, filesOf } from './lib/state.ts';

export const json = () => {
  const listed = z.strictObject({
    swarm: text,
    board: text,
    at: z.strictObject({ name: text, url: text }),
    file: text,
    agents: z.array(text),
  });
  return object({ swarms: z.array(listed) });
};

export default class SwarmList extends BaseCommand<typeof SwarmList> {
  static override summary = 'List the swarms that were started on this machine';
  static override description = 'With the server, the agents and the file of each. Sends nothing.';
  static override examples = ['service swarm list', 'service swarm list --json'];
  static override seeAlso = ['swarm ps', 'swarm show'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    await this.requirePerson();
    const swarms = allSwarms();
    const records = swarms.map(({ name, board, server: { name: known, url }, file, agents }) => ({
      swarm: name,
      board,
      at: { name: known, url },
      file,
      agents: Object.keys(agents),
    }));
    if (this.out.listed(records)) return;
    const cells = records.map(({ swarm, at, agents }, n) => [
      swarm,
      at.url,
      agents.join(', ') || '-',
      filesOf(swarms[n]!).join(', '),
    ]);
    const rows = await table(['NAME', 'SERVER', 'AGENTS', 'FILE'], cells);
    this.print<typeof json>({ swarms: records }, () =>
      rows.length === 0 ? called('No swarm was ever started here. Start one: service swarm up') : rows.join('\n'),
    );
  }
}
