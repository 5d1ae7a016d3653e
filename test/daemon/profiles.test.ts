/** What is known of the programs that run agents, and what a profile must keep to be used. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtinProfile, builtinProfiles } from '../../src/harness/builtin.ts';
import { loadProfiles } from '../../src/harness/load.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { conflicts, readProfile } from '../../src/harness/profile-rules.ts';

const problems = (value: unknown): string[] => {
  const read = readProfile(value);
  return 'problems' in read ? read.problems : [];
};
const plain: Profile = { ...builtinProfile('command')!, harness: 'mine', delivery: { capabilities: ['extension'] } };

describe('profiles of harnesses', () => {
  it('that are built in keep every rule, and can be told apart', () => {
    for (const profile of builtinProfiles) {
      expect(problems(profile), profile.harness).to.deep.equal([]);
      const others = builtinProfiles.filter((other) => other !== profile);
      expect(conflicts(profile, others), profile.harness).to.deep.equal([]);
    }
  });

  it('have the delivery points the contract names for each', () => {
    const points = Object.fromEntries(builtinProfiles.map(({ harness, delivery }) => [harness, delivery.capabilities]));
    expect(points).to.deep.equal({
      'claude-code': ['idle-hook', 'turn-start', 'tool-boundary', 'midturn-peer', 'waiting-signal', 'owner-door'],
      codex: ['queue', 'turn-end-hook', 'turn-start', 'tool-boundary', 'midturn-peer', 'waiting-signal'],
      omp: ['extension', 'turn-start', 'tool-boundary', 'midturn-peer', 'waiting-signal'],
      command: ['extension'],
    });
  });

  it('have the hooks of the contract, with their seconds and first versions', () => {
    const rows = ['claude-code', 'codex'].flatMap((name) =>
      builtinProfile(name)!.delivery.hooks!.map(
        ({ op, event, timeout, since }) => `${name} ${op} ${event} ${timeout} ${since}`,
      ),
    );
    expect(rows).to.deep.equal([
      'claude-code session-start SessionStart 30 2.0.22',
      'claude-code prompt UserPromptSubmit 10 1.0.54',
      'claude-code wait Stop 86400 2.1.64',
      'claude-code tool PostToolBatch 10 2.1.118',
      'claude-code mark-subagent PreToolUse 10 2.1.69',
      'claude-code needs-person PermissionRequest 10 2.0.45',
      'claude-code needs-person Elicitation 10 2.1.76',
      'claude-code needs-person Notification 10 2.0.37',
      'claude-code end SessionEnd 10 1.0.85',
      'codex session-start SessionStart 30 0.114.0',
      'codex prompt UserPromptSubmit 10 0.116.0',
      'codex turn-end Stop 10 0.114.0',
      'codex tool PreToolUse 30 0.129.0',
      'codex needs-person PermissionRequest 10 0.122.0',
      'codex end SessionEnd 3 0.145.0',
    ]);
  });

  it('mark what subagents run, by each tool that takes a command for the shell', () => {
    const marks = builtinProfile('claude-code')!.delivery.hooks!.filter(({ op }) => op === 'mark-subagent');
    const isMarked = (tool: string) => marks.some(({ matcher }) => new RegExp(`^(?:${matcher})$`).test(tool));
    expect(['Bash', 'Monitor', 'Read', 'BashOutput'].filter(isMarked)).to.deep.equal(['Bash', 'Monitor']);
  });

  const hook = { event: 'E', run: 'e', timeout: 1, why: 'w' } as const;
  const wrong: [string, unknown, string][] = [
    ['a capability without its hook', { ...plain, delivery: { capabilities: ['idle-hook'] } }, 'op wait'],
    ['a queue without a command line', { ...plain, delivery: { capabilities: ['queue'] } }, 'delivery.queue'],
    ['a turn-end hook that is none', { ...plain, delivery: { capabilities: ['turn-end-hook'] } }, 'op turn-end'],
    ['a tool boundary without a hook', { ...plain, delivery: { capabilities: ['tool-boundary'] } }, 'op tool'],
    ['an extension with another identity', { ...plain, identity: { kind: 'none' } }, 'identity.kind extension'],
    ['none beside others', { ...plain, delivery: { capabilities: ['none', 'extension'] } }, 'none needs'],
    [
      'since without a least version',
      { ...plain, delivery: { capabilities: ['extension'], hooks: [{ ...hook, op: 'end', since: '1.0.0' }] } },
      'min_version',
    ],
    [
      'marked subagents without a mark',
      { ...plain, delivery: { capabilities: [] }, lifecycle: { liveness: 'process' }, subagent_identity: 'marked' },
      'marked needs',
    ],
    ['an identity without its variable', { ...plain, identity: { kind: 'env' } }, 'identity.env'],
    ['an identity without its file', { ...plain, identity: { kind: 'hook' } }, 'identity.env_file'],
    ['a bundle that is too large', { ...plain, limits: { bundle_bytes: 32_769 } }, 'bundle_bytes'],
    ['a context that is too large', { ...plain, limits: { context_bytes: 9_001 } }, 'context_bytes'],
    ['a shell string for a command line', { ...plain, delivery: { capabilities: [], queue: 'x {bundle}' } }, 'queue'],
    ['an unknown name in braces', { ...plain, delivery: { capabilities: [], queue: ['x', '{token}'] } }, 'braces'],
    ['unknown fields', { ...plain, secret: 1 }, 'secret'],
    [
      'no seconds',
      { ...plain, delivery: { capabilities: [], hooks: [{ ...hook, op: 'end', timeout: 0 }] } },
      'timeout',
    ],
    ['nothing', null, 'profile'],
  ];
  for (const [what, value, word] of wrong)
    it(`are refused for ${what}`, () => {
      expect(problems(value).join('\n')).to.include(word);
    });

  it('that share a marker need to say who goes first', () => {
    const one = { ...plain, session_env: ['MARK'], identity: { kind: 'runner' as const } };
    const other = { ...one, harness: 'other' };
    expect(conflicts(other, [one]).join()).to.include('MARK');
    expect(conflicts({ ...other, identity: { ...other.identity, precedence: 1 } }, [one]).join()).to.include('MARK');
    const first = { ...one, identity: { ...one.identity, precedence: 2 } };
    expect(conflicts({ ...other, identity: { ...other.identity, precedence: 1 } }, [first])).to.deep.equal([]);
    expect(
      conflicts({ ...other, session_env: ['MARK', 'OWN'] }, [
        { ...one, identity: { kind: 'runner', yields_to: ['OWN'] } },
      ]),
    ).to.deep.equal([]);
  });

  it('of a person are added; bad ones, and those of a built-in’s name, are skipped and named', async () => {
    const config = mkdtempSync(join(tmpdir(), 'board-profiles-'));
    try {
      expect((await loadProfiles(config)).all).to.have.length(builtinProfiles.length);
      const put = (name: string, text: string) => writeFileSync(join(config, 'harnesses', name), text);
      mkdirSync(join(config, 'harnesses'));
      put('a.json', JSON.stringify(plain));
      put('b.json', JSON.stringify({ ...plain, harness: 'codex' }));
      put('c.json', '{');
      put('d.json', JSON.stringify(plain));
      put('notes.txt', 'no profile');
      const { all, invalid } = await loadProfiles(config);
      expect(all.map(({ harness }) => harness)).to.deep.equal(['claude-code', 'codex', 'omp', 'command', 'mine']);
      expect(invalid.map(({ file }) => file.slice(-6))).to.deep.equal(['b.json', 'c.json', 'd.json']);
    } finally {
      rmSync(config, { recursive: true });
    }
  });
});
