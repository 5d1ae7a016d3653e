/** What a server calls a file never decides that a hidden file is made here, or one elsewhere. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { HostileServer } from './support/hostile.ts';

const names = [
  '.bashrc',
  'notes/.envrc',
  '../.profile',
  '..',
  '/etc/x',
  'a/../../.ssh/rc',
  '-rf',
  '',
  'a\n.b',
  'a\\.b',
];

describe('a file with an invalid name', () => {
  let server: HostileServer;
  let home: Home;
  let env: Record<string, string>;
  before(async () => {
    server = await HostileServer.start();
    home = new Home();
    env = {
      SERVICE_SERVER: server.url,
      SERVICE_BOARD: 'general',
      SERVICE_TOKEN: `abh_${'A'.repeat(43)}`,
      EDITOR: 'true',
    };
  });
  after(() => {
    home.discard();
    server.stop();
  });
  const callIt = (name: string) => {
    server.asked = [];
    server.instead = {
      getFile: (file) => ({ ...file, name }),
      getBoard: (board) => ({ ...board, brief: { ...(board.brief as object), name } }),
    };
  };
  const around = () => [home.dir, home.work].map((folder) => readdirSync(folder).sort());

  for (const args of [
    ['file', 'get', 'x.md'],
    ['brief', 'get'],
    ['file', 'edit', 'x.md'],
  ])
    it(`is not made by ${args.join(' ')}`, async () => {
      const before = around();
      for (const name of names) {
        callIt(name);
        const { code, stdout } = await home.run([...args, '--json'], { env });
        expect([code, JSON.parse(stdout).error?.code], stdout).to.deep.equal([1, 'server_unexpected']);
      }
      expect(around()).to.deep.equal(before);
    });

  it('is made where the person says, and any other under its own name', async () => {
    callIt('.bashrc');
    expect((await home.json(['file', 'get', 'x.md', 'here.md'], { env })).path).to.equal('here.md');
    callIt('notes/api.md');
    expect((await home.json(['file', 'get', 'x.md'], { env })).path).to.equal('api.md');
    writeFileSync(join(home.work, '.hidden'), 'mine');
    expect((await home.json(['file', 'get', 'x.md', '.hidden', '--force'], { env })).path).to.equal('.hidden');
  });
});
