/** Endpoint credentials: every trigger in every state, what each is bound to, and where it stops working. */
import { expect } from 'chai';
import { errors } from '../../../src/contract/errors.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import { PROOF_MS, type ProofRow } from '../../../src/server/pairing/proofs.rules.ts';
import { Api } from '../../support/api.ts';
import { newAgent } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { goodCall } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeKey, removePerson, revokeKey } from '../../support/state.ts';
import {
  accept,
  codeOf,
  look,
  messageOf,
  newBinding,
  newProof,
  newSide,
  notYourAgent,
  type Pair,
  pairOn,
  propose,
  select,
  selection,
  verifying,
} from './cast.ts';
import { type ProofState, type ProofTrigger, proofOutcome, proofState, proofTriggers } from './proof-states.ts';
import { setRow } from './stand.ts';

const states: ProofState[] = ['none', 'working', 'expired', 'suspended', 'revoked'];

interface Stand {
  pair: Pair;
  id: string;
  body: ReturnType<typeof selection>;
  token: string;
}

const setProof = (server: TestServer, token: string, columns: Partial<ProofRow>): Promise<number> =>
  server.db.write((tx) =>
    tx.change((db) => db('pairing_credentials').where('verifier', server.root.digest(token)).update(columns)),
  );

const proofRow = async (server: TestServer, token: string): Promise<ProofRow | undefined> => {
  const [row] = await server.db.read((tx) =>
    tx.query<ProofRow>((db) => db('pairing_credentials').where('verifier', server.root.digest(token)).select('*')),
  );
  return row;
};

const archive = ({ pair }: Stand) => pair.initiator.person.call('archiveBoard', { params: { board: pair.board.name } });
const selecting = ({ pair, body }: Stand, more: Record<string, unknown>) =>
  pair.initiator.person.call('selectPairingEndpoint', { body: { ...body, ...more } });

type Cause = (stand: Stand, server: TestServer) => Promise<string>;

const causes: Record<ProofTrigger, Cause> = {
  present: async (stand) => codeOf(await selecting(stand, {})),
  present_elsewhere: async (stand) => codeOf(await selecting(stand, { session_binding: newBinding(), replace: true })),
  other_secret: async (stand) => codeOf(await selecting(stand, { client_token: newProof() })),
  async clock({ token }, server) {
    await setProof(server, token, { expires_at: server.clock.now() });
    return '200';
  },
  replaced: async (stand) =>
    codeOf(await selecting(stand, { client_token: newProof(), session_binding: newBinding(), replace: true })),
  closed: async ({ pair, id }) =>
    codeOf(await pair.initiator.person.call('cancelPairing', { params: { pairing: id } })),
  async ended({ pair }) {
    const { person, agentId } = pair.initiator;
    return codeOf(await person.call('removeMember', { params: { board: pair.board.name, member: agentId } }));
  },
  archived: async (stand) => codeOf(await archive(stand)),
  restored: async ({ pair }) =>
    codeOf(await pair.initiator.person.call('restoreBoard', { params: { board: pair.board.name } })),
  use: async ({ token, id }, server) =>
    codeOf(await new Api(server.url, token).call('getPairingRequest', { params: { pairing: id } })),
};

