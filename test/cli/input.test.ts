/** Standard input: whole, late, empty, broken, too long, and line by line. */
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { collect, finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('standard input', () => {
  const home = homeWithBoard();
  const messages = async () => (await home().json(['read', '--all'])).messages as { seq: number; body: string }[];

  it('posts nothing for an empty pipe', async () => {
    const before = (await messages()).length;
    const result = await home().shell('printf "" | service say --json');
    expect(JSON.parse(result.stdout).error.code).to.equal('body_empty');
    expect(result.code).to.equal(2);
    expect(await messages()).to.have.length(before);
  });

  it('changes and makes nothing from an empty pipe; a named file may be empty', async () => {
    await home().json(['board', 'charter', '--set', 'We fix pipes.']);
    writeFileSync(join(home().work, 'guide.md'), 'You guide.\n');
    writeFileSync(join(home().work, 'empty.md'), '');
    await home().json(['board', 'roles', '--set', 'guide', '--can', 'post', '--charter-file', 'guide.md']);
    const { task } = await home().json(['task', 'new', 'Valve', '--about', 'It drips.']);
    const lines = [
      'board charter --file -',
      'board roles --set guide --charter-file -',
      'board create other --charter-file -',
      `task update ${task.ref} --about -`,
      `task update ${task.ref} --stands -`,
      'task new Washer --about -',
    ];
    for (const line of lines) {
      const result = await home().shell(`printf "\\n" | service ${line} --json`);
      const { code, hint } = JSON.parse(result.stdout).error ?? {};
      expect([code, hint], line).to.deep.equal([
        'body_empty',
        'The file after < is empty, or the command before the pipe wrote nothing',
      ]);
      expect(result.code, line).to.equal(2);
    }
    expect((await home().json(['board', 'charter'])).charter).to.equal('We fix pipes.');
    expect((await home().json(['board', 'roles'])).roles.guide.charter).to.equal('You guide.');
    expect((await home().json(['task', 'show', task.ref])).task.about.text).to.equal('It drips.');
    expect((await home().json(['boards'])).boards).to.have.length(1);
    expect((await home().json(['task', 'list', '--state', 'all'])).tasks).to.have.length(1);
    await home().json(['board', 'roles', '--set', 'guide', '--charter-file', 'empty.md']);
    expect((await home().json(['board', 'roles'])).roles.guide).to.not.have.key('charter');
    await home().json(['board', 'roles', '--remove', 'guide']);
  });

  it('posts all of a pipe that delivers late', async () => {
    const result = await home().shell(
      '(sleep 0.5; printf "first\\n"; sleep 0.5; printf "second\\n") | service say --json',
    );
    expect(JSON.parse(result.stdout).message.body).to.equal('first\nsecond');
  });

  it('refuses bytes that are no text, with their place', async () => {
    const garbage = Buffer.alloc(200 * 1024, 'ok ');
    for (let i = 1000; i < garbage.length; i += 7) garbage[i] = 0x80 + (i % 64);
    writeFileSync(join(home().work, 'garbage'), garbage);
    const result = await home().shell('service say --json < garbage');
    const { error } = JSON.parse(result.stdout);
    expect(error.code).to.equal('invalid_utf8');
    expect(error.details.offset).to.equal(1000);
    expect(result.code).to.equal(1);
  });

  it('refuses a text over the limit before sending it, and keeps an end when asked to', async () => {
    const lines = Array.from({ length: 4000 }, (_, i) => `line ${i + 1} ééé`).join('\n');
    writeFileSync(join(home().work, 'long'), lines);
    const result = await home().shell('service say --verbose < long');
    expect(result.stderr).to.include('Error (message_too_large)').and.not.to.include('POST');
    expect(result.code).to.equal(1);
    const tail = await home().shell('service say --code --truncate tail --json < long');
    const { body } = JSON.parse(tail.stdout).message;
    expect([...body].length).to.be.at.most(32_768);
    expect(body)
      .to.match(/^```\n\[\d+ lines, \d+ characters left out\]\nline /)
      .and.to.match(/line 4000 ééé\n```$/);
  });

  it('is not read on once the limit is certainly exceeded, so a pipe without an end is refused', async () => {
    for (const args of ['', '--code', '--body-file /dev/zero']) {
      const result = await home().shell(`yes | service say ${args} --json`);
      const { error } = JSON.parse(result.stdout);
      expect(error.code, args).to.equal('message_too_large');
      expect(error.message, args).to.match(/^The text has more than \d+ characters; a message holds 32768\.$/);
      expect(result.code, args).to.equal(1);
    }
    const head = await home().shell('yes | service say --truncate head --json');
    expect(JSON.parse(head.stdout).message.body).to.match(
      /^y\n(y\n)+\[more than \d+ lines, \d+ characters left out\]$/,
    );
  });

  it('is kept only as far as its end is needed, and what is left out is counted', async () => {
    const result = await home().shell('seq 1 400000 | service say --truncate tail --json');
    const { body } = JSON.parse(result.stdout).message as { body: string };
    const [, lines, characters] = /^\[(\d+) lines, (\d+) characters left out\]\n/.exec(body) as RegExpExecArray;
    const kept = body.slice(body.indexOf('\n') + 1).split('\n');
    expect(kept.at(-1)).to.equal('400000');
    expect(Number(kept[0])).to.equal(Number(lines) + 1);
    const before = Array.from({ length: Number(lines) }, (_, i) => `${i + 1}`).join('\n');
    expect(Number(characters)).to.equal(before.length);
  });

  it('is not dropped where the word behind --code may be its language', async () => {
    for (const [flags, word] of [
      ['--code diff', 'diff'],
      ['--code JSON', 'JSON'],
      ['--code --to all diff', 'diff'],
    ] as const) {
      const refused = await home().shell(`printf "+ 1\n" | service say ${flags} --json`);
      const { error } = JSON.parse(refused.stdout);
      expect([refused.code, error?.message, error?.hint], flags).to.deep.equal([
        2,
        `Is "${word}" the language of what is piped in, or the text?`,
        `The language: --code=${word}; the text: service say ${word} --code`,
      ]);
    }
    const piped = await home().shell('printf "+ 1\n" | service say --code=diff --json');
    expect(JSON.parse(piped.stdout).message.body).to.equal('```diff\n+ 1\n```');
    const word = await home().shell('printf "+ 1\n" | service say diff --code --json');
    expect(JSON.parse(word.stdout).message.body).to.equal('```\ndiff\n```');
    expect((await home().json(['say', '--code', 'diff'])).message.body).to.equal('```\ndiff\n```');
  });

  it('of lines is strict text too, and a line without an end is refused', async () => {
    const garbage = await home().shell(`printf '{"body":"\\377"}\n' | service say --ndjson-in --json`);
    expect(JSON.parse(garbage.stdout).error.code).to.equal('invalid_utf8');
    const endless = await home().shell('cat /dev/zero | service say --ndjson-in');
    expect(endless.stderr).to.include('A line on standard input is longer');
    expect(endless.code).to.equal(2);
  });

  it('of lines may begin with the mark that PowerShell writes', async () => {
    const { stdout } = await home().shell(`printf '\\357\\273\\277{"body":"marked"}\\n' | service say --ndjson-in`);
    expect(JSON.parse(stdout).message?.body, stdout).to.equal('marked');
  });

  it('is read beside --option only for -, so that a loop keeps its list and a pipe without text keeps nobody', async () => {
    await home().json(['agent', 'create', 'asker']);
    const ask = async () => String((await home().json(['ask', 'Which?', 'This', 'That', '--as', 'asker'])).message.seq);
    const answerTo = async (seq: string) => (await home().json(['board', 'thread', seq])).replies.at(-1)?.body;
    const asks = [await ask(), await ask(), await ask()];
    await home().shell(`printf '%s\\n' ${asks.join(' ')} | while read -r n; do service answer "$n" --option 1; done`);
    for (const seq of asks) expect(await answerTo(seq), seq).to.equal('This');
    const [seq = ''] = asks;
    await home().shell('mkfifo silent');
    const silent = openSync(join(home().work, 'silent'), 'r+');
    try {
      for (const words of [`answer ${seq}`, `say --reply ${seq}`])
        for (const script of [`printf "" | service ${words} --option 2`, `service ${words} --option 2 < silent`]) {
          await home().json(['answer', seq, 'Neither']);
          const { code, stdout } = await home().shell(script);
          expect(code, stdout).to.equal(0);
          expect(await answerTo(seq), script).to.equal('That');
        }
    } finally {
      closeSync(silent);
    }
    for (const words of [`answer ${seq} -`, `say - --reply ${seq}`]) {
      await home().shell(`printf "Not before Monday" | service ${words} --option 2`);
      expect(await answerTo(seq), words).to.equal('Not before Monday');
    }
  });

  it('is not read into an argument', async () => {
    const result = await home().shell('printf "demo" | service board message --json');
    expect(JSON.parse(result.stdout).error.message).to.equal('Missing: MESSAGE');
    expect(result.code).to.equal(2);
  });

  it('posts lines of JSON in order, and each once when it is run again after a kill', async () => {
    const lines = Array.from({ length: 5 }, (_, i) => JSON.stringify({ body: `part ${i + 1}` }));
    const fifo = join(home().work, 'lines');
    await home().shell('mkfifo lines');
    const child = home().startShell('exec service say --ndjson-in --idempotency-key again-1 < lines');
    const printed = collect(child);
    // The pipe stays open after two lines, so that the first run is certainly not done when it is killed.
    const pipe = openSync(fifo, 'r+');
    writeSync(pipe, `${lines[0]}\n${lines[1]}\n`);
    await until('two lines are posted', () => printed().stdout.trim().split('\n').filter(Boolean).length === 2);
    child.kill('SIGKILL');
    await once(child, 'close');
    closeSync(pipe);
    const all = lines.map((line) => `'${line}'`).join(' ');
    const again = await home().shell(`printf '%s\\n' ${all} | service say --ndjson-in --idempotency-key again-1`);
    const answers = again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map((answer) => answer.line)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(answers.map((answer) => answer.replayed === true)).to.deep.equal([true, true, false, false, false]);
    const parts = (await messages()).map(({ body }) => body).filter((body) => body.startsWith('part '));
    expect(parts).to.deep.equal(['part 1', 'part 2', 'part 3', 'part 4', 'part 5']);
  });

  it('says how a line is posted that was refused under its key', async () => {
    const run = async (line: object) => {
      const script = `printf '%s\\n' '${JSON.stringify(line)}' | service say --ndjson-in --idempotency-key again-2`;
      return JSON.parse((await home().shell(script)).stdout);
    };
    const wrong = { body: 'corrected', to: ['@absent'] };
    const fresh = 'the line a "key" that was not used yet';
    expect((await run(wrong)).error).to.include({ code: 'unknown_recipient' });
    expect((await run(wrong)).error.hint).to.match(new RegExp(`to try anew, give ${fresh}$`));
    const { error } = await run({ body: 'corrected' });
    expect([error.code, error.hint]).to.deep.equal(['idempotency_conflict', `Give ${fresh}`]);
    expect((await run({ body: 'corrected', key: 'again-3' })).message.body).to.equal('corrected');
  });

  it('of lines is taken from a program, whose pipe may be a socket', async () => {
    const child = home().start(['say', '--ndjson-in'], { stdin: 'pipe' });
    child.stdin?.end('{"body":"by a program"}\n');
    const { code, stdout } = await finished(child);
    expect([code, JSON.parse(stdout).message?.body], stdout).to.deep.equal([0, 'by a program']);
  });

  it('says of every line that is wrong what to do', async () => {
    const lines = [
      'none',
      '7',
      '[]',
      '{"body":"x","nope":1}',
      '{}',
      '{"body":7}',
      '{"body":" "}',
      '{"body":"x","to":"codex"}',
    ];
    const more = [
      '{"body":"x","to":["BAD"]}',
      '{"body":"x","reply_to":"six"}',
      `{"body":"${'x'.repeat(32_769)}"}`,
      '{"body":"x","files":[{"name":"api.md"}]}',
      '{"body":"x","files":["fil_1"]}',
    ];
    writeFileSync(join(home().work, 'wrong'), [...lines, ...more].map((line) => `${line}\n`).join(''));
    const { stdout } = await home().shell('service say --ndjson-in --keep-going < wrong');
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ line }) => line)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    for (const { error, line } of answers) expect(error.hint, `line ${line}: ${error.message}`).to.not.equal('');
    expect(answers.slice(-2).map(({ error }) => error.message)).to.deep.equal([
      'The field "name" of files is not known.',
      'A file of the line is not an object.',
    ]);
    for (const { error } of answers.slice(-2))
      expect(error).to.include({
        code: 'invalid_request',
        hint: 'A file is {"file":"fil_…"}; it may also have version',
      });
  });

  it('of lines is posted as the lines say: what is said beside them about a message is refused', async () => {
    const posted = (await messages()).length;
    const beside = [
      ...['--to @dana', '--reply 1', '--reply 1 --option 1', '--reply 1 --comment', '--task DEM-1', '--no-task'],
      ...['--file a', '--attach a', '--urgent', '--expect-reply', '--wait-reply 1', '--body-file a', '--code'],
      ...['--truncate tail', 'text'],
    ];
    for (const words of beside) {
      const { code, stdout } = await home().shell(`echo '{"body":"x"}' | service say --ndjson-in ${words} --json`);
      expect([code, JSON.parse(stdout).error?.code], words).to.deep.equal([2, 'invalid_request']);
      expect(JSON.parse(stdout).error.message, words).to.include('--ndjson-in');
    }
    expect((await messages()).length).to.equal(posted);
  });

  it('stops at the first line that is wrong, or goes on when told to', async () => {
    const lines = `'{"body":"good"}' '{"body":"bad","nope":1}' '{"body":"after"}'`;
    const stopped = await home().shell(`printf '%s\\n' ${lines} | service say --ndjson-in`);
    expect(stopped.stdout.trim().split('\n')).to.have.length(2);
    expect(stopped.code).to.equal(2);
    const went = await home().shell(`printf '%s\\n' ${lines} | service say --ndjson-in --keep-going`);
    const answers = went.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map((answer) => 'error' in answer)).to.deep.equal([false, true, false]);
    expect(went.code).to.equal(2);
  });
});
