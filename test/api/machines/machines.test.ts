import { expect } from 'chai';
import type { AccessKey, Answer } from '../../../src/contract/types.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeKey, newBrowser, removePerson, revokeKey } from '../../support/state.ts';
import { told } from '../../support/told.ts';
import { until } from '../../support/until.ts';

type Started = Answer<'createMachineRequest'>;
type Connected = Extract<Answer<'collectMachineKey'>, { key: unknown }>;

forEachDatabase('a machine that asks for a key', (engine) => {
  let server: TestServer;
  let maya: Api;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    maya = await server.person(`maya-${++people}`);
    await server.db.write((tx) => tx.change((db) => db('machine_requests').delete()));
  });
  after(() => server.stop());

  const handleOf = async (person: Api) => (await person.ok('getMe')).name;
  const ask = async (person: Api, label = 'desktop'): Promise<Started> =>
    server.nobody.ok('createMachineRequest', { body: { handle: await handleOf(person), label } });
  const approve = (person: Api, { code }: Started, key?: string) =>
    person.call('approveMachineRequest', { body: { code }, ...(key ? { key } : {}) });
  const collect = ({ secret }: Started, wait_seconds?: number, signal?: AbortSignal) =>
    server.nobody.call('collectMachineKey', {
      body: { secret, ...(wait_seconds === undefined ? {} : { wait_seconds }) },
      ...(signal ? { signal } : {}),
    });
  const rowOf = async ({ secret }: Started) => {
    const rows = await server.db.read((tx) =>
      tx.query<{ id: string; polls: number; state: string }>((db) =>
        db('machine_requests').where('secret_digest', server.root.digest(secret)).select('id', 'polls', 'state'),
      ),
    );
    return rows[0] ?? { id: '', polls: -1, state: 'gone' };
  };
  it('gets one of its own, once, after its person approved the short code', async () => {
    const request = await ask(maya);
    expect(request.code).to.match(/^[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}$/);
    expect(Date.parse(request.expires_at) - server.clock.now()).to.be.within(295_000, 301_000);
    const early = await collect(request);
    expect(early.status).to.equal(202);
    expect(early.body).to.deep.equal({ state: 'pending', expires_at: request.expires_at, poll_interval_seconds: 2 });

    const seen = await maya.ok('lookUpMachineRequest', {
      body: { code: request.code.toLowerCase().replace('-', ' ') },
    });
    expect(seen).to.include({ label: 'desktop', state: 'pending', requested_from: '127.0.0.1' });
    expect(seen.person.id).to.equal(maya.personId);
    expect((await approve(maya, request)).body).to.deep.equal({ ...seen, state: 'approved' });

    const { status, body } = await collect(request);
    expect(status).to.equal(201);
    const { server_id, person, key } = body as Connected;
    expect(server_id).to.equal((await server.nobody.ok('getInfo')).server_id);
    expect(person).to.deep.equal(seen.person);
    expect(key).to.include({ name: 'desktop', origin: 'machine', idle_expiry_seconds: 7_776_000, state: 'working' });
    expect((await new Api(server.url, key.token).ok('getMe')).id).to.equal(maya.personId);
    expect(told(await collect(request))).to.deep.equal(told(await collect({ ...request, secret: 'abc_wrong' })));
  });

  it('has a key that does not depend on the one that approved it', async () => {
    const request = await ask(maya);
    await approve(maya, request);
    const { key } = (await collect(request)).body as Connected;
    await revokeKey(server, maya);
    expect((await new Api(server.url, key.token).ok('getMe')).id).to.equal(maya.personId);
  });

  it('gets a name of its own for the key when a working one has its label, cut to fit', async () => {
    const long = 'a'.repeat(40);
    const names: string[] = [];
    for (const label of ['laptop', 'laptop', long, long]) {
      const request = await ask(maya, label);
      await approve(maya, request);
      names.push(((await collect(request)).body as Connected).key.name);
    }
    expect(names).to.deep.equal(['laptop-2', 'laptop-3', long, `${'a'.repeat(38)}-2`]);
  });

  it('is told of its refusal, as often as it asks', async () => {
    const request = await ask(maya);
    const refused = await maya.ok('refuseMachineRequest', { body: { code: request.code } });
    expect(refused.state).to.equal('refused');
    for (let n = 0; n < 2; n++) {
      const answer = await collect(request);
      expect(`${answer.status} ${answer.code}`).to.equal('403 machine_request_refused');
    }
  });

  it('writes down the decision and the key for the operator, and no secret anywhere', async () => {
    const request = await ask(maya, 'audited');
    await approve(maya, request);
    server.clock.advance(1);
    const { key } = (await collect(request)).body as Connected;
    const { id } = await rowOf(request);
    const rows = await server.db.read((tx) =>
      tx.query<Record<string, string>>((db) =>
        db('server_audit')
          .where('actor_person_id', maya.personId ?? '')
          .orderBy('id')
          .select('*'),
      ),
    );
    expect(rows.map((row) => [row['action'], row['target_id']])).to.deep.equal([
      ['machine.approved', id],
      ['key.created', key.id],
    ]);
    const all = await server.db.read((tx) => tx.query((db) => db('machine_requests').select('*')));
    const stored = JSON.stringify([all, rows]) + server.log.join('\n');
    for (const secret of [request.secret, request.code, key.token]) expect(stored).not.to.include(secret);
  });

  it('is answered alike whether or not anybody has the handle, and nobody can approve for nobody', async () => {
    const shape = (answer: Started) => [Object.keys(answer), answer.code.length, answer.secret.length];
    const real = await ask(maya);
    const made = await server.nobody.ok('createMachineRequest', { body: { handle: 'no one at all', label: 'x' } });
    expect(shape(made)).to.deep.equal(shape(real));
    expect((await approve(maya, made)).code).to.equal('machine_request_invalid');
    expect((await collect(made)).status).to.equal(202);
  });

  it('is nobody’s for good where nobody had the handle, also once somebody takes it', async () => {
    const handle = `newcomer-${people}`;
    const early = await server.nobody.ok('createMachineRequest', { body: { handle, label: 'x' } });
    server.clock.advance(1);
    const newcomer = await server.person(handle);
    expect((await approve(newcomer, early)).code).to.equal('machine_request_invalid');
    expect((await approve(newcomer, await ask(newcomer))).status).to.equal(200);
  });

  it('takes the handle as people write it', async () => {
    const handle = (await handleOf(maya)).toUpperCase();
    const request = await server.nobody.ok('createMachineRequest', { body: { handle: `  @${handle} `, label: 'x' } });
    expect((await approve(maya, request)).status).to.equal(200);
  });

  it('is refused alike to people it does not ask for, and with a wrong, used or expired code', async () => {
    const ben = await server.person(`ben-${people}`);
    const [open, approved, refused, old] = [await ask(maya), await ask(maya), await ask(maya), await ask(maya)];
    await approve(maya, approved);
    await maya.ok('refuseMachineRequest', { body: { code: refused.code } });
    await server.db.write(async (tx) =>
      tx.change((db) =>
        db('machine_requests').where('secret_digest', server.root.digest(old.secret)).update({ expires_at: tx.now }),
      ),
    );
    const lookUp = async (person: Api, code: string) =>
      told(await person.call('lookUpMachineRequest', { body: { code } }));
    const wrong = await lookUp(maya, '000-000');
    expect(wrong).to.include({ status: 404 });
    for (const name of ['lookUpMachineRequest', 'approveMachineRequest', 'refuseMachineRequest'] as const) {
      for (const [person, code] of [
        [ben, open.code],
        [maya, approved.code],
        [maya, refused.code],
        [maya, old.code],
        [maya, ''],
        [maya, 'not a code at all'],
      ] as const) {
        expect(told(await person.call(name, { body: { code } })), `${name} ${code}`).to.deep.equal(wrong);
      }
    }
    expect((await lookUp(maya, open.code)).status).to.equal(200);
  });

  it('follows its person’s handle of the moment', async () => {
    const request = await ask(maya);
    await server.db.write((tx) =>
      tx.change((db) =>
        db('people')
          .where('id', maya.personId ?? '')
          .update({ handle: `may-${people}` }),
      ),
    );
    expect((await approve(maya, request)).code).to.equal('machine_request_invalid');
  });

  it('is not for guests, agents and browsers to decide', async () => {
    const guest = await server.person(`gus-${people}`, 'guest');
    const request = await ask(guest);
    for (const name of ['lookUpMachineRequest', 'approveMachineRequest', 'refuseMachineRequest'] as const) {
      expect(await guest.refused(name, { body: { code: request.code } })).to.equal('403 guest_not_allowed');
    }
    const board = await newBoard(maya);
    for (const api of [await newAgent(maya, board.name), await newBrowser(server, maya)]) {
      expect(await api.refused('approveMachineRequest', { body: { code: request.code } })).to.equal(
        '403 human_token_required',
      );
    }
  });

  it('gets nothing when the approving key or its person ended before the collection', async () => {
    const wrong = told(await collect({ secret: 'abc_wrong' } as Started));
    for (const end of [
      (person: Api) => revokeKey(server, person),
      (person: Api) => changeKey(server, person, { expires_at: server.clock.now() }),
      (person: Api) => removePerson(server, person),
    ]) {
      const person = await server.person(`end-${++people}`);
      const request = await ask(person);
      await approve(person, request);
      await end(person);
      expect(told(await collect(request))).to.deep.equal(wrong);
      const keys = await server.db.read((tx) =>
        tx.query((db) =>
          db('access_keys')
            .where('person_id', person.personId ?? '')
            .select('id'),
        ),
      );
      expect(keys).to.have.length(1);
    }
  });

  it('ends five minutes after it began, whatever was decided', async () => {
    const wrong = told(await collect({ secret: 'abc_wrong' } as Started));
    const requests = [await ask(maya), await ask(maya), await ask(maya)];
    await approve(maya, requests[1] as Started);
    await maya.ok('refuseMachineRequest', { body: { code: requests[2]?.code } });
    server.clock.advance(300_000);
    for (const request of requests) expect(told(await collect(request))).to.deep.equal(wrong);
  });

  it('may ask 200 times', async () => {
    const request = await ask(maya);
    const { id } = await rowOf(request);
    await server.db.write((tx) => tx.change((db) => db('machine_requests').where({ id }).update({ polls: 199 })));
    expect((await collect(request)).status).to.equal(202);
    expect((await collect(request)).code).to.equal('machine_request_invalid');
    expect((await approve(maya, request)).code).to.equal('machine_request_invalid');
  });

  it('may wait in its last poll', async () => {
    const request = await ask(maya);
    const { id } = await rowOf(request);
    await server.db.write((tx) => tx.change((db) => db('machine_requests').where({ id }).update({ polls: 199 })));
    const waiting = collect(request, 21);
    await until(() => server.clock.waiting(21_000) === 1, 'it sleeps');
    server.clock.advance(21_000);
    expect((await waiting).status).to.equal(202);
    expect((await rowOf(request)).polls).to.equal(200);
  });

  it('waits for the decision as one poll, holding no connection to the database', async () => {
    const requests = await Promise.all(Array.from({ length: 20 }, () => ask(maya)));
    const waiting = requests.map((request) => collect(request, 20));
    await until(() => server.clock.waiting(20_000) === 20, 'all of them sleep');
    const [first, second, ...rest] = requests as [Started, Started, ...Started[]];
    await approve(maya, first);
    await maya.ok('refuseMachineRequest', { body: { code: second.code } });
    expect((await waiting[0])?.status).to.equal(201);
    expect((await waiting[1])?.code).to.equal('machine_request_refused');
    server.clock.advance(20_000);
    for (const answer of await Promise.all(waiting.slice(2))) expect(answer.status).to.equal(202);
    for (const request of rest) expect((await rowOf(request)).polls).to.equal(1);
  });

  it('wakes at its end when that comes before the wait is over', async () => {
    const request = await ask(maya);
    server.clock.advance(290_000);
    const waiting = collect(request, 25);
    await until(async () => (await rowOf(request)).polls === 1, 'the poll is counted');
    server.clock.advance(11_000);
    expect((await waiting).code).to.equal('machine_request_invalid');
  });

  it('that has gone away while it waited does not use its key up', async () => {
    const request = await ask(maya);
    const controller = new AbortController();
    const waiting = collect(request, 22, controller.signal);
    await until(() => server.clock.waiting(22_000) === 1, 'it sleeps');
    controller.abort();
    expect(
      await waiting.then(
        () => 'answered',
        () => 'gone',
      ),
    ).to.equal('gone');
    await until(() => server.clock.waiting(22_000) === 0, 'the server noticed');
    await approve(maya, request);
    expect((await collect(request)).status).to.equal(201);
  });

  it('has one winner of approval and refusal', async () => {
    for (let n = 0; n < 5; n++) {
      const request = await ask(maya);
      const answers = await Promise.all([
        maya.call('approveMachineRequest', { body: { code: request.code } }),
        maya.call('refuseMachineRequest', { body: { code: request.code } }),
      ]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 404]);
      const won = answers[0]?.status === 200;
      expect((await collect(request)).status).to.equal(won ? 201 : 403);
    }
  });

  it('has one winner of ten collections', async () => {
    const request = await ask(maya);
    await approve(maya, request);
    const answers = await Promise.all(Array.from({ length: 10 }, () => collect(request)));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter(({ code }) => code === 'machine_request_invalid')).to.have.length(9);
  });

  it('has keys of different names when two are collected at once', async () => {
    const requests = [await ask(maya, 'twin'), await ask(maya, 'twin'), await ask(maya, 'twin')];
    for (const request of requests) await approve(maya, request);
    const keys = (await Promise.all(requests.map((request) => collect(request)))).map(
      ({ body }) => (body as Connected).key as AccessKey,
    );
    expect(keys.map(({ name }) => name).sort()).to.deep.equal(['twin', 'twin-2', 'twin-3']);
  });

  it('waits with its key while its person has as many as one may have', async () => {
    const request = await ask(maya);
    await approve(maya, request);
    await server.db.write(async (tx) => {
      const rows = Array.from({ length: 99 }, (_unused, n) => ({
        id: `key_${people}x${n}`,
        person_id: maya.personId,
        name: `key-${n}`,
        digest: server.root.digest(`key ${people} ${n}`),
        created_at: tx.now,
        origin: 'created',
      }));
      for (let n = 0; n < rows.length; n += 50)
        await tx.change((db) => db('access_keys').insert(rows.slice(n, n + 50)));
    });
    expect((await collect(request)).code).to.equal('limit_reached');
    await server.db.write((tx) =>
      tx.change((db) => db('access_keys').where('id', `key_${people}x0`).update({ revoked_at: tx.now })),
    );
    expect((await collect(request)).status).to.equal(201);
  });

  it('is approved again by a repeat with the same key, and by none without', async () => {
    const request = await ask(maya);
    const first = await approve(maya, request, 'same');
    const again = await approve(maya, request, 'same');
    expect([again.replayed, again.text]).to.deep.equal([true, first.text]);
    expect((await approve(maya, request, 'other')).code).to.equal('machine_request_invalid');
  });

  it('is one of at most 20 that wait at one address, and of 1,000 on the server', async () => {
    const requests = await Promise.all(Array.from({ length: 20 }, () => ask(maya)));
    const refused = await server.nobody.call('createMachineRequest', { body: { handle: 'maya', label: 'x' } });
    expect(`${refused.status} ${refused.code}`).to.equal('429 rate_limited');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    await maya.ok('refuseMachineRequest', { body: { code: requests[0]?.code } });
    await ask(maya);
    await server.db.write(async (tx) => {
      await tx.change((db) => db('machine_requests').delete());
      const rows = Array.from({ length: 999 }, (_unused, n) => ({
        id: `mrq_${String(n).padStart(26, '0')}`,
        code_digest: server.root.digest(`code ${n}`),
        secret_digest: server.root.digest(`secret ${n}`),
        handle: 'x',
        label: 'x',
        requested_from: `203.0.${Math.floor(n / 200)}.${n % 200}`,
        created_at: tx.now,
        expires_at: tx.now + 300_000,
        state: 'pending',
        polls: 0,
      }));
      for (let n = 0; n < rows.length; n += 50) {
        await tx.change((db) => db('machine_requests').insert(rows.slice(n, n + 50)));
      }
    });
    await ask(maya);
    expect(await server.nobody.refused('createMachineRequest', { body: { handle: 'x', label: 'x' } })).to.equal(
      '429 rate_limited',
    );
  });

  it('is forgotten a day after its end', async () => {
    const request = await ask(maya);
    const idle = () => until(() => server.clock.waiting(600_000) > 0, 'the sweep is over');
    const later = async (ms: number) => {
      await idle();
      server.clock.advance(ms);
      await idle();
    };
    await later(300_000 + 86_400_000 - 60_000);
    expect((await rowOf(request)).state).to.equal('pending');
    await later(660_000);
    await until(async () => (await rowOf(request)).state === 'gone', 'it is swept');
  });

  it('makes a new request of every call, whatever key came with it', async () => {
    const call = { body: { handle: 'x', label: 'x' }, key: 'same' };
    const [one, two] = [
      await server.nobody.ok('createMachineRequest', call),
      await server.nobody.ok('createMachineRequest', call),
    ];
    expect(one.secret).not.to.equal(two.secret);
    expect(one.code).not.to.equal(two.code);
  });

  it('needs a handle, a fitting label and a wait of at most 25 seconds', async () => {
    for (const body of [
      {},
      { handle: 'x' },
      { handle: 'x', label: 'Not A Label' },
      { handle: '', label: 'x' },
      { handle: 'h'.repeat(81), label: 'x' },
    ]) {
      expect(await server.nobody.refused('createMachineRequest', { body })).to.equal('400 invalid_request');
    }
    for (const body of [{}, { secret: 'x', wait_seconds: 26 }, { secret: 'x', wait_seconds: -1 }, { secret: 1 }]) {
      expect(await server.nobody.refused('collectMachineKey', { body })).to.equal('400 invalid_request');
    }
    expect(await maya.refused('approveMachineRequest', { body: { code: 'x'.repeat(21) } })).to.equal(
      '400 invalid_request',
    );
  });
});
