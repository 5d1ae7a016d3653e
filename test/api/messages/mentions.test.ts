import { expect } from 'chai';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { endMember, setPolicy, setRoles } from '../../support/state.ts';

forEachDatabase('a mention', (engine) => {
  let server: TestServer;
  let board: string;
  let me: string;
  let agents: Agent[];
  before(async () => {
    server = await startTestServer(engine);
    me = (await server.dana.ok('getMe')).name;
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana, { template: 'writer-reviewer' })).name;
    agents = [];
    for (let n = 1; n <= 10; n++) agents.push(await newAgent(server.dana, board, { name: `r${n}`, role: 'reviewer' }));
  });
  after(() => server.stop());

  const outcome = (mentions: { name: string; wakes: boolean; reason: string | null }[]) =>
    mentions.map(({ name, wakes, reason }) => `${name} ${wakes} ${reason}`);
  const inboxOf = async (agent: Agent | undefined) => (await (agent as Agent).ok('readInbox')).messages.length;

  it('names each member once, as found, in order, the sender never', async () => {
    const sender = agents[0] as Agent;
    const body = `@${me}, @r2 and @r2 again, @r1 myself, @role:writer nobody, @nobody, @R3, a@r4, \\@r5, \`@r6\`, x://@r7`;
    const { mentions } = await post(sender, board, body);
    expect(mentions.map(({ name, kind, text }) => [name, kind, text])).to.deep.equal([
      [me, 'human', `@${me}`],
      ['r2', 'agent', '@r2'],
    ]);
    expect(mentions[0]).to.include({ wakes: false, reason: null });
  });

  it('wakes the first eight agents that can read it, and says why not the others', async () => {
    const all = agents.map(({ name }) => `@${name}`).join(' ');
    const message = await post(server.dana, board, all, { to: ['@r1'] });
    expect(outcome(message.mentions)).to.deep.equal([
      ...agents.slice(0, 8).map(({ name }) => `${name} true null`),
      'r9 false limit',
      'r10 false limit',
    ]);
    expect([await inboxOf(agents[0]), await inboxOf(agents[7]), await inboxOf(agents[8])]).to.deep.equal([1, 1, 0]);
  });

  it('does not wake who cannot read it, and that one counts for nobody', async () => {
    const outsider = await newAgent(server.dana, board, { name: 'outsider', role: 'writer' });
    await setPolicy(server, board, { visibility: 'addressed' });
    const message = await post(server.dana, board, '@outsider @role:reviewer', { to: ['role:reviewer'] });
    expect(outcome(message.mentions)).to.deep.equal([
      'outsider false cannot_read',
      ...agents.slice(0, 8).map(({ name }) => `${name} true null`),
      'r9 false limit',
      'r10 false limit',
    ]);
    expect(message.mentions[1]?.text).to.equal('@role:reviewer');
    // Addressed is addressed: whoever is over the limit finds it all the same.
    expect([await inboxOf(outsider), await inboxOf(agents[9])]).to.deep.equal([0, 1]);
    expect(await outsider.refused('getMessage', { params: { message: message.id } })).to.equal('404 message_not_found');
  });

  it('never changes whom a message goes to, and needs nothing but the right to post', async () => {
    await setRoles(server, board, { reviewer: { can: ['post'] }, member: { can: [] } });
    await setPolicy(server, board, { broadcast: 'granted', urgent: 'granted' });
    const message = await post(agents[0] as Agent, board, '@r2 @role:reviewer', { to: ['@r3'] });
    expect(message.to).to.deep.equal(['@r3']);
    const shown = await server.dana.ok('getMessage', { params: { message: message.id } });
    expect(shown.recipients.map(({ member }) => member.name)).to.deep.equal(['r3']);
  });

  it('means active members only, by the name of that moment', async () => {
    await endMember(server, (agents[1] as Agent).memberId);
    expect((await post(server.dana, board, '@r2 @role:reviewer')).mentions.map(({ name }) => name)).not.to.include(
      'r2',
    );
  });

  it('is not counted twice in an inbox it reaches by its target too', async () => {
    await post(server.dana, board, '@r1', { to: ['@r1'] });
    await post(server.dana, board, '@r1 everybody');
    expect(await (agents[0] as Agent).ok('readInbox')).to.include({ unread: 2 });
    expect(await inboxOf(agents[0])).to.equal(2);
  });
});
