/** In which session of which program a command runs, and what a subagent of it may run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCatalog } from '../../src/cli/help/catalog.ts';
import type { ReadOnly } from '../../src/cli/session/here.ts';
import { builtinProfiles } from '../../src/harness/builtin.ts';
import { detectSession } from '../../src/harness/detect.ts';
import { root } from './support/home.ts';

const claude = { CLAUDECODE: '1', SERVICE_SESSION: 'claude-code:c1', SERVICE_BOOT: 'feedfeedfeedfeed' };
const codex = { CODEX_THREAD_ID: 't1', CODEX_SESSION_ID: 't1' };

describe('the session a command runs in', () => {
  const told = (env: Record<string, string>) => {
    const { session, inside, subagent, sandbox } = detectSession(env);
    return [session?.key ?? null, inside, subagent, sandbox?.network ?? null];
  };

  it('is told by what its program set, nested ones told apart', () => {
    const rows: [string, Record<string, string>, unknown[]][] = [
      ['a terminal', { PATH: '/bin' }, [null, false, null, null]],
      ['Claude Code', claude, ['claude-code:c1', true, null, null]],
      ['Codex', codex, ['codex:t1', true, null, null]],
      ['omp', { SERVICE_SESSION: 'omp:o-1' }, ['omp:o-1', true, null, null]],
      ['the runner', { SERVICE_SESSION: 'command:r1' }, ['command:r1', true, null, null]],
      ['Codex in Claude Code', { ...claude, ...codex }, ['codex:t1', true, null, null]],
      ['Claude Code in Codex, which unset its variables', claude, ['claude-code:c1', true, null, null]],
      ['Claude Code without our hooks', { CLAUDECODE: '1' }, [null, true, null, null]],
      ['a program nobody knows', { SERVICE_SESSION: 'other:x' }, [null, true, null, null]],
      ['a session that is none', { SERVICE_SESSION: 'claude-code:a/b' }, [null, true, null, null]],
      ['a thread that is none', { CODEX_THREAD_ID: 'a b' }, [null, true, null, null]],
      [
        'a yielding program alone with the other’s mark',
        { ...claude, CODEX_THREAD_ID: '../' },
        [null, true, null, null],
      ],
      ['a child thread of Codex', { CODEX_THREAD_ID: 't2', CODEX_SESSION_ID: 't1' }, ['codex:t1', true, 't2', null]],
      ['a subagent of Claude Code', { ...claude, SERVICE_SUBAGENT: 's1' }, ['claude-code:c1', true, 's1', null]],
      [
        'a sandbox without a network',
        { ...codex, CODEX_SANDBOX: 'seatbelt', CODEX_SANDBOX_NETWORK_DISABLED: '1' },
        ['codex:t1', true, null, false],
      ],
      ['a sandbox with one', { ...codex, CODEX_SANDBOX: 'seatbelt' }, ['codex:t1', true, null, true]],
    ];
    for (const [what, env, expected] of rows) expect(told(env), what).to.deep.equal(expected);
  });

  it('is one of a person’s own profile too', () => {
    const own = {
      ...builtinProfiles.find(({ harness }) => harness === 'codex')!,
      harness: 'mine',
      session_env: ['MINE'],
      identity: { kind: 'env' as const, env: 'MINE', precedence: 30 },
    };
    const { session } = detectSession({ ...codex, MINE: 'm1' }, [...builtinProfiles, own]);
    expect(session?.key).to.equal('mine:m1');
  });

  it('carries the boot only as a hook writes it', () => {
    expect(detectSession(claude).session?.boot).to.equal('feedfeedfeedfeed');
    expect(detectSession({ ...claude, SERVICE_BOOT: '$(x)' }).session?.boot).to.equal(null);
  });
});

describe('commands for subagents', () => {
  const commands = readCatalog(root).commands;
  const file = (id: string) => join(root, ...commands[id]!.relativePath);
  const reads = async (id: string, flags = {}, args = {}): Promise<boolean> => {
    const { readOnly } = ((await import(file(id))) as { default: { readOnly: ReadOnly } }).default;
    return typeof readOnly === 'function' ? readOnly({ flags, args }) : readOnly;
  };

  it('change nothing', async () => {
    const writing = [
      'board:post',
      'board:create',
      'board:react',
      'task:start',
      'file:put',
      'agent:leave',
      'agent:resume',
      'join',
      'pair',
      'inbox:ack',
      'inbox:wait',
      'ask',
      'answer',
      'line:working',
      'brief:put',
      'server:stop',
      'key:create',
      'audit:log',
    ];
    for (const id of writing) expect(await reads(id), id).to.equal(false);
    const shown: [string, object, object][] = [
      ['inbox', { peek: true }, {}],
      ['agent:delivery', {}, {}],
      ['board:policy', {}, {}],
      ['board:read', {}, {}],
    ];
    for (const [id, flags, args] of shown) expect(await reads(id, flags, args), id).to.equal(true);
    const changing: [string, object, object][] = [
      ['inbox', {}, {}],
      ['inbox', { wait: 5 }, {}],
      ['agent:delivery', {}, { mode: 'all' }],
      ['board:policy', {}, { preset: 'starter' }],
      ['board:policy', { set: ['a=b'] }, {}],
      ['board:charter', { edit: true }, {}],
      ['board:roles', { remove: 'x' }, {}],
      ['board:owners', { add: 'x' }, {}],
      ['board:read', { 'mark-read': true }, {}],
      ['status', { launch: 'lch_x' }, {}],
    ];
    for (const [id, flags, args] of changing)
      expect(await reads(id, flags, args), `${id} ${JSON.stringify([flags, args])}`).to.equal(false);
  });

  it('have flags and arguments of these names', () => {
    const named = Object.values(commands).flatMap(({ id, flags, args }) =>
      [...readFileSync(file(id), 'utf8').matchAll(/readOnly = without\(([^)]*)\)/g)].map(([, names]) => {
        for (const [, name] of names!.matchAll(/'([^']+)'/g)) expect({ ...flags, ...args }, id).to.have.property(name!);
        return id;
      }),
    );
    expect(named).to.include.members(['agent:delivery', 'board:charter', 'board:read']);
  });
});
