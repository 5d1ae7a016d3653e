/** The link of this folder to a board. */
import { findProject } from '../../local/project.ts';
import { namedServer } from '../../local/servers.ts';
import { type Check, fine, warning } from './check.ts';

export const project: Check = {
  name: 'project',
  async run({ folders, env, saved }) {
    const found = findProject();
    if (!found) return [fine('project', 'this folder is linked to no board')];
    if (saved) {
      try {
        namedServer(found.server, saved, folders, env);
      } catch {
        const problem = `${found.path} names ${found.server}, which this machine does not know.`;
        return [warning('project', 'server_unknown', problem, `service login ${found.server}`)];
      }
    }
    return [fine('project', `${found.path} links to ${found.board} on ${found.server}`)];
  },
};
