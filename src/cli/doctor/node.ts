/** Whether the program runs on what it needs. */
import { type Check, failing, fine, warning } from './check.ts';

/** As in package.json. */
const NEEDED = [20, 19] as const;

export const node: Check = {
  name: 'node',
  async run() {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const old = major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1]);
    if (old)
      return [failing('node', 'node_outdated', `Node.js ${process.version} is older than 20.19.`, 'nvm install 22')];
    const known = ['linux', 'darwin'].includes(process.platform);
    if (known) return [fine('node', `Node.js ${process.version} on ${process.platform}-${process.arch}`)];
    const problem = `Messages are not delivered to sessions on ${process.platform}; pulling them works.`;
    return [warning('node', 'unsupported_platform', problem, 'service inbox --wait 60')];
  },
};