forEachDatabase('every trigger of an endpoint credential', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  async function standIn(state: ProofState): Promise<Stand> {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const body = selection(id, 'initiator', pair.initiator);
    const stand = { pair, id, body, token: body.client_token };
    if (state !== 'none') await selecting(stand, {});
    if (state === 'expired') await setProof(server, stand.token, { expires_at: server.clock.now() });
    if (state === 'revoked') await selecting(stand, { client_token: newProof() });
    if (state === 'suspended') await archive(stand);
    return stand;
  }

  async function stateOf({ pair, token }: Stand): Promise<ProofState> {
    const state = proofState(await proofRow(server, token), server.clock.now());
    if (state !== 'working') return state;
    const [board] = await server.db.read((tx) =>
      tx.query<{ lifecycle: string }>((db) => db('boards').where('id', pair.board.id).select('lifecycle')),
    );
    return board?.lifecycle === 'archived' ? 'suspended' : 'working';
  }

  for (const on of proofTriggers) {
    it(`does in every state what the table says: ${on}`, async () => {
      for (const state of states) {
        const where = `${on} in ${state}`;
        const stand = await standIn(state);
        expect(await stateOf(stand), where).to.equal(state);
        const outcome = proofOutcome(state, on);
        const answer = await causes[on](stand, server);
        const refused = 'refused' in outcome ? `${errors[outcome.refused].status} ${outcome.refused}` : '200';
        // What ends a board cannot be done again, or undone where it was not; the credential stays what it was all the same.
        if (!['archived', 'restored'].includes(on)) expect(answer, where).to.equal(refused);
        expect(await stateOf(stand), where).to.equal('refused' in outcome ? state : outcome.next);
      }
    });
  }

  it('lasts ten minutes, and is armed for ten more by its own secret', async () => {
    const stand = await standIn('working');
    const first = await proofRow(server, stand.token);
    expect(first && first.expires_at - first.created_at).to.equal(PROOF_MS);
    server.clock.advance(PROOF_MS);
    expect(await causes.use(stand, server)).to.equal('401 unauthorized');
    const answer = await selecting(stand, {});
    expect([answer.body.id, Date.parse(answer.body.expires_at) > server.clock.now()]).to.deep.equal([first?.id, true]);
    expect(await causes.use(stand, server)).to.equal('200');
  });

  it('lasts no longer than the request or the key it hangs on', async () => {
    const stand = await standIn('none');
    const soon = server.clock.now() + 60_000;
    await setRow(server, stand.id, { expires_at: soon });
    const { body } = await selecting(stand, {});
    expect(Date.parse(body.expires_at)).to.equal(soon);
    const other = await standIn('none');
    await changeKey(server, other.pair.initiator.person, { expires_at: soon });
    expect(Date.parse((await selecting(other, {})).body.expires_at)).to.equal(soon);
  });

  it('stays what it is when the answer was lost, also where its own selection began a new generation', async () => {
    const stand = await standIn('working');
    const body = { session_binding: newBinding(), client_token: newProof(), replace: true };
    const [first, again] = [await selecting(stand, body), await selecting(stand, body)];
    expect([first.status, again.status, again.body.id]).to.deep.equal([200, 200, first.body.id]);
    expect(again.body.request.generation).to.equal(2);
  });

  it('ends at once with its key, its person and its membership', async () => {
    for (const end of ['key', 'person', 'membership', 'expiry', 'seat under another key'] as const) {
      const pair = await pairOn(server);
      const { id } = await propose(pair);
      const { proof } = await select(server, pair, { id }, 'recipient');
      expect((await look(proof, { id })).id).to.equal(id);
      const { person } = pair.recipient;
      if (end === 'key') await revokeKey(server, person);
      if (end === 'person') await removePerson(server, person);
      if (end === 'membership') await person.ok('leaveBoard', { params: { board: pair.board.name } });
      if (end === 'expiry') await changeKey(server, person, { expires_at: server.clock.now() });
      if (end === 'seat under another key') await moveSeat(pair);
      expect(await proof.refused('getPairingRequest', { params: { pairing: id } }), end).to.equal('401 unauthorized');
    }
  });

  async function moveSeat({ recipient }: Pair): Promise<void> {
    await server.db.write((tx) =>
      tx.change((db) =>
        db('members').where('id', recipient.agentId).update({ key_id: 'key_01K5A0000000000000000000K9' }),
      ),
    );
  }

  it('reads its own request and no other, and accepts only for the recipient', async () => {
    const [pair, another] = [await pairOn(server), await pairOn(server)];
    const [{ id }, foreign] = [await propose(pair), await propose(another)];
    const own = await select(server, pair, { id }, 'initiator');
    const second = await propose(pair);
    for (const request of [foreign, second]) {
      expect(await own.proof.refused('getPairingRequest', { params: { pairing: request.id } })).to.equal(
        '404 pairing_not_found',
      );
      const body = { agent_id: pair.initiator.agentId, generation: 1 };
      expect(codeOf(await accept(own.proof, request, body))).to.equal('404 pairing_not_found');
    }
    await select(server, pair, { id }, 'recipient');
    const body = { agent_id: pair.initiator.agentId, generation: 1 };
    expect(codeOf(await accept(own.proof, { id }, body))).to.equal('403 forbidden');
  });

  it('is for no other operation', async () => {
    const pair = await pairOn(server);
    const { proof } = await select(server, pair, await propose(pair), 'initiator');
    const stage = { board: pair.board.name, message: '' };
    for (const name of [
      'getMe',
      'listBoards',
      'readInbox',
      'allowApproval',
      'listKeys',
      'openStream',
    ] as OperationName[]) {
      expect(await proof.refused(name, goodCall(name, stage)), name).to.equal('403 forbidden');
    }
  });

  it('counts as no use of the key it hangs on', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const { proof } = await select(server, pair, { id }, 'initiator');
    const used = async () => {
      const [row] = await server.db.read((tx) =>
        tx.query<{ last_used_at: number }>((db) =>
          db('access_keys').where('person_id', pair.initiator.personId).select('last_used_at'),
        ),
      );
      return row?.last_used_at;
    };
    const before = await used();
    server.clock.advance(120_000);
    await look(proof, { id });
    expect(await used()).to.equal(before);
  });

  it('is shown a challenge of its own side, with which it pings, and nobody else is', async () => {
    const pair = await pairOn(server);
    const { request, proofs } = await verifying(server, pair);
    const [mine, theirs] = [await look(proofs.initiator, request), await look(proofs.recipient, request)];
    expect(mine.challenge).to.include({ direction: 'initiator_to_recipient', generation: 1 });
    expect(theirs.challenge).to.include({ direction: 'recipient_to_initiator', generation: 1 });
    expect(mine.challenge?.nonce).not.to.equal(theirs.challenge?.nonce);
    const line = `service-pairing/1 ${request.id} gen=1 dir=i2r kind=ping nonce=${mine.challenge?.nonce}`;
    expect(mine.challenge?.ping_text.split('\n')[0]).to.equal(line);
    expect(mine.challenge?.reply_line).to.equal(line.replace('kind=ping', 'kind=reply'));
    expect(mine.challenge?.ping_text).to.include(mine.challenge?.reply_line ?? '-');
    expect(mine.initiator?.session_binding).to.equal(pair.initiator.binding);
    expect(mine.recipient).not.to.have.property('session_binding');
    for (const api of [pair.initiator.person, pair.recipient.person, pair.initiator.agent, pair.recipient.agent]) {
      const text = JSON.stringify(await look(api, request));
      expect(text).not.to.include(mine.challenge?.nonce).and.not.to.include(theirs.challenge?.nonce);
    }
  });
});

