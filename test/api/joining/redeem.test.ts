import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api, type Call } from '../../support/api.ts';
import { newAgent, newBoard, newCode, newDelegation } from '../../support/cast.ts';
import { changedAndRefused } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, putOnBoard, setRoles } from '../../support/state.ts';

forEachDatabase('joining by a code', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null;
  let pam: Api;
  before(async () => {
    server = await startTestServer(engine);
    twin = engine === 'postgres' ? await startTwin(server) : null;
    pam = await server.person('pam');
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  const boardWithPam = async (body = {}) => {
    const { name } = await newBoard(server.dana, { template: 'writer-reviewer', ...body });
    await putOnBoard(server, name, pam);
    return name;
  };
  const redeem = (from: Api, code: string, more: Record<string, unknown> = {}) =>
    from.call('joinBoard', { body: { code, ...more } });
  const refusal = async (from: Api, code: string, more = {}) => {
    const { status, code: error } = await redeem(from, code, more);
    return `${status} ${error}`;
  };
  /** The same person through another process of the server, where there is one. */
  const elsewhere = (api: Api) => new Api(twin?.url ?? server.url, api.token);

  it('brings any number of its maker’s sessions, in its role, however it is typed', async () => {
    const board = await boardWithPam();
    const made = await newCode(pam, board, { role: 'reviewer' });
    const typed = [made.code, made.code.toLowerCase(), made.code.replace('-', ''), ` ${made.code.replace('-', ' ')} `];
    for (const code of [...typed, made.code.replaceAll('0', 'o').replaceAll('1', 'L')]) {
      const { status, body } = await redeem(pam, code, { harness: 'codex' });
      expect([status, body.agent.role, body.board.name]).to.deep.equal([201, 'reviewer', board]);
      expect((await new Api(server.url, body.token).ok('getMe')).id).to.equal(body.agent.id);
    }
    const [listed] = (await pam.ok('listJoinCodes', { params: { board } })).join_codes;
    expect(listed).to.include({ state: 'working', uses: 5 });
    expect(listed?.last_used_at).to.be.a('string');
    const { events } = await pam.ok('listEvents', { params: { board }, query: { type: 'member.joined' } });
    expect(events.slice(1).map(({ data }) => data?.['join_code_id'])).to.deep.equal(Array(5).fill(made.id));
  });

  it('made by an agent brings sessions of its person', async () => {
    const board = await boardWithPam();
    const { code } = await newCode(await newAgent(pam, board), board);
    expect((await redeem(pam, code)).status).to.equal(201);
    expect(await refusal(server.dana, code)).to.equal('403 join_code_not_yours');
  });

  it('is for its maker only, and tells nobody else more', async () => {
    const board = await boardWithPam({ visibility: 'private' });
    const { code } = await newCode(pam, board);
    const [out, gus] = [await server.person('out'), await server.person('gus', 'guest')];
    for (const other of [server.dana, out, gus]) {
      const { text, ...answer } = await redeem(other, code);
      expect([answer.status, answer.code]).to.deep.equal([403, 'join_code_not_yours']);
      expect(text).not.to.include(board);
    }
    const agent = await newAgent(pam, board);
    expect(await agent.refused('joinBoard', { body: { code } })).to.equal('403 human_token_required');
    const delegation = await newDelegation(pam);
    for (const body of [{ code }, { code, board, session: 'codex:1' }]) {
      expect(await delegation.refused('joinBoard', { body })).to.equal('403 forbidden');
    }
  });

  it('is one 404 for whatever does not work, and 409 while its board is archived', async () => {
    const board = await boardWithPam();
    const [revoked, expired] = [await newCode(pam, board), await newCode(pam, board, { ttl_seconds: 60 })];
    await pam.ok('revokeJoinCode', { params: { board, code_id: revoked.id } });
    server.clock.advance(60_000);
    const gone = await boardWithPam();
    const deleted = await newCode(pam, gone);
    await changeBoard(server, gone, { lifecycle: 'deleted' });
    const texts = new Set<string>();
    for (const code of [revoked.code, expired.code, deleted.code, '000-000', 'not a code', 'UUU-UUU', '']) {
      const { status, text } = await redeem(pam, code);
      expect(status, code).to.equal(404);
      texts.add(text);
    }
    expect([...texts]).to.have.length(1);
    const resting = await boardWithPam();
    const { code } = await newCode(pam, resting);
    await changeBoard(server, resting, { lifecycle: 'archived' });
    expect(await refusal(pam, code)).to.equal('409 board_archived');
    expect(await refusal(server.dana, code)).to.equal('403 join_code_not_yours');
    await changeBoard(server, resting, { lifecycle: 'active' });
    expect((await redeem(pam, code)).status).to.equal(201);
  });

  it('ends when its maker is no longer on the board with what making it took', async () => {
    const board = await boardWithPam();
    const own = await newCode(pam, board);
    const helper = await newAgent(pam, board);
    const helpers = await newCode(helper, board);
    await setRoles(server, board, { member: { can: ['post'] } });
    expect(await refusal(pam, helpers.code)).to.equal('404 join_code_invalid');
    await setRoles(server, board, { member: { can: ['post', 'invite'] } });
    expect((await redeem(pam, helpers.code)).status).to.equal(201);
    await endMember(server, helper.memberId);
    expect(await refusal(pam, helpers.code)).to.equal('404 join_code_invalid');
    expect((await redeem(pam, own.code)).status).to.equal(201);
    await endMember(server, await memberIdOf(server, board, pam), 'left');
    expect(await refusal(pam, own.code)).to.equal('404 join_code_invalid');
  });

  it('says what a join by board says of name, role and harness', async () => {
    const board = await boardWithPam();
    const { code } = await newCode(pam, board, { role: 'reviewer' });
    await redeem(pam, code, { name: 'one' });
    expect(await refusal(pam, code, { name: 'one' })).to.equal('409 name_taken');
    expect(await refusal(pam, code, { session: 'codex:1', harness: 'claude-code' })).to.equal('422 invalid_request');
    expect(await refusal(pam, code, { role: 'reviewer' })).to.equal('400 invalid_request');
    expect(await refusal(pam, code, { board })).to.equal('400 invalid_request');
    await setRoles(server, board, { member: { can: ['post'] } });
    // A code ends with its role.
    expect(await refusal(pam, code)).to.equal('404 join_code_invalid');
  });

  describe('made for a guest', () => {
    it('brings the guest it names onto the board with an agent, once', async () => {
      const board = await boardWithPam({ visibility: 'private' });
      const ged = await server.person('ged', 'guest');
      const { code, id } = await newCode(pam, board, { guest: 'ged' });
      expect(await refusal(pam, code)).to.equal('403 guest_code_not_for_members');
      expect(await refusal(await server.person('gwen', 'guest'), code)).to.equal('403 guest_code_not_for_members');
      const { status, body } = await redeem(ged, code, { harness: 'codex' });
      expect([status, body.agent.owner, body.board.people_count]).to.deep.equal([201, 'ged', 3]);
      const { events } = await ged.ok('listEvents', { params: { board }, query: { newest: true, limit: 2 } });
      expect(
        events.map(({ type, data }) => [type, data?.['kind'], data?.['guest'], data?.['join_code_id']]),
      ).to.deep.equal([
        ['member.joined', 'human', true, id],
        ['member.joined', 'agent', undefined, id],
      ]);
      expect(events[1]?.actor).to.include({ kind: 'human', name: 'ged' });
      expect(await refusal(ged, code)).to.equal('404 join_code_invalid');
      const { join_codes } = await pam.ok('listJoinCodes', { params: { board }, query: { state: 'all' } });
      expect(join_codes[0]).to.include({ state: 'used', uses: 1 });
      expect(await ged.refused('joinBoard', { body: { board, role: 'member' } })).to.equal('403 guest_not_allowed');
    });

    it('brings a guest back who was there before, and another agent to one who is', async () => {
      const board = await boardWithPam();
      const gil = await server.person('gil', 'guest');
      const [first, second] = [
        await newCode(pam, board, { guest: 'gil' }),
        await newCode(pam, board, { guest: 'gil' }),
      ];
      const third = await newCode(pam, board, { guest: 'gil' });
      await redeem(gil, first.code);
      const id = await memberIdOf(server, board, gil);
      expect((await redeem(gil, second.code)).body.board.people_count).to.equal(3);
      await endMember(server, id, 'left');
      await redeem(gil, third.code);
      expect(await memberIdOf(server, board, gil)).to.equal(id);
      const { events } = await pam.ok('listEvents', { params: { board }, query: { type: 'person.added' } });
      expect(events.at(-1)?.data).to.include({ member_id: id, rejoined: true, join_code_id: third.id });
    });

    it('ends with the guest, and with its maker', async () => {
      const board = await boardWithPam();
      const gus = await server.person('guy', 'guest');
      const { code } = await newCode(pam, board, { guest: 'guy' });
      await endMember(server, await memberIdOf(server, board, pam), 'left');
      expect(await refusal(gus, code)).to.equal('404 join_code_invalid');
    });

    it('makes no member of them when the agent cannot be made', async () => {
      const board = await boardWithPam();
      const gem = await server.person('gem', 'guest');
      const { code } = await newCode(pam, board, { guest: 'gem' });
      const call: Call = { body: { code, name: 'pam' }, key: 'taken' };
      const changed = await changedAndRefused(server, async () => {
        expect(await gem.refused('joinBoard', call)).to.equal('409 name_taken');
      });
      expect(changed).to.equal(0);
      expect((await gem.call('joinBoard', call)).replayed).to.equal(true);
      expect(await gem.refused('getBoard', { params: { board } })).to.equal('404 board_not_found');
      expect((await redeem(gem, code, { name: 'gems' })).status).to.equal(201);
      expect(await gem.refused('joinBoard', call)).to.equal('404 join_code_invalid');
    });

    it('has one winner among many at once, in one process or two', async () => {
      const board = await boardWithPam();
      const gap = await server.person('gap', 'guest');
      const { code } = await newCode(pam, board, { guest: 'gap' });
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_unused, n) => redeem(n % 2 ? gap : elsewhere(gap), code)),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter((answer) => answer.code === 'join_code_invalid')).to.have.length(15);
      const { members } = await pam.ok('listMembers', { params: { board }, query: { kind: 'agent' } });
      expect(members.filter(({ owner }) => owner === 'gap')).to.have.length(1);
    });
  });

  describe('whose answer was lost', () => {
    const keyed = (code: string, key: string): Call => ({ body: { code }, key });

    it('comes back although the code ended since, while its maker could still make it', async () => {
      const board = await boardWithPam();
      const kit = await server.person('kit', 'guest');
      const [pairing, guests] = [await newCode(pam, board), await newCode(pam, board, { guest: 'kit' })];
      const [own, theirs] = [keyed(pairing.code, 'own'), keyed(guests.code, 'theirs')];
      const first = [await pam.call('joinBoard', own), await kit.call('joinBoard', theirs)];
      await pam.ok('revokeJoinCode', { params: { board, code_id: pairing.id } });
      const again = [await pam.call('joinBoard', own), await kit.call('joinBoard', theirs)];
      expect(again.map(({ replayed, text }) => [replayed, text])).to.deep.equal(first.map(({ text }) => [true, text]));
      await endMember(server, await memberIdOf(server, board, pam), 'left');
      expect(await pam.refused('joinBoard', own)).to.equal('403 not_on_board');
      expect(await kit.refused('joinBoard', theirs)).to.equal('404 join_code_invalid');
    });

    it('is refused with what a new call gets: seat ended, board archived, board deleted', async () => {
      const board = await boardWithPam();
      const { code } = await newCode(pam, board);
      const [ended, other] = [keyed(code, 'ended'), keyed(code, 'other')];
      const { agent } = await pam.ok('joinBoard', ended);
      await pam.ok('joinBoard', other);
      await endMember(server, agent.id);
      expect(await pam.refused('joinBoard', ended)).to.equal('403 agent_removed');
      await changeBoard(server, board, { lifecycle: 'archived' });
      expect(await pam.refused('joinBoard', other)).to.equal('409 board_archived');
      await changeBoard(server, board, { lifecycle: 'deleted' });
      expect(await pam.refused('joinBoard', other)).to.equal('404 board_not_found');
    });
  });
});
