/** Commands in the session of an agent's program: it never acts as its person. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const env = { SERVICE_SESSION: 'claude-code:one' } as never;

describe('a session of an agent’s program', () => {
  const home = homeWithBoard();

  const people = [
    ['key', 'create', 'x'],
    ['key', 'list'],
    ['people', 'list'],
    ['people', 'role', 'maya', 'admin'],
    ['settings', 'show'],
    ['profile', 'show'],
    ['machine', 'show', '4KQ-7ZX'],
  ];

  it('runs no command of a person, whose key is not read, and says the line for the person', async () => {
    const file = home().path('data', 'local-key');
    const key = readFileSync(file);
    writeFileSync(file, 'unreadable');
    try {
      for (const args of people) {
        const refused = await home().run([...args, '--json'], { env });
        const { error } = JSON.parse(refused.stdout);
        expect([refused.code, error.code], args.join(' ')).to.deep.equal([5, 'human_command_in_session']);
        expect(error.hint).to.equal(`Ask your person to run: service ${args.join(' ')} --json`);
      }
    } finally {
      writeFileSync(file, key);
    }
  });

  it('has nobody to act as while it has no seat, which its status tells', async () => {
    for (const args of [['whoami'], ['read'], ['say', 'hi']]) {
      const refused = await home().run([...args, '--json'], { env });
      expect([refused.code, JSON.parse(refused.stdout).error.code], args[0]).to.deep.equal([2, 'agent_not_selected']);
    }
    const status = await home().json(['status'], { env });
    expect([status.agent, status.problem.code]).to.deep.equal([null, 'agent_not_selected']);
  });

  it('acts as the seat it names', async () => {
    await home().json(['agent', 'create', 'codex', '--board', 'demo']);
    expect((await home().json(['whoami', '--as', 'codex'], { env })).me).to.include({ kind: 'agent', name: 'codex' });
  });

  it('keeps the secret of an invite to itself in the line for the person', async () => {
    const link = `https://team.example.com/join#abi_${'x'.repeat(43)}`;
    const refused = await home().run(['connect', link, '--handle', 'maya', '--yes', '--json'], { env });
    const { error } = JSON.parse(refused.stdout);
    expect([refused.code, error.code]).to.deep.equal([5, 'human_command_in_session']);
    expect(error.hint).to.equal('Ask your person to run: service connect - --handle maya --json');
  });
});

describe('a machine whose key was revoked', () => {
  const home = homeWithBoard();
  const other = new Home();
  after(() => other.close());

  it('says so in its status, with the way back in', async () => {
    const { url } = (await home().json(['whoami'])).server;
    const { key } = await home().json(['key', 'create', 'lost']);
    const signed = await other.shell(`printf '%s' "$KEY" | service login ${url}`, { env: { KEY: key.token } });
    expect(signed.code, signed.stderr).to.equal(0);
    await home().json(['key', 'revoke', 'lost', '--yes']);
    const { problem } = await other.json(['status']);
    expect(problem).to.include({ code: 'unauthorized', hint: `service login ${url}` });
  });
});
