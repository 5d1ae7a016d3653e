/** What a server calls an agent and its board becomes part of commands here, so it has to be a name. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { HostileServer } from './support/hostile.ts';

const names = ['$(touch ran)', 'a b', '-x', 'a\n', '', '__proto__'];

describe('a seat with an invalid name', () => {
  let server: HostileServer;
  let home: Home;
  before(async () => {
    server = await HostileServer.start();
    home = new Home();
    const key = { id: 'key_1', name: 'k', expires_at: null, store: 'file', token: `abh_${'A'.repeat(43)}` };
    const person = { id: 'hum_1', handle: 'maya' };
    const entry = { server_id: server.serverId, name: 'team', mode: 'team', person, key, seats: {} };
    const path = home.path('config', 'credentials.json');
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, JSON.stringify({ v: 1, default: server.url, servers: { [server.url]: entry } }), {
      mode: 0o600,
    });
  });
  after(() => {
    home.discard();
    server.stop();
  });

  for (const args of [
    ['join', 'ABC-123', '--name', 'codex'],
    ['agent', 'create', 'codex', '--board', 'general'],
  ])
    it(`is not saved by ${args.join(' ')}`, async () => {
      for (const field of ['name', 'board'])
        for (const name of names) {
          server.asked = [];
          server.instead = {
            joinBoard: (answer) => ({ ...answer, agent: { ...(answer.agent as object), [field]: name } }),
          };
          const { stdout } = await home.run([...args, '--server', server.url, '--json']);
          expect(JSON.parse(stdout).error?.code, stdout).to.equal('server_unexpected');
          expect(server.asked).to.include('joinBoard');
          const { servers } = JSON.parse(readFileSync(home.path('config', 'credentials.json'), 'utf8'));
          expect(servers[server.url].seats).to.deep.equal({});
        }
    });
});
