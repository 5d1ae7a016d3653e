import { z } from 'zod';
import { BaseCommand } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { findProject, projectContent, removeProject } from '../../local/project.ts';

export const json = () =>
  object({ path: text.nullable(), previous: z.strictObject({ server: text, board: text }).nullable() });

export default class BoardUnlink extends BaseCommand<typeof BoardUnlink> {
  static override summary = 'Remove the link of this folder to a board';
  static override description =
    'Removes the .service file that counts here: of this folder or of the nearest one above.';
  static override examples = ['service board unlink'];
  static override seeAlso = ['board link'];

  override async run(): Promise<void> {
    const project = findProject();
    const previous = projectContent(project);
    if (project) removeProject(project);
    this.print<typeof json>({ path: project?.path ?? null, previous }, () =>
      project
        ? `Removed ${project.path}${previous ? `, which named ${previous.board}` : ''}.`
        : 'This folder is not linked.',
    );
  }
}
