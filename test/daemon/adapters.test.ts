/** How bundles reach the programs: where each can be given one, its own queue, and what it says of a session. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { CarrierState } from '../../src/daemon/adapter.ts';
import type { SessionView } from '../../src/daemon/refs.ts';
import { createAdapters, giveToQueue } from '../../src/harness/adapters/index.ts';
import { readThread } from '../../src/harness/adapters/thread.ts';
import { builtinProfiles } from '../../src/harness/builtin.ts';
import { fillPlaceholders, findProgram, runProgram } from '../../src/harness/programs.ts';

const source = fileURLToPath(new URL('support/fake-codex.mjs', import.meta.url));

describe('adapters of harnesses', () => {
  let folder: string;
  let program: string;
  let log: string;
  const env = () => ({ PATH: `${folder}/bin:${dirname(process.execPath)}`, FAKE_LOG: log });

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'board-adapters-'));
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'other'));
    program = join(folder, 'bin', 'codex');
    log = join(folder, 'log');
    copyFileSync(source, program);
    chmodSync(program, 0o755);
  });
  after(() => rmSync(folder, { recursive: true }));

  const session = (id: string, more: Partial<SessionView> = {}): SessionView => ({
    key: `codex:${id}`,
    harness: 'codex',
    session: id,
    boot: 'feedfeedfeedfeed',
    open: true,
    turn: 'idle',
    turned: true,
    needsPerson: null,
    seats: [],
    ...more,
  });
  const logged = () =>
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const adapters = () => createAdapters({ profiles: builtinProfiles, env: env() });

  it('give text only where a carrier is open and no turn would be entered', () => {
    const at = (harness: string, state: Partial<CarrierState>) =>
      adapters()
        .of(harness)
        .canHand({ turn: 'idle', waiting: false, extension: false, door: false, ...state });
    const rows: [string, Partial<CarrierState>, 'now' | 'later'][] = [
      ['claude-code', { waiting: true }, 'now'],
      ['claude-code', {}, 'later'],
      ['claude-code', { turn: 'busy' }, 'later'],
      ['claude-code', { turn: 'unknown' }, 'later'],
      ['codex', {}, 'now'],
      ['codex', { turn: 'unknown' }, 'now'],
      ['codex', { turn: 'busy' }, 'later'],
      ['omp', { extension: true }, 'now'],
      ['omp', { extension: true, turn: 'busy' }, 'later'],
      ['omp', {}, 'later'],
      ['omp', { waiting: true }, 'later'],
      ['command', { extension: true }, 'now'],
      ['of-nobody', { extension: true }, 'now'],
      ['of-nobody', {}, 'later'],
    ];
    for (const [harness, state, expected] of rows)
      expect(at(harness, state), `${harness} ${JSON.stringify(state)}`).to.equal(expected);
  });

  it('have the limits, tags and liveness of their profile', () => {
    const claude = adapters().of('claude-code');
    expect(claude).to.include({ wakeEcho: true, liveness: 'process' });
    expect(claude.limits).to.deep.equal({ bundle_bytes: 32_768, context_bytes: 9_000 });
    expect(claude.reservedTags).to.include('system-reminder');
    for (const any of ['command', 'of-nobody'])
      expect(adapters().of(any).reservedTags, any).to.include.members(['system-reminder', 'user_instructions']);
    const [first, ...others] = builtinProfiles;
    const small = createAdapters({ profiles: [{ ...first!, limits: { context_bytes: 500 } }, ...others], env: env() });
    expect(small.of('claude-code').limits).to.deep.equal({ bundle_bytes: 32_768, context_bytes: 500 });
  });

  describe('with a queue', () => {
    it('give the bundle as one argument, whatever stands in it, with the session’s own configuration', async () => {
      const text = `service: 1 message\n$(rm -rf /) \`x\` {session} "quoted" 'single' ; é`;
      expect(
        await adapters()
          .of('codex')
          .hand(session('own', { config_dir: '/conf' }), text, 'hnd_1'),
      ).to.equal('accepted_confirmed');
      expect(logged().at(-1)).to.deep.equal({
        verb: 'queue',
        args: ['--thread', 'own', '--message', text],
        home: '/conf',
      });
    });

    it('wait for one that is locked or busy, and try again for other failures', async () => {
      const hand = (id: string) => adapters().of('codex').hand(session(id), 'x', 'hnd_1');
      expect(await hand('locked')).to.have.property('later');
      expect(await hand('busy75')).to.deep.equal({ later: 'busy' });
      expect(await hand('absent')).to.deep.equal({ retry: 'harness_target_absent' });
      expect(await hand('broken')).to.deep.equal({ retry: 'exit 3' });
    });

    it('stop one that does not end, and say when there is none', async () => {
      const hangs = await giveToQueue([program, 'queue', '--thread', 'hangs'], { env: env(), ms: 500 });
      expect(hangs).to.deep.equal({ retry: 'queue_timeout' });
      const nowhere = createAdapters({ profiles: builtinProfiles, env: { PATH: join(folder, 'other') } });
      expect(await nowhere.of('codex').hand(session('own'), 'x', 'hnd_1')).to.deep.equal({
        retry: 'program_not_found',
      });
      expect(await adapters().of('claude-code').hand(session('own'), 'x', 'hnd_1')).to.have.property('retry');
    });

    it('are found on PATH, else where they were when they were set up', async () => {
      const elsewhere = { PATH: `${join(folder, 'other')}:bin:` };
      expect(findProgram('codex', env())).to.equal(program);
      expect(findProgram('codex', elsewhere)).to.equal(null);
      expect(findProgram('codex', elsewhere, program)).to.equal(program);
      expect(findProgram('codex', elsewhere, '/no/codex')).to.equal(null);
      expect(findProgram('codex', { PATH: '' }, folder)).to.equal(null);
    });
  });

  describe('check a session', () => {
    it('by reading exactly that thread of Codex', async () => {
      const check = (id: string) =>
        adapters()
          .of('codex')
          .check(session(id, { config_dir: '/conf' }));
      expect(await check('own')).to.equal('ok');
      expect(logged().at(-1)).to.deep.equal({ verb: 'app-server', thread: 'own', home: '/conf' });
      expect(await check('child')).to.deep.equal({ code: 'harness_subagent_target' });
      expect(await check('parented')).to.deep.equal({ code: 'harness_subagent_target' });
      expect(await check('gone')).to.deep.equal({ code: 'harness_target_absent' });
      // As it answers about a thread before its first turn, of which nothing was written down yet.
      expect(await check('fresh')).to.equal('unstarted');
      expect(await check('odd')).to.deep.equal({ code: 'harness_unavailable' });
    });

    it('which is unavailable where Codex does not answer or is not there', async () => {
      expect(await readThread(program, 'silent', env(), 800)).to.deep.equal({ code: 'harness_unavailable' });
      expect(await readThread('/no/codex', 'own', env())).to.deep.equal({ code: 'harness_unavailable' });
      const nowhere = createAdapters({ profiles: builtinProfiles, env: { PATH: '' } });
      expect(await nowhere.of('codex').check(session('own'))).to.deep.equal({ code: 'harness_unavailable' });
    });

    it('by its hook or connection alone where the program cannot be asked', async () => {
      for (const harness of ['claude-code', 'omp', 'command'])
        expect(await adapters().of(harness).check(session('any'))).to.equal('ok');
    });
  });

  it('end no other program whose number is that of one that ended', async () => {
    const { kill } = process;
    const ended: number[] = [];
    process.kill = (pid) => {
      ended.push(pid);
      return true;
    };
    try {
      // What it leaves running keeps its output open until the time is over.
      await runProgram('/bin/sh', ['-c', 'sleep 1 & exit 0'], { env: process.env, ms: 300 });
    } finally {
      process.kill = kill;
    }
    expect(ended).to.deep.equal([]);
  });

  it('fill names into command lines once', () => {
    expect(fillPlaceholders(['a', '{bundle}', '{x}-{session}'], { bundle: '{session}', session: 's' })).to.deep.equal([
      'a',
      '{session}',
      '{x}-s',
    ]);
  });
});
