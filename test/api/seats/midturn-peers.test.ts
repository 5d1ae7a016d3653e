import { expect } from 'chai';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';

forEachDatabase('the sender who may enter a running turn', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is named of urgent messages to the agent itself, from an active agent of the same person', async () => {
    const { name: board } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board);
    const sibling = await newAgent(server.dana, board);
    const gone = await newAgent(server.dana, board);
    const pam = await server.person('pam');
    await putOnBoard(server, board, pam);
    const stranger = await newAgent(pam, board);
    const to = [`@${agent.name}`];
    const { seq } = await post(sibling, board, 'urgent and direct', { to, urgent: true });
    await post(gone, board, 'of one that has left', { to, urgent: true });
    await post(sibling, board, 'not urgent', { to });
    await post(sibling, board, 'to everybody', { urgent: true });
    await post(sibling, board, 'to a role', { to: ['role:member'], urgent: true });
    await post(stranger, board, 'of somebody else’s agent', { to, urgent: true });
    await post(server.dana, board, 'of the person', { to, urgent: true });
    await server.dana.ok('removeMember', { params: { board, member: gone.name } });
    const { messages } = await agent.ok('readInbox');
    const named = messages.flatMap((one) =>
      one.midturn_peer_sender_id === undefined ? [] : [[one.seq, one.midturn_peer_sender_id]],
    );
    expect(messages).to.have.length(7);
    expect(named).to.deep.equal([[seq, sibling.memberId]]);
    // Evidence for the one who is interrupted, and for nobody else.
    const { messages: shown } = await server.dana.ok('listMessages', { params: { board } });
    expect(shown.some((one) => 'midturn_peer_sender_id' in one)).to.equal(false);
  });
});
