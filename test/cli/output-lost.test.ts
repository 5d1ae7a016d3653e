/** Standard output that cannot be written, as on a full disk: what was done stands and is said to, what was only to be shown was not. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EXIT } from '../../src/cli/errors.ts';
import { exitCodes } from '../../src/cli/help/tables.ts';
import { finished, Home, until } from './support/home.ts';
import { HostileServer } from './support/hostile.ts';
import { homeWithBoard } from './support/shared.ts';

it('each exit code is described in the manual', () => {
  const described = exitCodes.map(([code]) => code);
  expect(described).to.include.members(Object.values(EXIT));
  expect(new Set(described).size).to.equal(described.length);
});

it('an answer that cannot be used does not take back what was posted', async () => {
  const server = await HostileServer.start();
  const home = new Home();
  server.instead = { postMessage: () => ({}), listMessages: () => ({}) };
  const env = { SERVICE_SERVER: server.url, SERVICE_BOARD: 'general', SERVICE_TOKEN: `aba_${'A'.repeat(43)}` };
  const posted = await home.run(['say', 'hello'], { env });
  expect([posted.code, ...posted.stderr.trimEnd().split('\n')]).to.deep.equal([
    1,
    "Error (internal): Cannot read properties of undefined (reading 'length'). What was done until then stands.",
    'Hint: Look at what is there before you run it again. With SERVICE_DEBUG=1 it says more',
  ]);
  const read = await home.run(['read'], { env });
  expect(read.stderr).to.include('Hint: Run it again with SERVICE_DEBUG=1 to see more');
  home.discard();
  server.stop();
});

// The device that is always full.
if (process.platform === 'linux')
  describe('standard output on a full disk', () => {
    const home = homeWithBoard('demo', { bare: true, shared: true });
    const bodies = async () =>
      (await home().json(['read'])).messages.map(({ body }: { body: string }) => body) as string[];
    const full = (command: string) => home().shell(`service ${command} >/dev/full`);

    it('does not take back what was posted: it is said on standard error, with an exit code of its own', async () => {
      for (const [i, flags] of ['', '--json', '--time iso', '--wait-reply 0'].entries()) {
        const { code, stderr } = await full(`say "number ${i}" ${flags}`);
        expect([code, stderr], flags).to.deep.equal([
          9,
          'Error (output_lost): Standard output could not be written: the disk is full. What the command did stands.\nHint: Look at what is there before you run it again\n',
        ]);
        expect((await bodies()).at(-1)).to.equal(`number ${i}`);
      }
      const lines = `printf '{"body":"a"}\\n{"body":"b"}\\n' | service say --ndjson-in --json >/dev/full`;
      expect((await home().shell(lines)).code).to.equal(9);
    });

    it('does not take back what the daemon did for a session', async () => {
      const env = { SERVICE_SESSION: 'claude-code:one' };
      const { code, stderr } = await home().shell('service join --board demo --name codex --json >/dev/full', { env });
      expect([code, stderr.split(':')[0]]).to.deep.equal([9, 'Error (output_lost)']);
      expect((await home().json(['agents'])).agents).to.have.length(1);
      await home().run(['daemon', 'stop']);
    });

    it('fails what was only to be shown, and acknowledges nothing of it', async () => {
      await home().json(['agent', 'create', 'reader', '--board', 'demo']);
      await home().json(['say', 'for you', '--to', '@reader']);
      for (const command of ['read', 'read --json', 'help', 'inbox --as reader', 'invite list --json', 'version']) {
        const { code, stderr } = await full(command);
        expect([code, stderr], command).to.deep.equal([
          1,
          'Error (output_failed): Standard output could not be written: the disk is full.\nHint: Send it to a place where there is room\n',
        ]);
      }
      expect((await home().json(['inbox', '--peek', '--as', 'reader'])).messages).to.have.length(1);
    });

    it('is told as a change that stands only where there was one: not after a look-up or a dry run', async () => {
      const { me, server } = await home().json(['whoami']);
      const post = async (path: string, body: object, token?: string) => {
        const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
        const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
        // biome-ignore lint/suspicious/noExplicitAny: what the server answered is used field by field
        return (await answer.json()) as any;
      };
      const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
      const { invite } = await post('/v1/invites', {}, key);
      await post('/v1/connect', { invite, handle: 'sam', key_name: 'laptop' });
      const { code: machine } = await post('/v1/machine-requests', { handle: me.name, label: 'desk' });
      for (const command of [
        `machine show ${machine}`,
        'people remove sam --dry-run',
        'board visibility private --json',
        'agent prune --dry-run',
      ]) {
        const { code, stderr } = await full(command);
        expect([code, stderr.split(':')[0]], command).to.deep.equal([1, 'Error (output_failed)']);
      }
      expect((await full('people remove sam --yes')).code).to.equal(9);
    });

    it('ends no server, which goes on without its log', async () => {
      await home().run(['server', 'stop']);
      const server = home().startShell('exec service serve 2>/dev/full');
      const unstarted = { env: { SERVICE_NO_AUTOSTART: '1' } };
      const answers = async () => (await home().run(['read'], unstarted)).code === 0;
      await until('it answers or ends', async () => server.exitCode !== null || (await answers()));
      expect(server.exitCode).to.equal(null);
      server.kill();
      expect((await finished(server)).code).to.equal(0);
    });

    it('is standard output alone: notes that cannot be written fail nothing', async () => {
      const { code, stdout } = await home().shell(
        'service agent create quiet -b demo 2>/dev/full && service say x 2>/dev/full',
      );
      expect(code).to.equal(0);
      expect(stdout).to.match(/^Agent quiet .*\nPosted #\d+ to all on demo\n$/);
    });
  });
