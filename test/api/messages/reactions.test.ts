import { expect } from 'chai';
import { emojis } from '../../../src/contract/values.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard, setPolicy } from '../../support/state.ts';

forEachDatabase('a reaction', (engine) => {
  let server: TestServer;
  let board: string;
  let pam: Api;
  let agent: Agent;
  let message: string;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board, { name: 'robo' });
    message = (await post(server.dana, board, 'shall we?')).id;
  });
  after(() => server.stop());

  const of = (reaction: string) => ({ params: { message, reaction } });
  const events = async () => (await pam.ok('listEvents', { params: { board }, query: { limit: 200 } })).events;
  const headOf = async (api: Api) => (await api.ok('getBoard', { params: { board } })).head_seq;

  it('is shown by kind in the fixed order, with names by the earliest that stands and whether it is mine', async () => {
    await agent.ok('addReaction', of('question'));
    await pam.ok('addReaction', of('thumbsup'));
    await server.dana.ok('addReaction', of('thumbsup'));
    const dana = (await server.dana.ok('getMe')).name;
    const shown = await agent.ok('addReaction', of('thumbsup'));
    expect(shown.reactions).to.deep.equal([
      { name: 'thumbsup', emoji: '\u{1F44D}', count: 3, by: ['pam', dana, 'robo'], mine: true },
      { name: 'question', emoji: '\u2753', count: 1, by: ['robo'], mine: true },
    ]);
    const listed = await pam.ok('listReactions', { params: { message } });
    expect(listed.reactions.map(({ name, count, mine }) => [name, count, mine])).to.deep.equal([
      ['thumbsup', 3, true],
      ['question', 1, false],
    ]);
    expect(listed.reactions[0]?.by.map(({ member }) => member.name)).to.deep.equal(['pam', dana, 'robo']);
  });

  it('of every kind is recorded with exactly its code points', async () => {
    for (const name of Object.keys(emojis)) await pam.ok('addReaction', of(name));
    const added = (await events()).filter((event) => event.type === 'reaction.added');
    expect(added.map((event) => event.data)).to.deep.equal(
      Object.entries(emojis).map(([name, emoji]) => ({ message_id: message, name, emoji })),
    );
    expect([...emojis.heart].map((c) => c.codePointAt(0))).to.deep.equal([0x2764, 0xfe0f]);
    expect(added.every((event) => event.actor.name === 'pam')).to.equal(true);
  });

  it('given twice or taken back where it is not writes nothing', async () => {
    await pam.ok('addReaction', of('eyes'));
    const head = await headOf(pam);
    expect((await pam.ok('addReaction', of('eyes'))).reactions[0]?.count).to.equal(1);
    await server.dana.ok('removeReaction', of('eyes'));
    expect(await headOf(pam)).to.equal(head);
    expect((await pam.ok('removeReaction', of('eyes'))).reactions).to.deep.equal([]);
    expect((await pam.ok('removeReaction', of('eyes'))).reactions).to.deep.equal([]);
    expect(await headOf(pam)).to.equal(head + 1);
  });

  it('sent twice at the same moment is one event, also through two processes', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const elsewhere = twin ? new (pam.constructor as typeof Api)(twin.url, pam.token) : pam;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? pam : elsewhere).ok('addReaction', of('tada'))),
    );
    for (const answer of answers) expect(answer.reactions[0]?.count).to.equal(1);
    expect((await events()).filter((event) => event.type === 'reaction.added')).to.have.length(1);
    await twin?.close();
  });

  it('moves the head, but no unread count, no inbox and no position', async () => {
    const before = await pam.ok('getBoard', { params: { board } });
    const inbox = await agent.ok('readInbox');
    await server.dana.ok('addReaction', of('check'));
    const after = await pam.ok('getBoard', { params: { board } });
    expect(after.head_seq).to.equal(before.head_seq + 1);
    expect([after.unread, after.read_up_to]).to.deep.equal([before.unread, before.read_up_to]);
    expect((await agent.ok('readInbox')).messages.map((each) => each.id)).to.deep.equal(
      inbox.messages.map((each) => each.id),
    );
  });

  it('of a member who left still counts', async () => {
    await agent.ok('addReaction', of('heart'));
    await endMember(server, agent.memberId);
    const { message: shown } = await pam.ok('getMessage', { params: { message } });
    expect(shown.reactions[0]).to.include({ count: 1, mine: false });
    expect(shown.reactions[0]?.by).to.deep.equal(['robo']);
  });

  it('needs a message the member may read', async () => {
    await setPolicy(server, board, { visibility: 'addressed' });
    const secret = (await post(server.dana, board, 'for pam', { to: ['@pam'] })).id;
    for (const name of ['addReaction', 'removeReaction', 'listReactions'] as const) {
      expect(await agent.refused(name, { params: { message: secret, reaction: 'eyes' } })).to.equal(
        '404 message_not_found',
      );
    }
    await pam.ok('addReaction', { params: { message: secret, reaction: 'eyes' } });
    const seen = await agent.ok('listEvents', { params: { board }, query: { newest: true, limit: 1 } });
    expect(seen.events[0]).to.include({ type: 'reaction.added', data_withheld: true }).and.not.have.property('data');
    const whole = await pam.ok('listEvents', { params: { board }, query: { newest: true, limit: 1 } });
    expect(whole.events[0]?.data).to.include({ message_id: secret, name: 'eyes' });
  });

  it('of an unknown kind is malformed, on an archived board refused even when it would change nothing', async () => {
    expect(await pam.refused('addReaction', of('rocket'))).to.equal('400 invalid_request');
    await pam.ok('addReaction', of('eyes'));
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await pam.refused('addReaction', of('eyes'))).to.equal('409 board_archived');
    expect(await pam.refused('removeReaction', of('tada'))).to.equal('409 board_archived');
    expect((await pam.ok('listReactions', { params: { message } })).reactions).to.have.length(1);
  });

  it('replays its answer only while the message may be read', async () => {
    await setPolicy(server, board, { visibility: 'open' });
    const quiet = (await post(server.dana, board, 'for pam', { to: ['@pam'] })).id;
    const call = { params: { message: quiet, reaction: 'eyes' }, key: 'react once' };
    expect((await agent.call('addReaction', call)).replayed).to.equal(false);
    expect((await agent.call('addReaction', call)).replayed).to.equal(true);
    await setPolicy(server, board, { visibility: 'addressed' });
    expect(await agent.refused('addReaction', call)).to.equal('404 message_not_found');
  });
});
