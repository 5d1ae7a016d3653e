/** Who hears of pairing requests: streams of the two people, notices to their seats, and what time ends by itself. */
import { expect } from 'chai';
import { hintFrames } from '../../../src/contract/nouns/record.ts';
import { sweepOnboarding } from '../../../src/server/approvals/sweep.steps.ts';
import { post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';
import { cancel, decline, look, newBinding, pairOn, propose, roundTrip, select, verify, verifying } from './cast.ts';
import { rowOf, setRow, standIn } from './stand.ts';

forEachDatabase('news of a pairing request', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const swept = () => server.db.write((tx) => sweepOnboarding(tx, 500));

  it('is a hint to both people, with its state and generation and nothing else', async () => {
    const pair = await pairOn(server);
    const streams = [
      await TestStream.open(pair.initiator.person),
      await TestStream.open(pair.recipient.person, { events: 'pairing' }),
    ];
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const { request, proofs } = await verifying(server, pair);
    for (const side of ['initiator', 'recipient'] as const) {
      await verify(proofs[side], request, await roundTrip(pair, request, proofs[side], side));
    }
    for (const stream of streams) {
      const last = await stream.frame(({ event, data }) => event === 'pairing' && data.state === 'ready');
      expect(last.data).to.deep.equal({ pairing_request_id: request.id, state: 'ready', generation: 1 });
      expect(hintFrames.shape.pairing.safeParse(last.data).success).to.equal(true);
      stream.close();
    }
  });

  it('is a hint of what keeps state and generation too', async () => {
    const pair = await pairOn(server);
    const { initiator, recipient } = pair;
    const request = await propose(pair);
    const streams = [await TestStream.open(initiator.person), await TestStream.open(recipient.person)];
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const hinted = async <T>(state: string, change: () => Promise<T>): Promise<T> => {
      const before = streams.map((stream) => stream.named('pairing').length);
      const done = await change();
      for (const [n, stream] of streams.entries()) {
        await stream.until(() => stream.named('pairing').length > before[n]!);
        const last = stream.named('pairing').at(-1);
        expect(last?.data).to.deep.equal({ pairing_request_id: request.id, state, generation: 1 });
      }
      return done;
    };
    const params = { pairing: request.id };
    const body = { agent_id: recipient.agentId, generation: 1 };
    await hinted('awaiting_session', () => recipient.person.ok('choosePairingAgent', { params, body }));
    const { proof } = await hinted('awaiting_endpoint', () => select(server, pair, request, 'recipient'));
    await hinted('awaiting_endpoint', () => proof.ok('acceptPairing', { params, body }));
    const mine = await hinted('verifying', () => select(server, pair, request, 'initiator'));
    const { challenge } = await look(mine.proof, request);
    const { direction = '', ping_text = '', reply_line = '' } = challenge ?? {};
    const ping = await hinted('verifying', () =>
      post(initiator.agent, pair.board.name, ping_text, { to: [`@${recipient.agent.name}`] }),
    );
    const reply = await hinted('verifying', () =>
      post(recipient.agent, pair.board.name, reply_line, { to: [`@${initiator.agent.name}`], reply_to: ping.id }),
    );
    const report = { generation: 1, direction, ping_seq: ping.seq, reply_seq: reply.seq, handoff_id: 'hnd_1' };
    await hinted('verifying', () => verify(mine.proof, request, report));
    for (const stream of streams) stream.close();
  });

  it('does not exist for people who cannot see it', async () => {
    const pair = await pairOn(server);
    const eve = await server.person(`eve-${Date.now() % 100_000}`);
    const stream = await TestStream.open(eve);
    await stream.frame(({ event }) => event === 'ready');
    const request = await propose(pair);
    await cancel(pair.initiator.person, request);
    const other = { ...pair, recipient: { ...pair.recipient, person: eve, personId: eve.personId ?? '' } };
    const own = await propose(other);
    await stream.frame(({ event, data }) => event === 'pairing' && data.pairing_request_id === own.id);
    expect(stream.named('pairing').map(({ data }) => data.pairing_request_id)).to.deep.equal([own.id]);
    stream.close();
  });

  it('of an end is told to the other side, in words of the server', async () => {
    const pair = await pairOn(server);
    const secret = 'what nobody else shall read';
    const request = await propose(pair, secret);
    await select(server, pair, request, 'recipient');
    await decline(pair.recipient.person, request);
    const { notices } = await pair.initiator.agent.ok('listNotices');
    expect(notices).to.have.length(1);
    expect(notices[0]).to.deep.include({ kind: 'pairing_closed', pairing_request_id: request.id });
    expect(notices[0]?.text).to.equal(`${request.id} on ${pair.board.name} is over: declined.`);
    expect(JSON.stringify(notices)).not.to.include(secret);
    expect(Date.parse(notices[0]?.expires_at ?? '') - Date.parse(notices[0]?.at ?? '')).to.equal(7 * 86_400_000);
    expect((await pair.recipient.agent.ok('listNotices')).notices).to.deep.equal([]);
  });

  it('of another session is told once for each generation', async () => {
    const pair = await pairOn(server);
    const { request } = await verifying(server, pair);
    let generation = 1;
    for (let n = 0; n < 2; n++) {
      await select(server, pair, { id: request.id, generation }, 'initiator', {
        session_binding: newBinding(),
        replace: true,
      });
      generation++;
    }
    const told = (await pair.recipient.agent.ok('listNotices')).notices;
    expect(told.map(({ kind }) => kind)).to.deep.equal(['pairing_changed', 'pairing_changed']);
    expect(Date.parse(told[0]?.expires_at ?? '') - Date.parse(told[0]?.at ?? '')).to.equal(86_400_000);
  });

  it('that time brings is written down by the sweep, once', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const { proof } = await select(server, pair, request, 'initiator');
    const expires_at = server.clock.now() - 1_000;
    await setRow(server, request.id, { expires_at });
    const stream = await TestStream.open(pair.recipient.person);
    await stream.frame(({ event }) => event === 'ready');
    await swept();
    await swept();
    const ended = { closed: 'expired', closed_reason: 'timeout', closed_at: expires_at };
    expect(await rowOf(server, request.id)).to.include(ended);
    expect((await pair.initiator.agent.ok('listNotices')).notices.map(({ kind }) => kind)).to.deep.equal([
      'pairing_closed',
    ]);
    expect(await proof.refused('getPairingRequest', { params: { pairing: request.id } })).to.equal('401 unauthorized');
    stream.close();
  });

  it('is that an invite ended with the key behind it, when that key runs out', async () => {
    const stand = await standIn(server, 'awaiting_account');
    const { person, agentId } = stand.pair.initiator;
    const keyId = await server.db.write(async (tx) => {
      const [row] = await tx.query<{ key_id: string }>((db) => db('members').where('id', agentId).select('key_id'));
      const key = row?.key_id ?? '';
      await tx.change((db) =>
        db('server_invites').where('id', stand.inviteId).update({ issuing_agent_id: agentId, parent_key_id: key }),
      );
      return key;
    });
    const end = server.clock.now() + 1_000;
    await server.db.write((tx) => tx.change((db) => db('access_keys').where('id', keyId).update({ expires_at: end })));
    server.clock.advance(2_000);
    const [seen] = await server.db.read((tx) =>
      tx.query<{ closed: string | null }>((db) => db('pairing_requests').where('id', stand.id).select('closed')),
    );
    expect(seen?.closed).to.equal(null);
    await swept();
    expect(await rowOf(server, stand.id)).to.include({ closed: 'cancelled', closed_reason: 'invite_ended' });
    expect(await person.refused('getMe')).to.equal('401 unauthorized');
  });

  it('is counted for a person among what waits for them', async () => {
    const pair = await pairOn(server);
    const open = async () => (await pair.recipient.person.ok('getOnboardingInbox')).counts.pairings_open;
    expect(await open()).to.equal(0);
    const [request] = [await propose(pair), await propose(pair)];
    expect(await open()).to.equal(2);
    await cancel(pair.initiator.person, request);
    expect(await open()).to.equal(1);
  });
});
