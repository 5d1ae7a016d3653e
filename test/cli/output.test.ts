/** What is printed: for a terminal, a pipe and a program, from one record; and nothing in it acts. */
import { expect } from 'chai';
import { finished } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const acting = '\u001b]52;c;aGk=\u0007\u202eright\u202c\rover\u001b[2J';

describe('output', () => {
  const home = homeWithBoard('demo', { bare: true, shared: true });

  it('shows control characters instead of obeying them, and keeps them in JSON', async () => {
    await home().json(['say', acting]);
    const text = await home().run(['read']);
    expect(text.stdout).to.include('\\x1b]52;c;aGk=\\x07\\u202eright\\u202c\\x0dover\\x1b[2J');
    expect(text.stdout).to.not.match(/[\u001b\u0007\r\u202e]/);
    const { messages } = await home().json(['read']);
    expect(messages[0].body).to.equal(acting);
  });

  it('has no colour in a pipe or with NO_COLOR, and the same words with colour', async () => {
    const piped = await home().run(['read', '--time', 'iso']);
    expect(piped.stdout).to.not.include('\u001b');
    const none = await home().run(['read', '--time', 'iso'], { env: { NO_COLOR: '1', FORCE_COLOR: '1' } });
    expect(none.stdout).to.equal(piped.stdout);
    const coloured = await home().run(['read', '--time', 'iso', '--color', 'always']);
    expect(coloured.stdout).to.include('\u001b[1m');
    expect(coloured.stdout.replace(/\u001b\[\d+m/g, '')).to.equal(piped.stdout);
    const json = await home().run(['read', '--json'], { env: { FORCE_COLOR: '1' } });
    expect(json.stdout).to.not.include('\u001b[');
  });

  it('marks in ASCII where the locale is not UTF-8, and leaves JSON alone', async () => {
    await home().json(['say', 'plain']);
    const locales: Record<string, string>[] = [{ LC_ALL: 'C' }, { LC_ALL: '', LC_CTYPE: '', LANG: 'de_DE.ISO-8859-1' }];
    for (const env of locales) {
      const text = await home().run(['read', '--limit', '1'], { env });
      expect(text.stdout).to.match(/^demo - 1 message\n#\d+ {2}@\S+ -> all/);
      expect(text.stdout).to.match(/^[\x00-\x7f]*$/);
      const help = await home().run(['say', '--help'], { env });
      expect(help.stdout).to.match(/^[\x00-\x7f]*$/);
      const refused = await home().run(['board', 'message', 'six'], { env });
      expect(refused.stderr).to.match(/^Error[\x00-\x7f]+$/);
    }
    expect((await home().run(['read', '--limit', '1'], { env: { LC_ALL: 'C.utf8' } })).stdout).to.include('demo · 1');
    await home().json(['say', 'a → b']);
    const { messages } = await home().json(['read', '--limit', '1'], { env: { LC_ALL: 'C' } });
    expect(messages[0].body).to.equal('a → b');
  });

  it('ends quietly when its reader has enough', async () => {
    for (let i = 0; i < 3; i++) await home().json(['say', 'x'.repeat(30_000)]);
    const result = await home().shell('{ service read --all; echo "exit $?" >&2; } | head -c 10 > /dev/null');
    expect(result.stderr).to.equal('exit 0\n');
  });

  it('tells the same in text, JSON and NDJSON', async () => {
    const text = await home().run(['read', '--limit', '3', '--time', 'iso']);
    const { messages } = await home().json(['read', '--limit', '3']);
    const lines = (await home().run(['read', '--limit', '3', '--ndjson'])).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal(messages);
    for (const { seq, at } of messages) expect(text.stdout).to.match(new RegExp(`^#${seq}  .*${at}$`, 'm'));
  });

  it('is the same with --yes where nothing is asked', async () => {
    for (const args of [['boards'], ['whoami'], ['version']])
      expect(await home().run([...args, '--yes'])).to.deep.equal(await home().run(args));
    expect((await home().run(['whoami', '--help'])).stdout).not.to.include('--yes');
  });

  it('is nothing with --quiet, except for errors', async () => {
    expect(await home().run(['say', '--quiet', 'hush'])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect((await home().run(['read', '--quiet', '--board', 'nowhere'])).stderr).to.include('Error (board_not_found)');
    // A file that is sent to standard output is no word about it.
    await home().shell('printf bytes | service file put kept.txt - -q');
    const { stdout } = await home().shell('service file get kept.txt - -q');
    expect(stdout).to.equal('bytes');
  });

  it('tells of requests with --verbose, and of no secret', async () => {
    const { stderr } = await home().run(['say', '--verbose', 'seen']);
    expect(stderr).to.match(/^POST \/v1\/boards\/demo\/messages 201 \d+ms #1 req_\w+\n$/);
    const debug = await home().run(['agent', 'create', 'quiet-one'], { env: { SERVICE_DEBUG: '1' } });
    expect(debug.stdout + debug.stderr).to.not.match(/ab[ah]_/);
  });

  it('shows help on every way to ask for it', async () => {
    const flag = await home().run(['board', 'post', '--help']);
    expect(flag.code).to.equal(0);
    expect((await home().run(['help', 'board', 'post'])).stdout).to.equal(flag.stdout);
    expect((await home().run(['say', '-h'])).stdout).to.equal(flag.stdout);
    expect((await home().run([])).stdout).to.include('EVERY DAY');
    expect((await home().run(['audit'])).stdout).to.include('audit verify');
    expect((await home().run(['board', '--json'])).stdout).to.include('"boards":');
  });

  it('stops with 130 when it is interrupted', async () => {
    const child = home().start(['board', 'thread', '3', '--wait', '60', '--verbose']);
    const ended = finished(child);
    // The first request line says that the command is at work.
    child.stderr?.once('data', () => child.kill('SIGINT'));
    expect((await ended).code).to.equal(130);
  });
});
