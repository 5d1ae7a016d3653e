import { dirname } from 'node:path';
import { z } from 'zod';
import { BaseCommand, optional } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { findProject, projectContent, writeProject } from '../../local/project.ts';

export const json = () => object({ path: text, previous: z.strictObject({ server: text, board: text }).nullable() });

export default class BoardLink extends BaseCommand<typeof BoardLink> {
  static override summary = 'Link this folder to a board';
  static override description =
    'Writes a .service file that names server and board, for this folder and those below it. It holds no secret and may\nbe kept with the project. One that another user of this machine wrote is not obeyed.';
  static override examples = ['service board link payments', 'service board link payments --server team'];
  static override seeAlso = ['board unlink', 'status'];
  static override args = { name: optional('Board; default: the one in use') };

  override async run(): Promise<void> {
    if (this.args.name) this.globals.board = this.args.name;
    const { client, board, server } = await this.onBoard('A');
    await client.call('getBoard', { params: { board } });
    // Over a link that is here.
    const here = process.cwd();
    const found = findProject();
    const previous = found && dirname(found.path) === here ? projectContent(found) : null;
    const path = writeProject(here, server.url, board);
    this.print<typeof json>({ path, previous }, () => `Linked this folder to ${board}.`);
  }
}