forEachDatabase('selecting an endpoint', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const tried = async (
    pair: Pair,
    side: 'initiator' | 'recipient',
    body: Record<string, unknown>,
    as = pair[side].person,
  ) => codeOf(await as.call('selectPairingEndpoint', { body: body as never }));

  it('is for the person of the side, with the key behind the seat', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const [mine, theirs] = [selection(id, 'initiator', pair.initiator), selection(id, 'recipient', pair.recipient)];
    expect(await tried(pair, 'recipient', mine)).to.equal('403 forbidden');
    expect(await tried(pair, 'initiator', theirs)).to.equal('403 forbidden');
    const { token } = await pair.initiator.person.ok('createKey', { body: { name: 'spare' } });
    expect(await tried(pair, 'initiator', mine, new Api(server.url, token))).to.equal('403 forbidden');
    const foreign = await pair.initiator.person.call('selectPairingEndpoint', {
      body: { ...mine, agent_id: pair.recipient.agentId },
    });
    expect([codeOf(foreign), messageOf(foreign)]).to.deep.equal(['404 pairing_not_found', notYourAgent]);
    const stranger = await server.person(`sid-${id.slice(-4).toLowerCase()}`);
    expect(await tried(pair, 'initiator', mine, stranger)).to.equal('404 pairing_not_found');
  });

  it('takes the agent the request was made for, unless another is asked for', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const spare = await newSide(pair.initiator.person, pair.board.name);
    const body = selection(id, 'initiator', spare);
    expect(await tried(pair, 'initiator', body)).to.equal('409 pairing_changed');
    const { request } = await pair.initiator.person.ok('selectPairingEndpoint', { body: { ...body, replace: true } });
    expect(request).to.include({ generation: 1, initiating_agent_id: pair.initiator.agentId });
    expect(request.initiator?.agent_id).to.equal(spare.agentId);
  });

  it('takes no seat for both sides', async () => {
    const pair = await pairOn(server);
    const own = { ...pair, recipient: pair.initiator };
    const { id } = await propose(own);
    expect(await tried(own, 'recipient', selection(id, 'recipient', pair.initiator))).to.equal('409 pairing_changed');
    const other = await newAgent(pair.initiator.person, pair.board.name);
    const side = { ...pair.initiator, agent: other, agentId: other.memberId };
    expect(await tried(own, 'recipient', selection(id, 'recipient', side))).to.equal('200');
    expect(await tried(own, 'initiator', selection(id, 'initiator', side, { replace: true }))).to.equal(
      '409 pairing_changed',
    );
  });

  it('goes by the generation that is current', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const first = await select(server, pair, { id }, 'initiator');
    expect(await tried(pair, 'recipient', selection(id, 'recipient', pair.recipient, { generation: 2 }))).to.equal(
      '409 pairing_changed',
    );
    await select(server, pair, { id }, 'recipient');
    const replaced = selection(id, 'initiator', { ...pair.initiator, binding: newBinding() }, { replace: true });
    expect(await tried(pair, 'initiator', replaced)).to.equal('200');
    expect(await tried(pair, 'initiator', { ...replaced, client_token: newProof() })).to.equal('409 pairing_changed');
    expect(await first.proof.refused('getPairingRequest', { params: { pairing: id } })).to.equal('401 unauthorized');
    expect((await look(pair.initiator.person, { id })).generation).to.equal(2);
  });

  it('is accepted for its own seat and generation only', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const { proof } = await select(server, pair, request, 'recipient');
    const own = { agent_id: pair.recipient.agentId, generation: 1 };
    for (const wrong of [{ agent_id: pair.initiator.agentId }, { generation: 2 }]) {
      expect(codeOf(await accept(proof, request, { ...own, ...wrong }))).to.equal('409 pairing_changed');
    }
    expect(await look(proof, request)).to.include({ state: 'awaiting_endpoint', accepted: false });
    expect(codeOf(await accept(proof, request, own))).to.equal('200');
  });

  it('asks for a secret of exactly 32 bytes, and keeps nothing of it but a digest', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    for (const client_token of [
      `abp_${'A'.repeat(42)}`,
      `abp_${'A'.repeat(42)}B`,
      `abh_${'A'.repeat(43)}`,
      'abp_',
      7,
    ]) {
      const body = selection(id, 'initiator', pair.initiator, { client_token });
      expect(await tried(pair, 'initiator', body), String(client_token)).to.equal('400 invalid_request');
    }
    const body = selection(id, 'initiator', pair.initiator);
    const { text } = await pair.initiator.person.call('selectPairingEndpoint', { body, key: 'one-key' });
    expect(text).not.to.include(body.client_token);
    const kept = await server.db.read((tx) => tx.query((db) => db('idempotency').where('key', 'one-key')));
    expect(kept).to.deep.equal([]);
  });
});
