/** service.yaml: read strictly, and said by line what is wrong. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MOST_AGENTS, readSwarmFile } from '../../src/commands/swarm/lib/file.ts';
import type { Failure } from '../../src/local/failure.ts';

describe('service.yaml', () => {
  let dir: string;
  let path: string;
  const cwd = process.cwd();
  const { HOME } = process.env;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'board-swarm-'));
    path = join(dir, 'service.yaml');
  });
  afterEach(() => {
    process.chdir(cwd);
    process.env.HOME = HOME;
    rmSync(dir, { recursive: true, force: true });
  });

  const read = (text: string | Buffer) => {
    writeFileSync(path, text);
    return readSwarmFile(path);
  };
  const refused = async (text: string | Buffer): Promise<Failure> =>
    read(text).then(
      () => {
        throw new Error(`it was read: ${text}`);
      },
      (error: Failure) => error,
    );
  const agent = (fields: string) => `board: demo\nagents:\n  - name: a\n    harness: codex\n    ${fields}\n`;

  it('holds a board, perhaps a server, and agents', async () => {
    const text = `# Who does what
board: demo
server: team
agents:
  - name: a
    harness: claude-code
    role: reviewer
    model: opus
    args: [--verbose, "a b", "5"]
    reply: true
    launcher: tmux
    dir: ./x
  - {name: b, harness: codex}
`;
    const { path: at, ...rest } = await read(text);
    expect(at).to.equal(path);
    expect(rest).to.deep.equal({
      board: 'demo',
      server: 'team',
      agents: [
        {
          name: 'a',
          harness: 'claude-code',
          role: 'reviewer',
          model: 'opus',
          args: ['--verbose', 'a b', '5'],
          reply: true,
          launcher: 'tmux',
          dir: './x',
        },
        { name: 'b', harness: 'codex' },
      ],
    });
  });

  const wrong: [what: string, text: string | Buffer, message: string][] = [
    ['an unknown field', agent('modle: x'), 'line 5: agents[0].modle is not known; did you mean model?'],
    [
      'an unknown field that is like no other',
      'board: demo\nfoo: 1\nagents: [{name: a, harness: codex}]\n',
      'line 2: foo is not known; known are board, server, agents',
    ],
    ['a missing field', 'board: demo\nagents:\n  - name: a\n', 'line 3: agents[0].harness is missing'],
    ['a missing board', 'agents: [{name: a, harness: codex}]\n', 'line 1: board is missing'],
    ['a number for text', agent('model: 4.5'), 'line 5: agents[0].model must be text; write it in quotes'],
    ['a number among words', agent('args: [--n, 5]'), 'line 5: agents[0].args[1] must be text; write it in quotes'],
    ['a word for a list', agent('args: --n 5'), 'line 5: agents[0].args must be a list'],
    ['no agents', 'board: demo\nagents: []\n', 'line 2: agents must name an agent'],
    [
      'one name twice',
      'board: demo\nagents:\n  - {name: a, harness: codex}\n  - {name: a, harness: codex}\n',
      'line 4: agents[1].name a is there twice',
    ],
    ['a bad name', 'board: demo\nagents: [{name: A, harness: codex}]\n', 'line 2: agents[0].name must be up to 40'],
    ['a bad board', 'board: x\nagents: [{name: a, harness: codex}]\n', 'line 1: board must be 2 to 40'],
    ['a launcher that is a path', agent('launcher: ../x'), 'line 5: agents[0].launcher must be small letters'],
    ['a null character', agent('dir: "a\\0b"'), 'line 5: agents[0].dir must not hold a null character'],
    ['a key twice', 'board: demo\nboard: other\nagents: []\n', 'line 2: Map keys must be unique'],
    ['a tag', 'board: !!js/function x\nagents: []\n', 'line 1: Unresolved tag'],
    ['no YAML', 'board: [\n', 'line 2:'],
    ['a list', '- a\n', 'line 1: the file must be fields and values'],
    ['nothing', '', 'line 1: the file is empty'],
    ['only a remark', '# agents\n', 'line 1: the file is empty'],
    ['a word for yes or no', agent('reply: yes'), 'line 5: agents[0].reply must be true or false'],
    [
      'a reserved name',
      'board: demo\nagents: [{name: all, harness: codex}]\n',
      'line 2: agents[0].name is a reserved name',
    ],
    ['two documents', 'board: demo\n---\nboard: demo\n', 'line 2: a second document begins here'],
    ['bytes that are no text', Buffer.from([0x62, 0xff, 0xfe]), 'is not UTF-8'],
    ['too much', `#${'x'.repeat(256 * 1024)}\n`, 'longer than 256 KiB'],
    [
      'too many agents',
      `board: demo\nagents:\n${Array.from({ length: MOST_AGENTS + 1 }, (_, i) => `  - {name: a${i}, harness: codex}\n`).join('')}`,
      'agents must be at most 50',
    ],
    [
      'names for parts that multiply',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij'].map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefghij'[i]}`).join(',')}]\n`).join('')}board: demo\nagents: []\n`,
      'Excessive alias count',
    ],
  ];
  for (const [what, text, message] of wrong)
    it(`is refused with ${what}`, async () => {
      const { code, exit, message: said, hint } = await refused(text);
      expect([code, exit, hint !== '']).to.deep.equal(['invalid_request', 2, true]);
      expect(said).to.include(message);
    });

  it('names everything that is wrong, each with its line', async () => {
    const { details, message } = await refused('board: x\nagents:\n  - name: a\n    harnes: codex\n');
    expect(message).to.match(/line 1: board .*, and more\.$/);
    expect(details?.lines).to.deep.equal([
      'line 1: board must be 2 to 40 small letters, digits and hyphens, with no hyphen at either end, or the id of a board',
      'line 3: agents[0].harness is missing',
      'line 4: agents[0].harnes is not known; did you mean harness?',
    ]);
  });

  it('is found in this folder or the first above it, and not above the home folder', async () => {
    writeFileSync(path, 'board: demo\nagents: [{name: a, harness: codex}]\n');
    const below = join(dir, 'home', 'project', 'src');
    mkdirSync(below, { recursive: true });
    process.chdir(below);
    process.env.HOME = join(dir, 'elsewhere');
    expect((await readSwarmFile(undefined)).path).to.equal(path);
    process.env.HOME = join(dir, 'home');
    const { message, hint } = (await readSwarmFile(undefined).catch((error: unknown) => error)) as Failure;
    expect(message).to.equal('There is no service.yaml in this folder or above it.');
    expect(hint).to.match(/^Write one: printf/);
    expect(((await readSwarmFile('none.yaml').catch((error: unknown) => error)) as Failure).message).to.include(
      'there is no such file',
    );
  });
});
