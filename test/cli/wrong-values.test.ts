/** Values that are not of the accepted ones: exit 2 before anything is sent, naming the flag and what it takes. */
import { expect } from 'chai';
import { readCatalog, visibleCommands } from '../../src/cli/help/catalog.ts';
import { permissions } from '../../src/contract/values.ts';
import { root } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const WRONG = 'surely-not';
const commands = visibleCommands(readCatalog(root));

describe('a value that is none of the accepted ones', () => {
  const home = homeWithBoard();
  const refusalOf = async (line: string[]) => {
    const { code, stdout, stderr } = await home().run([...line, '--json', '--verbose']);
    expect(stderr, 'nothing is sent').to.not.match(/^(GET|POST|PUT|PATCH|DELETE) /m);
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
    return { exit: code, ...error };
  };
  const expectRefused = async (line: string[], name: string, accepted: readonly string[]) => {
    const refusal = await refusalOf(line);
    expect([refusal.exit, refusal.code], line.join(' ')).to.deep.equal([2, 'invalid_request']);
    expect(refusal.message.startsWith(`${name} takes `), refusal.message).to.equal(true);
    expect(refusal.message).to.include(`but got "${WRONG}"`);
    for (const each of accepted) expect(refusal.message).to.include(each);
    expect(refusal.hint).to.include('service ');
  };

  for (const { id, flags, args } of commands) {
    const words = id.split(':');
    const needed = Object.values(args).flatMap(({ required, options }) => (required ? [options?.[0] ?? '1'] : []));
    const lists = Object.values(flags).filter(({ options, helpGroup }) => options && helpGroup !== 'GLOBAL');
    const listed = Object.values(args).filter(({ options }) => options);
    if (lists.length + listed.length === 0) continue;
    it(`is refused by ${words.join(' ')}`, async () => {
      for (const { name, options } of lists)
        await expectRefused([...words, ...needed, `--${name}`, WRONG], `--${name}`, options!);
      for (const { name, options } of listed) {
        const given = Object.values(args).map((each) => (each.name === name ? WRONG : (each.options?.[0] ?? '1')));
        await expectRefused([...words, ...given], name.toUpperCase(), options!);
      }
    });
  }

  it('is refused by every flag that takes a whole number', async () => {
    const numbers: [line: string[], flag: string, takes: string][] = [
      [['read', '--limit', 'x'], '--limit', 'a whole number, but got "x"'],
      [['read', '--limit', '201'], '--limit', 'a whole number of at most 200, but got "201"'],
      [['read', '--limit', '0'], '--limit', 'a whole number of at least 1, but got "0"'],
      [['board', 'thread', '1', '--wait', '86401'], '--wait', 'a whole number of at most 86400, but got "86401"'],
      [['read', '--after', '1.5'], '--after', 'a whole number, but got "1.5"'],
    ];
    for (const [line, flag, takes] of numbers) {
      const { exit, message } = await refusalOf(line);
      expect([exit, message], line.join(' ')).to.deep.equal([2, `${flag} takes ${takes}.`]);
    }
  });

  it('is refused with the accepted ones also where these are part of a value', async () => {
    for (const [line, accepted] of [
      [
        ['board', 'search', 'x', '--kind', 'message,nope'],
        ['message', 'task', 'file'],
      ],
      [
        ['board', 'policy', '--set', 'visibility=nope'],
        ['open', 'addressed'],
      ],
      [
        ['board', 'policy', '--set', 'nope=open'],
        ['visibility', 'broadcast', 'urgent', 'show_harness', 'nudges'],
      ],
      [['audit', 'log', '--type', 'message.posted,nope'], ['message.posted']],
      [['board', 'roles', '--set', 'member', '--can', 'post,nope'], permissions],
      [
        ['react', '3', 'nope'],
        ['thumbsup', 'check', 'eyes', 'heart', 'tada', 'question'],
      ],
      [
        ['init', '--harness', 'nope', '--yes'],
        ['claude-code', 'codex'],
      ],
    ] as const) {
      const { exit, message, hint } = await refusalOf([...line]);
      expect(exit, line.join(' ')).to.equal(2);
      for (const each of accepted) expect(`${message} ${hint}`).to.include(each);
    }
  });

  it('is refused where a flag takes none: it would be taken for a text, a board or a file', async () => {
    for (const [line, flag] of [
      [['say', '--urgent=false'], '--urgent'],
      [['say', 'fine', '--urgent=true'], '--urgent'],
      [['task', 'list', '--all=1'], '--all'],
      [['read', '--ndjson=seq'], '--ndjson'],
      [['init', '--no-claims=yes'], '--no-claims'],
    ] as const)
      expect(await refusalOf([...line]), line.join(' ')).to.include({
        exit: 2,
        code: 'invalid_request',
        message: `${flag} takes no value.`,
      });
    const said = await home().run(['say', '--json', '--', '--urgent=false']);
    expect(JSON.parse(said.stdout).message).to.include({ body: '--urgent=false', urgent: false });
  });

  it('is told from flags that do not go together, which are named without their values', async () => {
    for (const [line, said] of [
      [['read', '--after', '1', '--before', '9'], '--before does not go with --after.'],
      [['inbox', '--peek', '--follow'], '--peek does not go with --follow.'],
      [['search', 'x', '--all-boards', '--from', 'maya'], '--all-boards does not go with --from.'],
      [['ask', '@maya', 'Which?', '--at', '2h'], '--at needs --going-with.'],
      [['board', 'policy', '--set', 'nothing'], 'A policy has no setting "nothing".'],
    ] as const)
      expect(await refusalOf([...line]), line.join(' ')).to.include({ exit: 2, message: said });
  });

  it('points to the help of the command also where the server refused it', async () => {
    for (const line of [
      ['read', '--from', 'Bad_Name'],
      ['board', 'create', 'fine', '--title', 'x'.repeat(300)],
      ['profile', 'set', '--display-name', 'x'.repeat(90)],
    ]) {
      const { code, stdout } = await home().run([...line, '--json']);
      const { error } = JSON.parse(stdout);
      expect([code, error.code, error.hint.endsWith(' --help')], line.join(' ')).to.deep.equal([
        1,
        'invalid_request',
        true,
      ]);
    }
  });
});
