/** Hints that can be pasted: how a command that lacks something is typed, and how to go on at the same server and board. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('a command line that lacks something', () => {
  const home = new Home();
  after(() => home.discard());

  for (const [command, usage] of [
    ['ask', 'ask [@NAME] QUESTION [OPTION…] [flags]; such as: service ask @maya "Which region?" "eu-west" "us-east"'],
    ['say', 'board post [BODY] [flags]; such as: service board post "'],
    ['answer 6', 'answer '],
    ['task note', 'task note [TASK] TEXT [flags]; such as: service task note '],
    ['task done 17', 'task done [TASK] NOTE [flags]; such as: service task done '],
    ['task start', 'task start TASK [flags]; such as: service task start CHK-17'],
    ['board add', 'board add [BOARD] HANDLE [flags]; such as: service board add '],
    ['agent create', 'agent create NAME [flags]; such as: service agent create '],
    ['file put', 'file put PATH '],
    ['line paused review', 'line paused TEXT [flags]; such as: service line paused "'],
    ['storage copy', 'storage copy [flags]; such as: service storage copy --from '],
    ['react 6', 'board react [BOARD] MESSAGE EMOJI [flags]; such as: service '],
  ] as const)
    it(`is told how "service ${command}" is used`, async () => {
      const { code, stderr } = await home.run(command.split(' '));
      expect(code).to.equal(2);
      expect(stderr).to.match(/^Error \(invalid_request\): (Missing: |Give )/);
      expect(stderr.split('\n')[1]).to.include(`Hint: Usage: service ${usage}`);
    });
});

describe('a value that a server refuses', () => {
  const home = homeWithBoard('demo');

  for (const [command, message] of [
    ['code create --ttl 99d', '--ttl: must be at most 7d.'],
    ['code create --ttl 1s', '--ttl: must be at least 1m.'],
    ['invite create --handle Kim', '--handle: must be up to 40 small letters'],
    ['key create Ci', 'NAME: must be up to 40 small letters'],
    ['invite show kim', 'INVITE: must be an id that starts with inv_.'],
    ['task list --after here', '--after: was not given by a page of this list.'],
  ] as const)
    it(`is told of under the name that was typed: ${command}`, async () => {
      const { stderr } = await home().run(command.split(' '));
      expect(stderr).to.include(`Error (invalid_request): ${message}`);
    });
});

describe('a flag that every object would have', () => {
  const home = new Home();
  after(() => home.discard());

  it('is named once, however often it was given', async () => {
    const { stderr } = await home.run(['ask', 'x', '--__proto__', '1', '--__proto__', '2']);
    expect(stderr).to.include('Unknown flag: --__proto__\n');
  });

  for (const flag of ['--constructor', '--toString', '--__proto__', '--hasOwnProperty=3'])
    it(`is unknown as any other: ${flag}`, async () => {
      for (const words of [
        ['say', 'x', flag],
        ['say', flag, 'x'],
      ])
        expect(await home.run(words)).to.deep.equal({
          code: 2,
          stdout: '',
          stderr: `Error (invalid_request): Unknown flag: ${flag.split('=')[0]}\nHint: service board post --help\n`,
        });
    });
});

describe('a command that names its server, board or agent', () => {
  const home = homeWithBoard('demo');
  let ask: string;
  let person: string;
  before(async () => {
    await home().json(['board', 'create', 'other', '--no-link']);
    for (const name of ['codex', 'fixer']) await home().json(['agent', 'create', name, '--board', 'other']);
    await home().shell('printf one | service file put notes/a.md - --board other -q');
    await home().shell('echo one > brief.md && service brief put brief.md --board other -q');
    ask = String((await home().json(['ask', '@codex', 'Which?', 'This', '--board', 'other'])).message.seq);
    const { me } = await home().json(['whoami']);
    person = me.name;
    await home().json(['ask', `@${me.name}`, 'That?', '--as', 'codex']);
    await home().json(['task', 'new', 'Theirs', '--as', 'fixer']);
    await home().json(['task', 'new', 'Over', '--board', 'other']);
    await home().json(['task', 'done', '2', 'Done', '--board', 'other']);
    await home().json(['board', 'create', 'old', '--no-link']);
    await home().json(['board', 'archive', 'old', '--yes']);
  });

  for (const [command, said] of [
    ['file get notes/a.md', 'service file put a.md --server local --board other'],
    ['brief get got.md', 'service brief put got.md --server local --board other'],
    ['file edit notes/a.md', 'service file get notes/a.md --server local --board other'],
    ['answer ASK --option 4', 'service answer ASK "…" --server local --board other'],
    ['code create', ' --board other --server local'],
    ['key create spare', 'service key revoke spare --server local\n'],
    ['key revoke nope', 'service key list --server local shows'],
    ['file get none.md', 'service file list --server local --board other shows'],
    ['say hi --to @nobody', 'service board members --server local --board other shows'],
    ['board message 99', 'service board read --server local --board other shows'],
    ['agent show nobody', 'service board members --board other --server local shows'],
    ['board add nobody', 'service people list --server local shows'],
    ['inbox', ' --board other --server local'],
    ['task drop 1', 'Who has one: service task show OTH-1 --server local --board other.'],
    ['task drop 1 --member PERSON', 'Who has one: service task show OTH-1 --server local --board other.'],
    [
      'task start 1',
      '--take-over --server local --board other; or help with it: service task join OTH-1 --server local',
    ],
    ['task start 2', 'open a follow-up with service task new "…" --server local --board other.'],
    ['task done 1 ok --as nobody', 'service agent create nobody --board other --server local\n'],
    ['task note ok --as codex', 'service task list --server local --board other --as codex\n'],
    [
      'board leave --yes',
      ' --board other --server local. If nobody else is on it: service board archive other --server local\n',
    ],
    ['people role PERSON member', 'service people role HANDLE admin --server local\n'],
    ['board delete other --yes', 'service board archive other --server local\n'],
    ['board list', 'service board list --archived --server local'],
    ['board ack', 'service board ack --all --server local --board other\n'],
    ['inbox ack x --as codex', 'service inbox ack 12 --server local --board other --as codex\n'],
    ['inbox wait x --as codex', 'service inbox wait 600 --server local --board other --as codex\n'],
    ['agent remove PERSON', 'service board remove PERSON --board other --server local\n'],
    ['invite list', 'service invite create --server local'],
    ['approval list', 'service allowance show --server local'],
    ['board search nowhere', 'service search WORDS --all-boards --server local'],
    ['invite preview -', 'Pipe it in: service invite preview - < invite.txt'],
  ] as const)
    it(`says how to go on there: ${command}`, async () => {
      const line = `${command.replace('ASK', ask).replace('PERSON', person)} --server local --board other`;
      const { stdout, stderr } = await home().run(line.split(' '), { env: { EDITOR: 'false' } });
      expect(stdout + stderr).to.include(said.replace('ASK', ask).replace('PERSON', person));
    });

  it('says how to go on there: withdraw of what is no question', async () => {
    const { message } = await home().json(['say', 'hi', '--board', 'other']);
    const { stderr } = await home().run(['withdraw', String(message.seq), '--board', 'other']);
    expect(stderr).to.match(/--from-me --board other shows what you asked; then service withdraw N --board other\.$/m);
  });

  it('links the folder to a board of the server that was named', async () => {
    const { stderr } = await home().run(['board', 'show', '--server', 'local'], { cwd: home().dir });
    expect(stderr).to.match(/Hint: .*: service board link demo --server local$/m);
  });

  it('names an ask of another board as it was named', async () => {
    const { stderr } = await home().run(['answer', `other#${ask}`, '--option', '4']);
    expect(stderr).to.match(new RegExp(`service answer '?other#${ask}'? "…"$`, 'm'));
  });

  it('says how to go on there with what was edited', async () => {
    const editor = join(home().work, 'theirs.sh');
    const theirs = 'printf theirs | service file put notes/a.md - --board other --replace -q';
    writeFileSync(editor, `#!/bin/sh\n${theirs}\necho mine > "$1"\n`, { mode: 0o755 });
    const edit = ['file', 'edit', 'notes/a.md', '--board', 'other'];
    const { stderr } = await home().run(edit, { env: { EDITOR: editor } });
    expect(stderr).to.match(/Hint: service file put \S+ --merge --board other$/m);
    writeFileSync(editor, '#!/bin/sh\nservice board charter --set theirs --board other -q\necho mine > "$1"\n');
    const charter = ['board', 'charter', '--edit', '--board', 'other', '--server', 'local'];
    const refused = await home().run(charter, { env: { EDITOR: editor } });
    expect(refused.stderr).to.match(/service board charter --file \S+ --board other --server local$/m);
  });

  it('reminds the agent to act as itself', async () => {
    const post = ['say', 'I am waiting for an answer', '--no-task', '--as', 'codex'];
    const said: string[] = [];
    for (let n = 0; n < 3; n++) for (const { text } of (await home().json(post)).nudges ?? []) said.push(text);
    expect(said.join('\n')).to.include('service task list --as codex, then service task start REF --as codex');
  });
});
