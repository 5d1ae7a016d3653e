import { expect } from 'chai';
import { purgeDelegations } from '../../../src/server/delegations/delegations.store.ts';
import { Api, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, changeKey, putOnBoard, removePerson, revokeKey } from '../../support/state.ts';

const DAY = 86_400_000;

forEachDatabase('a machine delegation', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const make = async (from: Api, name = 'laptop') => {
    const made = await from.ok('createDelegation', { body: { name } });
    return { ...made, api: new Api(from.url, made.token) };
  };
  const working = (from: Api, query = {}) => from.ok('listDelegations', { query });
  const ids = async (from: Api, query = {}) => (await working(from, query)).delegations.map(({ id }) => id);

  it('is made by a person’s key, shown once, and names the key it came from', async () => {
    const ann = await server.person('ann');
    const { status, body, headers } = await ann.call('createDelegation', { body: { name: 'ann-laptop' } });
    expect([status, headers.get('cache-control')]).to.deep.equal([201, 'no-store']);
    expect(body).to.have.all.keys('id', 'name', 'key_id', 'created_at', 'token');
    expect(body.token).to.match(/^abd_[A-Za-z0-9_-]{43}$/);
    const { person, delegations, next_after } = await working(ann);
    expect([person.handle, next_after]).to.deep.equal(['ann', null]);
    const { token, ...shown } = body;
    expect(delegations).to.deep.equal([{ ...shown, state: 'working', ended_at: null }]);
    const [row] = await server.db.read((tx) => tx.query((db) => db('delegations').where('id', body.id)));
    expect(JSON.stringify(row)).not.to.include(token);
    for (const name of ['', 'Ann', 'x'.repeat(41), '-x', 'a--b']) {
      expect(await ann.refused('createDelegation', { body: { name } }), name).to.equal('400 invalid_request');
    }
  });

  it('is for guests too, and shows them the boards they are on', async () => {
    const gus = await server.person('gus', 'guest');
    const { name: own } = await newBoard(server.dana);
    await newBoard(server.dana, { name: 'guests-see-not' });
    await putOnBoard(server, own, gus);
    const { api } = await make(gus);
    expect((await api.ok('listBoards', { query: { all: true } })).boards.map(({ name }) => name)).to.deep.equal([own]);
  });

  it('lists, joins and creates boards, and nothing else', async () => {
    const bo = await server.person('bo');
    const { api } = await make(bo);
    expect(await api.refused('getMe')).to.equal('403 forbidden');
    expect(await api.refused('getBoard', { params: { board: 'nowhere' } })).to.equal('403 forbidden');
    expect(await api.refused('createDelegation', { body: { name: 'more' } })).to.equal('403 human_token_required');
    expect(await api.refused('listDelegations')).to.equal('403 human_token_required');
    const { name: board } = await newBoard(bo);
    const agent = await newAgent(bo, board);
    expect(await agent.refused('createDelegation', { body: { name: 'x' } })).to.equal('403 human_token_required');
  });

  it('sees every board its person sees, whatever is asked, with nothing of what they read or may do', async () => {
    const cy = await server.person('cy', 'admin');
    const { name: own } = await newBoard(cy, { visibility: 'private' });
    const { name: old } = await newBoard(cy);
    await changeBoard(server, old, { lifecycle: 'archived' });
    const { name: open } = await newBoard(server.dana);
    const { name: hidden } = await newBoard(server.dana, { visibility: 'private' });
    const { api } = await make(cy);
    for (const all of [true, false]) {
      const list = await api.ok('listBoards', { query: { all } });
      const names = list.boards.map(({ name }) => name);
      expect(names).to.include.members([own, open]);
      expect(names).not.to.include(hidden).and.not.to.include(old);
      expect(list).not.to.have.property('hidden_boards');
      expect([list.archived_count, list.next_hidden_after]).to.deep.equal([1, null]);
      for (const board of list.boards) {
        expect(board).not.to.have.any.keys('read_up_to', 'unread', 'needs_reply');
        expect([board.can_archive, board.can_restore, board.can_delete]).to.deep.equal([false, false, false]);
        expect(board.agent_count === undefined).to.equal(board.name !== own);
      }
    }
    const archived = await api.ok('listBoards', { query: { lifecycle: 'archived' } });
    expect(archived.boards.map(({ name }) => name)).to.deep.equal([old]);
  });

  it('counts as a use of its key', async () => {
    const dot = await server.person('dot', 'member', { idleSeconds: 3_600 });
    const { api, key_id } = await make(dot);
    const used = async () => {
      const [key] = await server.db.read((tx) =>
        tx.query<{ last_used_at: number; expires_at: number }>((db) => db('access_keys').where('id', key_id)),
      );
      return key;
    };
    const before = await used();
    server.clock.advance(120_000);
    await api.ok('listBoards');
    const after = await used();
    expect((after?.last_used_at ?? 0) - (before?.last_used_at ?? 0)).to.be.at.least(120_000);
    expect((after?.expires_at ?? 0) - (after?.last_used_at ?? 0)).to.equal(3_600_000);
  });

  it('takes the place of the earlier one with its name under the same key, and of no other', async () => {
    const dee = await server.person('dee');
    const [first, other] = [await make(dee), await make(dee, 'desktop')];
    const second = await make(dee);
    expect(await first.api.refused('listBoards')).to.equal('401 delegation_revoked');
    for (const { api } of [second, other]) await api.ok('listBoards');
    expect(await ids(dee)).to.have.members([second.id, other.id]);
    const { delegations } = await working(dee, { state: 'all' });
    expect(delegations.map(({ id }) => id)).to.deep.equal([first.id, other.id, second.id].sort());
    expect(delegations.find(({ id }) => id === first.id)).to.include({ state: 'ended', ended_at: second.created_at });
  });

  it('is not kept under a key of the client’s: a repeat makes another and ends the first', async () => {
    const eli = await server.person('eli');
    const call = { body: { name: 'laptop' }, key: 'same' };
    const [first, second] = [await eli.call('createDelegation', call), await eli.call('createDelegation', call)];
    expect([second.status, second.replayed]).to.deep.equal([201, false]);
    expect(second.body.id).not.to.equal(first.body.id);
    expect(await new Api(server.url, first.body.token).refused('listBoards')).to.equal('401 delegation_revoked');
    const kept = await server.db.read((tx) => tx.query((db) => db('idempotency').where({ key: 'same' })));
    expect(kept).to.deep.equal([]);
  });

  it('is ended by its person, once', async () => {
    const [fay, gil] = [await server.person('fay'), await server.person('gil')];
    const { id, api } = await make(fay);
    const params = { delegation: id };
    expect(await gil.refused('endDelegation', { params })).to.equal('404 delegation_not_found');
    expect(await fay.refused('endDelegation', { params: { delegation: 'x' } })).to.equal('400 invalid_request');
    await api.ok('listBoards');
    const ended = await fay.call('endDelegation', { params, key: 'end it' });
    expect(ended.body.state).to.equal('ended');
    expect(await api.refused('listBoards')).to.equal('401 delegation_revoked');
    expect((await fay.call('endDelegation', { params, key: 'end it' })).replayed).to.equal(true);
    server.clock.advance(5_000);
    expect(await fay.ok('endDelegation', { params })).to.deep.equal(ended.body);
    expect(await ids(fay)).to.deep.equal([]);
  });

  it('ends with its key, by revocation or expiry, and with its person', async () => {
    const [hal, ida, jon] = [await server.person('hal'), await server.person('ida'), await server.person('jon')];
    const [halsOwn, idasOwn, jonsOwn] = [await make(hal), await make(ida), await make(jon)];
    await revokeKey(server, hal);
    await changeKey(server, ida, { expires_at: server.clock.now() + 60_000 });
    server.clock.advance(59_000);
    await idasOwn.api.ok('listBoards');
    server.clock.advance(1_000);
    await removePerson(server, jon);
    for (const { api } of [halsOwn, idasOwn, jonsOwn]) {
      expect(await api.refused('listBoards')).to.equal('401 delegation_revoked');
    }
  });

  it('is listed as ended once its key has ended, with the time of that', async () => {
    const kim = await server.person('kim');
    const { id, key_id } = await make(kim);
    const now = server.clock.now();
    const another = key_id.slice(0, -2).concat(key_id.endsWith('ZZ') ? 'YY' : 'ZZ');
    await server.db.write(async (tx) => {
      const [key] = await tx.query<Record<string, unknown>>((db) => db('access_keys').where('id', key_id));
      const second = {
        ...key,
        id: another,
        digest: server.root.digest(`abh_${'k'.repeat(43)}`),
      };
      await tx.change((db) => db('access_keys').insert(second));
      await tx.change((db) =>
        db('access_keys')
          .where('id', key_id)
          .update({ expires_at: now - 1_000 }),
      );
    });
    const other = new Api(server.url, `abh_${'k'.repeat(43)}`);
    expect(await ids(other)).to.deep.equal([]);
    const { delegations } = await working(other, { state: 'all', key: key_id });
    expect(delegations).to.deep.include({
      id,
      name: 'laptop',
      key_id,
      created_at: delegations[0]?.created_at,
      state: 'ended',
      ended_at: new Date(now - 1_000).toISOString(),
    });
    expect(await ids(other, { state: 'all', key: another })).to.deep.equal([]);
    const foreign = (await make(await server.person('lea'))).key_id;
    expect(await other.refused('listDelegations', { query: { key: foreign } })).to.equal('404 key_not_found');
  });

  it('is listed in pages that stay where they were', async () => {
    const max = await server.person('max');
    const made = [];
    for (const n of [1, 2, 3, 4, 5]) made.push((await make(max, `m-${n}`)).id);
    const first = await working(max, { limit: 2 });
    const second = await working(max, { limit: 2, after: first.next_after ?? '' });
    const third = await working(max, { limit: 2, after: second.next_after ?? '' });
    expect([...first.delegations, ...second.delegations, ...third.delegations].map(({ id }) => id)).to.have.members(
      made,
    );
    expect(third.next_after).to.equal(null);
    expect(await max.refused('listDelegations', { query: { after: 'nonsense' } })).to.equal('400 invalid_request');
  });

  it('is one of at most 50 of its key, also when the last are made at once', async () => {
    const nat = await server.person('nat');
    for (let n = 1; n <= 48; n++) await make(nat, `m-${n}`);
    const answers = await Promise.all(
      [49, 50, 51, 52, 53].map((n) => nat.call('createDelegation', { body: { name: `m-${n}` } })),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(2);
    expect(answers.filter(({ code }) => code === 'limit_reached')).to.have.length(3);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused && detailsOf(refused)).to.deep.equal({ what: 'working delegations of this key', limit: 50 });
    // One that takes the place of another needs no room.
    await make(nat, 'm-1');
  });

  it('is forgotten 90 days after its end, and answers as before', async () => {
    const oda = await server.person('oda');
    const [ended, open] = [await make(oda), await make(oda, 'other')];
    await oda.ok('endDelegation', { params: { delegation: ended.id } });
    const left = async () => {
      await server.db.write((tx) => purgeDelegations(tx, 1_000));
      return ids(oda, { state: 'all' });
    };
    server.clock.advance(90 * DAY - 60_000);
    expect(await left()).to.include.members([ended.id, open.id]);
    server.clock.advance(60_000);
    expect(await left()).to.deep.equal([open.id]);
    expect(await ended.api.refused('listBoards')).to.equal('401 delegation_revoked');
    await open.api.ok('listBoards');
  });

  it('has one winner of two made at once with one name, in one process or two', async () => {
    const pia = await server.person('pia');
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = new Api(twin?.url ?? server.url, pia.token);
    const made = await Promise.all(Array.from({ length: 16 }, (_unused, n) => make(n % 2 ? pia : there)));
    const [id, ...more] = await ids(pia);
    expect(more).to.deep.equal([]);
    for (const { id: each, api } of made) {
      const { code } = await api.call('listBoards');
      expect(code, each).to.equal(each === id ? undefined : 'delegation_revoked');
    }
    await twin?.close();
  });
});
