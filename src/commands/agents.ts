import { z } from 'zod';
import { BaseCommand, booleanFlag, listFlags } from '../cli/base.ts';
import { stayingAt } from '../cli/session/open-session.ts';
import { answer, object, serverGroup } from '../cli/shapes.ts';
import type { Member } from '../contract/types.ts';
import { ownAgents } from './board/lib/list.ts';
import { ownAgentsText, usageTableText } from './board/lib/member-text.ts';
import { answered, askEveryServer, groupTexts } from './servers/lib/every-server.ts';

export const json = () => {
  const agents = answer('listMyAgents').shape.agents;
  return object({ agents, servers: z.array(serverGroup({ agents })).optional() });
};

export default class Agents extends BaseCommand<typeof Agents> {
  static override readOnly = true;
  static override summary = 'List your agents, wherever they are';
  static override description =
    'On every board you are on, with state, delivery mode and where each was last seen. For an agent: those of its person.\n--usage shows what each used today (UTC), as far as its program tells it: service run --headless reports that.';
  static override examples = [
    'service agents',
    'service agents --all-servers',
    'service agents --usage',
    'service agents --json',
  ];
  static override seeAlso = ['board agents', 'agent show', 'agent create'];
  static override flags = {
    'all-servers': booleanFlag('On every server this machine knows'),
    usage: booleanFlag('What each used today: turns, tokens, cost'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    if (this.flags['all-servers']) return this.everywhere();
    const session = await this.session('A');
    const agents = await ownAgents(session.client);
    if (this.out.listed(agents)) return;
    const text = await this.textOf(agents, session.server.url, stayingAt(session));
    this.print<typeof json>({ agents }, () => text);
  }

  /** @param at flags that keep to the server */
  private textOf(agents: Member[], url: string, at: string): Promise<string> {
    return this.flags.usage ? usageTableText(agents, url, at) : ownAgentsText(agents, { url, at, times: this.times });
  }

  private async everywhere(): Promise<void> {
    await this.requirePerson();
    const read = async ({ client }: { client: Parameters<typeof ownAgents>[0] }) => ({
      agents: await ownAgents(client),
    });
    const servers = await askEveryServer((name) => this.sessionAt(name), read, this.out);
    const agents = answered(servers).flatMap((group) => group.agents);
    if (this.out.listed(agents)) return;
    const text = await groupTexts(servers, ({ agents }, { name, url }) =>
      this.textOf(agents, url, ` --server ${name}`),
    );
    this.print<typeof json>({ agents, servers }, () => text);
  }
}
