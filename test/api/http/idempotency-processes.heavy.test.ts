import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api, type Call } from '../../support/api.ts';
import { newAgent, newBoard, newDelegation } from '../../support/cast.ts';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';

const DAY = 86_400_000;

/** On Postgres two processes of one server are asked in turn; SQLite has one. */
forEachDatabase('one key sent 32 times at once, to every process of a server', (engine: Engine) => {
  let server: TestServer;
  let twin: RunningServer | null;
  before(async () => {
    server = await startTestServer(engine);
    twin = engine === 'postgres' ? await startTwin(server) : null;
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  /** The same client at the process whose turn it is. */
  const at = (turn: number, { token }: Api): Api => new Api(twin && turn % 2 === 1 ? twin.url : server.url, token);

  async function expectOneEffect(name: 'postMessage' | 'joinBoard' | 'createDelegatedBoard', by: Api, call: Call) {
    const answers = await Promise.all(Array.from({ length: 32 }, (_, turn) => at(turn, by).call(name, call)));
    expect(new Set(answers.map(({ text }) => text)).size, name).to.equal(1);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(32).fill(201));
    expect(answers.filter(({ replayed }) => !replayed)).to.have.length(1);
    return answers[0]!;
  }

  const agentsOn = async (board: string) =>
    (await server.dana.ok('listMembers', { params: { board }, query: { kind: 'agent' } })).members;
  const textsOn = async (board: string) =>
    (await server.dana.ok('listMessages', { params: { board } })).messages.map(({ body }) => body);

  it('posts one message; another body under the key is refused by every process', async () => {
    const { name } = await newBoard(server.dana);
    const call: Call = { params: { board: name }, body: { body: 'once' }, key: 'a post' };
    await expectOneEffect('postMessage', server.dana, call);
    for (const turn of [0, 1]) {
      const other = at(turn, server.dana).refused('postMessage', { ...call, body: { body: 'another' } });
      expect(await other).to.equal('422 idempotency_conflict');
    }
    expect(await textsOn(name)).to.deep.equal(['once']);
  });

  it('with two bodies at once lets one of them be the request, and refuses the other', async () => {
    const { name } = await newBoard(server.dana);
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, turn) =>
        // Pairs of turns, so that every process gets both bodies.
        at(turn, server.dana).call('postMessage', {
          params: { board: name },
          body: { body: turn % 4 < 2 ? 'this' : 'that' },
          key: 'two bodies',
        }),
      ),
    );
    const outcomes = answers.map(({ status, code }) => (status === 201 ? '201' : `${status} ${code}`));
    expect(outcomes.filter((outcome) => outcome === '201')).to.have.length(16);
    expect(outcomes.filter((outcome) => outcome === '422 idempotency_conflict')).to.have.length(16);
    expect(await textsOn(name)).to.have.length(1);
  });

  it('makes one seat with one token, which works', async () => {
    const { name } = await newBoard(server.dana);
    const call: Call = { body: { board: name, role: 'member' }, key: 'a join' };
    const { body } = await expectOneEffect('joinBoard', server.dana, call);
    const { token } = body as { token: string };
    expect(await agentsOn(name)).to.have.length(1);
    for (const turn of [0, 1]) expect((await at(turn, new Api(server.url, token)).call('getMe')).status).to.equal(200);
    const other = { ...call, body: { board: name, role: 'member', name: 'other' } };
    for (const turn of [0, 1])
      expect(await at(turn, server.dana).refused('joinBoard', other)).to.equal('422 idempotency_conflict');
  });

  it('creates one board with its seat for a session', async () => {
    const delegation = await newDelegation(server.dana);
    const boards = async () => (await server.dana.ok('listBoards')).boards.length;
    const before = await boards();
    const call: Call = { body: { session: 'codex:once', harness: 'codex' }, key: 'a board' };
    await expectOneEffect('createDelegatedBoard', delegation, call);
    expect(await boards()).to.equal(before + 1);
  });

  it('is each credential’s own: people, their other keys and their agents are not in each other’s way', async () => {
    const { name } = await newBoard(server.dana);
    const eve = await server.person('eve');
    await putOnBoard(server, name, eve);
    const spare = new Api(server.url, (await server.dana.ok('createKey', { body: { name: 'spare' } })).token);
    const agent = await newAgent(server.dana, name);
    const senders = [server.dana, spare, eve, agent];
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, turn) => {
        const who = Math.floor(turn / 2) % senders.length;
        const call = { params: { board: name }, body: { body: `from ${who}` }, key: 'of everybody' };
        return at(turn, senders[who]!).call('postMessage', call);
      }),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(32).fill(201));
    expect(answers.filter(({ replayed }) => !replayed)).to.have.length(senders.length);
    expect((await textsOn(name)).sort()).to.deep.equal(['from 0', 'from 1', 'from 2', 'from 3']);
  });

  it('is one request again after the end of its first answer', async () => {
    const { name } = await newBoard(server.dana);
    const call: Call = { params: { board: name }, body: { body: 'day' }, key: 'every day' };
    await expectOneEffect('postMessage', server.dana, call);
    server.clock.advance(DAY);
    await expectOneEffect('postMessage', server.dana, call);
    expect(await textsOn(name)).to.deep.equal(['day', 'day']);
  });
});
