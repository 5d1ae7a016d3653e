/** What waits in the queue of an agent's own program: reported under a fence, told to senders, never a receipt. */
import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('the queue of an agent’s program', (engine) => {
  let server: TestServer;
  let board: string;
  let agent: Agent;
  let peer: Agent;

  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    agent = await newAgent(server.dana, board, { name: 'codex' });
    peer = await newAgent(server.dana, board, { name: 'claude' });
  });

  const label = { session: 'codex:s1', boot: 'b1' };
  const claim = (expected_epoch: number, more = {}) =>
    agent.call('reportDeliveryQueue', { body: { ...label, expected_epoch, ...more } });
  const report = (epoch: number, revision: number, messages: object[], more = {}) =>
    agent.call('reportDeliveryQueue', { body: { ...label, epoch, revision, messages, ...more } });
  const ref = ({ id, seq }: { id: string; seq: number }) => ({ message_id: id, seq });
  const codeOf = ({ status, code }: { status: number; code: string | undefined }) =>
    code ? `${status} ${code}` : `${status}`;
  const queuedFor = async (reader: Api, seq: number) =>
    (await reader.ok('listReceipts', { params: { board, seq } })).recipients[0];

  it('is claimed, reported, read, and told to the sender alone', async () => {
    const message = await post(peer, board, 'look', { to: ['@codex'] });
    expect(await agent.ok('getDeliveryQueue')).to.include({ epoch: 0, revision: 0, member_id: agent.memberId });
    expect((await claim(0)).body).to.include({ epoch: 1, revision: 0 });
    const { body } = await report(1, 1, [ref(message)]);
    expect(body).to.include({ epoch: 1, revision: 1 });
    const queue = await agent.ok('getDeliveryQueue');
    expect(queue.messages).to.deep.equal([ref(message)]);
    expect(queue.expires_at).to.equal(body.expires_at);
    expect(await queuedFor(peer, message.seq)).to.deep.include({
      state: 'pending',
      queued: { boundary: 'turn_end', expires_at: body.expires_at },
    });
    for (const other of [server.dana, agent])
      expect(await queuedFor(other, message.seq)).to.not.have.property('queued');
  });

  it('counts for 45 seconds, and is nothing once the message was received', async () => {
    const message = await post(peer, board, 'look', { to: ['@codex'] });
    await claim(0);
    await report(1, 1, [ref(message)]);
    server.clock.advance(44_000);
    expect(await queuedFor(peer, message.seq)).to.have.property('queued');
    await report(1, 2, [ref(message)]);
    server.clock.advance(44_000);
    expect(await queuedFor(peer, message.seq)).to.have.property('queued');
    server.clock.advance(2_000);
    expect(await queuedFor(peer, message.seq)).to.not.have.property('queued');
    const over = await agent.ok('getDeliveryQueue');
    expect(over.messages).to.deep.equal([]);
    expect(over).to.include({ epoch: 1, revision: 2 }).and.not.have.property('expires_at');
    await report(1, 3, [ref(message)]);
    await agent.ok('ackInbox', { body: { up_to: message.seq } });
    expect(await queuedFor(peer, message.seq))
      .to.include({ state: 'received' })
      .and.not.have.property('queued');
    expect((await agent.ok('getDeliveryQueue')).messages).to.deep.equal([]);
  });

  it('names only what is in the seat’s inbox', async () => {
    const mine = await post(agent, board, 'my own');
    const read = await post(peer, board, 'read already', { to: ['@codex'] });
    await agent.ok('ackInbox', { body: { up_to: read.seq } });
    const waits = await post(peer, board, 'waits', { to: ['@codex'] });
    const others = await post(server.dana, board, 'for claude', { to: ['@claude'] });
    const elsewhere = (await newBoard(server.dana)).name;
    const far = await post(server.dana, elsewhere, 'elsewhere');
    await claim(0);
    const named = [mine, read, waits, others, far].map(ref);
    await report(1, 1, [...named, { message_id: mine.id, seq: waits.seq }]);
    expect((await agent.ok('getDeliveryQueue')).messages).to.deep.equal([ref(waits)]);
  });

  it('belongs to one reporter: a stale claim, number or label is refused, and the new reporter goes on', async () => {
    expect(codeOf(await report(1, 1, []))).to.equal('409 queue_report_conflict');
    expect(codeOf(await claim(1))).to.equal('409 queue_report_conflict');
    expect(codeOf(await claim(0))).to.equal('200');
    expect(codeOf(await claim(0))).to.equal('409 queue_report_conflict');
    expect(codeOf(await report(1, 1, []))).to.equal('200');
    for (const again of [1, 1]) expect(codeOf(await report(1, again, []))).to.equal('409 queue_report_conflict');
    expect(codeOf(await report(1, 2, [], { boot: 'b2' }))).to.equal('409 queue_report_conflict');
    expect(codeOf(await report(1, 2, [], { session: 'codex:s2' }))).to.equal('409 queue_report_conflict');
    expect(codeOf(await claim(1, { session: 'codex:s2', boot: 'b2' }))).to.equal('200');
    expect(codeOf(await report(1, 9, []))).to.equal('409 queue_report_conflict');
    expect(codeOf(await report(2, 1, [], { session: 'codex:s2', boot: 'b2' }))).to.equal('200');
  });

  it('has one winner where two claim it at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => claim(0, { session: `codex:s${n}` })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409]);
    expect((await agent.ok('getDeliveryQueue')).epoch).to.equal(1);
  });

  it('is for the agent itself, goes on on an archive, and ends with the seat', async () => {
    const body = { ...label, expected_epoch: 0 };
    expect(await server.dana.refused('reportDeliveryQueue', { body })).to.equal('403 agent_token_required');
    expect(await server.dana.refused('getDeliveryQueue')).to.equal('403 agent_token_required');
    await claim(0);
    await server.dana.ok('archiveBoard', { params: { board } });
    expect(codeOf(await report(1, 1, []))).to.equal('200');
    await server.dana.ok('restoreBoard', { params: { board } });
    await server.dana.ok('removeMember', { params: { board, member: 'codex' } });
    expect(codeOf(await report(1, 2, []))).to.equal('403 agent_removed');
    const rows = await server.db.read((tx) =>
      tx.query<object>((db) => db('seat_queues').where('member_id', agent.memberId).select('*')),
    );
    expect(rows).to.deep.equal([]);
  });

  it('refuses what is no report', async () => {
    const whole = { ...label, epoch: 1, revision: 1, messages: [] };
    const message = { message_id: 'msg_01K5A0000000000000000000P1', seq: 1 };
    for (const body of [
      {},
      label,
      { ...label, expected_epoch: -1 },
      { ...label, expected_epoch: 0, epoch: 1 },
      { ...whole, session: 'no-harness' },
      { ...whole, boot: '' },
      { ...whole, boot: 'x'.repeat(65) },
      { ...whole, revision: 0 },
      { ...whole, messages: [{ seq: 1 }] },
      { ...whole, messages: Array(1_001).fill(message) },
      { ...whole, extra: true },
    ]) {
      expect(await agent.refused('reportDeliveryQueue', { body }), JSON.stringify(body).slice(0, 80)).to.equal(
        '400 invalid_request',
      );
    }
  });
});
