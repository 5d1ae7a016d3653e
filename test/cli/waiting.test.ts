/** Waits that run out, and one that somebody ends. */
import { expect } from 'chai';
import type { BoardSession } from '../../src/cli/session/open-session.ts';
import { Client } from '../../src/client/client.ts';
import { awaitReply } from '../../src/commands/board/lib/post/await-reply.ts';
import type { Message } from '../../src/contract/types.ts';
import { deadOrigin, FakeClock } from '../client/support.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { startTestServer } from '../support/server.ts';
import { collect, finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('a wait that runs out', () => {
  const home = homeWithBoard();
  let seq: string;
  before(async () => {
    seq = String((await home().json(['say', 'anybody there?'])).message.seq);
  });

  it('is no error, and is an exit code of 3 where that was asked for', async () => {
    for (const [extra, code] of [
      [[], 0],
      [['--fail-timeout'], 3],
    ] as const) {
      const thread = await home().run(['board', 'thread', seq, '--wait', '0', '--json', ...extra]);
      expect(thread.code).to.equal(code);
      expect(JSON.parse(thread.stdout).timed_out).to.equal(true);
      const said = await home().run(['say', 'and now?', '--wait-reply', '0', '--json', ...extra]);
      expect(said.code).to.equal(code);
      expect(JSON.parse(said.stdout)).to.include({ outcome: 'timeout', timed_out: true });
    }
  });

  it('says how to wait on', async () => {
    await home().json(['agent', 'create', 'waiter']);
    for (const words of [
      ['say', '--wait-reply', '0', 'and now?'],
      ['ask', 'Which?', 'This', 'That', '--wait', '0'],
    ]) {
      const { stdout } = await home().run([...words, '--as', 'waiter']);
      const [, posted] = /#(\d+)/.exec(stdout) ?? [];
      expect(stdout).to.match(/\nNo (reply|answer) within 0 s\. To wait on: service board thread /);
      expect(stdout).to.include(`thread ${posted} --after ${posted} --wait 600 --as waiter\n`);
    }
  });

  it('of a reply names what waits for one that comes after it', async () => {
    await home().json(['agent', 'create', 'later']);
    const root = String((await home().json(['say', 'who is there?'])).message.seq);
    const { stdout } = await home().run(['say', '--as', 'later', '--reply', root, 'I', '--wait-reply', '0']);
    const [, line = ''] = /To wait on: service (board thread .*) --wait 600/.exec(stdout) ?? [];
    const waited = await home().json([...line.split(' '), '--wait', '0', '--as', 'later']);
    expect([waited.replies, waited.timed_out]).to.deep.equal([[], true]);
  });

  it('of an inbox says that its server does not answer, once for as long as it does not', async () => {
    const env = { SERVICE_TOKEN: `aba_${'A'.repeat(43)}`, SERVICE_SERVER: await deadOrigin() };
    for (const words of [['--follow', '--json'], ['wait'], ['--wait', '600'], ['notices', '--wait', '600']]) {
      const child = home().start(['inbox', ...words], { env });
      const printed = collect(child);
      await until('it says so', () => printed().stderr !== '');
      child.kill('SIGINT');
      await finished(child);
      expect(printed().stderr, words.join(' ')).to.equal('No answer yet (server_unreachable); trying again…\n');
    }
  });

  it('fails nothing when a reply came in time', async () => {
    await home().json(['agent', 'create', 'codex']);
    await home().json(['say', '--as', 'codex', '--reply', seq, 'I am']);
    const thread = await home().run(['board', 'thread', seq, '--wait', '5', '--fail-timeout', '--json']);
    expect(thread.code).to.equal(0);
    expect(JSON.parse(thread.stdout).replies).to.have.length(1);
  });
});

describe('a wait for an answer', () => {
  const home = homeWithBoard();
  before(() => home().json(['agent', 'create', 'codex']));

  for (const [words, posted] of [
    [['say', '--to', '@codex', 'Deploy?', '--wait-reply', '60'], /^Posted #\d+ to @codex on demo\n$/],
    [['ask', '@codex', 'Which?', 'This', 'That', '--wait', '60'], /^Ask #\d+ sent to @codex on demo\n$/],
  ] as const)
    it(`of ${words[0]} says before it begins what was posted, which who ends it would post again`, async () => {
      const child = home().start([...words]);
      const printed = collect(child);
      await until('it is told', () => posted.test(printed().stdout));
      child.kill('SIGINT');
      const { code } = await finished(child);
      expect(code).to.equal(130);
      expect(printed().stdout).to.match(posted);
    });

  it('of ask ends when that is done which is done without an answer', async () => {
    const ask = ['ask', '@codex', 'Which?', '--going-with', 'This', '--at', '1s', '--wait', '600'];
    const keyed = [...ask, '--idempotency-key', 'going-with'];
    expect((await home().json(keyed)).timed_out).to.equal(true);
    // By now it is done.
    expect((await home().run(keyed)).stdout).to.include('No answer within 0 s.');
  });

  it('of say that a word of the agent’s person ended says that it is no reply', async () => {
    await home().json(['agent', 'create', 'three']);
    const child = home().start(['say', '--as', 'three', '--to', '@codex', 'Deploy?', '--wait-reply', '60']);
    const printed = collect(child);
    await until('it is posted', () => printed().stdout.startsWith('Posted #'));
    await home().run(['say', 'Lunch!']);
    expect((await finished(child)).code).to.equal(0);
    const [, posted] = /#(\d+)/.exec(printed().stdout) ?? [];
    expect(printed().stdout).to.match(
      new RegExp(
        `Lunch!\\nYour person wrote; there is no reply yet\\. To wait on: service board thread ${posted} --after ${posted} --wait 600 --as three\\n$`,
      ),
    );
  });

  it('of say in a thread takes for the reply what the agent’s person writes anywhere in it', async () => {
    const reply = { id: 'msg_3', seq: 3, sender: 'owner', reply_to: 'msg_1', thread_root: 'msg_1' };
    for (const message of [
      { id: 'msg_2', seq: 2, thread_root: 'msg_1' },
      { id: 'msg_1', seq: 1, thread_root: null },
    ]) {
      // The inbox is answered first, and only after that the thread.
      const { promise: inboxRead, resolve: goOn } = Promise.withResolvers<void>();
      const call = async (name: string) => {
        if (name === 'readInbox') return { data: { messages: [reply] } };
        await inboxRead;
        return { data: { replies: [reply] } };
      };
      async function* chunks() {
        for (let seq = message.seq + 1; seq <= 3; seq++)
          yield Buffer.from(
            `event: event\nid: ${seq}\ndata: ${JSON.stringify({ seq, type: 'message.posted', actor: { kind: 'human' } })}\n\n`,
          );
        goOn();
        await new Promise(() => {});
      }
      const openStream = async () => ({ chunks });
      const client = { call, openStream, environment: { now: () => 0, random: () => 0, sleep: async () => {} } };
      const session = { client, agent: true } as unknown as BoardSession;
      const { outcome, reply: came } = await awaitReply(session, message as Message, 60);
      expect([outcome, came?.id], message.id).to.deep.equal(['reply', 'msg_3']);
    }
  });

  it('of say looks into the inbox once a person has written, so that what agents post does not brake the agent', async () => {
    const server = await startTestServer('sqlite');
    try {
      const { name: board } = await newBoard(server.dana);
      const [claude, codex] = [await newAgent(server.dana, board), await newAgent(server.dana, board)];
      const asked: (string | null)[] = [];
      const client = new Client({
        origin: server.url,
        token: claude.token,
        fetch: (input, init) => {
          const { pathname, searchParams } = new URL(String(input));
          if (pathname === '/v1/me/inbox') asked.push(searchParams.get('wait'));
          return fetch(input, init);
        },
      });
      const message = await post(claude, board, 'Deploy?');
      const waiting = awaitReply({ client, board, agent: true } as unknown as BoardSession, message, 60);
      for (const body of ['one', 'two', 'three']) await post(codex, board, body, { to: [`@${claude.name}`] });
      await post(server.dana, board, 'for codex', { to: [`@${codex.name}`] });
      await post(server.dana, board, 'Lunch!');
      const { outcome, owner_messages: words } = await waiting;
      expect([outcome, words.map(({ body }) => body)]).to.deep.equal(['owner_message', ['Lunch!']]);
      expect(asked.filter((wait) => wait !== null)).to.deep.equal([]);
    } finally {
      await server.stop();
    }
  });

  it('of say goes on where the inbox cannot be read for a while, and takes no time from other requests', async () => {
    const server = await startTestServer('sqlite');
    try {
      const { name: board } = await newBoard(server.dana);
      const [claude, codex] = [await newAgent(server.dana, board), await newAgent(server.dana, board)];
      const clock = new FakeClock();
      let read = 0;
      const client = new Client({
        origin: server.url,
        token: claude.token,
        together: true,
        now: clock.now,
        sleep: clock.sleep,
        random: () => 0,
        fetch: async (input, init) => {
          if (new URL(String(input)).pathname !== '/v1/me/inbox') return fetch(input, init);
          // The first two take all the time that requests have together.
          if (++read <= 2) clock.advance(16_000);
          return read > 2 && read < 10 ? new Response('upstream reset', { status: 503 }) : fetch(input, init);
        },
      });
      const message = await post(claude, board, 'Deploy?');
      const waiting = awaitReply({ client, board, agent: true } as unknown as BoardSession, message, 600);
      for (const body of ['one', 'two']) await post(server.dana, board, body, { to: [`@${codex.name}`] });
      await post(server.dana, board, 'Lunch!');
      const { outcome, owner_messages: words } = await waiting;
      expect([outcome, words.map(({ body }) => body)]).to.deep.equal(['owner_message', ['Lunch!']]);
    } finally {
      await server.stop();
    }
  });

  for (const [words, name] of [
    [['say', 'Deploy?', '--wait-reply', '60'], 'one'],
    [['ask', 'Which?', 'This', 'That', '--wait', '60'], 'two'],
  ] as const)
    it(`of ${words[0]} that fails names the message that was posted`, async () => {
      await home().json(['agent', 'create', name]);
      const child = home().start([...words, '--as', name, '--json']);
      const printed = collect(child);
      const newest = async () => (await home().json(['read', '--limit', '1'])).messages[0];
      await until('it is posted', async () => (await newest())?.from.name === name);
      const { id, board, seq } = await newest();
      await home().run(['agent', 'remove', name, '--yes']);
      const { code } = await finished(child);
      const { error } = JSON.parse(printed().stdout);
      expect([code, error.code, error.details.posted]).to.deep.equal([4, 'agent_removed', { id, board, seq }]);
      expect(error.message).to.match(new RegExp(` #${seq} was posted\\.$`));
    });
});
