/** What needs no server starts none, and leaves a machine as it found it. */
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { Home } from './support/home.ts';

describe('a machine on which nothing was done yet', () => {
  const home = new Home({ bare: true });
  after(() => home.close());

  const files = () => readdirSync(home.dir, { recursive: true, encoding: 'utf8' }).sort();

  for (const command of [
    'openapi',
    'openapi --offline',
    'openapi --server local',
    'version',
    'help',
    'completion bash',
    'servers list',
    'status',
    'server stop',
  ])
    it(`is left as it was by "${command}"`, async () => {
      const before = files();
      const result = await home.run(command.split(' '));
      expect(result.code, result.stderr).to.equal(0);
      expect(files()).to.deep.equal(before);
      expect(home.serverPid()).to.equal(null);
    });

  it('prints what the server would say of its API', async () => {
    const { stdout, stderr } = await home.run(['openapi']);
    expect(JSON.parse(stdout)).to.have.nested.property('paths./v1/info');
    expect(stderr).to.equal('The local server does not run; this is what it would say.\n');
    expect((await home.run(['openapi', '--offline'])).stdout).to.equal(stdout);
  });
});
