import { expect } from 'chai';
import { detailsOf } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, newBrowser, putOnBoard } from '../../support/state.ts';

forEachDatabase('what a person says of themselves', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const newPerson = (role: 'member' | 'guest' = 'member') => server.person(`person-${++people}`, role);

  it('is a display name, shown wherever they are listed, and null when it is empty', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    for (const [given, shown] of [
      ['  Pam Poovey ', 'Pam Poovey'],
      ['Ame\u0301lie', 'Am\u00e9lie'],
      ['\u{1f389}'.repeat(80), '\u{1f389}'.repeat(80)],
      ['', null],
      ['Pam', 'Pam'],
      [' \n', null],
      ['Pam', 'Pam'],
      [null, null],
    ]) {
      const me = await pam.ok('updateMe', { body: { display_name: given } });
      expect(me.display_name).to.equal(shown);
      expect(await pam.ok('getMe')).to.deep.equal(me);
      const { members } = await pam.ok('listMembers', { params: { board: board.name } });
      expect(members[0]?.display_name ?? null).to.equal(shown);
    }
  });

  it('is one line of at most 80 characters', async () => {
    const pam = await newPerson();
    for (const display_name of ['x'.repeat(81), 'a\nb', 'a\tb', 'a\u2028b', 'a\u0007', 7]) {
      expect(await pam.refused('updateMe', { body: { display_name } })).to.equal('400 invalid_request');
    }
    expect(await pam.refused('updateMe', { body: {} })).to.equal('400 invalid_request');
    expect(await pam.refused('updateMe', { body: { display_name: 'x', handle: 'y' } })).to.equal('400 invalid_request');
  });

  it('has no invisible characters, and mixes no alphabets within a word', async () => {
    const pam = await newPerson();
    for (const [display_name, problem] of [
      ['Pa\u200bm', 'must have no invisible characters; type it instead of pasting it'],
      ['\u202emaP', 'must have no invisible characters; type it instead of pasting it'],
      ['P\u0430m', 'must not mix alphabets within a word'],
    ]) {
      const answer = await pam.call('updateMe', { body: { display_name } });
      expect([answer.status, answer.code]).to.deep.equal([400, 'invalid_request']);
      expect(detailsOf(answer)).to.deep.equal({ field: 'display_name', problem });
    }
    for (const display_name of ['Анна (Anna)', 'می\u200cخواهم', 'Pam 👩\u200d🔧']) {
      expect((await pam.ok('updateMe', { body: { display_name } })).display_name).to.equal(display_name);
    }
  });

  it('that was chosen under an older rule is still shown', async () => {
    const pam = await newPerson();
    const board = await newBoard(pam);
    const display_name = 'P\u0430\u200bm';
    await server.db.write((tx) =>
      tx.change((db) => db('people').where('handle', `person-${people}`).update({ display_name })),
    );
    expect((await pam.ok('getMe')).display_name).to.equal(display_name);
    const { members } = await pam.ok('listMembers', { params: { board: board.name } });
    expect(members[0]?.display_name).to.equal(display_name);
  });

  it('may be said by guests and in a browser, not by agents, and writes no event', async () => {
    const guest = await newPerson('guest');
    await guest.ok('updateMe', { body: { display_name: 'Guest' } });
    const pam = await newPerson();
    const board = await newBoard(pam);
    const browser = await newBrowser(server, pam);
    expect(await browser.ok('updateMe', { body: { display_name: 'Pam' } })).to.include({
      browser: true,
      display_name: 'Pam',
    });
    const agent = await newAgent(pam, board.name);
    expect(await agent.refused('updateMe', { body: { display_name: 'x' } })).to.equal('403 human_token_required');
    const { events } = await pam.ok('listEvents', { params: { board: board.name } });
    expect(events.map((event) => event.type)).to.deep.equal(['board.created', 'member.joined', 'member.joined']);
  });

  it('is said once under one key, also by 16 requests at once', async () => {
    const pam = await newPerson();
    const call = { body: { display_name: 'Pam' }, key: 'once' };
    const answers = await Promise.all(Array.from({ length: 16 }, () => pam.call('updateMe', call)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
    expect(answers.filter(({ replayed }) => !replayed)).to.have.length(1);
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => pam.ok('updateMe', { body: { display_name: name } })));
  });

  describe('about messages in the middle of a turn', () => {
    it('is my-agents until they choose, and holds for all their agents', async () => {
      const pam = await newPerson();
      const board = await newBoard(pam);
      const agent = await newAgent(pam, board.name);
      expect(await pam.ok('getMidturnPolicy')).to.deep.equal({
        policy: 'my-agents',
        source: 'person_default',
        overrides: [],
      });
      expect(await agent.ok('getMidturnPolicy')).to.deep.equal({ policy: 'my-agents', source: 'person_default' });
      for (const [policy, changed] of [
        ['my-agents', false],
        ['owner-only', true],
        ['owner-only', false],
      ] as const) {
        expect(await pam.ok('setMidturnPolicy', { body: { policy } })).to.deep.equal({
          policy,
          source: 'person_default',
          changed,
          overrides: [],
        });
      }
      expect(await agent.ok('getMidturnPolicy')).to.deep.equal({ policy: 'owner-only', source: 'person_default' });
      expect((await agent.ok('readInbox')).midturn_policy).to.equal('owner-only');
      expect(await pam.refused('setMidturnPolicy', { body: { policy: null } })).to.equal('422 invalid_request');
      expect(await pam.refused('setMidturnPolicy', { body: { policy: 'off' } })).to.equal('400 invalid_request');
    });

    it('has exceptions for single agents, which can be taken back', async () => {
      const pam = await newPerson();
      const board = await newBoard(pam);
      const [one, two] = [await newAgent(pam, board.name), await newAgent(pam, board.name)];
      const set = (policy: string | null, member_id = one.memberId) =>
        pam.ok('setMidturnPolicy', { body: { policy, member_id } });
      const exception = { member_id: one.memberId, policy: 'owner-only' };
      const overridden = { policy: 'owner-only', source: 'agent_override', overrides: [exception] };
      expect(await set('owner-only')).to.deep.equal({ ...overridden, changed: true });
      expect(await set('owner-only')).to.deep.equal({ ...overridden, changed: false });
      expect(await one.ok('getMidturnPolicy')).to.deep.equal({ policy: 'owner-only', source: 'agent_override' });
      expect((await one.ok('readInbox')).midturn_policy).to.equal('owner-only');
      expect((await two.ok('readInbox')).midturn_policy).to.equal('my-agents');
      expect(await pam.ok('getMidturnPolicy')).to.deep.include({ policy: 'my-agents', overrides: [exception] });
      expect(await set(null)).to.deep.equal({
        policy: 'my-agents',
        source: 'person_default',
        overrides: [],
        changed: true,
      });
      expect((await set(null)).changed).to.equal(false);
      await set('owner-only', two.memberId);
      await endMember(server, two.memberId);
      expect((await pam.ok('getMidturnPolicy')).overrides).to.deep.equal([]);
    });

    it('is for their own active agents: others are refused when they are seen, and missing when not', async () => {
      const pam = await newPerson();
      const board = await newBoard(server.dana);
      const hidden = await newBoard(server.dana, { visibility: 'private' });
      await putOnBoard(server, board.name, pam);
      const [seen, unseen, own, ended] = [
        await newAgent(server.dana, board.name),
        await newAgent(server.dana, hidden.name),
        await newAgent(pam, board.name),
        await newAgent(pam, board.name),
      ];
      await endMember(server, ended.memberId);
      const person = await memberIdOf(server, board.name, pam);
      const set = (member_id: string) => pam.refused('setMidturnPolicy', { body: { policy: 'owner-only', member_id } });
      expect(await set(seen.memberId)).to.equal('403 agent_owner_required');
      for (const id of [unseen.memberId, ended.memberId, person, 'mem_01K5A0000000000000000000M1']) {
        expect(await set(id)).to.equal('404 member_not_found');
      }
      expect(
        await own.refused('setMidturnPolicy', { body: { policy: 'owner-only', member_id: own.memberId } }),
      ).to.equal('403 human_token_required');
      await changeBoard(server, board.name, { lifecycle: 'deleted' });
      expect(await set(own.memberId)).to.equal('404 member_not_found');
    });

    it('does not replay an exception of an agent that ended meanwhile', async () => {
      const pam = await newPerson();
      const board = await newBoard(pam);
      const agent = await newAgent(pam, board.name);
      const call = { body: { policy: 'owner-only', member_id: agent.memberId }, key: 'midturn' };
      await pam.ok('setMidturnPolicy', call);
      expect((await pam.call('setMidturnPolicy', call)).replayed).to.equal(true);
      await endMember(server, agent.memberId);
      expect(await pam.refused('setMidturnPolicy', call)).to.equal('404 member_not_found');
    });
  });
});
