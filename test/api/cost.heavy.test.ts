import { expect } from 'chai';
import { builderOf } from '../../src/server/db/statement.ts';
import type { Api } from '../support/api.ts';
import { signIn } from '../support/browser.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { leastCostOf, TIMES, watchRoundTrips } from '../support/counting.ts';
import { forEachDatabase } from '../support/databases.ts';
import { put } from '../support/files.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { boardRow, putOnBoard } from '../support/state.ts';
import { TestStream } from '../support/stream.ts';
import { until } from '../support/until.ts';

/** Of a keyed post and its replay: what they are, so that one more is noticed. */
const MOST = {
  statements: 9,
  roundTrips: { sqlite: 0, postgres: 5 },
  roundTripsOfReplay: { sqlite: 0, postgres: 6 },
  /** One transaction; two where a post comes while it runs. */
  sentOfSixteen: { sqlite: 0, postgres: 18 },
};

forEachDatabase('what a request costs the database', (engine) => {
  let server: TestServer;
  let unwatch: () => void;
  before(async () => {
    unwatch = watchRoundTrips();
    server = await startTestServer(engine);
  });
  after(async () => {
    await server.stop();
    unwatch();
  });

  it('is one write transaction for a keyed post, and none for its replay’s effect', async () => {
    const { name } = await newBoard(server.dana);
    let posts = 0;
    const call = () => ({ params: { board: name }, body: { body: 'x' }, key: `cost ${posts}` });
    const first = await leastCostOf(server, () => {
      posts++;
      return server.dana.ok('postMessage', call());
    });
    expect(first.writes).to.equal(1);
    expect(first.writeStatements).to.be.within(4, MOST.statements);
    expect(first.roundTrips).to.be.at.most(MOST.roundTrips[engine]);
    if (engine === 'postgres') expect(first.roundTrips, 'round trips that are watched').to.be.at.least(1);
    const replay = await leastCostOf(server, () => server.dana.ok('postMessage', call()));
    expect(replay.writes).to.be.at.most(1);
    expect(replay.roundTrips).to.be.at.most(MOST.roundTripsOfReplay[engine]);
    expect(replay.writeStatements).to.be.below(first.writeStatements);
  });

  it('looks once for the agents of a person who is renamed or removed, not once a board', async () => {
    const person = await server.person('on-three-boards');
    for (let n = 0; n < 3; n++) await newAgent(person, (await newBoard(person)).name);
    const built: string[] = [];
    const { write } = server.db;
    server.db.write = (work, allows) =>
      write.call(
        server.db,
        (tx) => {
          for (const name of ['query', 'change'] as const) {
            const run = tx[name].bind(tx) as (build: Build) => Promise<never>;
            type Build = (db: ReturnType<typeof builderOf>) => { toString(): string };
            tx[name] = (build: Build) => {
              built.push(build(builderOf(engine)).toString());
              return run(build);
            };
          }
          return work(tx);
        },
        allows,
      ) as never;
    const params = { handle: 'moved' };
    try {
      await server.dana.ok('renamePerson', { params: { handle: 'on-three-boards' }, body: params });
      await server.dana.ok('removePerson', { params });
    } finally {
      Object.assign(server.db, { write });
    }
    expect(built.filter((sql) => /^update .agent_lines. set .set_by./.test(sql))).to.have.length(1);
    expect(built.filter((sql) => /from .members. where .*'agent' .*'active' .*order by .id./.test(sql))).to.have.length(
      1,
    );
  });

  it('is shared by posts of one moment, of as many people on as many boards', async () => {
    const writers: { person: Api; board: string }[] = [];
    for (let n = 0; n < 16; n++) {
      const person = await server.person(`writer-${n}`);
      writers.push({ person, board: (await newBoard(person)).name });
    }
    const postAll = () => Promise.all(writers.map(({ person, board }) => post(person, board, 'at once')));
    await postAll();
    const { sent, writes } = await leastCostOf(server, postAll);
    expect(writes).to.equal(16);
    expect(sent).to.be.at.most(MOST.sentOfSixteen[engine]);
    if (engine === 'postgres') expect(sent, 'statements that are watched').to.be.at.least(1);
  });

  it('is at most five read statements for a post however many streams of people and agents follow its board', async () => {
    const { name } = await newBoard(server.dana);
    const readers = [server.dana, await newAgent(server.dana, name), await newAgent(server.dana, name)];
    for (let n = 0; n < 5; n++) {
      const person = await server.person(`follower-${n}`);
      await putOnBoard(server, name, person);
      readers.push(person);
    }
    const streams = await Promise.all(
      readers.flatMap((reader) => [
        TestStream.open(reader, { board: name, include: 'message' }),
        TestStream.open(reader, { board: name }),
        ...(reader.token?.startsWith('aba_') ? [] : [TestStream.open(reader)]),
      ]),
    );
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const cost = await leastCostOf(server, async () => {
      const { seq } = await post(server.dana, name, 'to all of them');
      for (const stream of streams) await stream.frame(({ data, event }) => event !== 'ready' && data.seq === seq);
    });
    expect(streams.length).to.equal(22);
    expect(cost.writes).to.equal(1);
    expect(cost.reads).to.be.at.most(1);
    expect(cost.readStatements).to.be.within(1, 5);
    for (const stream of streams) stream.close();
  });

  it('is no more for posts of any kind and any follower: people with keys and in browsers, and agents', async () => {
    const { name } = await newBoard(server.dana);
    const params = { board: name };
    const agent = await newAgent(server.dana, name, { name: 'codex' });
    const person = await server.person('asked');
    await putOnBoard(server, name, person);
    const browser = await signIn(person);
    const task = await server.dana.ok('createTask', { params, body: { title: 'What it is about' } });
    const root = await post(server.dana, name, 'a thread to find again', { about: [task.ref] });
    await post(person, name, 'begun', { reply_to: root.id, to: ['all'] });
    const file = await put(server.dana, name, 'plan.md', 'the plan');
    const ask = () => post(server.dana, name, 'to be answered', { to: ['@asked'], ask: { options: ['yes', 'no'] } });
    const question = await ask();
    // A question is withdrawn once.
    const withdrawn: { id: string }[] = [];
    while (withdrawn.length < TIMES) withdrawn.push(await ask());
    await server.dana.ok('search', { query: { q: 'thread' } });
    const streams = await Promise.all(
      [server.dana, agent, person, browser].flatMap((reader) => [
        TestStream.open(reader, { board: name, include: 'message' }),
        ...(reader === agent ? [] : [TestStream.open(reader)]),
      ]),
    );
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');

    const secret = `glpat-${'aB3dE6gH9x'.repeat(2)}`;
    let key = 0;
    const answering = { reply_to: question.id };
    const posts: [string, Record<string, unknown> | (() => Record<string, unknown>), Api?][] = [
      ['plain', {}],
      ['a reply', { reply_to: root.id, to: ['all'] }],
      ['a reply to whoever wrote in the thread', { reply_to: root.id }],
      [`a mention of @codex, ${task.ref} and ${secret}`, { urgent: true }],
      ['a question', { to: ['@asked'], ask: { options: ['yes', 'no'], going_with: 'yes' } }],
      ['a question about a task', { about: [task.ref], to: ['@codex'], ask: { options: ['yes', 'no'] } }],
      ['an answer', { ...answering, answer: { option: 2 } }, person],
      ['a comment', { ...answering, answer: { comment: true } }, person],
      ['a withdrawal', () => ({ reply_to: withdrawn.pop()?.id, answer: { withdrawn: true } })],
      ['work', { about: [task.ref], to: ['@codex', 'role:member', '@asked'] }],
      ['a file', { files: [{ file: file.id }], to: ['@codex'] }],
    ];
    const shown = (seq: number) =>
      Promise.all(streams.map((stream) => stream.frame(({ data, event }) => event !== 'ready' && data.seq >= seq)));
    for (const [body, more, sender = server.dana] of posts) {
      const cost = await leastCostOf(server, async () => {
        const parts = typeof more === 'function' ? more() : more;
        const { seq } = await sender.ok('postMessage', { params, body: { body, ...parts }, key: `cost-${++key}` });
        await shown(seq);
      });
      expect([cost.writes, cost.reads], body).to.deep.equal([1, 1]);
      expect(cost.readStatements, body).to.be.within(1, 5);
    }
    for (const name of ['addReaction', 'removeReaction'] as const) {
      const reactions = ['eyes', 'check', 'tada', 'heart', 'thumbsup'];
      const cost = await leastCostOf(server, async () => {
        await server.dana.ok(name, {
          params: { message: root.id, reaction: reactions.pop() ?? '' },
          key: `cost-${++key}`,
        });
        await shown((await boardRow(server, params.board)).head_seq);
      });
      expect(cost.writes, name).to.be.at.most(2);
      expect(cost.readStatements, name).to.be.at.most(5);
    }
    for (const stream of streams) stream.close();
  });

  it('does not grow with the boards in a list or the messages on a page', async () => {
    const pam = await server.person('pam');
    const grown = async (work: () => Promise<unknown>, grow: () => Promise<unknown>) => {
      const before = await leastCostOf(server, work);
      await grow();
      const after = await leastCostOf(server, work);
      expect([before.reads, before.writes]).to.deep.equal([1, 0]);
      expect(after.readStatements).to.equal(before.readStatements);
    };
    const { name } = await newBoard(pam);
    await pam.ok('getMe');
    await grown(
      () => pam.ok('listBoards', { query: { all: true } }),
      async () => {
        for (let n = 0; n < 10; n++) await newBoard(pam);
      },
    );
    const agent = await newAgent(pam, name);
    await post(pam, name, 'x');
    for (const read of ['listMessages', 'listEvents', 'listMembers'] as const) {
      await grown(
        () => agent.ok(read, { params: { board: name } }),
        async () => {
          for (let n = 0; n < 5; n++) await post(await newAgent(pam, name), name, 'x');
        },
      );
    }
    await grown(
      () => agent.ok('readInbox'),
      async () => {
        for (let n = 0; n < 5; n++) await post(pam, name, 'x');
      },
    );
  });

  it('is who reads and its board for a wait that begins with everything read', async () => {
    const { name } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, name);
    await post(server.dana, name, 'read before');
    const { messages } = await agent.ok('readInbox');
    await agent.ok('ackInbox', { body: { up_to: messages.at(-1)!.seq } });
    const waits: Promise<unknown>[] = [];
    const begun = await leastCostOf(server, async () => {
      const seconds = 31 + waits.length;
      waits.push(agent.ok('readInbox', { query: { wait: seconds } }));
      await until(() => server.clock.waiting(seconds * 1_000) === 1, 'it waits');
    });
    // Where others write too, whether the board has moved is read once more.
    expect(begun.readStatements).to.be.within(2, 4);
    const full = await agent.ok('readInbox');
    server.clock.advance(40_000);
    for (const answer of await Promise.all(waits)) expect(answer).to.deep.equal(full);
  });
});
