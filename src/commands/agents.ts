import * as Flags from '@oclif/core/flags';
import { z } from 'zod';
import { BaseCommand } from '../cli/base.ts';
import { ownAgents } from '../cli/boards/list.ts';
import { listFlags } from '../cli/flags.ts';
import { ownAgentsText } from '../cli/print/member.ts';
import { answered, askEveryServer, groupTexts } from '../cli/session/every-server.ts';
import { answer, object, serverGroup } from '../cli/shapes.ts';

export const json = () => {
  const agents = answer('listMyAgents').shape.agents;
  return object({ agents, servers: z.array(serverGroup({ agents })).optional() });
};

export default class Agents extends BaseCommand<typeof Agents> {
  static override readOnly = true;
  static override summary = 'List your agents, wherever they are';
  static override description =
    'On every board you are on, with state, delivery mode and where each was last seen. For an agent: those of its person.';
  static override examples = ['service agents', 'service agents --all-servers', 'service agents --json'];
  static override seeAlso = ['board agents', 'agent show', 'agent create'];
  static override flags = {
    'all-servers': Flags.boolean({ description: 'On every server this machine knows' }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    if (this.flags['all-servers']) return this.everywhere();
    const { client, server } = await this.session('A');
    const agents = await ownAgents(client);
    if (this.out.listed(agents)) return;
    const text = await ownAgentsText(agents, server.url, this.times);
    this.print<typeof json>({ agents }, () => text);
  }

  private async everywhere(): Promise<void> {
    await this.requirePerson();
    const read = async ({ client }: { client: Parameters<typeof ownAgents>[0] }) => ({
      agents: await ownAgents(client),
    });
    const servers = await askEveryServer((name) => this.sessionAt(name), read, this.out);
    const agents = answered(servers).flatMap((group) => group.agents);
    if (this.out.listed(agents)) return;
    const text = await groupTexts(servers, (group, url) => ownAgentsText(group.agents, url, this.times));
    this.print<typeof json>({ agents, servers }, () => text);
  }
}
