/** Work between two people's agents, from the proposal to the proof that both sessions reach each other. */
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  codeOf,
  look,
  type Pair,
  pairOfOne,
  pairOn,
  propose,
  roundTrip,
  select,
  selection,
  verify,
  verifying,
} from './cast.ts';

forEachDatabase('a pairing request', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is proposed, selected on both sides, accepted, and ready after a round trip in both directions', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    expect(request).to.include({ state: 'awaiting_session', generation: 1, accepted: false, awaiting: 'both' });
    expect(Date.parse(request.expires_at) - Date.parse(request.created_at)).to.equal(7 * 86_400_000);
    const initiator = await select(server, pair, request, 'initiator');
    expect(initiator.answer.request).to.include({ state: 'awaiting_session', awaiting: 'recipient' });
    expect(initiator.answer.endpoint).to.include({
      live: true,
      generation: 1,
      session_binding: pair.initiator.binding,
    });
    const recipient = await select(server, pair, request, 'recipient');
    expect(recipient.answer.request).to.include({ state: 'awaiting_endpoint', awaiting: 'recipient' });
    expect(recipient.answer.request.initiator).not.to.have.property('session_binding');
    const params = { pairing: request.id };
    const accepted = await recipient.proof.ok('acceptPairing', {
      params,
      body: { agent_id: pair.recipient.agentId, generation: 1 },
    });
    expect(accepted).to.include({ state: 'verifying', accepted: true, awaiting: 'both' });
    expect(accepted.progress).to.deep.equal({ initiator_to_recipient: 'ping', recipient_to_initiator: 'ping' });
    expect(accepted.challenge?.direction).to.equal('recipient_to_initiator');
    const forth = await roundTrip(pair, request, initiator.proof, 'initiator');
    expect((await look(pair.initiator.person, request)).progress).to.include({ initiator_to_recipient: 'report' });
    const half = await verify(initiator.proof, request, forth);
    expect(half.body).to.include({ state: 'verifying', awaiting: 'recipient' });
    expect(half.body.progress).to.include({ initiator_to_recipient: 'done' });
    const back = await roundTrip(pair, request, recipient.proof, 'recipient');
    const whole = await verify(recipient.proof, request, back);
    expect(whole.body).to.include({ state: 'ready' }).and.not.have.any.keys('awaiting', 'next', 'challenge');
    for (const { proof } of [initiator, recipient]) {
      expect(await proof.refused('getPairingRequest', { params })).to.equal('401 unauthorized');
    }
    expect((await look(pair.recipient.person, request)).state).to.equal('ready');
  });

  it('may be between two sessions of one person', async () => {
    const pair = await pairOfOne(server);
    const { request, proofs } = await verifying(server, pair);
    for (const side of ['initiator', 'recipient'] as const) {
      const answer = await verify(proofs[side], request, await roundTrip(pair, request, proofs[side], side));
      expect(codeOf(answer)).to.equal('200');
    }
    expect((await look(pair.initiator.person, request)).state).to.equal('ready');
  });

  it('says how an agent that has its token from another key is selected', async () => {
    const pair = await pairOn(server);
    const { person } = pair.recipient;
    const seat = { board: pair.board.name, session: 'claude-code:one', harness: 'claude-code' };
    const { token: before } = await person.ok('createDelegation', { body: { name: 'laptop' } });
    const { agent } = await new Api(server.url, before).ok('joinBoard', { body: seat });
    const other = new Api(server.url, (await person.ok('createKey', { body: { name: 'other' } })).token);
    const request = await propose(pair);
    const body = selection(request.id, 'recipient', { ...pair.recipient, agentId: agent.id });
    const refused = await other.call('selectPairingEndpoint', { body });
    expect(codeOf(refused)).to.equal('403 forbidden');
    expect(JSON.parse(refused.text).error.hint).to.equal(
      `Take the seat again with the key that is in use, in the agent's session: service join --board ${pair.board.name}; then repeat this`,
    );
    const { token: now } = await other.ok('createDelegation', { body: { name: 'laptop' } });
    const again = await new Api(server.url, now).ok('joinBoard', { body: seat });
    expect([again.agent.id, again.reused]).to.deep.equal([agent.id, true]);
    const { request: selected } = await other.ok('selectPairingEndpoint', { body });
    expect(selected.recipient).to.include({ agent_id: agent.id, live: true });
  });

  it('tells both seats what became of it', async () => {
    const pair: Pair = await pairOn(server);
    const { request, proofs } = await verifying(server, pair);
    for (const side of ['initiator', 'recipient'] as const) {
      await verify(proofs[side], request, await roundTrip(pair, request, proofs[side], side));
    }
    const kinds = async (side: 'initiator' | 'recipient') =>
      (await pair[side].agent.ok('listNotices')).notices.map(({ kind, pairing_request_id, next }) => {
        expect(next.command).to.match(/^service pairing list --state all --server '/);
        expect(pairing_request_id).to.equal(request.id);
        return kind;
      });
    expect(await kinds('initiator')).to.deep.equal(['pairing_changed', 'pairing_ready']);
    expect(await kinds('recipient')).to.deep.equal(['pairing_ready']);
  });
});
