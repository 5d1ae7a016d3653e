import { expect } from 'chai';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import type { Api, Call } from '../../support/api.ts';
import { Browser } from '../../support/browser.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall, isServed } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, newBrowser, putOnBoard } from '../../support/state.ts';
import { told } from '../../support/told.ts';

const names = Object.keys(operations) as OperationName[];
const onBoards = names.filter((name) => operations[name].path.includes('{board}'));

const nowhere = { board: '', message: '' };

/** A call that would succeed for somebody on the board. */
const callOn = (name: OperationName, board: string): Call => goodCall(name, { ...nowhere, board });

/** Operations that do not need their caller to be on an open board, and what somebody off it gets from them. */
const offBoard: Partial<Record<OperationName, number | string>> = {
  getBoard: 200,
  listBoardPeople: 200,
  archiveBoard: '403 board_creator_required',
  restoreBoard: '403 board_creator_required',
  deleteBoard: '403 board_creator_required',
};

const kindOf = (api: Api) => (api instanceof Browser ? 'BR' : api.token?.startsWith('aba_') ? 'AG' : 'PK');
const takes = (name: OperationName, api: Api): boolean =>
  (operations[name] as OperationRow).credentials.includes(kindOf(api));

forEachDatabase('a board that is missing, hidden, deleted or has no possible name', (engine) => {
  let server: TestServer;
  let eve: Api;
  /** Eve's. */
  let browser: Browser;
  let guest: Api;
  let agent: Api;
  const unseen = [
    'never-there',
    'hidden',
    'gone',
    'Bad_Name',
    'x',
    `${'y'.repeat(41)}`,
    'brd_01K5A0000000000000000000B1',
  ];
  before(async () => {
    server = await startTestServer(engine);
    eve = await server.person('eve');
    browser = await newBrowser(server, eve);
    guest = await server.person('gus', 'guest');
    await newBoard(server.dana, { name: 'hidden', visibility: 'private' });
    await newBoard(server.dana, { name: 'gone' });
    const own = await newBoard(server.dana, { name: 'own-board' });
    agent = await newAgent(server.dana, own.name);
    await post(server.dana, 'hidden', 'secret');
    await changeBoard(server, 'gone', { lifecycle: 'deleted' });
  });
  after(() => server.stop());

  for (const name of onBoards) {
    it(`gets the same answer from ${name}`, async () => {
      for (const api of [eve, browser, guest, agent]) {
        const answers = [];
        for (const board of unseen) {
          answers.push(told(await api.call(name, callOn(name, board))));
        }
        const [first] = answers;
        if (takes(name, api))
          expect(first).to.include({ status: 404 }).and.nested.property('text').include('"board_not_found"');
        for (const answer of answers) expect(answer).to.deep.equal(first);
      }
      // There is something to hide: its owner gets another answer.
      const owner = await server.dana.call(name, callOn(name, 'hidden'));
      expect(isServed(name, nowhere, owner), owner.text).to.equal(true);
    });
  }

  it('gets the same answer from a stream and from a join', async () => {
    const streams = [];
    const joins = [];
    for (const board of unseen) {
      const response = await fetch(`${server.url}/v1/stream?board=${board}`, { headers: eve.headers({}) });
      streams.push(told({ status: response.status, headers: response.headers, text: await response.text() }));
      joins.push(told(await eve.call('joinBoard', { body: { board, role: 'no-such-role' } })));
    }
    for (const answers of [streams, joins]) {
      expect(answers[0]?.status).to.equal(404);
      for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
    }
    expect(await server.dana.refused('joinBoard', { body: { board: 'hidden', role: 'no-such-role' } })).to.equal(
      '422 role_not_found',
    );
  });

  it('is the same to an agent as every board but its own', async () => {
    const open = await newBoard(server.dana, { name: 'open-to-people' });
    const answers = [];
    for (const board of ['never-there', open.name]) {
      answers.push(told(await agent.call('getBoard', { params: { board } })));
      answers.push(told(await agent.call('listMessages', { params: { board } })));
    }
    for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
    expect((await agent.call('getBoard', { params: { board: 'own-board' } })).status).to.equal(200);
  });

  it('hides its messages like messages that never were', async () => {
    const secret = (await server.dana.ok('listMessages', { params: { board: 'hidden' } })).messages[0];
    const elsewhere = await newBoard(server.dana);
    const open = await post(server.dana, elsewhere.name, 'eve is not on this open board');
    const gone = 'msg_01K5A0000000000000000000P1';
    for (const name of ['getMessage', 'listReplies'] as const) {
      const answers = [];
      for (const message of [secret?.id ?? '', open.id, gone]) {
        for (const api of [eve, guest, agent]) answers.push(told(await api.call(name, { params: { message } })));
      }
      expect(answers[0]?.text).to.include('message_not_found');
      for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
      expect((await server.dana.call(name, { params: { message: secret?.id ?? '' } })).status).to.equal(200);
    }
  });

  it('is in no list of anybody who may not see it', async () => {
    for (const [api, query] of [
      [eve, { all: true, lifecycle: 'all' }],
      [guest, { all: true, lifecycle: 'all' }],
      [agent, { all: true, lifecycle: 'all' }],
    ] as const) {
      const { boards, hidden_boards } = await api.ok('listBoards', { query });
      expect(boards.map((board) => board.name)).not.to.include('hidden');
      expect(boards.map((board) => board.name)).not.to.include('gone');
      expect(hidden_boards ?? []).to.deep.equal([]);
    }
    const { boards } = await server.dana.ok('listBoards', { query: { all: true, lifecycle: 'all' } });
    expect(boards.map((board) => board.name)).to.include('hidden');
    expect(boards.map((board) => board.name)).not.to.include('gone');
  });

  it('refuses its name with one text, and describes only an archived board the caller can read', async () => {
    await newBoard(server.dana, { name: 'hidden-old', visibility: 'private' });
    await newBoard(server.dana, { name: 'open-old' });
    for (const board of ['hidden-old', 'open-old']) await changeBoard(server, board, { lifecycle: 'archived' });
    const take = async (name: string) => told(await eve.call('createBoard', { body: { name } }));
    const plain = await take('own-board');
    expect(plain.status).to.equal(409);
    for (const name of ['hidden', 'gone', 'hidden-old']) expect(await take(name)).to.deep.equal(plain);
    expect((await take('open-old')).text).to.include('"lifecycle":"archived"');
  });

  it('is told from an open board the caller is not on, whose people may be read but not its content', async () => {
    const open = await newBoard(server.dana);
    const params = { board: open.name, seq: 1 };
    for (const name of onBoards) {
      const { status, code } = await eve.call(name, callOn(name, open.name));
      const answer = status < 300 ? status : `${status} ${code}`;
      expect(answer, name).to.equal(offBoard[name] ?? '403 not_on_board');
    }
    for (const name of onBoards.filter((each) => takes(each, guest))) {
      expect(await guest.refused(name, callOn(name, open.name)), name).to.equal('404 board_not_found');
    }
    await putOnBoard(server, open.name, guest);
    expect((await guest.call('listMessages', { params })).status).to.equal(200);
  });
});
