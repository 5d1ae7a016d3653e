import { expect } from 'chai';
import { newAgent, newBoard, newCode, newDelegation } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('a field of a board’s request that is null', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is one left out, where it may be left out', async () => {
    const { dana, nobody } = server;
    const nothing = { title: null, template: null, charter: null, preset: null, visibility: null };
    const board = await dana.ok('createBoard', { body: { name: null, ...nothing } as object });
    expect(board).to.include({ title: null, template: null, charter: '', visibility: 'open' });
    const params = { board: board.name };

    const code = await newCode(dana, board.name, { guest: null, ttl_seconds: null });
    expect(code).to.include({ kind: 'pairing', guest: null });
    const byCode = await dana.ok('joinBoard', { body: { code: code.code, board: null, role: null } as object });
    const seat = { name: null, harness: null, session: null };
    const byName = await dana.ok('joinBoard', {
      body: { board: board.name, role: 'member', code: null, ...seat } as object,
    });
    expect([byCode.agent.name, byName.agent.name]).to.deep.equal(['member', 'member-2']);

    const guest = await newCode(dana, board.name, { guest: 'gale' });
    const body = { code: guest.code, key_name: 'laptop', name: null, harness: null, client_token: null };
    expect((await nobody.ok('joinAsGuest', { body: body as never })).key).to.have.property('token');

    const machine = await newDelegation(dana);
    const made = { session: 'claude-code:1', harness: 'claude-code', role: null, agent_name: null, ...nothing };
    const { agent } = await machine.ok('createDelegatedBoard', { body: made as never, key: 'nulls' });
    expect(agent).to.include({ role: 'member', name: 'claude' });

    const reported = await newAgent(dana, board.name);
    await reported.ok('setPresence', { body: { presence: 'idle', delivery: null } as never });
    const old = { disconnected_for: 3600, all: null, dry_run: true, agents: null };
    expect(await dana.ok('pruneAgents', { body: old as never })).to.include({ all: false });
    expect(
      await dana.ok('setBoardVisibility', { params, body: { visibility: 'private', dry_run: null } as never }),
    ).to.include({
      dry_run: false,
      after: 'private',
    });
  });

  it('changes nothing of a board, and is no change by itself', async () => {
    const { dana } = server;
    const board = await newBoard(dana, { title: 'Plans', charter: 'Be kind' });
    const patch = (body: object) => dana.call('updateBoard', { params: { board: board.name }, body });
    const { body } = await patch({
      title: null,
      charter: null,
      task_prefix: null,
      agents_add_people: null,
      policy: { preset: null, urgent: 'granted', broadcast: null },
      roles: { member: { can: ['post'], charter: null } },
    });
    expect(body).to.include({ title: 'Plans', charter: 'Be kind', task_prefix: null, agents_add_people: true });
    expect(body.policy).to.include({ preset: 'starter', urgent: 'granted', broadcast: 'everyone' });
    expect(body.roles).to.deep.equal({ member: { can: ['post'] } });
    for (const empty of [{ title: null }, { policy: null }, { policy: { urgent: null } }])
      expect((await patch(empty)).code, JSON.stringify(empty)).to.equal('invalid_request');
  });

  it('is refused where it must be given, or is not known', async () => {
    const { dana } = server;
    const { name } = await newBoard(dana);
    const params = { board: name };
    const calls = [
      dana.call('createBoard', { body: { nonsense: null } as object }),
      dana.call('setBoardVisibility', { params, body: { visibility: null } as never }),
      dana.call('addBoardPerson', { params, body: { handle: null } as never }),
      dana.call('createJoinCode', { params, body: { role: null } as never }),
      dana.call('updateBoard', { params, body: { roles: { member: null } } as never }),
    ];
    for (const { code } of await Promise.all(calls)) expect(code).to.equal('invalid_request');
  });
});
