/** Messages as they are posted, over a restart of the server too. */
import { expect } from 'chai';
import { Output } from '../../src/cli/output.ts';
import { Client } from '../../src/client/client.ts';
import { sleep } from '../../src/client/time.ts';
import { follow } from '../../src/commands/board/lib/read/follow.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { collect, finished, until } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { homeWithBoard } from './support/shared.ts';

describe('following a board', () => {
  const home = homeWithBoard('demo', { apart: true });
  const bodies = (text: string) =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map((record) => (record.message ?? record).body as string);

  it('shows each message once and in order, also those posted while the server was away', async () => {
    await home().json(['say', 'before']);
    const child = home().start(['read', '-Af', '--json']);
    const printed = collect(child);
    await until('what was there is shown', () => printed().stdout.includes('before'));
    await home().json(['say', 'live']);
    await until('a new message is shown', () => printed().stdout.includes('live'));
    await home().run(['server', 'restart']);
    for (const body of ['missed 1', 'missed 2', 'missed 3']) await home().json(['say', body]);
    await until('the missed ones are shown', () => printed().stdout.includes('missed 3'), 40_000);
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    expect(bodies(printed().stdout)).to.deep.equal(['before', 'live', 'missed 1', 'missed 2', 'missed 3']);
  });

  it('shows the time of day, which stays true on the screen', async () => {
    await home().json(['say', 'on the clock']);
    for (const [args, time] of [
      [['watch', '--limit', '1'], String.raw`\d\d:\d\d`],
      [['watch', '--limit', '1', '--time', 'iso'], String.raw`\S+Z`],
      [['read', '--limit', '1', '--follow'], String.raw`\d\d:\d\d`],
    ] as const) {
      const child = home().start([...args]);
      const printed = collect(child);
      await until('it is shown', () => printed().stdout.includes('on the clock'));
      child.kill('SIGINT');
      await finished(child);
      expect(printed().stdout).to.match(
        new RegExp(`^(?:demo · 1 message\\n)?#\\d+  @\\S+ → all {8}${time}\\n    on the clock\\n$`),
      );
    }
  });

  it('works for an agent, and for only one sender', async () => {
    await home().json(['agent', 'create', 'codex']);
    const child = home().start(['watch', '--as', 'codex', '--from', 'codex', '--limit', '0', '--json', '--verbose']);
    const printed = collect(child);
    await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
    await home().json(['say', 'of the person']);
    await home().json(['say', '--as', 'codex', '--no-notes', 'of the agent']);
    await until('it is shown', () => printed().stdout.includes('of the agent'));
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    expect(bodies(printed().stdout)).to.deep.equal(['of the agent']);
  });

  it('reads no message for each that was posted before and is left out', async () => {
    await home().json(['agent', 'create', 'quiet']);
    await home().json(['say', '--as', 'quiet', '--no-notes', 'once']);
    for (const body of ['left out 1', 'left out 2', 'left out 3']) await home().json(['say', body]);
    for (const [n, command] of ['watch --json', 'watch --since 1 --json', 'read --follow --json'].entries()) {
      const child = home().start([...command.split(' '), '--from', 'quiet', '--verbose']);
      const printed = collect(child);
      await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
      await home().json(['say', '--as', 'quiet', '--no-notes', `again ${n}`]);
      await until('it is shown', () => printed().stdout.includes(`again ${n}`));
      child.kill('SIGINT');
      await finished(child);
      expect(printed().stderr.match(/^GET \S+\/messages /gm), command).to.have.lengthOf(3);
    }
  });

  it('begins after a number with all that follows it, how few so ever are to begin with', async () => {
    const { message } = await home().json(['say', 'the first of three']);
    for (const body of ['the second', 'the third']) await home().json(['say', body]);
    for (const limit of ['0', '1']) {
      const child = home().start(['watch', '--since', String(message.seq - 1), '--limit', limit, '--json']);
      const printed = collect(child);
      await home().json(['say', `live ${limit}`]);
      await until('the new one is shown', () => printed().stdout.includes(`live ${limit}`));
      child.kill('SIGINT');
      await finished(child);
      expect(bodies(printed().stdout).slice(0, 3)).to.deep.equal(['the first of three', 'the second', 'the third']);
    }
  });

  it('waits for a reply', async () => {
    const child = home().start(['say', 'a question', '--wait-reply', '30', '--json', '--verbose']);
    const printed = collect(child);
    await until('the question is posted', () => printed().stderr.includes('POST'));
    const { messages } = await home().json(['read', '--limit', '1']);
    await home().json(['say', '--as', 'codex', '--no-notes', '--reply', String(messages[0].seq), 'an answer']);
    const { stdout, code } = await finished(child).then(({ code }) => ({ code, ...printed() }));
    const record = JSON.parse(stdout);
    expect(code).to.equal(0);
    expect(record.outcome).to.equal('reply');
    expect(record.reply.body).to.equal('an answer');
    const late = await home().json(['say', 'nobody answers', '--wait-reply', '1']);
    expect(late).to.include({ outcome: 'timeout', timed_out: true });
  });
});

