/** Help: one screen to begin with, everything else by topic, and no word cut, however wide the terminal is. */
import { expect } from 'chai';
import { readCatalog, topics, visibleCommands } from '../../src/cli/help/catalog.ts';
import { helpText } from '../../src/cli/help/help-text.ts';
import { finished, Home, root } from './support/home.ts';

const catalog = readCatalog(root);
const text = (width: number, ...words: string[]) => helpText(catalog, words, { bin: 'service', width });
const pages = [[], ...Object.keys(topics).map((topic) => [topic])].concat(
  visibleCommands(catalog).map(({ id }) => id.split(':')),
);

describe('help', () => {
  const home = new Home();
  after(() => home.discard());

  it('begins on one screen, with the eight commands of every day', () => {
    const lines = text(80).split('\n');
    expect(lines.length).to.be.at.most(39);
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
    const first = lines.slice(lines.indexOf('EVERY DAY') + 1, lines.indexOf('BOARDS') - 1);
    const words = first.map((line) => /^ {2}([a-z]+(?: create)?) /.exec(line)?.[1]);
    expect(words).to.deep.equal(['board create', 'say', 'read', 'watch', 'search', 'inbox', 'ask', 'status']);
  });

  it('keeps to one screen on a narrow terminal too, where topics are only named', () => {
    const [narrow, wide] = [text(60), text(80)];
    const lines = narrow.split('\n');
    expect(lines.length).to.be.at.most(39);
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(60);
    const named = [...wide.matchAll(/^ {2}(\S.*?) {2}/gm)].flatMap((row) => row[1]!.split(', '));
    for (const name of named) expect(narrow).to.match(new RegExp(`\\b${name}\\b`));
    expect(lines.slice(-3)).to.deep.equal([
      '',
      'More on each: service help TOPIC, service help COMMAND, or',
      '--help behind it.',
    ]);
  });

  it('says what exit codes, variables and files are for, as the man pages do', async () => {
    const codes = await home.run(['help', 'exit-codes']);
    expect([codes.code, codes.stdout.split('\n')[0]]).to.deep.equal([0, 'EXIT CODES']);
    expect(codes.stdout).to.match(/^ {2}6 +Not there$/m);
    const { stdout } = await home.run(['help', 'environment']);
    expect(stdout).to.match(/^ {2}SERVICE_BOARD +Board to work on; --board beats it$/m);
    expect(stdout).to.match(/^FILES$/m);
    expect(
      Math.max(
        ...text(60, 'exit-codes')
          .split('\n')
          .map((line) => line.length),
      ),
    ).to.be.at.most(60);
  });

  it('names on that screen where each command is found', () => {
    const shown = [...text(120).matchAll(/^ {2}(\S.*?) {2}/gm)].flatMap((row) => row[1]!.split(', '));
    const found = new Set(shown.map((word) => word.split(' ')[0]));
    const lost = visibleCommands(catalog).filter(({ id }) => !found.has(id.split(':')[0]!));
    expect(lost.map(({ id }) => id)).to.deep.equal([]);
  });

  it('lists what is below a command, and short names', () => {
    expect(text(80, 'inbox')).to.match(/COMMANDS\n {2}inbox ack .*\n {2}inbox notices .*\n {2}inbox wait /);
    for (const word of ['post, say', 'read, read', 'watch, watch', 'search, search'])
      expect(text(80, 'board')).to.include(`  board ${word} `);
  });

  it('shows arguments in the order in which they are typed', () => {
    expect(text(80, 'react')).to.include('$ service board react [BOARD] MESSAGE EMOJI [flags]');
    expect(text(80, 'servers', 'name')).to.include('$ service servers name URL NAME [flags]');
    expect(text(80, 'pairing', 'choose')).to.include('$ service pairing choose PAIRING AGENT [flags]');
  });

  it('keeps words whole, and to the width where they fit', () => {
    const words = (page: string) => page.split(/\s+/).filter((word) => word !== '\\');
    // The first page names fewer things on a narrow terminal.
    for (const page of pages)
      for (const width of page.length === 0 ? [80, 100] : [40, 60, 80, 100]) {
        const shown = text(width, ...page);
        expect(words(shown), page.join(' ')).to.deep.equal(words(text(1_000, ...page)));
        const broad = shown.split('\n').filter((line) => line.length > width && /\S {1,2}\S/.test(line.trim()));
        // A flag and its value, a quoted text and what stands as it was written are not taken apart.
        if (width >= 80) expect(broad, page.join(' ')).to.deep.equal([]);
      }
  });

  it('fits the terminal, and goes through the pager where that is too low', async () => {
    const at = async (script: string, env: Record<string, string>) =>
      (await finished(home.startShell(`script -qec '${script}' /dev/null </dev/null`, { env }))).stdout;
    const env = { PAGER: 'sed s/^/paged:/', TERM: 'xterm' };
    const low = await at('stty cols 60 rows 20; service help task', env);
    expect(low).to.match(/^paged:Tasks of a board/);
    expect(Math.max(...low.split('\r\n').map((line) => line.length))).to.be.at.most(60 + 'paged:'.length);
    const high = await at('stty cols 60 rows 60; service help task', env);
    expect(high).to.match(/^Tasks of a board/);
    for (const line of ['service help task --no-pager', 'service task new --help --no-pager'])
      expect(await at(`stty cols 60 rows 20; ${line}`, env), line).to.not.include('paged:');
    expect(await at('stty cols 60 rows 20; service help task', { ...env, PAGER: 'no-such-pager' })).to.include(
      'task drop',
    );
    expect((await home.run(['help', 'task'], { env })).stdout).to.not.include('paged:');
  });
});
