/** A key that was revoked: the command says which one it is, and its hint is what brings another. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Api } from '../support/api.ts';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { DoctorMachine } from './support/doctor/machine.ts';
import { Home, until } from './support/home.ts';
import { BOT, SwarmHome } from './support/swarm-home.ts';

describe('a key that was revoked', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());

  const errorOf = async (home: Home, args: string[], env: Record<string, string> = {}) => {
    const { code, stdout } = await home.run([...args, '--json'], { env });
    return { exit: code, ...JSON.parse(stdout).error };
  };
  const newKey = async (person: Api, name: string) => {
    const key = await person.ok('createKey', { body: { name } });
    noteSecrets(key.token);
    return key;
  };

  it('of this machine’s own server is made anew by a restart, as it says', async () => {
    const home = new Home();
    try {
      await home.json(['board', 'create', 'demo']);
      await home.json(['agent', 'create', 'codex']);
      const { current_key_id: id } = await home.json(['key', 'list']);
      const { url } = (await home.json(['key', 'revoke', id, '--yes'])).server;
      expect(await errorOf(home, ['whoami'])).to.deep.equal({
        exit: 4,
        code: 'unauthorized',
        message: `Your key for ${url} does not work any more: it was revoked or has expired.`,
        hint: 'service server restart',
      });
      const { problem } = await home.json(['status']);
      expect(problem.hint).to.equal('service server restart');
      expect((await errorOf(home, ['inbox', '--as', 'codex'])).hint).to.equal(
        'service server restart; then give it a new seat: service agent create NAME --board demo',
      );
      expect((await errorOf(home, ['inbox', '--as', 'codex', '--server', 'local'])).hint).to.equal(
        'service server restart; then give it a new seat: service agent create NAME --board demo --server local',
      );
      const { checks } = JSON.parse((await home.run(['doctor', '--json'])).stdout);
      const fixes = checks.filter(({ code }: { code: string }) => code === 'unauthorized');
      expect(fixes.map(({ name, fix }: { name: string; fix: string }) => [name, fix])).to.deep.include([
        'server local',
        'service server restart',
      ]);
      expect((await home.shell('service server restart && service whoami')).code).to.equal(0);
    } finally {
      await home.close();
    }
  });

  it('is not what is said where another server answers at the address than before', async () => {
    const home = new Home();
    try {
      const key = await newKey(await server.person('ida'), 'second');
      await home.shell(`printf %s '${key.token}' | service login ${server.url} --store file`);
      const file = home.path('config', 'credentials.json');
      const { server_id } = JSON.parse(readFileSync(file, 'utf8')).servers[server.url];
      const known = 'srv_01K5A0000000000000000000P2';
      const lost = readFileSync(file, 'utf8')
        .replace(server_id, known)
        .replace(key.token, `abh_${'A'.repeat(43)}`);
      writeFileSync(file, lost);
      const told = {
        code: 'server_identity_changed',
        message: `Another server answers at ${server.url} than before, and does not know your key.`,
        hint: `If that is right, sign in there: service login ${server.url}`,
        details: { known, found: server_id },
      };
      expect(await errorOf(home, ['board', 'list'])).to.deep.equal({ exit: 4, ...told });
      expect((await home.json(['status'])).problem).to.include({ code: told.code, hint: told.hint });
      // The key may work on where that server is now, so that it is not taken for an ended one and forgotten.
      expect(await errorOf(home, ['logout', server.url, '--yes'])).to.deep.equal({ exit: 4, ...told });
      expect(readFileSync(file, 'utf8')).to.equal(lost);
    } finally {
      await home.close();
    }
  });

  it('of a team server is replaced by signing in, and a session joins again as what it was', async () => {
    const machine = new DoctorMachine();
    try {
      const eve = await server.person('eve');
      const first = await newKey(eve, 'first');
      const signIn = (token: string) => machine.mend(`printf %s '${token}' | service login ${server.url} --store file`);
      await signIn(first.token);
      await machine.json(['init', '--yes', '--allow-commands', '--harness', 'codex']);
      await machine.json(['daemon', 'start']);
      await machine.json(['board', 'create', 'eves']);
      const env = { CODEX_THREAD_ID: 'one', CODEX_SESSION_ID: 'one' };
      const { agent } = await machine.json(['join', '--board', 'eves', '--name', 'codex'], { env });
      await eve.ok('revokeKey', { params: { key: first.id } });
      const login = `service login ${server.url}`;
      expect((await errorOf(machine, ['board', 'list'])).hint).to.equal(login);
      const again = `service join --board eves --name codex --server ${server.url}`;
      expect(await errorOf(machine, ['inbox'], env)).to.deep.include({
        exit: 4,
        message: 'codex on eves is not let in any more: its key has ended, or its seat was taken elsewhere.',
        hint: `Ask your person to run: ${login}; then join again: ${again}`,
      });
      expect((await errorOf(machine, ['inbox', '--as', 'codex'])).hint).to.equal(
        `${login}; then in its session: ${again}`,
      );
      expect((await errorOf(machine, ['join', '--board', 'eves', '--name', 'codex'], env)).hint).to.equal(
        `Your person runs: ${login}`,
      );
      await signIn((await newKey(eve, 'second')).token);
      const joined = await machine.json(again.split(' ').slice(1), { env });
      expect(joined.agent.id).to.equal(agent.id);
      expect((await machine.json(['inbox'], { env })).messages).to.deep.equal([]);
    } finally {
      await machine.close();
    }
  });

  it('ends here with the tokens of its sessions, which come back with another one', async () => {
    const machine = new DoctorMachine();
    try {
      const amy = await server.person('amy');
      const [first, second] = [await newKey(amy, 'first'), await newKey(amy, 'second')];
      const signIn = (token: string) => machine.mend(`printf %s '${token}' | service login ${server.url} --store file`);
      await signIn(first.token);
      await machine.json(['init', '--yes', '--allow-commands', '--harness', 'codex']);
      await machine.json(['daemon', 'start']);
      for (const board of ['amys', 'more']) await machine.json(['board', 'create', board]);
      const seated = async (id: string, board: string) => {
        const env = { CODEX_THREAD_ID: id, CODEX_SESSION_ID: id };
        const { agent } = await machine.json(['join', '--board', board, '--name', id], { env });
        return { env, id: agent.id as string };
      };
      const one = await seated('one', 'amys');
      await signIn(second.token);
      const two = await seated('two', 'more');
      await machine.json(['key', 'revoke', 'second', '--yes']);
      // The other key works on, and with it the agent that came by it.
      expect((await machine.json(['say', 'still here'], { env: one.env })).message.from.id).to.equal(one.id);
      const again = `service join --board more --name two --server ${server.url}`;
      expect(await errorOf(machine, ['inbox'], two.env)).to.deep.include({
        exit: 4,
        code: 'unauthorized',
        hint: `Ask your person to run: service login ${server.url}; then join again: ${again}`,
      });
      const { checks } = JSON.parse((await machine.run(['doctor', '--json'])).stdout);
      const found = checks.find(({ code }: { code: string }) => code === 'unauthorized');
      expect(found.problem ?? found.message).to.equal('two on more: the key it was made with has ended.');
      await signIn(first.token);
      expect((await errorOf(machine, ['inbox'], two.env)).hint).to.equal(`Join again: ${again}`);
      const elsewhere = await errorOf(machine, ['say', 'hello', '--board', 'amys'], two.env);
      expect(elsewhere.code).to.equal('agent_not_selected');
      expect((await machine.json(again.split(' ').slice(1), { env: two.env })).agent.id).to.equal(two.id);
      expect((await machine.json(['say', 'back'], { env: two.env })).message.from.id).to.equal(two.id);
    } finally {
      await machine.close();
    }
  });

  it('ends the agents of a swarm, as `up` says, whether it was ended here or elsewhere', async () => {
    const world = new SwarmHome();
    const { home } = world;
    try {
      const sam = await server.person('sam');
      const signIn = async (name: string) => {
        const key = await newKey(sam, name);
        await home.shell(`printf %s '${key.token}' | service login ${server.url} --store file`);
        return key;
      };
      await signIn('first');
      world.write(BOT.replace('demo', 'sams'));
      await home.json(['swarm', 'up', '--yes']);
      await home.json(['logout', '--yes']);
      const second = await signIn('second');
      const { code, message, hint } = await errorOf(home, ['swarm', 'up']);
      expect([code, message, hint]).to.deep.equal([
        'name_taken',
        'bot on sams is not let in any more, as its key has ended; its name stays taken.',
        'Give the agent another name in service.yaml',
      ]);
      world.write(BOT.replace('demo', 'sams').replace('name: bot', 'name: other'));
      await home.json(['swarm', 'up']);
      await sam.ok('revokeKey', { params: { key: second.id } });
      await signIn('third');
      const told = async () => (await home.json(['swarm', 'ps'])).agents[0].blocked === 'unauthorized';
      await until('the end of the seat', told);
      const up = await errorOf(home, ['swarm', 'up']);
      expect([up.exit, up.code, up.message, up.hint]).to.deep.equal([
        4,
        'unauthorized',
        'other on sams is not let in any more: its key has ended, or its seat was taken elsewhere.',
        hint,
      ]);
    } finally {
      await world.close();
    }
  });

  it('of the environment is told as such, and one that is brought to a login too', async () => {
    const home = new Home();
    try {
      const key = await newKey(server.dana, 'gone');
      await server.dana.ok('revokeKey', { params: { key: key.id } });
      const env = { SERVICE_SERVER: server.url, SERVICE_TOKEN: key.token };
      expect(await errorOf(home, ['whoami'], env)).to.deep.include({
        message: 'The key in SERVICE_TOKEN does not work any more: it was revoked or has expired.',
        hint: `Make another where you are signed in: service key create NAME --server ${server.url}`,
      });
      const seat = { ...env, SERVICE_TOKEN: `aba_${'A'.repeat(43)}` };
      expect((await errorOf(home, ['inbox'], seat)).hint).to.equal(
        `Its person makes another: service agent create NAME --board BOARD --print-token --server ${server.url}`,
      );
      const login = await home.shell(`printf %s '${key.token}' | service login ${server.url} --json`);
      expect(JSON.parse(login.stdout).error).to.deep.include({
        code: 'unauthorized',
        message: `${server.url} does not take this key: it was revoked, has expired or is of another server.`,
        hint: `Make another where you are signed in: service key create NAME --server ${server.url}`,
      });
    } finally {
      await home.close();
    }
  });
});
