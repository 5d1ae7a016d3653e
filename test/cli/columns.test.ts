/** Lists at a terminal: heads above columns, which give way before a word is broken, whatever script it is written in. */
import { expect } from 'chai';
import stringWidth from 'string-width';
import { fields } from '../../src/cli/terminal/fields.ts';
import { Home } from './support/home.ts';

const titles = {
  sink: 'Kitchen sink and everything around it, also the tap and the valve',
  daidokoro: '台所の流しとその周りのすべて、蛇口も含む。修理の相談はこちらへどうぞ',
  party: 'Party 🎉 with 👩‍🍳 and 🧑🏽‍🔧 at the 🏡, bring 🥕🥕🥕 and 🍰 for everybody 🎈',
  hangul: '부엌 싱크대와 그 주변의 모든 것 그리고 수도꼭지와 밸브 수리',
};

describe('columns', () => {
  let home: Home;
  const widths = [80, 60];
  /** Each list where there is room for all of it, and in each width, at the same time: lists say how long ago things were. */
  const shown: { command: string; wide: string[]; narrows: string[][] }[] = [];
  before(async () => {
    home = new Home();
    await home.serve();
    for (const [name, title] of Object.entries(titles))
      await home.json(['board', 'create', name, '--title', title, '--no-link']);
    await home.json(['agent', 'create', 'a-helper-with-a-long-name', '--board', 'sink']);
    await home.json(['line', 'working', titles.sink, '--as', 'a-helper-with-a-long-name']);
    for (const title of Object.values(titles)) await home.json(['task', 'new', title, '--board', 'sink']);
    await home.shell('echo a >a; service file put a --name notes/how-we-do-it.md --board sink -q');
    await home.json(['code', 'create', '--board', 'sink']);
    for (const title of Object.values(titles)) await home.json(['say', title, '--board', 'sink']);
    const asked = ['ask', '@a-helper-with-a-long-name', titles.party, titles.sink, 'no', '--board', 'sink'];
    await home.json(asked);
    const { name } = (await home.json(['whoami'])).actor;
    await home.json(['ask', `@${name}`, titles.daidokoro, titles.party, 'no', '--as', 'a-helper-with-a-long-name']);
    for (const command of lists) {
      const [wide = [], ...narrows] = await Promise.all([400, ...widths].map((width) => at(width, command)));
      shown.push({ command, wide, narrows });
    }
  });
  after(() => home.close());

  const lists = [
    'board list',
    'read sink',
    'search around --board sink',
    'inbox',
    'members sink',
    'task list sink',
    'key list',
    'file list sink',
    'file show notes/how-we-do-it.md --board sink',
    'board roles sink',
    'agent show a-helper-with-a-long-name --board sink',
    'board show sink',
    'code list sink',
    'audit log sink',
  ];
  const at = async (width: number, command: string): Promise<string[]> => {
    const { stdout } = await home.shell(
      `script -qec 'stty cols ${width} rows 60; service ${command} --no-color' /dev/null </dev/null`,
    );
    return stdout.replaceAll('\r', '').trimEnd().split('\n');
  };
  /** Without the spaces, which are where lines may end. */
  const parts = (lines: string[]) => lines.join('').replaceAll(' ', '');

  for (const [n, width] of widths.entries()) {
    it(`fit into ${width} columns with their words whole`, () => {
      for (const { command, wide, narrows } of shown) {
        const words = new Set(wide.join(' ').split(/ +/));
        const narrow = narrows[n] ?? [];
        for (const line of narrow) {
          expect(stringWidth(line), `${command}: ${line}`).to.be.at.most(width);
          // What is written without spaces may go on in the next line after any of its characters.
          const latin = line.split(/ +/).filter((word) => /^[\x21-\x7e]+$/.test(word));
          for (const word of latin) expect(words.has(word), `${command}: ${word}`).to.equal(true);
        }
        const sorted = (text: string) => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment).sort();
        expect(sorted(parts(narrow)), command).to.deep.equal(sorted(parts(wide)));
      }
    });
  }

  it('have heads, also in a pipe, and none where nothing stands', async () => {
    const [, heads] = (await home.run(['board', 'list'])).stdout.split('\n');
    expect(heads).to.match(/^NAME +TITLE +ACCESS +PEOPLE +AGENTS +UNREAD +NEEDS YOU$/);
    const roles = (await home.run(['board', 'roles', 'sink'])).stdout.split('\n');
    expect(roles[0]).to.match(/^ROLE +MAY$/);
    const file = (await home.run(['file', 'show', 'notes/how-we-do-it.md', '--board', 'sink'])).stdout.split('\n');
    expect(file[file.indexOf('Versions:') + 1]).to.match(/^ {2}VERSION +BY +CHANGED +SIZE +TYPE$/);
    const wide = await at(400, 'board list');
    expect(wide.join('\n')).to.equal((await home.run(['board', 'list'])).stdout.trimEnd());
  });

  it('are those that messages are fitted into at a terminal, but for code, and never in a pipe', async () => {
    await home.json(['board', 'create', 'words', '--no-link']);
    const [text, code] = ['word '.repeat(30).trim(), 'service say '.repeat(10).trim()];
    await home.json(['say', `${text}\n\`\`\`\n${code}\n\`\`\``, '--board', 'words']);
    const charter = `${text}\n\`\`\`\n${code}\n\`\`\``;
    await home.json(['board', 'charter', '--set', charter, '--board', 'words']);
    for (const command of ['read words', 'board show words'])
      expect((await at(60, command)).slice(-6), command).to.deep.equal([
        ...Array.from({ length: 2 }, () => `    ${'word '.repeat(11).trim()}`),
        `    ${'word '.repeat(8).trim()}`,
        '    ```',
        `    ${code}`,
        '    ```',
      ]);
    expect((await home.run(['read', 'words'])).stdout).to.include(`\n    ${text}\n`);
  });

  it('have colours that take no room, and none in a pipe', async () => {
    const plain = (await home.run(['members', 'sink'])).stdout;
    expect(plain).to.not.include('\u001b');
    const coloured = (await home.run(['members', 'sink', '--color', 'always'])).stdout;
    expect(coloured).to.include('\u001b[36ma-helper-with-a-long-name\u001b[39m');
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).to.equal(plain);
    const tasks = (await home.run(['task', 'list', 'sink', '--color', 'always'])).stdout;
    expect(tasks).to.include('\u001b[33mSIN-1\u001b[39m');
  });

  it('of a record keep a text of several lines in its row', () => {
    const harness = 'x\nowner   maya\nstatus  removed';
    expect(
      fields([
        ['harness', harness],
        ['status', 'active'],
      ]),
    ).to.deep.equal(['harness  x', '         owner   maya', '         status  removed', 'status   active']);
  });

  it('of lists without rows say what to do instead', async () => {
    await home.json(['board', 'create', 'empty', '--no-link']);
    const ask = ['ask', '@a-helper-with-a-long-name', 'Which?', '--going-with', 'this', '--board', 'sink'];
    expect((await home.run(ask)).stdout).to.match(
      /\nGoing with "this" now, unless @a-helper-with-a-long-name objects\.\n$/,
    );
    const { asks } = await home.json(['asks', '--board', 'sink']);
    for (const { id } of asks) await home.run(['answer', id, 'yes', '--board', 'sink']);
    await home.run(['read', '--all', '--mark-read', '--board', 'sink']);
    for (const [command, hint] of [
      ['read', 'Post the first one: service say --board empty "Hello"'],
      ['read --unread', 'None fits. All: service read --board empty'],
      ['task list', 'Open one: service task new "TITLE" --board empty'],
      ['task list --done', 'None fits. All: service task list --state all --board empty'],
      ['audit log --actor nobody', 'None fits. All: service audit log --board empty'],
      ['file list --mine', 'None fits. All: service file list --board empty'],
      ['file list', 'Put one there: service file put PATH --board empty'],
      ['asks', 'Ask somebody: service ask @NAME "QUESTION" --board empty'],
      ['code list', 'Make one: service code create --board empty'],
      ['board agents', 'Make a seat: service agent create NAME --board empty'],
      ['board threads', 'A reply begins one: service say --reply NUMBER "TEXT" --board empty'],
      ['search nothing', 'Fewer words find more; on all your boards: service search WORDS --all-boards'],
      ['invite list', 'Invite somebody: service invite create'],
      ['approval list', 'Your agents ask for nothing. What they may do without asking: service allowance show'],
      ['pairing list', 'Propose work: service pairing request HANDLE "WORK" --board BOARD'],
      ['board list --archived', 'None is archived. All: service board list --all'],
      ['key sessions', 'Sign a browser in: service open'],
      ['allowance history', 'Let agents do something without asking: service allowance set add-people on'],
      ['inbox', 'Nothing is waiting for you. Your boards: service board list'],
    ] as const) {
      const { stdout } = await home.run([...command.split(' '), '--board', 'empty']);
      expect(stdout.trimEnd().split('\n').at(-1), command).to.equal(hint);
    }
    await home.json(['task', 'new', 'Fix it', '--board', 'empty']);
    const history = (await home.run(['task', 'history', '1', '--board', 'empty'])).stdout.trimEnd().split('\n');
    expect(history.at(-1)).to.equal('Write the first one: service task note EMP-1 "TEXT" --board empty');
    // An agent is told what it may do itself.
    await home.json(['agent', 'create', 'codex', '--board', 'empty']);
    for (const [command, hint] of [
      ['search nothing', 'Fewer words find more, and "begin*" finds words that begin so: service search --help'],
      ['approval list', 'You asked for nothing that needs an approval.'],
      ['file list', 'Put one there: service file put PATH --as codex'],
      ['line show', 'Say what you are on: service line working "TEXT" --as codex'],
    ] as const) {
      const { stdout } = await home.run([...command.split(' '), '--as', 'codex']);
      expect(stdout.trimEnd().split('\n').at(-1), `${command} of an agent`).to.equal(hint);
    }
  });
});
