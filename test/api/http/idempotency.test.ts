import { expect } from 'chai';
import { purgeKept } from '../../../src/server/operation/idempotency.store.ts';
import type { Api, Call } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard } from '../../support/state.ts';
import { until } from '../../support/until.ts';

const DAY = 86_400_000;

const bodies = async (reader: Api, board: string): Promise<string[]> =>
  (await reader.ok('listMessages', { params: { board } })).messages.map((message) => message.body);

const rows = (server: TestServer, key: string) =>
  server.db.read((tx) => tx.query<{ class: string; body: Buffer }>((db) => db('idempotency').where({ key }).select()));

forEachDatabase('a keyed request', (engine) => {
  let server: TestServer;
  let keys = 0;
  const newKey = () => `key ${++keys}`;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is answered with the first answer when repeated, and has one effect', async () => {
    const board = await newBoard(server.dana);
    const call: Call = { params: { board: board.name }, body: { body: 'once' }, key: newKey() };
    const first = await server.dana.call('postMessage', call);
    const second = await server.dana.call('postMessage', call);
    expect([first.status, first.replayed]).to.deep.equal([201, false]);
    expect([second.status, second.replayed]).to.deep.equal([201, true]);
    expect(second.text).to.equal(first.text);
    expect(await bodies(server.dana, board.name)).to.deep.equal(['once']);
  });

  it('is a new one without a key', async () => {
    const board = await newBoard(server.dana);
    await post(server.dana, board.name, 'same');
    await post(server.dana, board.name, 'same');
    expect(await bodies(server.dana, board.name)).to.have.length(2);
  });

  it('conflicts with another body, path, query or media type under the same key', async () => {
    const [board, other] = [await newBoard(server.dana), await newBoard(server.dana)];
    const key = newKey();
    const call: Call = { params: { board: board.name }, body: { body: 'first' }, key };
    await server.dana.ok('postMessage', call);
    const differing: Call[] = [
      { ...call, body: { body: 'second' } },
      { ...call, params: { board: other.name } },
      { ...call, query: { unknown: 1 } },
    ];
    for (const changed of differing) {
      expect(await server.dana.refused('postMessage', changed)).to.equal('422 idempotency_conflict');
    }
    expect(await server.dana.refused('ackBoard', { ...call, body: { up_to: 1 } })).to.equal('422 idempotency_conflict');
    expect(await bodies(server.dana, board.name)).to.deep.equal(['first']);
    expect(await bodies(server.dana, other.name)).to.deep.equal([]);
    // A conflict is not kept: the first answer still is.
    expect((await server.dana.call('postMessage', call)).replayed).to.equal(true);
  });

  it('is the same one with a parameter added to its media type', async () => {
    const board = await newBoard(server.dana);
    const call: Call = { params: { board: board.name }, body: { body: 'x' }, key: newKey() };
    await server.dana.ok('postMessage', call);
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await server.dana.call('postMessage', { ...call, headers })).replayed).to.equal(true);
  });

  it('belongs to its credential: another one may use the same key', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const call: Call = { params: { board: board.name }, body: { body: 'mine' }, key: newKey() };
    await server.dana.ok('postMessage', call);
    const other = await agent.call('postMessage', { ...call, body: { body: 'not yours' } });
    expect([other.status, other.replayed]).to.deep.equal([201, false]);
    expect(await bodies(server.dana, board.name)).to.deep.equal(['mine', 'not yours']);
  });

  it('sent 32 times at once has one effect, and 31 answers are replays of the one', async () => {
    const board = await newBoard(server.dana);
    for (const name of ['postMessage', 'joinBoard', 'ackBoard'] as const) {
      const body =
        name === 'postMessage'
          ? { body: 'twins' }
          : name === 'joinBoard'
            ? { board: board.name, role: 'member', name: 'twin' }
            : { up_to: 1 };
      const call: Call = { ...(name === 'joinBoard' ? {} : { params: { board: board.name } }), body, key: newKey() };
      const answers = await Promise.all(Array.from({ length: 32 }, () => server.dana.call(name, call)));
      expect(new Set(answers.map((answer) => answer.text)).size, name).to.equal(1);
      expect(answers.filter((answer) => !answer.replayed)).to.have.length(1);
      expect(answers.every((answer) => answer.status < 300)).to.equal(true);
    }
    expect(await bodies(server.dana, board.name)).to.deep.equal(['twins']);
    const { members } = await server.dana.ok('listMembers', {
      params: { board: board.name },
      query: { kind: 'agent' },
    });
    expect(members.map((member) => member.name)).to.deep.equal(['twin']);
  });

  it('creates one board of an allocated name when sent 32 times at once', async () => {
    const call: Call = { body: { template: 'general' }, key: newKey() };
    const answers = await Promise.all(Array.from({ length: 32 }, () => server.dana.call('createBoard', call)));
    expect(new Set(answers.map((answer) => answer.text)).size).to.equal(1);
    expect(answers.filter((answer) => !answer.replayed)).to.have.length(1);
  });

  it('keeps a refusal of a target: it is answered again although a new call would succeed', async () => {
    const board = await newBoard(server.dana);
    const call: Call = { params: { board: board.name }, body: { body: 'hi', to: ['@later'] }, key: newKey() };
    const first = await server.dana.call('postMessage', call);
    expect([first.status, first.code, first.replayed]).to.deep.equal([422, 'unknown_recipient', false]);
    await newAgent(server.dana, board.name, { name: 'later' });
    const second = await server.dana.call('postMessage', call);
    expect([second.status, second.text, second.replayed]).to.deep.equal([422, first.text, true]);
    expect((await server.dana.call('postMessage', { ...call, key: newKey() })).status).to.equal(201);
  });

  it('does not keep refusals of shape, access or lifecycle: a repeat runs afresh', async () => {
    const board = await newBoard(server.dana);
    const eve = await server.person('eve');
    const message = { params: { board: board.name }, body: { body: 'hi' }, key: newKey() };
    expect(await eve.refused('postMessage', message)).to.equal('403 not_on_board');
    await putOnBoard(server, board.name, eve);
    expect((await eve.call('postMessage', message)).replayed).to.equal(false);

    const archived = { ...message, key: newKey() };
    await changeBoard(server, board.name, { lifecycle: 'archived' });
    expect(await eve.refused('postMessage', archived)).to.equal('409 board_archived');
    await changeBoard(server, board.name, { lifecycle: 'active' });
    expect((await eve.call('postMessage', archived)).status).to.equal(201);

    const empty = { ...message, body: {}, key: newKey() };
    expect(await eve.refused('postMessage', empty)).to.equal('400 invalid_request');
    expect((await eve.call('postMessage', { ...message, key: empty.key })).status).to.equal(201);

    const long = { ...message, body: { body: 'x'.repeat(32_769) }, key: newKey() };
    expect(await eve.refused('postMessage', long)).to.equal('413 message_too_large');
    expect((await eve.call('postMessage', { ...message, key: long.key })).status).to.equal(201);

    const missing = { params: { board: 'not-yet' }, body: { body: 'hi' }, key: newKey() };
    expect(await server.dana.refused('postMessage', missing)).to.equal('404 board_not_found');
    await newBoard(server.dana, { name: 'not-yet' });
    expect((await server.dana.call('postMessage', missing)).status).to.equal(201);
  });

  it('is new again 24 hours after its answer, not a moment earlier, also with another body', async () => {
    const board = await newBoard(server.dana);
    const call: Call = { params: { board: board.name }, body: { body: 'day one' }, key: newKey() };
    await server.dana.ok('postMessage', call);
    server.clock.advance(DAY - 5_000);
    expect((await server.dana.call('postMessage', call)).replayed).to.equal(true);
    server.clock.advance(5_000);
    const next = await server.dana.call('postMessage', { ...call, body: { body: 'day two' } });
    expect([next.status, next.replayed]).to.deep.equal([201, false]);
    expect(await bodies(server.dana, board.name)).to.deep.equal(['day one', 'day two']);
  });

  it('is purged from the database after its end, and not before', async () => {
    const board = await newBoard(server.dana);
    const [older, newer] = [newKey(), newKey()];
    const idle = () => until(() => server.clock.waiting(600_000) > 0, 'no purge is running');
    await server.dana.ok('postMessage', { params: { board: board.name }, body: { body: 'x' }, key: older });
    await idle();
    server.clock.advance(DAY / 2);
    await server.dana.ok('postMessage', { params: { board: board.name }, body: { body: 'x' }, key: newer });
    await idle();
    server.clock.advance(DAY / 2);
    await until(async () => (await rows(server, older)).length === 0, 'the older row is gone');
    expect(await rows(server, newer)).to.have.length(1);
  });

  it('is purged also behind what was kept while the clock was far ahead', async () => {
    const board = await newBoard(server.dana);
    const [ahead, passed] = [newKey(), newKey()];
    const purgeLater = server.clock.holdBack(599_999);
    for (const [key, days] of [
      [ahead, 365],
      [passed, -365],
    ] as const) {
      server.clock.advance(days * DAY);
      await server.dana.ok('postMessage', { params: { board: board.name }, body: { body: 'x' }, key });
    }
    server.clock.advance(DAY);
    while ((await server.db.write((tx) => purgeKept(tx, 1))) > 0);
    expect([await rows(server, ahead), await rows(server, passed)].map(({ length }) => length)).to.deep.equal([1, 0]);
    purgeLater();
  });

  it('is replayed on an archived board, and never on a deleted one', async () => {
    const board = await newBoard(server.dana);
    const call: Call = { params: { board: board.name }, body: { body: 'hi' }, key: newKey() };
    const create: Call = { body: { name: 'soon-gone' }, key: newKey() };
    await server.dana.ok('postMessage', call);
    await server.dana.ok('createBoard', create);
    for (const name of [board.name, 'soon-gone']) await changeBoard(server, name, { lifecycle: 'archived' });
    expect((await server.dana.call('postMessage', call)).replayed).to.equal(true);
    expect((await server.dana.call('createBoard', create)).body.lifecycle).to.equal('active');
    for (const name of [board.name, 'soon-gone']) await changeBoard(server, name, { lifecycle: 'deleted' });
    expect(await server.dana.refused('postMessage', call)).to.equal('404 board_not_found');
    expect(await server.dana.refused('createBoard', create)).to.equal('404 board_not_found');
  });

  it('takes a key of 1 to 128 printable characters and refuses every other', async () => {
    const board = await newBoard(server.dana);
    const send = (key: string) =>
      server.dana.call('postMessage', { params: { board: board.name }, body: { body: 'x' }, key });
    for (const key of ['k', '~ !"', 'k'.repeat(128)]) expect((await send(key)).status).to.equal(201);
    for (const key of ['', 'k'.repeat(129), 'k\tk', 'k\u00e9']) {
      expect((await send(key)).code, JSON.stringify(key)).to.equal('invalid_request');
    }
    expect(await bodies(server.dana, board.name)).to.have.length(3);
  });

  it('lets a read ignore the key', async () => {
    const key = newKey();
    expect((await server.dana.call('getMe', { key })).status).to.equal(200);
    expect((await server.dana.call('getMe', { key: 'k'.repeat(200) })).replayed).to.equal(false);
    expect(await rows(server, key)).to.deep.equal([]);
  });
});
