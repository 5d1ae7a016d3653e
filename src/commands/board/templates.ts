import { BaseCommand, listFlags } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';

export const json = () => object({ templates: answer('listTemplates').shape.templates });

export default class BoardTemplates extends BaseCommand<typeof BoardTemplates> {
  static override readOnly = true;
  static override summary = 'List the templates a board can start from';
  static override description = 'A template brings roles, a charter and a policy.';
  static override examples = ['service board templates', 'service board templates --json'];
  static override seeAlso = ['board create'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const client = await this.client('A');
    const { templates } = (await client.call('listTemplates')).data;
    const cells = templates.map((t) => [t.name, Object.keys(t.roles).join(', '), t.summary]);
    const rows = () => table(['NAME', 'ROLES', 'FOR'], cells);
    await this.printList<typeof json>({ templates }, templates, { of: 'templates', rows });
  }
}
