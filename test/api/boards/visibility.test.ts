import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

forEachDatabase('turning a board open or private', (engine) => {
  let server: TestServer;
  let pam: Api;
  let tom: Api;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    tom = await server.person('tom');
  });
  after(() => server.stop());

  const turn = (board: string, visibility: string, more: { dry_run?: boolean; key?: string; from?: Api } = {}) => {
    const { dry_run, key, from = pam } = more;
    const body = { visibility, ...(dry_run === undefined ? {} : { dry_run }) };
    return from.call('setBoardVisibility', { params: { board }, body, key });
  };
  const refused = async (board: string, visibility: string, from: Api) => {
    const { status, code } = await turn(board, visibility, { from });
    return `${status} ${code}`;
  };
  const events = async (board: string, after: number) =>
    (await pam.ok('listEvents', { params: { board }, query: { after } })).events;

  /** Working codes, made directly; one of them has ended. */
  async function addCodes(board: string, count: number): Promise<string[]> {
    const { id } = await pam.ok('getBoard', { params: { board } });
    return server.db.write(async (tx) => {
      const ids = Array.from({ length: count + 1 }, (_unused, n) => `jc_${String(tx.now * 100 + n).padStart(26, '0')}`);
      for (const [n, code] of ids.entries()) {
        const row = { id: code, board_id: id, digest: Buffer.from(`${id}${code}`), kind: 'pairing', role: 'member' };
        const maker = { maker_member_id: 'mem_x', maker_person_id: 'hum_x', uses: 0 };
        const times = { created_at: tx.now + n, expires_at: n === count ? tx.now : tx.now + 60_000 };
        await tx.change((db) => db('join_codes').insert({ ...row, ...maker, ...times }));
      }
      return ids.slice(0, count);
    });
  }

  it('private takes it out of everybody else’s sight, with its codes and the agents’ right to bring people', async () => {
    const { name } = await newBoard(pam);
    const agent = await newAgent(pam, name);
    const codes = await addCodes(name, 2);
    await tom.ok('getBoard', { params: { board: name } });
    const { status, body } = await turn(name, 'private');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      board: name,
      before: 'open',
      after: 'private',
      changed: true,
      dry_run: false,
      reveals: null,
      join_codes_canceled: 2,
      agents_add_people: false,
    });
    expect(await tom.refused('getBoard', { params: { board: name } })).to.equal('404 board_not_found');
    expect(await agent.ok('getBoard', { params: { board: name } })).to.include({
      visibility: 'private',
      agents_add_people: false,
    });
    const [changed, ...revoked] = await events(name, 3);
    expect(changed).to.deep.include({ type: 'board.visibility_changed' });
    expect(changed?.data).to.deep.equal({ before: 'open', after: 'private', reveals: null, agents_add_people: false });
    expect(revoked.map(({ type, data }) => [type, data])).to.deep.equal(
      codes.map((id) => ['joincode.revoked', { join_code_id: id }]),
    );
  });

  it('open lets everybody see and join it, and says what that reveals', async () => {
    const { name } = await newBoard(pam, { visibility: 'private' });
    for (let n = 0; n < 3; n++) await post(pam, name, `${n}`);
    const { body } = await turn(name, 'open');
    expect(body).to.deep.include({
      before: 'private',
      after: 'open',
      changed: true,
      reveals: { messages: 3, files: 0 },
      join_codes_canceled: 0,
      agents_add_people: false,
    });
    expect((await events(name, 5))[0]?.data).to.deep.include({ reveals: { messages: 3, files: 0 } });
    expect(await tom.ok('getBoard', { params: { board: name } })).to.include({ on_board: false, people_count: 1 });
    await tom.ok('addBoardPerson', { params: { board: name }, body: { handle: 'tom' } });
  });

  it('to what it is changes nothing', async () => {
    const { name } = await newBoard(pam);
    await addCodes(name, 1);
    const { body } = await turn(name, 'open');
    expect(body).to.deep.include({ changed: false, reveals: null, join_codes_canceled: 0, agents_add_people: true });
    await turn(name, 'private');
    const head = (await events(name, 0)).length;
    expect((await turn(name, 'private')).body).to.include({ changed: false, join_codes_canceled: 0 });
    expect(await events(name, head)).to.deep.equal([]);
  });

  it('is tried out without a trace, as often as asked under one key', async () => {
    const { name } = await newBoard(pam);
    await addCodes(name, 2);
    await post(pam, name, 'x');
    const before = await pam.ok('getBoard', { params: { board: name } });
    const first = await turn(name, 'private', { dry_run: true, key: `try-${name}` });
    expect(first.body).to.deep.include({
      changed: true,
      dry_run: true,
      join_codes_canceled: 2,
      agents_add_people: false,
    });
    expect(await pam.ok('getBoard', { params: { board: name } })).to.deep.equal(before);
    await addCodes(name, 1);
    const second = await turn(name, 'private', { dry_run: true, key: `try-${name}` });
    expect([second.replayed, second.body.join_codes_canceled]).to.deep.equal([false, 3]);
    const real = await turn(name, 'private', { key: `try-${name}` });
    expect([real.replayed, real.body.join_codes_canceled]).to.deep.equal([false, 3]);
    const again = await turn(name, 'private', { key: `try-${name}` });
    expect(again.replayed).to.equal(true);
    expect(again.body).to.deep.equal(real.body);
    const reveal = await turn(name, 'open', { dry_run: true });
    expect(reveal.body.reveals).to.deep.equal({ messages: 1, files: 0 });
  });

  it('is for owners, in the order of the contract', async () => {
    const [open, hidden] = [await newBoard(pam), await newBoard(pam, { visibility: 'private' })];
    const gus = await server.person('gus', 'guest');
    for (const visibility of ['open', 'private']) {
      expect(await refused(hidden.name, visibility, server.dana)).to.equal('404 board_not_found');
      expect(await refused(open.name, visibility, tom)).to.equal('403 not_on_board');
      expect(await refused(open.name, visibility, server.dana)).to.equal('403 not_on_board');
      expect(await refused(open.name, visibility, await newAgent(pam, open.name))).to.equal('403 human_token_required');
    }
    await pam.ok('addBoardPerson', { params: { board: open.name }, body: { handle: 'tom' } });
    await putOnBoard(server, open.name, gus);
    expect(await refused(open.name, 'private', tom)).to.equal('403 owner_required');
    expect(await refused(open.name, 'private', gus)).to.equal('403 guest_not_allowed');
    await pam.ok('archiveBoard', { params: { board: open.name } });
    expect(await refused(open.name, 'private', tom)).to.equal('403 owner_required');
    expect(await refused(open.name, 'open', tom)).to.equal('409 board_archived');
    expect(await refused(open.name, 'open', pam)).to.equal('409 board_archived');
    expect((await turn(open.name, 'private')).body).to.include({ changed: true });
    for (const body of [{}, { visibility: 'hidden' }, { visibility: 'open', extra: 1 }]) {
      expect(await pam.refused('setBoardVisibility', { params: { board: open.name }, body })).to.equal(
        '400 invalid_request',
      );
    }
  });

  it('tells people on it and, for an open board, everybody that their boards changed', async () => {
    const { name, id } = await newBoard(pam, { visibility: 'private' });
    const [hers, his] = [await TestStream.open(pam), await TestStream.open(tom)];
    for (const stream of [hers, his]) await stream.frame((frame) => frame.event === 'ready');
    await turn(name, 'open');
    for (const stream of [hers, his]) await stream.frame((frame) => frame.event === 'boards');
    await hers.frame((frame) => frame.event === 'head' && frame.data.board_id === id && frame.data.seq === 3);
    expect(his.frames.filter((frame) => frame.data.board_id === id)).to.deep.equal([]);
    for (const stream of [hers, his]) stream.close();
  });

  it('while somebody joins has one order: they are on it, or it was never there', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    for (let round = 0; round < 4; round++) {
      const { name } = await newBoard(pam);
      const joiner = await server.person(`joiner-${engine}-${round}`);
      const there = new Api(twin?.url ?? server.url, joiner.token);
      const [joined, turned] = await Promise.all([
        there.call('addBoardPerson', { params: { board: name }, body: { handle: `joiner-${engine}-${round}` } }),
        turn(name, 'private'),
      ]);
      expect(turned.body).to.include({ changed: true });
      const types = (await events(name, 2)).map(({ type }) => type);
      if (joined.status === 201) expect(types).to.deep.equal(['person.added', 'board.visibility_changed']);
      else {
        expect(joined.code).to.equal('board_not_found');
        expect(types).to.deep.equal(['board.visibility_changed']);
      }
    }
    await twin?.close();
  });
});
