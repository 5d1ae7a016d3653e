import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { inConstantUse } from '../../support/endings.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { revokeKey } from '../../support/state.ts';
import { until } from '../../support/until.ts';

interface Key {
  last_used_at: number | null;
  expires_at: number | null;
}

forEachDatabase('the last use of a key', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const newPerson = (options = {}) => server.person(`person-${++people}`, 'member', options);
  const keyOf = async (person: Api): Promise<Key> => {
    const rows = await server.db.read((tx) =>
      tx.query<Key>((db) => db('access_keys').where('person_id', person.personId).select()),
    );
    return rows[0] as Key;
  };
  /** Waits until a use was recorded that is newer than another one. */
  const usedAfter = async (person: Api, time: number) => {
    await until(async () => ((await keyOf(person)).last_used_at ?? 0) > time, 'a newer use is recorded');
    return keyOf(person);
  };

  it('is recorded at the first request and then at most once a minute', async () => {
    const pam = await newPerson();
    expect((await keyOf(pam)).last_used_at).to.equal(null);
    await pam.ok('getMe');
    const first = (await usedAfter(pam, 0)).last_used_at as number;
    expect(first).to.be.within(server.clock.now() - 5_000, server.clock.now() + 1_000);
    server.clock.advance(50_000);
    for (let n = 0; n < 3; n++) await pam.ok('getMe');
    expect((await keyOf(pam)).last_used_at).to.equal(first);
    server.clock.advance(10_000);
    await pam.ok('getMe');
    expect((await usedAfter(pam, first)).last_used_at).to.be.at.least(first + 60_000);
  });

  it('counts reads, writes, refusals, and what the key’s agents do', async () => {
    const pam = await newPerson();
    const { name: board } = await newBoard(pam);
    const agent = await newAgent(pam, board);
    const uses: (() => Promise<unknown>)[] = [
      () => pam.ok('listBoards'),
      () => pam.ok('postMessage', { params: { board }, body: { body: 'x' } }),
      () => pam.refused('getBoard', { params: { board: 'nowhere' } }),
      () => pam.refused('postMessage', { params: { board }, body: {} }),
      () => pam.refused('readInbox'),
      () => agent.ok('readInbox'),
      () => agent.refused('createBoard', { body: {} }),
    ];
    for (const use of uses) {
      const before = (await keyOf(pam)).last_used_at ?? 0;
      server.clock.advance(60_000);
      await use();
      await usedAfter(pam, before);
    }
  });

  it('is recorded while writes by the key never pause', async () => {
    const pam = await newPerson();
    const use = await inConstantUse([pam], (await newBoard(pam)).name);
    const before = (await keyOf(pam)).last_used_at ?? 0;
    server.clock.advance(60_000);
    await pam.ok('getMe');
    await usedAfter(pam, before);
    await revokeKey(server, pam);
    await use.ended;
  });

  it('does not count a request refused before its credential was looked at', async () => {
    const pam = await newPerson();
    const host = new URL(server.url).host;
    const bearer = `Authorization: Bearer ${pam.token}`;
    const refused = [
      lines('GET /v1/me HTTP/1.1', 'Host: example.com', bearer),
      lines('GET /v1/nothing HTTP/1.1', `Host: ${host}`, bearer),
      lines('GET /v1/me HTTP/1.1', `Host: ${host}`, bearer, bearer),
      lines(`GET /v1/me?${'x'.repeat(9_000)} HTTP/1.1`, `Host: ${host}`, bearer),
      lines('POST /v1/boards HTTP/1.1', `Host: ${host}`, bearer, 'Content-Length: 2000000'),
    ];
    for (const bytes of refused) expect((await exchange(server.url, bytes)).status).to.be.greaterThan(399);
    await server.dana.ok('getMe');
    expect((await keyOf(pam)).last_used_at).to.equal(null);
  });

  it('moves the end of an idle key, and only of such a key', async () => {
    const idle = await newPerson({ expiresIn: 3_600, idleSeconds: 3_600 });
    const fixed = await newPerson({ expiresIn: 7_200 });
    const end = (await keyOf(fixed)).expires_at;
    for (let n = 0; n < 3; n++) {
      const before = (await keyOf(idle)).last_used_at ?? 0;
      server.clock.advance(1_800_000);
      await idle.ok('getMe');
      const { last_used_at, expires_at } = await usedAfter(idle, before);
      expect((expires_at ?? 0) - (last_used_at ?? 0)).to.equal(3_600_000);
      await fixed.ok('getMe');
      expect((await keyOf(fixed)).expires_at).to.equal(end);
    }
    server.clock.advance(3_600_000);
    expect(await idle.refused('getMe')).to.equal('401 unauthorized');
    expect(await fixed.refused('getMe')).to.equal('401 unauthorized');
  });
});
