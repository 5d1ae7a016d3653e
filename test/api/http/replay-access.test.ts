import { expect } from 'chai';
import type { Call } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, putOnBoard, revokeKey } from '../../support/state.ts';

forEachDatabase('a kept answer', (engine) => {
  let server: TestServer;
  let keys = 0;
  const newKey = () => `key ${++keys}`;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is not replayed to somebody who lost the board: they get what a new call gets', async () => {
    const fay = await server.person('fay');
    for (const visibility of ['private', 'open'] as const) {
      const board = await newBoard(server.dana, { visibility });
      await putOnBoard(server, board.name, fay);
      const call: Call = { params: { board: board.name }, body: { body: 'hi' }, key: newKey() };
      await fay.ok('postMessage', call);
      expect((await fay.call('postMessage', call)).replayed).to.equal(true);
      await endMember(server, await memberIdOf(server, board.name, fay), 'left');
      const gone = visibility === 'private' ? '404 board_not_found' : '403 not_on_board';
      expect(await fay.refused('postMessage', call)).to.equal(gone);
      expect(await fay.refused('postMessage', { ...call, key: newKey() })).to.equal(gone);
    }
  });

  it('of a reaction is refused like a new one once its message cannot be read: left, removed, hidden, deleted', async () => {
    const ivy = await server.person('ivy');
    for (const visibility of ['private', 'open'] as const) {
      for (const how of ['left', 'removed'] as const) {
        const board = await newBoard(server.dana, { visibility });
        await putOnBoard(server, board.name, ivy);
        const message = await post(server.dana, board.name, 'what do you think?');
        const params = { message: message.id, reaction: 'heart' };
        const calls = (['addReaction', 'removeReaction'] as const).map((name) => ({ name, key: newKey() }));
        for (const { name, key } of calls) {
          await ivy.ok(name, { params, key });
          expect((await ivy.call(name, { params, key })).replayed).to.equal(true);
        }
        await endMember(server, await memberIdOf(server, board.name, ivy), how);
        for (const { name, key } of calls) {
          expect(await ivy.refused(name, { params, key: newKey() })).to.equal('404 message_not_found');
          expect(await ivy.refused(name, { params, key }), `${visibility} ${how}`).to.equal('404 message_not_found');
        }
      }
    }
    const board = await newBoard(server.dana);
    const message = await post(server.dana, board.name, 'to be deleted');
    const params = { message: message.id, reaction: 'tada' };
    const key = newKey();
    const first = await server.dana.ok('addReaction', { params, key });
    await changeBoard(server, board.name, { lifecycle: 'archived' });
    const again = await server.dana.call('addReaction', { params, key });
    expect([again.replayed, again.body]).to.deep.equal([true, first]);
    await changeBoard(server, board.name, { lifecycle: 'deleted' });
    expect(await server.dana.refused('addReaction', { params, key })).to.equal('404 message_not_found');
  });

  it('of a word on a thread is refused like a new one to somebody who left', async () => {
    const joe = await server.person('joe');
    for (const visibility of ['private', 'open'] as const) {
      const board = await newBoard(server.dana, { visibility });
      await putOnBoard(server, board.name, joe);
      const agent = await newAgent(joe, board.name);
      const message = await post(agent, board.name, 'Retry design');
      const call: Call = { params: { message: message.id }, body: { action: 'stop' }, key: newKey() };
      await joe.ok('setThreadRun', call);
      expect((await joe.call('setThreadRun', call)).replayed).to.equal(true);
      await endMember(server, await memberIdOf(server, board.name, joe), 'left');
      expect(await joe.refused('setThreadRun', { ...call, key: newKey() })).to.equal('404 message_not_found');
      expect(await joe.refused('setThreadRun', call), visibility).to.equal('404 message_not_found');
    }
  });

  it('does not replay a refusal about a board, nor an acknowledgement, to somebody who left it', async () => {
    const gil = await server.person('gil');
    const board = await newBoard(server.dana);
    await putOnBoard(server, board.name, gil);
    const params = { board: board.name };
    const refused: Call = { params, body: { body: 'hi', to: ['@nobody'] }, key: newKey() };
    const ack: Call = { params, body: { up_to: 3 }, key: newKey() };
    await gil.call('postMessage', refused);
    await gil.call('ackBoard', ack);
    expect((await gil.call('postMessage', refused)).replayed).to.equal(true);
    expect((await gil.call('ackBoard', ack)).replayed).to.equal(true);
    await endMember(server, await memberIdOf(server, board.name, gil), 'left');
    expect(await gil.refused('postMessage', refused)).to.equal('403 not_on_board');
    expect(await gil.refused('ackBoard', ack)).to.equal('403 not_on_board');
  });

  it('does not replay what an archived board of that name told once the caller cannot read it', async () => {
    const hal = await server.person('hal');
    await newBoard(server.dana, { name: 'old-plans' });
    await changeBoard(server, 'old-plans', { lifecycle: 'archived' });
    const call: Call = { body: { name: 'old-plans' }, key: newKey() };
    const told = await hal.call('createBoard', call);
    expect(told.text).to.include('archived');
    await changeBoard(server, 'old-plans', { visibility: 'private' });
    const later = await hal.call('createBoard', call);
    expect(later.status).to.equal(409);
    expect(later.text).not.to.include('archived');
  });

  it('of a join is refused to a person who left the board, and to a revoked key', async () => {
    const jon = await server.person('jon');
    const board = await newBoard(server.dana);
    await putOnBoard(server, board.name, jon);
    const call: Call = { body: { board: board.name, role: 'member' }, key: newKey() };
    await jon.ok('joinBoard', call);
    expect((await jon.call('joinBoard', call)).replayed).to.equal(true);
    await endMember(server, await memberIdOf(server, board.name, jon), 'left');
    expect(await jon.refused('joinBoard', call)).to.equal('403 not_on_board');
    await revokeKey(server, jon);
    expect(await jon.refused('joinBoard', call)).to.equal('401 unauthorized');
  });
});
