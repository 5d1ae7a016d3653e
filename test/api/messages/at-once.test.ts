import { expect } from 'chai';
import type { Message } from '../../../src/contract/types.ts';
import { lockBoardByName } from '../../../src/server/boards/boards.store.ts';
import { counterOf } from '../../../src/server/db/versions.store.ts';
import { endDelegations } from '../../../src/server/delegations/delegations.store.ts';
import type { Answered } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const POSTS = 48;

forEachDatabase('posts at one moment', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const counter = (): Promise<number> => server.db.read((tx) => counterOf(tx));
  const wholeBoard = async (board: string): Promise<Message[]> =>
    (await server.dana.ok('listMessages', { params: { board }, query: { limit: 200 } })).messages;

  it('share transactions on Postgres, and each gets the next number of its board', async () => {
    const boards = [await newBoard(server.dana), await newBoard(server.dana), await newBoard(server.dana)];
    const agents: Agent[] = [];
    for (let n = 0; n < 6; n++) agents.push(await newAgent(server.dana, boards[n % 3]?.name ?? ''));
    // Who uses a key the first time notes it, which is no post.
    for (const [n, agent] of agents.entries()) await post(agent, boards[n % 3]?.name ?? '', 'warm');
    const before = engine === 'postgres' ? await counter() : 0;
    const said = await Promise.all(
      Array.from({ length: POSTS }, (_, n) => {
        const board = boards[n % 3];
        // By its name and by its id, by agents and by their person, some of them with a key.
        const from = n % 4 === 0 ? server.dana : (agents[n % 6] as Agent);
        const call = { params: { board: (n % 2 ? board?.name : board?.id) ?? '' }, body: { body: `text ${n}` } };
        return from.ok('postMessage', n % 5 === 0 ? call : { ...call, key: `at-once-${n}` });
      }),
    );
    if (engine === 'postgres') expect((await counter()) - before).to.be.below(POSTS);
    for (const [n, board] of boards.entries()) {
      const mine = said.filter((_, index) => index % 3 === n).sort((a, b) => a.seq - b.seq);
      const all = await wholeBoard(board.name);
      const texts = new Map(all.map(({ seq, body }) => [seq, body]));
      for (const message of mine) expect(texts.get(message.seq)).to.equal(message.body);
      expect(new Set(mine.map(({ seq }) => seq)).size).to.equal(POSTS / 3);
      const { head_seq } = await server.dana.ok('getBoard', { params: { board: board.name } });
      expect(mine.at(-1)?.seq).to.equal(head_seq);
      expect((mine.at(-1)?.seq ?? 0) - (mine[0]?.seq ?? 0)).to.equal(POSTS / 3 - 1);
    }
  });

  it('that are refused are each refused for their own reason, and take nothing of the others back', async () => {
    const { name } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, name);
    const stranger = await server.person(`stranger-${engine}`);
    const root = await post(server.dana, name, 'to be answered');
    const call = (body: object, board = name) => ({
      params: { board },
      body,
      key: `refused-${JSON.stringify(body)}${board}`,
    });
    const answers: Answered<unknown>[] = await Promise.all([
      agent.call('postMessage', call({ body: 'one' })),
      agent.call('postMessage', call({ body: 'to nobody', to: ['@nobody'] })),
      stranger.call('postMessage', call({ body: 'from outside' })),
      agent.call('postMessage', call({ body: 'elsewhere' }, 'no-such-board')),
      agent.call('postMessage', call({ body: 'a reply', reply_to: root.id })),
      agent.call('postMessage', call({ body: 'to what is not there', reply_to: 'msg_00000000000000000000000000' })),
      server.dana.call('postMessage', call({ body: 'two' })),
    ]);
    expect(answers.map(({ status, code }) => code ?? status)).to.deep.equal([
      ...[201, 'unknown_recipient', 'not_on_board', 'board_not_found', 201, 'message_not_found', 201],
    ]);
    const all = await wholeBoard(name);
    expect(all.map(({ body }) => body)).to.have.members(['to be answered', 'one', 'a reply', 'two']);
  });

  it('with one key have one effect and one answer', async () => {
    const { name } = await newBoard(server.dana);
    const agents = [await newAgent(server.dana, name), await newAgent(server.dana, name)];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const pair = Math.floor(n / 2) % 4;
        return (agents[n % 2] as Agent).call('postMessage', {
          params: { board: name },
          body: { body: `of key ${pair} by ${n % 2}` },
          key: `same-${pair}`,
        });
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(answers.filter(({ replayed }) => !replayed)).to.have.length(8);
    expect(new Set(answers.map(({ body }) => body.seq)).size).to.equal(8);
    expect(await wholeBoard(name)).to.have.length(8);
  });

  it('with one key and two texts are one post and one refusal', async () => {
    const { name } = await newBoard(server.dana);
    const agents: Agent[] = [];
    for (let n = 0; n < 3; n++) agents.push(await newAgent(server.dana, name));
    const { head_seq: head } = await server.dana.ok('getBoard', { params: { board: name } });
    const answers = await Promise.all(
      agents.flatMap((agent) =>
        ['first', 'again'].map((body) =>
          agent.call('postMessage', { params: { board: name }, body: { body }, key: 'the same' }),
        ),
      ),
    );
    const kept = answers.filter(({ status }) => status === 201);
    expect(answers.filter(({ code }) => code === 'idempotency_conflict')).to.have.length(3);
    expect(kept.map(({ body }) => body.seq).sort((a, b) => a - b)).to.deep.equal([head + 1, head + 2, head + 3]);
  });

  // On SQLite they share a transaction with all other writes, and one write runs at a time.
  if (engine === 'sqlite')
    it('do not run again for a write beside them that is refused and found nothing to change', async () => {
      let runs = 0;
      const counted = server.db.write(async () => runs++);
      const refused = server.db.write(async (tx) => {
        await endDelegations(tx, { id: 'none', person_id: 'nobody' }, 'key');
        throw new Error('there is none');
      });
      expect((await Promise.allSettled([counted, refused])).map(({ status }) => status)).to.deep.equal([
        ...['fulfilled', 'rejected'],
      ]);
      expect(runs).to.equal(1);
    });

  if (engine === 'postgres') {
    it('on other boards do not wait for one that another transaction holds', async () => {
      const [held, free] = [await newBoard(server.dana), await newBoard(server.dana)];
      const [has, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const holding = server.db.write(async (tx) => {
        await lockBoardByName(tx, held.name);
        has.resolve();
        await ends.promise;
      });
      await has.promise;
      const order: string[] = [];
      const posted = async (board: string): Promise<void> => {
        await post(server.dana, board, 'text');
        order.push(board);
      };
      const waiting = Promise.all([posted(held.name), posted(held.name), posted(held.name)]);
      await Promise.all([posted(free.name), posted(free.name), posted(free.name)]);
      expect(order).to.deep.equal([free.name, free.name, free.name]);
      ends.resolve();
      await Promise.all([holding, waiting]);
      expect(await wholeBoard(held.name)).to.have.length(3);
    });
  }
});
