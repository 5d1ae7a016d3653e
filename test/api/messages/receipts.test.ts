import { expect } from 'chai';
import { inParts } from '../../../src/server/db/rows.ts';
import type { MessageRow } from '../../../src/server/messages/messages.store.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, setPolicy } from '../../support/state.ts';

forEachDatabase('receipts', (engine) => {
  let server: TestServer;
  let board: string;
  let pam: Api;
  let a: Agent;
  let b: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    a = await newAgent(server.dana, board, { name: 'a', role: 'member' });
    b = await newAgent(pam, board, { name: 'b', role: 'member' });
  });
  after(() => server.stop());

  const receipts = (reader: Api, seq: number) => reader.ok('listReceipts', { params: { board, seq } });
  const states = async (reader: Api, seq: number) =>
    (await receipts(reader, seq)).recipients.map(({ member, state }) => `${member.name} ${state}`);

  it('say of each recipient, in recorded order, whether it arrived or was read', async () => {
    const posted = await post(server.dana, board, 'x', { to: ['@b', '@pam', 'role:member'] });
    expect(await states(server.dana, posted.seq)).to.deep.equal(['b pending', 'pam pending', 'a pending']);
    await b.ok('ackInbox', { body: { up_to: posted.seq } });
    await pam.ok('ackBoard', { params: { board }, body: { up_to: posted.seq } });
    const shown = await receipts(a, posted.seq);
    expect(shown).to.include({ board, seq: posted.seq, message_id: posted.id, to_everyone: false, available: true });
    expect(shown.to).to.deep.equal(['@b', '@pam', 'role:member']);
    expect(shown.recipients.map(({ state, presence }) => [state, presence])).to.deep.equal([
      ['received', 'no_session'],
      ['read', null],
      ['pending', 'no_session'],
    ]);
  });

  it('are empty for a message to everyone, whatever its mentions', async () => {
    const posted = await post(server.dana, board, 'hello @a');
    expect(await receipts(pam, posted.seq))
      .to.include({ to_everyone: true })
      .and.deep.include({ recipients: [] });
  });

  it('follow the recorded recipients: nobody joins them later, and who left is left out', async () => {
    const posted = await post(server.dana, board, 'x', { to: ['role:member'] });
    await newAgent(pam, board, { name: 'late' });
    await endMember(server, b.memberId);
    expect(await states(pam, posted.seq)).to.deep.equal(['a pending']);
    const owned = await post(server.dana, board, 'x', { to: ['owner:pam'] });
    expect(await states(pam, owned.seq)).to.deep.equal(['late pending']);
  });

  it('do not count as read what was posted while somebody was away', async () => {
    const before = await post(server.dana, board, 'before', { to: ['@pam'] });
    const away = await post(server.dana, board, 'away', { to: ['@pam'] });
    await pam.ok('ackBoard', { params: { board }, body: { up_to: before.seq } });
    await endMember(server, (await receipts(pam, away.seq)).recipients[0]?.member.id ?? '');
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    const after = await post(server.dana, board, 'after', { to: ['@pam'] });
    await pam.ok('ackBoard', { params: { board }, body: { up_to: after.seq } });
    expect(await states(pam, before.seq)).to.deep.equal(['pam read']);
    expect(await states(pam, away.seq)).to.deep.equal(['pam pending']);
    expect(await states(pam, after.seq)).to.deep.equal(['pam read']);
  });

  it('name the first hundred replies of each agent, however many others wrote before', async () => {
    const asked = await post(server.dana, board, 'x', { to: ['@a', '@b'], expects_reply: true });
    const reply = (from: Api) => post(from, board, 'y', { reply_to: asked.id, to: ['all'] });
    const first = await reply(a);
    const late = await reply(b);
    await server.db.write(async (tx) => {
      const [row] = await tx.query<MessageRow>((db) => db('messages').where('id', first.id).select('*'));
      await tx.change((db) =>
        db('messages')
          .where('id', late.id)
          .update({ seq: late.seq + 1_000 }),
      );
      const more = Array.from({ length: 1_000 }, (_, n) => ({ ...row, id: newId('msg', tx.now), seq: late.seq + n }));
      await inParts(more, (part) => tx.change((db) => db('messages').insert(part)));
    });
    const { recipients } = await server.dana.ok('getMessage', { params: { message: asked.id } });
    expect(recipients.map(({ member, state, reply_ids: ids }) => [member.name, state, ids.length])).to.deep.equal([
      ['a', 'replied', 100],
      ['b', 'replied', 1],
    ]);
    expect(recipients[1]?.reply_ids).to.deep.equal([late.id]);
  });

  it('are for readers of the message, also on an archived board', async () => {
    await setPolicy(server, board, { visibility: 'addressed' });
    const posted = await post(server.dana, board, 'x', { to: ['@a'] });
    expect(await states(a, posted.seq)).to.deep.equal(['a pending']);
    for (const seq of [posted.seq, posted.seq + 1, 1, 999]) {
      expect(await b.refused('listReceipts', { params: { board, seq } })).to.equal('404 message_not_found');
    }
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await states(pam, posted.seq)).to.deep.equal(['a pending']);
  });
});
