/** What is printed of a command's JSON: the fields that are named, and what a jq expression makes of it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { collect, finished, root, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';
import { typedRaw } from './support/terminal.ts';

describe('the fields of --json', () => {
  const home = homeWithBoard();
  const printed = async (...args: string[]) => {
    const { code, stdout, stderr } = await home().run(args);
    expect(code, stdout + stderr).to.equal(0);
    return JSON.parse(stdout);
  };
  const refused = async (...args: string[]) => {
    const { code, stdout } = await home().run(args);
    expect(code).to.equal(2);
    return JSON.parse(stdout).error;
  };
  let seq: number;
  before(async () => {
    await home().json(['board', 'create', 'other', '--no-link']);
    await home().json(['task', 'new', 'Cap the backoff', '-b', 'demo']);
    ({ seq } = (await home().json(['say', 'hello'])).message);
  });

  it('are those of each item of a list', async () => {
    const names = [
      { name: 'demo', visibility: 'open' },
      { name: 'other', visibility: 'open' },
    ];
    expect(await printed('board', 'list', '--json=name,visibility')).to.deep.equal(names);
    expect(await printed('boards', '--json=name,visibility', '--all')).to.deep.equal(names);
    expect(await printed('task', 'list', '--json=title, state')).to.deep.equal([
      { title: 'Cap the backoff', state: 'open' },
    ]);
  });

  it('are those of the record, and those beside it', async () => {
    expect(await printed('task', 'show', '1', '--json=title')).to.deep.equal({ title: 'Cap the backoff' });
    const shown = await printed('board', 'react', `${seq}`, 'eyes', '--json=seq,reaction,server');
    expect(shown).to.deep.include({ seq, reaction: 'eyes' });
    expect(shown.server.name).to.equal('local');
    expect(await printed('version', '--json=node')).to.deep.equal({ node: process.version });
  });

  it('may be the next word where it can be no other argument', async () => {
    const typed = async (line: string) => JSON.parse((await home().shell(line)).stdout);
    expect(await typed('service board list --json name')).to.have.length(2);
    expect(await typed('service task show 1 --json title,ref')).to.have.keys('title', 'ref');
    expect(await typed('service task list --json title,ref --limit 1')).to.have.length(1);
    // A text and a board are words of their own.
    expect((await printed('say', '--json', 'id,title')).message.body).to.equal('id,title');
    expect((await printed('read', '--json', 'other')).board).to.equal('other');
  });

  it('are in every line of a stream', async () => {
    const stream = home().start(['read', '--follow', '--json=body']);
    const told = collect(stream);
    await until('the messages come', () => told().stdout.includes('hello'));
    stream.kill('SIGINT');
    await finished(stream);
    const lines = told().stdout.trim().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).to.deep.equal(lines.map(() => ['body']));
  });

  it('are named where one is not known, and nothing is done', async () => {
    const { messages: before } = await printed('read', '--json');
    const error = await refused('say', 'never', '--json=seq,sec');
    expect(error).to.include({ code: 'invalid_request', message: '--json knows no field "sec" here.' });
    expect(error.hint).to.match(/^The fields are id, .*\bseq\b.*\brecipients\b/);
    expect((await refused('board', 'list', '--json', 'nam')).hint).to.include(' name, ');
    expect((await refused('openapi', '--json=paths')).message).to.equal('--json takes no fields here.');
    expect((await printed('read', '--json')).messages).to.have.length(before.length);
  });

  it('change nothing where none are named', async () => {
    const whole = await printed('board', 'list', '--json');
    expect(whole).to.include.keys('server', 'actor', 'boards', 'hidden_boards', 'archived_count');
    expect(await printed('board', 'list', '--json', '--json')).to.deep.equal(whole);
    expect((await refused('board', 'list', '--json=')).message).to.equal('--json knows no field "" here.');
    // It is never the value of another flag.
    for (const json of ['--json', '--json=seq'])
      expect((await refused('say', 'never', '--to', json)).message).to.include('expects a value');
  });
});

describe('--jq', () => {
  const home = homeWithBoard();
  const run = (...args: string[]) => home().run(args);

  it('prints each value on a line, texts as they are', async () => {
    await home().json(['say', 'one\ntwo']);
    const of = async (expression: string) => (await run('read', '--limit', '1', '--jq', expression)).stdout;
    expect(await of('.messages[0].body')).to.equal('one\ntwo\n');
    expect(await of('.messages[0] | .seq, .urgent, .reply_to, {body}')).to.match(
      /^\d+\nfalse\nnull\n\{"body":"one\\ntwo"\}\n$/,
    );
    expect(await of('empty')).to.equal('');
    expect(await of('"", "a"')).to.equal('\na\n');
    expect(await of('-1')).to.equal('-1\n');
    expect((await run('read', '--jq=.board')).stdout).to.equal('demo\n');
  });

  it('filters the fields that are named, and each line of a list', async () => {
    expect((await run('board', 'list', '--json=name', '--jq', '.[] | keys[]')).stdout).to.equal('name\n');
    const { stdout } = await run('read', '--ndjson', '--jq', '.seq');
    expect(stdout).to.match(/^(\d+\n)+$/);
  });

  it('refuses an expression before anything is done, in jq’s words', async () => {
    const count = async () => (await home().json(['board', 'show'])).board_record.message_count;
    const before = await count();
    const { code, stdout, stderr } = await run('say', 'never', '--jq', '.message[');
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.include('Error (invalid_request): --jq: syntax error, unexpected end of file');
    expect(await count()).to.equal(before);
  });

  it('says what stands where a change was made and its answer cannot be filtered', async () => {
    const { code, stdout, stderr } = await run('say', 'posted', '--jq', '.message.body.x');
    expect([code, stdout]).to.deep.equal([9, '']);
    expect(stderr).to.include(
      'Error (output_lost): --jq: Cannot index string with string ("x")\nWhat the command did stands.\n',
    );
    expect((await home().json(['read', '--limit', '1'])).messages[0].body).to.equal('posted');
  });

  it('leaves standard output to the values: a failure is told on standard error', async () => {
    const { code, stdout, stderr } = await run('read', '-b', 'nowhere', '--jq', '.messages');
    expect([code, stdout]).to.deep.equal([6, '']);
    expect(stderr).to.include('Error (board_not_found)');
  });

  it('gives nothing that a terminal acts on', async () => {
    const bad = String.raw`error("\u001b[2Jx")`;
    const { stderr } = await run('version', '--jq', bad);
    expect(stderr).to.include('--jq: \\x1b[2Jx');
    writeFileSync(join(home().work, 'expression'), String.raw`"a\u001b[2Jb", {a: 1}`);
    const at = await typedRaw(home(), 'service version --jq "$(cat expression)"', []);
    expect(at)
      .to.include('a\\x1b[2Jb')
      .and.match(/\{\r?\n {2}"a": 1\r?\n\}/);
    expect((await run('version', '--jq', String.raw`"a\u001b[2Jb"`)).stdout).to.equal('a\x1b[2Jb\n');
  });

  it('sees nothing of the environment', async () => {
    const { stdout } = await home().run(['version', '--jq', 'env, $ENV'], { env: { SECRET_OF_MINE: 'hunter22' } });
    expect(stdout).to.include('web_user').and.not.include('hunter22');
  });

  it('can be interrupted when it never ends', async () => {
    const child = home().start(['version', '--jq', 'last(repeat(1))']);
    const read = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ');
    if (process.platform === 'linux') await until('it computes', () => Number(read()[13]) > 30);
    child.kill('SIGINT');
    await finished(child);
    expect(child.signalCode ?? child.exitCode).to.be.oneOf(['SIGINT', 130]);
  });

  it('is read only where it is used, and its licenses come along', async () => {
    expect(readFileSync(join(root, 'dist', 'cli.cjs'), 'utf8')).to.match(
      /(?:require|import)\(['"]\.\/jq-wasm\.cjs['"]\)/,
    );
    expect(readFileSync(join(root, 'dist', 'licenses.txt'), 'utf8'))
      .to.include('jq is copyright (C) 2012 Stephen Dolan')
      .and.include('K.Kosako');
  });
});
