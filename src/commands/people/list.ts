import { z } from 'zod';
import { BaseCommand, listFlags } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { allRows } from '../../client/pages.ts';
import { escapeUntrusted } from '../../contract/text.ts';

export const json = () => object({ people: z.array(answer('setPersonRole').shape.person) });

export default class PeopleList extends BaseCommand<typeof PeopleList> {
  static override summary = 'List the people of the server';
  static override description = 'Oldest first, with what each is on the server: admin, member or guest.';
  static override examples = ['service people list', 'service people list --server team --json'];
  static override seeAlso = ['people show', 'people role', 'board people'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const people = await allRows(client, 'listPeople', 'people', { query: { limit: 500 } });
    const cells = people.map((p) => [p.handle, p.server_role, escapeUntrusted(p.display_name ?? '')]);
    const rows = () => table(['HANDLE', 'ROLE', 'CALLED'], cells);
    await this.printList<typeof json>({ people }, people, { of: server.url, rows });
  }
}
