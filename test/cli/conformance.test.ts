/** What is declared of agent programs, proved by the conformance kit: the very entries that init writes, the true daemon. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { builtinProfile } from '../../src/harness/builtin.ts';
import { Home } from './support/home.ts';

interface Record {
  supported: boolean;
  checks: { check: string; result: string; reason?: string }[];
}

describe('service harness test', function () {
  this.timeout(400_000);
  const home = new Home();
  after(() => home.close());

  const declared: { [harness: string]: string[] } = {
    'claude-code': [],
    codex: [],
    omp: ['versions'],
    command: ['init', 'versions', 'owner_midturn', 'notice', 'turn_start', 'subagent', 'resume', 'uninstall'],
  };
  /** Two at a time: most of what the kit does is waiting for programs. */
  const records = new Map<string, Promise<Record>>();
  before(() => {
    const lanes = [Promise.resolve(), Promise.resolve()];
    for (const [n, harness] of Object.keys(declared).entries()) {
      const record = lanes[n % 2]!.then(() => home.json(['harness', 'test', harness]) as Promise<Record>);
      records.set(harness, record);
      lanes[n % 2] = record.then(
        () => {},
        () => {},
      );
    }
  });

  for (const [harness, without] of Object.entries(declared))
    it(`proves all that is declared of ${harness}`, async () => {
      const { checks, supported } = await records.get(harness)!;
      const failed = checks.filter(({ result }) => result === 'fail');
      expect(failed.map(({ check, reason }) => `${check}: ${reason}`)).to.deep.equal([]);
      expect(checks.filter(({ result }) => result === 'n/a').map(({ check }) => check)).to.deep.equal(without);
      expect([checks.length, supported]).to.deep.equal([19, true]);
    });

  it('proves a profile of a file, and fails one that declares what is not so, with exit 3', async () => {
    const path = join(home.dir, 'mine.json');
    const codex = builtinProfile('codex')!;
    const mine = {
      ...codex,
      harness: 'mine',
      command: 'mine',
      checks: { installed: { run: ['mine', '--version'] }, min_version: '1.0.0' },
      session_env: ['MINE_THREAD'],
      identity: { kind: 'env', env: 'MINE_THREAD', precedence: 40 },
      subagent_identity: 'none',
      config_dir: { env: 'MINE_HOME', default: '~/.mine' },
      delivery: { ...codex.delivery, queue: ['mine', ...codex.delivery.queue!.slice(1)] },
    };
    const test = async (profile: object, only: string) => {
      writeFileSync(path, JSON.stringify(profile));
      return home.run(['harness', 'test', path, '--only', only, '--json']);
    };
    const proved = await test(mine, 'idle');
    expect([proved.code, JSON.parse(proved.stdout).checks[0]?.reason]).to.deep.equal([0, undefined]);
    const queue = ['mine', 'queue', '--thread', '{session}', '--message', 'nothing'];
    const failed = await test({ ...mine, delivery: { ...mine.delivery, queue } }, 'idle');
    expect(failed.code).to.equal(3);
    expect(JSON.parse(failed.stdout).checks[0]).to.include({ check: 'idle', result: 'fail' });
    writeFileSync(path, JSON.stringify({ ...mine, identity: codex.identity, session_env: codex.session_env }));
    const quiet = await home.run(['harness', 'test', path, '--only', 'profile', '--quiet']);
    expect([quiet.code, quiet.stdout, quiet.stderr.split('\n')[0]]).to.deep.equal([
      3,
      '',
      'Error (check_failed): 1 of 1 checks failed.',
    ]);
    const invalid = await test({ ...mine, delivery: { ...mine.delivery, queue: undefined } }, 'idle');
    expect([invalid.code, JSON.parse(invalid.stdout).error.code]).to.deep.equal([2, 'invalid_request']);
  });

  it('breaks the daemon only in its test build, which no command runs', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    for (const part of ['cli.cjs', 'daemon.cjs', 'hook.cjs'])
      expect(readFileSync(join(root, 'dist', part), 'utf8')).to.not.include('SERVICE_TEST_FAULTS');
    const env = { ...home.env, SERVICE_TEST_FAULTS: 'nowhere:kill' };
    const started = await home.json(['daemon', 'start'], { env });
    expect(started).to.include({ started: true });
    await home.json(['daemon', 'stop']);
    const broken = join(root, 'dist', 'faulty-daemon.mjs');
    const { status, stderr } = spawnSync(process.execPath, [broken], { env, encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.include('no such point: nowhere');
  });

  it('names what there is where it is asked for something else', async () => {
    for (const args of [['nobody'], ['.'], ['codex', '--only', 'nothing']])
      expect((await home.run(['harness', 'test', ...args])).code).to.equal(2);
    const { checks } = (await home.json(['harness', 'test', 'codex', '--only', 'profile'])) as Record;
    expect(checks.map(({ check, result }) => [check, result])).to.deep.equal([['profile', 'pass']]);
  });
});
