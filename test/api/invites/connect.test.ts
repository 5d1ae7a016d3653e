import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newSecret } from '../../../src/server/text/ids.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { changedAndRefused } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, newBrowser, removePerson } from '../../support/state.ts';
import { told } from '../../support/told.ts';
import {
  type ClientConnected,
  type Connected,
  connect,
  everything,
  type Invite,
  invite,
  preview,
  secretOf,
  setInvite,
  setPerson,
} from './cast.ts';

const ownKey = () => `abh_${randomBytes(32).toString('base64url')}`;

forEachDatabase('connecting with an invite', (engine) => {
  let server: TestServer;
  let ana: Api;
  let n = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    ana = await server.person(`ana-${++n}`, 'admin');
  });
  after(() => server.stop());

  const peopleCount = async () => (await server.db.read((tx) => tx.query((db) => db('people').select('id')))).length;

  it('makes a member with a key of their own', async () => {
    const made = await invite(ana);
    const answer = await connect(server, {
      invite: made.invite,
      handle: `maya-${n}`,
      display_name: '  Maja\u0301  ',
      key_name: 'maya-laptop',
    });
    expect(answer.status).to.equal(201);
    const { server_id, person, key } = answer.body as Connected;
    expect(server_id).to.equal((await server.nobody.ok('getInfo')).server_id);
    expect(person).to.include({ handle: `maya-${n}`, display_name: 'Maj\u00e1', server_role: 'member' });
    expect(key).to.include({ name: 'maya-laptop', origin: 'invite', idle_expiry_seconds: 7_776_000, state: 'working' });
    const maya = new Api(server.url, key.token);
    expect(await maya.ok('getMe')).to.include({ id: person.id, name: `maya-${n}`, server_role: 'member' });
    expect(await maya.refused('getOnboardingReceipt')).to.equal('404 not_found');
    expect((await ana.ok('getInvite', { params: { invite: made.id } })).state).to.equal('redeemed');
  });

  it('takes the secret, or a link of this server under any of its own names, and no other', async () => {
    const { port } = new URL(server.url);
    const forms = [
      (secret: string) => secret,
      (secret: string) => ` ${secret}\n`,
      (secret: string) => `http://localhost:${port}/join#${secret}`,
      (secret: string) => `http://127.0.0.1:${port}/join#${secret}`,
    ];
    for (const [index, form] of forms.entries()) {
      const text = form(secretOf(await invite(ana)));
      expect((await connect(server, { invite: text, handle: `form-${n}-${index}` })).status, text).to.equal(201);
    }
    const made = secretOf(await invite(ana));
    const wrong = told(await connect(server, { invite: 'abi_wrong', handle: `form-${n}` }));
    for (const text of [
      `https://team.example.com/join#${made}`,
      `http://127.0.0.1:1/join#${made}`,
      `http://127.0.0.1:${port}/other#${made}`,
      `http://127.0.0.1:${port}/join?${made}`,
      `${made}x`,
      made.toUpperCase(),
      'nonsense',
      '',
    ]) {
      expect(told(await connect(server, { invite: text, handle: `form-${n}` })), text).to.deep.equal(wrong);
    }
  });

  it('gives one answer for whatever does not work, by preview and by connect, and makes nobody', async () => {
    const bob = await server.person(`bob-${n}`, 'admin');
    const board = await newBoard(ana);
    const bobs = await newBoard(bob);
    const agent = await newAgent(ana, board.name);
    const pairing = { initiating_agent_id: agent.memberId, work: 'x' };
    const cases: [string, Invite, () => Promise<unknown>][] = [];
    const add = (what: string, made: Invite, end: () => Promise<unknown>) => cases.push([what, made, end]);
    const used = await invite(ana);
    add('used', used, () => connect(server, { invite: used.invite, handle: `first-${n}` }));
    const revoked = await invite(ana);
    add('revoked', revoked, () => ana.ok('revokeInvite', { params: { invite: revoked.id } }));
    const expired = await invite(ana);
    add('expired at this moment', expired, () => setInvite(server, expired, { expires_at: server.clock.now() }));
    add('off the board', await invite(bob, { boards: [bobs.id] }), async () =>
      endMember(server, await memberIdOf(server, bobs.name, bob)),
    );
    add('agent ended', await invite(ana, { boards: [board.id], pairing }), () => endMember(server, agent.memberId));
    add('issuer demoted', await invite(bob), () => setPerson(server, bob, { server_role: 'member' }));
    const gone = await server.person(`gone-${n}`, 'admin');
    add('issuer removed', await invite(gone), () => removePerson(server, gone));
    add('board archived', await invite(ana, { boards: [board.id] }), () =>
      changeBoard(server, board.name, { lifecycle: 'archived' }),
    );
    const shown = told(await preview(server, `abi_${'A'.repeat(43)}`));
    const wrong = told(await connect(server, { invite: `abi_${'A'.repeat(43)}`, handle: `none-${n}` }));
    expect([shown.status, wrong.status]).to.deep.equal([404, 404]);
    for (const [what, made, end] of cases) {
      expect((await preview(server, secretOf(made))).status, what).to.equal(200);
      await end();
      const before = await peopleCount();
      expect(told(await preview(server, secretOf(made))), what).to.deep.equal(shown);
      const answer = await connect(server, { invite: made.invite, handle: `none-${n}` });
      expect(told(answer), what).to.deep.equal(wrong);
      // Nor does a handle that is taken tell that the invite would have worked.
      expect(told(await connect(server, { invite: made.invite, handle: `ana-${n}` })), what).to.deep.equal(wrong);
      expect(await peopleCount(), what).to.equal(before);
    }
    await changeBoard(server, board.name, { lifecycle: 'active' });
    const restored = cases.at(-1)?.[1] as Invite;
    expect((await connect(server, { invite: restored.invite, handle: `again-${n}` })).status).to.equal(201);
  });

  it('ends an invite that an agent asked for with that agent or the key behind it', async () => {
    const board = await newBoard(ana);
    for (const end of [
      (seat: string) => endMember(server, seat),
      () => changeBoard(server, board.name, { lifecycle: 'deleted' }),
    ]) {
      const agent = await newAgent(ana, board.name);
      const made = await invite(ana);
      await setInvite(server, made, { issuing_agent_id: agent.memberId });
      expect((await preview(server, secretOf(made))).status).to.equal(200);
      await end(agent.memberId);
      expect((await preview(server, secretOf(made))).code).to.equal('invite_invalid');
    }
    const other = await newBoard(ana);
    const agent = await newAgent(ana, other.name);
    const made = await invite(ana);
    await setInvite(server, made, { issuing_agent_id: agent.memberId });
    await server.db.write((tx) =>
      tx.change((db) =>
        db('access_keys')
          .where('person_id', ana.personId ?? '')
          .update({ revoked_at: tx.now }),
      ),
    );
    expect((await preview(server, secretOf(made))).code).to.equal('invite_invalid');
  });

  it('shows before, without using it up, who invites whom where', async () => {
    const board = await newBoard(ana, { title: 'Payments' });
    const made = await invite(ana, { boards: [board.id], suggested_handle: 'maya' });
    const { port } = new URL(server.url);
    for (let again = 0; again < 2; again++) {
      const { body, status } = await preview(server, secretOf(made));
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        server_id: (await server.nobody.ok('getInfo')).server_id,
        server_url: server.url,
        server_name: `localhost:${port}`,
        inviter_handle: `ana-${n}`,
        boards: [{ id: board.id, name: board.name, title: 'Payments' }],
        suggested_handle: 'maya',
        prompt: made.prompt,
        expires_at: made.expires_at,
      });
    }
    await setPerson(server, ana, { handle: `anna-${n}` });
    expect((await preview(server, secretOf(made))).body.inviter_handle).to.equal(`anna-${n}`);
  });

  it('wants a usable handle first, and suggests one', async () => {
    const made = await invite(ana);
    for (const [handle, better] of [
      ['Maya Lin', 'maya-lin'],
      ['-maya-', 'maya'],
      ['x'.repeat(41), 'x'.repeat(40)],
      ['', ''],
      ['system', ''],
      ['ÄÖÜ', ''],
      // Pasted by mistake; not even a part of it is said again.
      [newSecret('key'), ''],
    ] as const) {
      const answer = await connect(server, { invite: made.invite, handle });
      expect(`${answer.status} ${answer.code}`, handle).to.equal('422 handle_invalid');
      const { hint } = (answer.body as unknown as { error: { hint: string } }).error;
      if (better === '') expect(hint).not.to.include('For example');
      else expect(hint).to.include(`For example: ${better}.`);
      expect(told(await connect(server, { invite: 'abi_wrong', handle })), handle).to.deep.equal(told(answer));
    }
    expect((await preview(server, secretOf(made))).status).to.equal(200);
  });

  it('never signs in as somebody who is or was there', async () => {
    const made = await invite(ana);
    await server.db.write((tx) =>
      tx.change((db) => db('handle_reservations').insert({ handle: `former-${n}`, person_id: ana.personId })),
    );
    for (const handle of [`ana-${n}`, `former-${n}`]) {
      const answer = await connect(server, { invite: made.invite, handle });
      expect(`${answer.status} ${answer.code}`).to.equal('409 handle_taken');
    }
    expect((await connect(server, { invite: made.invite, handle: `new-${n}` })).status).to.equal(201);
  });

  it('needs a name for the key, and nothing it does not know', async () => {
    const made = await invite(ana);
    const good = { invite: made.invite, handle: `bad-${n}`, key_name: 'laptop' };
    for (const more of [
      { key_name: 'Not a name' },
      { key_name: 'x'.repeat(41) },
      { handle: 'x'.repeat(81) },
      { display_name: 'x'.repeat(81) },
      { display_name: 'two\nlines' },
      { display_name: 'A\u200bna' },
      { display_name: '\u0410na' },
      { invite: 'x'.repeat(513) },
      { client_token: `abh_${'A'.repeat(42)}` },
      { client_token: `abh_${'A'.repeat(42)}B` },
      { client_token: `abb_${'A'.repeat(43)}` },
      { server_role: 'admin' },
    ]) {
      const answer = await connect(server, { ...good, ...more });
      expect(`${answer.status} ${answer.code}`, JSON.stringify(more)).to.equal('400 invalid_request');
    }
    expect((await preview(server, secretOf(made))).status).to.equal(200);
  });

  it('brings onto the boards that came with the invite, in the name of its issuer', async () => {
    const [one, two] = [await newBoard(ana), await newBoard(ana, { visibility: 'private' })];
    await post(ana, one.name, 'before');
    const made = await invite(ana, { boards: [two.id, one.id] });
    const { key, person } = (await connect(server, { invite: made.invite, handle: `maya-${n}` })).body as Connected;
    const maya = new Api(server.url, key.token);
    const { boards } = await maya.ok('listBoards');
    expect(boards.map(({ name }) => name).sort()).to.deep.equal([one.name, two.name].sort());
    expect(boards.map(({ unread }) => unread)).to.deep.equal([0, 0]);
    for (const board of [one, two]) {
      const { events } = await maya.ok('listEvents', { params: { board: board.name } });
      const added = events.at(-1);
      expect(added?.type).to.equal('person.added');
      expect(added?.actor).to.include({ kind: 'human', name: `ana-${n}` });
      expect(added?.data).to.include({ person_id: person.id, invite_id: made.id, access: 'member', rejoined: false });
    }
  });

  it('gives the next free member name where an agent has the handle', async () => {
    const board = await newBoard(ana);
    await newAgent(ana, board.name, { name: `maya-${n}` });
    const made = await invite(ana, { boards: [board.id] });
    await connect(server, { invite: made.invite, handle: `maya-${n}` });
    const { people } = await ana.ok('listBoardPeople', { params: { board: board.name } });
    expect(people.map(({ handle, name }) => [handle, name])).to.deep.equal([
      [`ana-${n}`, `ana-${n}`],
      [`maya-${n}`, `maya-${n}-2`],
    ]);
  });

  it('creates nothing when one of the boards has no room', async () => {
    const [open, full] = [await newBoard(ana), await newBoard(ana)];
    const made = await invite(ana, { boards: [open.id, full.id] });
    await server.db.write(async (tx) => {
      const [row] = await tx.query<Record<string, unknown>>((db) =>
        db('members').where({ board_id: full.id, kind: 'human' }).select('*'),
      );
      const rows = Array.from({ length: 999 }, (_unused, index) => ({
        ...row,
        id: `mem_${n}x${index}`,
        name: `x-${index}`,
        person_id: `hum_${n}x${index}`,
        access: 'member',
      }));
      for (let index = 0; index < rows.length; index += 20) {
        await tx.change((db) => db('members').insert(rows.slice(index, index + 20)));
      }
    });
    const [before, head] = [await peopleCount(), (await ana.ok('getBoard', { params: { board: open.name } })).head_seq];
    const changed = await changedAndRefused(server, async () => {
      const answer = await connect(server, { invite: made.invite, handle: `full-${n}` });
      expect(`${answer.status} ${answer.code}`).to.equal('409 limit_reached');
    });
    expect(changed).to.equal(0);
    expect(await peopleCount()).to.equal(before);
    expect((await ana.ok('getBoard', { params: { board: open.name } })).head_seq).to.equal(head);
    expect((await preview(server, secretOf(made))).status).to.equal(200);
  });

  it('has one winner of ten, whatever handles they want', async () => {
    const board = await newBoard(ana);
    const made = await invite(ana, { boards: [board.id] });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_unused, index) =>
        connect(server, { invite: made.invite, handle: `race-${n}-${index}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    const losers = answers.filter(({ status }) => status !== 201);
    expect(new Set(losers.map(({ text }) => text)).size).to.equal(1);
    expect(losers[0]?.code).to.equal('invite_invalid');
    const { people } = await ana.ok('listBoardPeople', { params: { board: board.name } });
    expect(people).to.have.length(2);
  });

  it('has one winner of a handle that two invites want', async () => {
    const invites = await Promise.all(Array.from({ length: 6 }, () => invite(ana)));
    const answers = await Promise.all(
      invites.map((made) => connect(server, { invite: made.invite, handle: `wanted-${n}` })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409, 409]);
    const states = (await ana.ok('listInvites')).invites.map(({ state }) => state);
    expect(states.filter((state) => state === 'active')).to.have.length(5);
  });

  it('and a revocation at once have one winner', async () => {
    for (let round = 0; round < 5; round++) {
      const made = await invite(ana);
      const [joined, revoked] = await Promise.all([
        connect(server, { invite: made.invite, handle: `round-${n}-${round}` }),
        ana.ok('revokeInvite', { params: { invite: made.id } }),
      ]);
      expect(revoked.changed).to.equal(joined.status !== 201);
    }
  });

  it('with a key the client made gives no secret away, and a receipt only that key can read', async () => {
    const board = await newBoard(ana);
    const made = await invite(ana, { boards: [board.id] });
    const client_token = ownKey();
    const answer = await connect(server, { invite: made.invite, handle: `own-${n}`, client_token });
    expect(answer.status).to.equal(200);
    const { person, key, onboarding } = answer.body as ClientConnected;
    expect(answer.text).not.to.include(client_token);
    expect(onboarding).to.deep.equal({
      server_id: (await server.nobody.ok('getInfo')).server_id,
      person_id: person.id,
      key_id: key.id,
      invite_id: made.id,
      handle: `own-${n}`,
      boards: [board.id],
    });
    const own = new Api(server.url, client_token);
    expect(await own.ok('getOnboardingReceipt')).to.deep.equal(onboarding);
    expect(await ana.refused('getOnboardingReceipt')).to.equal('404 not_found');
    expect(await (await newBrowser(server, own)).refused('getOnboardingReceipt')).to.equal('403 human_token_required');
    expect(await everything(server)).not.to.include(client_token);
  });

  it('answers a lost connect by its receipt: the invite is used up, the account is there, once', async () => {
    const made = await invite(ana);
    const body = { invite: made.invite, handle: `lost-${n}`, client_token: ownKey() };
    const before = await peopleCount();
    const first = (await connect(server, body)).body as ClientConnected;
    const again = await connect(server, body);
    expect(`${again.status} ${again.code}`).to.equal('404 invite_invalid');
    const receipt = await new Api(server.url, body.client_token).ok('getOnboardingReceipt');
    expect(receipt).to.deep.equal(first.onboarding);
    expect(await peopleCount()).to.equal(before + 1);
    expect(await new Api(server.url, ownKey()).refused('getOnboardingReceipt')).to.equal('401 unauthorized');
  });

  it('names in the receipt only boards that are visible now, and brings nobody back', async () => {
    const [hidden, open] = [await newBoard(ana, { visibility: 'private' }), await newBoard(ana)];
    const made = await invite(ana, { boards: [hidden.id, open.id] });
    const client_token = ownKey();
    await connect(server, { invite: made.invite, handle: `off-${n}`, client_token });
    const own = new Api(server.url, client_token);
    for (const board of [hidden, open]) {
      const { people } = await own.ok('listBoardPeople', { params: { board: board.name } });
      await endMember(server, people.find(({ handle }) => handle === `off-${n}`)?.member_id ?? '');
    }
    expect((await own.ok('getOnboardingReceipt')).boards).to.deep.equal([open.id]);
    expect((await own.ok('listBoards')).boards).to.deep.equal([]);
  });

  it('refuses a key that is in use already, and leaves the invite as it was', async () => {
    const made = await invite(ana);
    const client_token = ownKey();
    await connect(server, { invite: (await invite(ana)).invite, handle: `one-${n}`, client_token });
    const answer = await connect(server, { invite: made.invite, handle: `two-${n}`, client_token });
    expect(`${answer.status} ${answer.code}`).to.equal('400 invalid_request');
    expect((await preview(server, secretOf(made))).status).to.equal(200);
    const invites = await Promise.all(Array.from({ length: 4 }, () => invite(ana)));
    const shared = ownKey();
    const answers = await Promise.all(
      invites.map((each, index) =>
        connect(server, { invite: each.invite, handle: `same-${n}-${index}`, client_token: shared }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400, 400]);
  });

  it('is not undone by what its inviter becomes', async () => {
    const board = await newBoard(ana);
    const made = await invite(ana, { boards: [board.id] });
    const { key } = (await connect(server, { invite: made.invite, handle: `stays-${n}` })).body as Connected;
    await removePerson(server, ana);
    expect((await new Api(server.url, key.token).ok('getBoard', { params: { board: board.name } })).on_board).to.equal(
      true,
    );
  });
});
