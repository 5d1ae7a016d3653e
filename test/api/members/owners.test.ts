import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard } from '../../support/state.ts';

forEachDatabase('owners of a board', (engine) => {
  let server: TestServer;
  let pam: Api;
  let tom: Api;
  let dana: string;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    tom = await server.person('tom');
    dana = (await server.dana.ok('getMe')).name;
  });
  after(() => server.stop());

  const make = (board: string, handle: string, from: Api = server.dana) =>
    from.call('makeBoardOwner', { params: { board }, body: { handle } });
  const unmake = (board: string, handle: string, from: Api = server.dana) =>
    from.call('unmakeBoardOwner', { params: { board, handle } });
  const told = async (call: Promise<{ status: number; code: string | undefined }>) => {
    const { status, code } = await call;
    return code === undefined ? status : `${status} ${code}`;
  };
  const boardWith = async (...people: string[]) => {
    const { name } = await newBoard(server.dana);
    for (const handle of people) await server.dana.ok('addBoardPerson', { params: { board: name }, body: { handle } });
    return name;
  };
  const events = async (board: string, after: number) =>
    (await server.dana.ok('listEvents', { params: { board }, query: { after } })).events;

  it('are made by owners, once, and may then do what owners do', async () => {
    const board = await boardWith('pam', 'tom');
    const { status, body } = await make(board, 'pam');
    expect([status, body.board_role]).to.deep.equal([200, 'owner']);
    const made = await events(board, 4);
    expect(made).to.have.length(1);
    expect(made[0]).to.deep.include({ type: 'person.made_owner' });
    expect(made[0]?.actor).to.include({ kind: 'human', name: dana });
    expect(made[0]?.data).to.deep.equal({ member_id: body.member_id, person_id: body.id, name: 'pam' });
    expect(await told(make(board, 'pam'))).to.equal(200);
    expect(await told(make(board, 'tom', pam))).to.equal(200);
    expect(await events(board, 4)).to.have.length(2);
  });

  it('are made members again, themselves included, but never the last one', async () => {
    const board = await boardWith('pam');
    expect(await told(unmake(board, dana))).to.equal('409 last_owner');
    expect(await told(unmake(board, 'pam'))).to.equal(200);
    expect(await events(board, 3)).to.deep.equal([]);
    await make(board, 'pam');
    const { body } = await unmake(board, dana);
    expect(body.board_role).to.equal('member');
    const [, changed] = await events(board, 3);
    expect(changed).to.deep.include({ type: 'person.role_changed' });
    expect(changed?.data).to.deep.equal({
      member_id: body.member_id,
      person_id: body.id,
      before: 'owner',
      after: 'member',
    });
    expect(await told(unmake(board, 'pam', pam))).to.equal('409 last_owner');
    expect(await told(make(board, 'pam'))).to.equal('403 owner_required');
  });

  it('are named to people who are not owners, and asked for in the order of the contract', async () => {
    const board = await boardWith('pam');
    const gus = await server.person('gus', 'guest');
    for (const operation of [make, unmake]) {
      expect(await told(operation(board, 'nobody-here', tom))).to.equal('403 not_on_board');
      expect(await told(operation(board, 'nobody-here', gus))).to.equal('404 board_not_found');
      const refused = await operation(board, 'nobody-here', pam);
      expect(refused.code).to.equal('owner_required');
      expect(refused.text).to.include(dana);
      expect(await told(operation(board, 'nobody-here'))).to.equal('404 person_not_on_board');
      expect(await told(operation(board, 'tom'))).to.equal('404 person_not_on_board');
    }
    expect(await told(unmake(board, 'Not A\u0000Handle'))).to.equal('404 person_not_on_board');
    const agent = await newAgent(server.dana, board);
    expect(await told(make(board, 'pam', agent))).to.equal('403 human_token_required');
    expect(await told(unmake(board, 'pam', agent))).to.equal('403 human_token_required');
  });

  it('are not made of guests, nor on an archive; unmaking goes on there', async () => {
    const board = await boardWith('pam');
    const gil = await server.person('gil', 'guest');
    await putOnBoard(server, board, gil);
    expect(await told(make(board, 'gil'))).to.equal('409 person_is_guest');
    expect(await told(make(board, 'pam', gil))).to.equal('403 guest_not_allowed');
    expect(await told(unmake(board, 'pam', gil))).to.equal('403 guest_not_allowed');
    await make(board, 'pam');
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await told(make(board, 'pam'))).to.equal('409 board_archived');
    expect(await told(unmake(board, 'pam'))).to.equal(200);
  });

  it('cannot both stop at once: exactly one is refused', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = new Api(twin?.url ?? server.url, pam.token);
    for (let round = 0; round < 5; round++) {
      const board = await boardWith('pam');
      await make(board, 'pam');
      const answers = await Promise.all([told(unmake(board, dana)), told(unmake(board, 'pam', there))]);
      expect(answers.sort()).to.deep.equal([200, '409 last_owner']);
    }
    await twin?.close();
  });
});
