/** Checks the version of Node.js and the platform. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { olderThan } from '../../../local/versions.ts';
import { type Check, failing, fine, warning } from '../lib/check.ts';

export const node: Check = {
  name: 'node',
  async run() {
    const { engines } = JSON.parse(readFileSync(join(runtime().root, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    const needed = engines.node.slice('>='.length);
    if (olderThan(process.versions.node, `${needed}.0`))
      return [
        failing('node', 'node_outdated', `Node.js ${process.version} is older than ${needed}.`, 'nvm install 24'),
      ];
    const known = ['linux', 'darwin'].includes(process.platform);
    if (known) return [fine('node', `Node.js ${process.version} on ${process.platform}-${process.arch}`)];
    const problem = `Messages are not delivered to sessions on ${process.platform}; pulling them works.`;
    return [warning('node', 'unsupported_platform', problem, 'service inbox --wait 60')];
  },
};
