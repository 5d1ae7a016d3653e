/** Checks the link of this folder to a board. */
import type { Failure } from '../../../local/failure.ts';
import { findProject } from '../../../local/project.ts';
import { namedServer } from '../../../local/servers.ts';
import { type Check, failing, fine, warning } from '../lib/check.ts';

export const project: Check = {
  name: 'project',
  async run({ folders, env, saved }) {
    const found = findProject();
    if (!found) return [fine('project', 'this folder is linked to no board')];
    try {
      void found.server;
    } catch (error) {
      const { code, message, details } = error as Failure;
      const mends = found.own ? 'service board unlink' : String(details?.['accept'] ?? 'service board link NAME');
      return [failing('project', code, message, mends)];
    }
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
