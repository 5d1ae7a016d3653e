import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard, setPolicy, setRoles } from '../../support/state.ts';

type Failure = { error: { message: string; hint: string; details?: Record<string, unknown> } };

forEachDatabase('a post', (engine) => {
  let server: TestServer;
  let board: string;
  let params: { board: string };
  let pam: Api;
  let writer: Agent;
  let reviewer: Agent;
  let pams: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana, { template: 'writer-reviewer' })).name;
    params = { board };
    await putOnBoard(server, board, pam);
    writer = await newAgent(server.dana, board, { name: 'writer', role: 'writer' });
    reviewer = await newAgent(server.dana, board, { name: 'reviewer', role: 'reviewer' });
    pams = await newAgent(pam, board, { name: 'pams', role: 'reviewer' });
  });
  after(() => server.stop());

  const send = (from: Api, body: Record<string, unknown>) =>
    from.call('postMessage', { params, body: { body: 'text', ...body } });
  const refusal = async (from: Api, body: Record<string, unknown>) => {
    const { status, code, body: answer } = await send(from, body);
    return { answer: `${status} ${code}`, ...(answer as unknown as Failure).error };
  };
  const head = async () => (await server.dana.ok('getBoard', { params })).head_seq;
  const recorded = async (seq: number) => {
    const { events } = await server.dana.ok('listEvents', { params, query: { after: seq - 1, limit: 1 } });
    return events[0]?.data as Record<string, unknown>;
  };

  it('goes to everyone when nothing is said', async () => {
    const message = await post(writer, board, 'to whom?');
    expect(message).to.deep.include({
      to: ['all'],
      sender: 'self',
      trust: 'self',
      urgent: false,
      expects_reply: false,
    });
    expect(await recorded(message.seq)).not.to.have.property('recipients');
  });

  it('goes to members, roles and agents of a person: each once, in target order, never the sender', async () => {
    const handle = (await server.dana.ok('getMe')).name;
    const cases: [string[], string[]][] = [
      [
        ['@pams', '@writer'],
        [pams.memberId, writer.memberId],
      ],
      [['role:reviewer'], [reviewer.memberId, pams.memberId]],
      [[`owner:${handle}`], [writer.memberId, reviewer.memberId]],
      [
        ['role:reviewer', '@pams', `owner:${handle}`],
        [reviewer.memberId, pams.memberId, writer.memberId],
      ],
      [['role:member'], []],
      [['@pams', '@pams'], [pams.memberId]],
    ];
    for (const [to, recipients] of cases) {
      const message = await post(server.dana, board, 'x', { to });
      expect(message.to).to.deep.equal([...new Set(to)]);
      expect((await recorded(message.seq))['recipients'], to.join()).to.deep.equal(recipients);
    }
    const own = await post(writer, board, 'x', { to: ['@writer', 'role:writer'] });
    expect((await recorded(own.seq))['recipients']).to.deep.equal([]);
  });

  it('reaches an owner without agents with an empty list, and nobody who joins later', async () => {
    const eve = await server.person(`eve-${board}`);
    await putOnBoard(server, board, eve);
    const message = await post(server.dana, board, 'x', { to: [`owner:eve-${board}`, 'role:member'] });
    await newAgent(eve, board, { role: 'member' });
    expect((await server.dana.ok('getMessage', { params: { message: message.id } })).recipients).to.deep.equal([]);
  });

  it('to targets of a wrong form, or of nobody, is refused with exactly these codes and no event', async () => {
    const before = await head();
    const cases: [string[], string][] = [
      [['all', '@pams'], '422 invalid_target'],
      [['@pams', 'all'], '422 invalid_target'],
      [['@Pams'], '422 invalid_target'],
      [['mine'], '422 invalid_target'],
      [[''], '422 invalid_target'],
      [['pams'], '422 invalid_target'],
      [['@all '], '422 invalid_target'],
      [['role:'], '422 invalid_target'],
      [[`@${'x'.repeat(41)}`], '422 invalid_target'],
      [['@nobody'], '422 unknown_recipient'],
      [['role:none'], '422 role_not_found'],
      [['owner:nobody'], '422 unknown_recipient'],
      [[], '400 invalid_request'],
      [Array(51).fill('@pams'), '400 invalid_request'],
    ];
    for (const [to, expected] of cases) {
      const { answer, details } = await refusal(server.dana, { to });
      expect(answer, to.join()).to.equal(expected);
      if (answer.startsWith('422')) expect(details?.['target']).to.be.a('string');
    }
    expect((await refusal(server.dana, { to: ['role:none'] })).details?.['choices']).to.have.members([
      'member',
      'writer',
      'reviewer',
    ]);
    expect(await head()).to.equal(before);
  });

  it('names whom it could have gone to when it names nobody', async () => {
    const { details } = await refusal(server.dana, { to: ['@nobody'] });
    expect(details?.['choices']).to.include.members(['pam', 'writer', 'reviewer', 'pams']);
  });

  it('quotes a wrong target cut to 60 characters and without the secret in it', async () => {
    expect((await refusal(server.dana, { to: ['x'.repeat(200)] })).details?.['target']).to.have.length(60);
    const secret = 'glpat-abcdefghij0123456789';
    for (const to of [[`!${secret}`], [`@${secret}`], [`owner:${secret}`], [`role:${secret.slice(0, 26)}`]]) {
      expect(JSON.stringify(await refusal(server.dana, { to })), to.join()).not.to.include(secret);
    }
  });

  it('reaches no former member by name, and does reach one who is still there', async () => {
    await endMember(server, reviewer.memberId);
    expect((await refusal(server.dana, { to: ['@reviewer'] })).answer).to.equal('422 unknown_recipient');
    const message = await post(server.dana, board, 'x', { to: ['role:reviewer'] });
    expect((await recorded(message.seq))['recipients']).to.deep.equal([pams.memberId]);
  });

  it('is decided in the order of the contract: the first hit wins', async () => {
    const nowhere = 'msg_01K5A0000000000000000000P1';
    await setRoles(server, board, { member: { can: [] }, writer: { can: [] }, reviewer: { can: ['post'] } });
    await setPolicy(server, board, { broadcast: 'granted', urgent: 'granted' });
    const everything = { to: ['@nobody'], reply_to: nowhere, urgent: true };
    const long = { body: 'x'.repeat(32_769) };
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect((await refusal(writer, { ...everything, ...long })).answer).to.equal('413 message_too_large');
    expect((await refusal(writer, everything)).answer).to.equal('409 board_archived');
    await changeBoard(server, board, { lifecycle: 'active' });
    const forbidden = await refusal(writer, everything);
    expect(forbidden.answer).to.equal('403 forbidden');
    expect(forbidden.details).to.deep.equal({ permission: 'post' });
    expect((await refusal(reviewer, everything)).answer).to.equal('404 message_not_found');
    expect((await refusal(reviewer, { ...everything, reply_to: undefined })).answer).to.equal('422 unknown_recipient');
    expect((await refusal(reviewer, { to: ['all'], urgent: true })).answer).to.equal('403 broadcast_not_allowed');
    expect((await refusal(reviewer, { to: ['@pams'], urgent: true })).answer).to.equal('403 urgent_not_allowed');
    expect((await send(reviewer, { to: ['@pams'] })).status).to.equal(201);
    expect((await send(pam, { to: ['all'], urgent: true })).status).to.equal(201);
  });

  it('of an agent needs the grant where the policy says so, and its role has it', async () => {
    await setPolicy(server, board, { broadcast: 'granted', urgent: 'granted' });
    const plain = await newAgent(server.dana, board, { role: 'member' });
    expect((await refusal(plain, {})).answer).to.equal('403 broadcast_not_allowed');
    expect((await refusal(plain, {})).hint).to.match(/role|person/);
    expect((await send(writer, { urgent: true })).status).to.equal(201);
  });

  it('has 1 to 32,768 code points, of which one is no white space', async () => {
    const astral = '\u{1f389}'.repeat(32_768);
    const sent = await send(server.dana, { body: astral });
    expect([sent.status, sent.body.body === astral]).to.deep.equal([201, true]);
    const over = await refusal(server.dana, { body: `${astral}x` });
    expect(over.answer).to.equal('413 message_too_large');
    expect(over.details).to.deep.equal({ limit: 32_768, length: 32_769 });
    for (const body of ['', ' \n\t\u00a0'])
      expect((await refusal(server.dana, { body })).answer).to.equal('400 invalid_request');
  });

  it('keeps its text as sent: line ends, control characters, no normalisation', async () => {
    const text = ' a\r\nb\u001b[31m\u200b e\u0301 \u2028<end> ';
    expect((await post(server.dana, board, text)).body).to.equal(text);
  });

  it('takes no field that the contract of now does not have', async () => {
    for (const field of ['from', 'sender', 'board', 'recipients']) {
      expect((await refusal(server.dana, { [field]: [] })).answer, field).to.equal('400 invalid_request');
    }
  });
});