describe('following every board', () => {
  const home = homeWithBoard('kitchen', { apart: true });
  const shownOn = (text: string) =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map(({ board, message }) => `${board}: ${message.body}`);

  it('shows the newest of all in order, then each once, over a restart and on boards that came later', async () => {
    await home().json(['board', 'create', 'garden', '--no-link']);
    await home().json(['board', 'create', 'quiet', '--no-link']);
    for (const [board, body] of [
      ['kitchen', 'too old'],
      ['kitchen', 'old'],
      ['garden', 'older than new'],
      ['kitchen', 'new'],
    ] as const)
      await home().json(['say', '-b', board, body]);
    const child = home().start(['watch', '--all-boards', '--limit', '3', '--json', '--verbose']);
    const printed = collect(child);
    await until('what was there is shown', () => printed().stdout.includes('"new"'));
    await home().json(['say', '-b', 'garden', 'live']);
    await until('a new message is shown', () => printed().stdout.includes('live'));
    await home().run(['server', 'restart']);
    await home().json(['board', 'create', 'attic', '--no-link']);
    for (const [board, body] of [
      ['kitchen', 'missed 1'],
      ['garden', 'missed 2'],
      ['attic', 'missed 3'],
    ] as const)
      await home().json(['say', '-b', board, body]);
    await until(
      'the missed ones are shown',
      () => ['missed 1', 'missed 2'].every((body) => printed().stdout.includes(body)),
      40_000,
    );
    await until('the new board is shown', () => printed().stdout.includes('missed 3'), 40_000);
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    const lines = shownOn(printed().stdout);
    expect(lines.slice(0, 4)).to.deep.equal(['kitchen: old', 'garden: older than new', 'kitchen: new', 'garden: live']);
    expect(lines.slice(4).sort()).to.deep.equal(['attic: missed 3', 'garden: missed 2', 'kitchen: missed 1']);
  });

  it('names the boards in text, and shows one sender wherever that one is', async () => {
    await home().json(['agent', 'create', 'digger', '--board', 'garden']);
    const child = home().start(['watch', '--all-boards', '--from', 'digger', '--verbose']);
    const printed = collect(child);
    await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
    await home().json(['say', '-b', 'kitchen', 'not of the agent']);
    await home().json(['say', '--as', 'digger', '--no-notes', 'first']);
    await until('it is shown', () => printed().stdout.includes('first'));
    await home().json(['board', 'archive', 'quiet', '--yes']);
    await home().json(['board', 'delete', 'quiet', '--yes']);
    await home().json(['say', '--as', 'digger', '--no-notes', 'second']);
    await until('it goes on after a board is gone', () => printed().stdout.includes('second'));
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    const { stdout } = printed();
    expect(stdout).to.match(/^garden\n#\d+ {2}@digger → all /);
    expect(stdout.match(/^garden$/gm), 'the board is named when it changes').to.have.length(1);
    expect(stdout).to.not.include('not of the agent');
  });

  it('shows nothing again once an agent of the person is removed', async () => {
    await home().json(['agent', 'create', 'leaver', '--board', 'garden']);
    const child = home().start(['watch', '--all-boards', '--limit', '0', '--json', '--verbose']);
    const printed = collect(child);
    await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
    await home().json(['say', '--as', 'digger', '--no-notes', 'third']);
    await until('it is shown', () => printed().stdout.includes('third'));
    await home().json(['agent', 'remove', 'leaver', '--board', 'garden', '--yes']);
    await home().json(['say', '--as', 'digger', '--no-notes', 'fourth']);
    await until('it goes on', () => printed().stdout.includes('fourth'));
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    expect(shownOn(printed().stdout)).to.deep.equal(['garden: third', 'garden: fourth']);
  });

  it('is for a person, without a number to begin after and without one board', async () => {
    for (const [args, code, error] of [
      [['--as', 'digger'], 5, 'human_command_in_session'],
      [['--since', '3'], 2, 'invalid_request'],
      [['--board', 'garden'], 2, 'invalid_request'],
    ] as const) {
      const { code: exit, stdout } = await home().run(['watch', '--all-boards', '--json', ...args]);
      expect([exit, JSON.parse(stdout).error.code], args.join(' ')).to.deep.equal([code, error]);
    }
  });
});

describe('following a board of a server without streams of one board', () => {
  let here: Hosted;
  before(async () => {
    here = await hosted();
  });
  after(() => here.close());

  /** The server, as if it were an older one. */
  const asOlder: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(input).endsWith('/v1/info')) return answer;
    const info = (await answer.json()) as { features: string[] };
    return Response.json({ ...info, features: info.features.filter((name) => name !== 'board_stream') });
  };
  const older = (token: string) => new Client({ origin: here.url, token, fetch: asOlder });

  it('goes by hints for a person, until the board is gone', async () => {
    const { dana } = here.server;
    const { name } = await newBoard(dana);
    const before = await post(dana, name, 'before');
    const seen: string[] = [];
    const following = follow({
      client: older(dana.token!),
      board: name,
      agent: false,
      after: before.seq - 1,
      filters: {},
      out: new Output('text', true),
      show: ({ body }) => void seen.push(body),
    }).catch((error: { code: string }) => error.code);
    await until('what was there is shown', () => seen.length === 1);
    await post(dana, name, 'live');
    await until('a new one is shown', () => seen.length === 2);
    await dana.ok('archiveBoard', { params: { board: name } });
    await dana.ok('deleteBoard', { params: { board: name } });
    expect(await following).to.equal('board_not_found');
    expect(seen).to.deep.equal(['before', 'live']);
  });

  const busy = () => {
    const body = { error: { code: 'busy', message: 'Later.' } };
    return Promise.resolve(Response.json(body, { status: 503, headers: { 'Retry-After': '0' } }));
  };
  const offline = () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) }));

  for (const streams of [true, false])
    for (const fails of [busy, offline])
      it(`reads again until the server is back, ${streams ? 'as its stream does' : 'also by hints'}: ${fails.name}`, async () => {
        const { dana } = here.server;
        const { name } = await newBoard(dana);
        const before = await post(dana, name, 'before');
        let refused = 0;
        const slept: number[] = [];
        const client = new Client({
          origin: here.url,
          token: dana.token!,
          random: () => 0.001,
          sleep: (ms, signal) => {
            slept.push(ms);
            return sleep(ms, signal);
          },
          fetch: (input, init) =>
            String(input).includes('/messages') && ++refused <= 7 ? fails() : (streams ? fetch : asOlder)(input, init),
        });
        const told: string[] = [];
        const out = new Output('text', false);
        out.note = (text) => void told.push(text);
        const seen: string[] = [];
        const following = follow({
          client,
          board: name,
          agent: false,
          after: before.seq - 1,
          filters: {},
          out,
          show: ({ body }) => void seen.push(body),
        }).catch((error: { code: string }) => error.code);
        await until('what was there is shown, or the end', async () => {
          return told.length === 2 || (await Promise.race([following, null])) !== null;
        });
        await dana.ok('archiveBoard', { params: { board: name } });
        await dana.ok('deleteBoard', { params: { board: name } });
        expect([await following, seen]).to.deep.equal(['board_not_found', ['before']]);
        // The others are timeouts.
        expect(slept.filter((ms) => ms <= 60).slice(0, 7)).to.deep.equal([1, 2, 4, 8, 16, 32, 60]);
        expect(told.slice(0, 2)).to.deep.equal(['Reconnecting…', 'Connected again, 1 missed.']);
      });

  it('is refused to an agent, which no hints are for', async () => {
    const { name } = await newBoard(here.server.dana);
    const seat = await newAgent(here.server.dana, name);
    const options = { board: name, agent: true, after: 0, filters: {}, out: new Output('text', true) };
    const failure = await follow({ ...options, client: older(seat.token!), show: () => undefined }).catch(
      (error: { code: string }) => error.code,
    );
    expect(failure).to.equal('server_outdated');
  });
});
