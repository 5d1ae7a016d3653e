/** Every trigger in every state of a pairing request, as its table has it: what comes next, what follows, and what is refused. */
import { expect } from 'chai';
import { errors } from '../../../src/contract/errors.ts';
import type { PairingState } from '../../../src/contract/types.ts';
import { moveFromOutside } from '../../../src/server/pairing/move.steps.ts';
import {
  closedStates,
  type Effect,
  isClosed,
  openStates,
  pairingTable,
  stateOf,
  type Trigger,
  transitionOf,
  triggers,
} from '../../../src/server/pairing/pairing-states.rules.ts';
import { requestById } from '../../../src/server/pairing/requests.store.ts';
import { stateAt } from '../../../src/server/pairing/subject.rules.ts';
import { transitionsFrom } from '../../../src/server/text/state-table.ts';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { connect } from '../invites/cast.ts';
import { codeOf, newBinding, newProof, roundTrip, selection, sides, verify } from './cast.ts';
import { choosing, type RequestBody, rowOf, type Stand, setRow, standIn } from './stand.ts';

const states: PairingState[] = [...openStates, ...closedStates];

/** What a row that says `computed` comes to, with both sides selected before it but where the trigger says otherwise. */
const computed: Partial<Record<Trigger, Partial<Record<PairingState, PairingState>>>> = {
  select_initiator: { awaiting_endpoint: 'verifying' },
  accept: { awaiting_endpoint: 'verifying' },
  replace: {
    awaiting_account: 'awaiting_account',
    awaiting_session: 'awaiting_session',
    awaiting_endpoint: 'awaiting_endpoint',
    verifying: 'awaiting_endpoint',
  },
  verify: { verifying: 'verifying' },
  endpoint_ended: {
    awaiting_account: 'awaiting_account',
    awaiting_session: 'awaiting_session',
    awaiting_endpoint: 'awaiting_endpoint',
    verifying: 'awaiting_endpoint',
  },
};

/** How a request is brought into the state before the trigger comes. */
const wishes: Partial<Record<Trigger, (state: PairingState) => RequestBody>> = {
  select_initiator: (state) => ({ initiator: state === 'verifying' || isClosed(state) }),
  redeem: (state) => ({ early: state === 'cancelled' || state === 'expired' }),
};

/** Which cases do what: each answers `200`, or the refusal as `409 pairing_closed`. */
type Cause = (stand: Stand, server: TestServer, state: PairingState) => Promise<string>;

const select =
  (side: 'initiator' | 'recipient', more: () => Record<string, unknown>): Cause =>
  async (stand, server) => {
    // Before the account nobody is the recipient; whoever tries is the inviter.
    const { person } = stand.pair[side];
    const body = choosing(stand, side, more());
    const answer = await person.call('selectPairingEndpoint', { body });
    if (answer.status === 200) stand.proofs[side] = new Api(server.url, body.client_token);
    return codeOf(answer);
  };

const outside = async (done: Promise<unknown>): Promise<string> => {
  await done;
  return '200';
};

let newcomers = 0;

const causes: Record<Trigger, Cause> = {
  redeem: async ({ secret }, server) => {
    const answer = await connect(server, { invite: secret, handle: `new-${++newcomers}` });
    return answer.status === 201 ? '200' : codeOf(answer);
  },
  select_initiator: select('initiator', () => ({ session_binding: newBinding() })),
  select_recipient: select('recipient', () => ({ session_binding: newBinding() })),
  replace: select('initiator', () => ({ session_binding: newBinding(), replace: true })),
  renew: select('initiator', () => ({})),
  async choose({ id, pair, spare }) {
    const agent = spare.recipient ?? spare.initiator;
    return codeOf(
      await pair.recipient.person.call('choosePairingAgent', {
        params: { pairing: id },
        body: { agent_id: agent.agentId, generation: 1 },
      }),
    );
  },
  async accept({ id, pair, proofs }, server) {
    const proof = proofs.recipient ?? new Api(server.url, newProof());
    const body = { agent_id: pair.recipient.agentId, generation: 1 };
    return codeOf(await proof.call('acceptPairing', { params: { pairing: id }, body }));
  },
  async verify(stand, server, state) {
    const proof = stand.proofs.initiator ?? new Api(server.url, newProof());
    const report =
      state === 'verifying'
        ? await roundTrip(stand.pair, stand, proof, 'initiator')
        : { generation: 1, direction: 'initiator_to_recipient', ping_seq: 1, reply_seq: 2, handoff_id: 'hnd_1' };
    return codeOf(await verify(proof, stand, report));
  },
  decline: async ({ id, pair }) =>
    codeOf(await pair.recipient.person.call('declinePairing', { params: { pairing: id } })),
  cancel: async ({ id, pair }) =>
    codeOf(await pair.initiator.person.call('cancelPairing', { params: { pairing: id } })),
  invite_ended: ({ pair, inviteId }) =>
    outside(pair.initiator.person.ok('revokeInvite', { params: { invite: inviteId } })),
  async deadline({ id }, server, state) {
    if (!isClosed(state)) await setRow(server, id, { expires_at: server.clock.now() });
    return outside(endFromOutside(server, id, 'deadline'));
  },
  admission_refused: ({ id }, server) => outside(endFromOutside(server, id, 'admission_refused')),
  async person_ended({ pair, spare }, server) {
    const { name } = pair.board;
    const { person: owner } = pair.initiator;
    if (spare.recipient) {
      const { name: handle } = await pair.recipient.person.ok('getMe');
      return codeOf(await owner.call('removeBoardPerson', { params: { board: name, handle } }));
    }
    // Before anybody came it is the inviter, whom another owner takes off.
    const handle = `owner-${++newcomers}`;
    const another = await server.person(handle);
    await putOnBoard(server, name, another);
    await owner.ok('makeBoardOwner', { params: { board: name }, body: { handle } });
    const params = { board: name, handle: (await owner.ok('getMe')).name };
    return codeOf(await another.call('removeBoardPerson', { params }));
  },
  async board_deleted({ pair }) {
    const params = { board: pair.board.name };
    await pair.initiator.person.ok('archiveBoard', { params });
    return codeOf(await pair.initiator.person.call('deleteBoard', { params }));
  },
  async endpoint_ended({ pair, spare }) {
    const side = spare.recipient ? pair.initiator : spare.initiator;
    const params = { board: pair.board.name, member: side.agentId };
    return codeOf(await pair.initiator.person.call('removeMember', { params }));
  },
};

/** What ends a request without a request of anybody's, such as the clock. */
const endFromOutside = (server: TestServer, id: string, on: Trigger): Promise<void> =>
  server.db.write(async (tx) => {
    const row = await requestById(tx, id);
    if (!row) throw new Error('there is no such request');
    if (row.closed === null) await moveFromOutside(tx, row, on);
  });

const stateNow = (server: TestServer, id: string): Promise<PairingState> =>
  server.db.read(async (tx) => {
    const row = await requestById(tx, id);
    if (!row) throw new Error('there is no such request');
    return stateAt(row, tx.now);
  });

const works = async (proof: Api | undefined, { id }: Stand): Promise<boolean> =>
  proof !== undefined && (await proof.call('getPairingRequest', { params: { pairing: id } })).status === 200;

const notices = async (server: TestServer, { id }: Stand): Promise<string[]> => {
  const rows = await server.db.read((tx) =>
    tx.query<{ kind: string }>((db) => db('notices').where('subject', id).select('kind')),
  );
  return rows.map((row) => row.kind);
};

interface Before {
  /** Of the people who have part in it. */
  streams: Map<Api, TestStream>;
  proofs: Stand['proofs'];
  row: Awaited<ReturnType<typeof rowOf>>;
  notices: string[];
}

/** How each effect shows. */
const signs: Record<Effect, (server: TestServer, stand: Stand, before: Before, on: Trigger) => Promise<void>> = {
  async recipient(server, { id }) {
    const row = await rowOf(server, id);
    expect(row.recipient_id).not.to.equal(null);
    expect(row.expires_at - server.clock.now()).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
  },
  async void(server, stand, { proofs, row }) {
    const now = await rowOf(server, stand.id);
    expect(now.generation).to.equal(row.generation + 1);
    expect(now).to.include({ accepted: 0, nonce_i2r: null, nonce_r2i: null, evidence_i2r: null, evidence_r2i: null });
    for (const side of sides) expect(await works(proofs[side], stand), side).to.equal(false);
  },
  async bind(server, { id }, { row }, on) {
    const now = await rowOf(server, id);
    const side = on === 'select_recipient' ? 'recipient' : 'initiator';
    expect(now[`${side}_binding`])
      .to.match(/^sha256:/)
      .and.not.equal(row[`${side}_binding`]);
    expect(now[`${side}_agent_id`]).not.to.equal(null);
  },
  async proof(_server, stand, { proofs }, on) {
    const side = on === 'select_recipient' ? 'recipient' : 'initiator';
    expect(await works(stand.proofs[side], stand)).to.equal(true);
    if (proofs[side]) expect(await works(proofs[side], stand)).to.equal(false);
  },
  async accept(server, { id }) {
    expect((await rowOf(server, id)).accepted).to.equal(1);
  },
  async evidence(server, { id }) {
    expect((await rowOf(server, id)).evidence_i2r).not.to.equal(null);
  },
  async challenges(server, { id }) {
    const row = await rowOf(server, id);
    expect(row.nonce_i2r)
      .to.match(/^[0-9A-HJKMNP-TV-Z]{26}$/)
      .and.not.equal(row.nonce_r2i);
    expect(row.after_seq).to.be.greaterThan(0);
  },
  async ask(server, { id, spare }) {
    const row = await rowOf(server, id);
    expect(row.chosen_agent_id).to.equal(spare.recipient?.agentId);
    expect(row.choice_message_id).to.match(/^msg_/);
  },
  async close(server, stand) {
    const row = await rowOf(server, stand.id);
    expect(row.closed_at).to.be.a('number');
    for (const side of sides) expect(await works(stand.proofs[side], stand), side).to.equal(false);
  },
  async ready(server, stand) {
    // One direction alone is not enough.
    expect(await notices(server, stand)).not.to.include('pairing_ready');
  },
  async tell_changed(server, stand, before, on) {
    const told = (await notices(server, stand)).filter((kind) => kind === 'pairing_changed').length;
    const had = before.notices.filter((kind) => kind === 'pairing_changed').length;
    // The other side hears of it if it is there.
    const there = before.row[on === 'accept' ? 'initiator_agent_id' : 'recipient_agent_id'] !== null;
    expect(told - had).to.equal(there ? 1 : 0);
  },
  async tell_closed(server, stand, _before, on) {
    const seats = await server.db.read((tx) =>
      tx.query<{ member_id: string }>((db) =>
        db('notices').where({ subject: stand.id, kind: 'pairing_closed' }).select('member_id'),
      ),
    );
    const told = seats.map((row) => row.member_id);
    const { initiator, recipient } = stand.pair;
    if (on === 'decline') expect(told).to.deep.equal([initiator.agentId]);
    if (on === 'cancel') expect(told).not.to.include(initiator.agentId);
    if (on === 'cancel' && stand.proofs.recipient) expect(told).to.deep.equal([recipient.agentId]);
    if (on === 'person_ended' && stand.spare.recipient) expect(told).to.deep.equal([initiator.agentId]);
    if (on === 'invite_ended' || on === 'deadline') expect(told).to.include(initiator.agentId);
  },
  async stream(_server, stand, { streams }) {
    for (const [person, stream] of streams) {
      if (await sees(person, stand)) await stream.frame(({ event, data }) => isHint(event, data, stand));
      stream.close();
    }
  },
};

const isHint = (event: string, data: { pairing_request_id?: string }, { id }: Stand): boolean =>
  event === 'pairing' && data.pairing_request_id === id;

const sees = async (person: Api, { id }: Stand): Promise<boolean> =>
  (await person.call('getPairingRequest', { params: { pairing: id } })).status === 200;

forEachDatabase('every trigger of a pairing request', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  for (const on of triggers) {
    it(`does in every state what the table says: ${on}`, async () => {
      for (const state of states) await checkCell(state, on);
    });
  }

  async function checkCell(state: PairingState, on: Trigger): Promise<void> {
    const where = `${on} in ${state}`;
    const stand = await standIn(server, state, wishes[on]?.(state));
    if (on === 'endpoint_ended' && state === 'awaiting_account') await otherInitiator(stand);
    expect(await stateNow(server, stand.id), where).to.equal(state);
    const before: Before = {
      proofs: { ...stand.proofs },
      row: await rowOf(server, stand.id),
      notices: await notices(server, stand),
      streams: new Map(),
    };
    const transition = transitionOf(state, on);
    if (transition?.effect.effects.includes('stream')) before.streams = await streamsOf(stand);
    const refused = transition?.effect.refused;
    const answer = await causes[on](stand, server, state);
    expect(answer, where).to.equal(refused ? `${errors[refused].status} ${refused}` : '200');
    if (!transition || refused) {
      expect(await rowOf(server, stand.id), where).to.deep.equal(before.row);
      return;
    }
    const { next, effects, reason } = transition.effect;
    const expected = next === 'computed' ? computed[on]?.[state] : next === 'unchanged' ? state : next;
    expect(await stateNow(server, stand.id), where).to.equal(expected);
    if (effects.includes('close')) expect((await rowOf(server, stand.id)).closed_reason, where).to.equal(reason);
    for (const effect of effects) await signs[effect](server, stand, before, on);
  }

  async function streamsOf({ pair }: Stand): Promise<Before['streams']> {
    const streams: Before['streams'] = new Map();
    for (const person of new Set([pair.initiator.person, pair.recipient.person])) {
      const stream = await TestStream.open(person, { events: 'pairing' });
      await stream.frame(({ event }) => event === 'ready');
      streams.set(person, stream);
    }
    return streams;
  }

  /** The initiator is another seat than the one the invite was made for, whose end would be that of the invite. */
  async function otherInitiator(stand: Stand): Promise<void> {
    const body = selection(stand.id, 'initiator', stand.spare.initiator, { replace: true });
    await stand.pair.initiator.person.ok('selectPairingEndpoint', { body });
  }

  it('is ready once both directions are verified, and every proof is void from then on', async () => {
    const stand = await standIn(server, 'verifying');
    for (const side of sides) {
      const proof = stand.proofs[side] as Api;
      expect(codeOf(await verify(proof, stand, await roundTrip(stand.pair, stand, proof, side)))).to.equal('200');
    }
    expect(await stateNow(server, stand.id)).to.equal('ready');
    for (const side of sides) expect(await works(stand.proofs[side], stand)).to.equal(false);
    expect((await notices(server, stand)).filter((kind) => kind === 'pairing_ready')).to.have.length(2);
  });

  it('falls back when a seat ends while it is verified, and goes on with another in the next generation', async () => {
    const stand = await standIn(server, 'verifying');
    const { person, agentId } = stand.pair.initiator;
    await person.ok('removeMember', { params: { board: stand.pair.board.name, member: agentId } });
    expect(await stateNow(server, stand.id)).to.equal('awaiting_endpoint');
    expect(await works(stand.proofs.recipient, stand)).to.equal(true);
    const body = selection(stand.id, 'initiator', stand.spare.initiator, { replace: true });
    const { request } = await person.ok('selectPairingEndpoint', { body });
    expect(request).to.include({ generation: 2, state: 'awaiting_endpoint', accepted: false, awaiting: 'recipient' });
    expect(await works(stand.proofs.recipient, stand)).to.equal(false);
    await bring2(stand);
    expect(await stateNow(server, stand.id)).to.equal('verifying');
  });

  /** The recipient's runtime renews and accepts again by itself. */
  async function bring2(stand: Stand): Promise<void> {
    const body = selection(stand.id, 'recipient', stand.pair.recipient, { generation: 2 });
    const { request } = await stand.pair.recipient.person.ok('selectPairingEndpoint', { body });
    expect(request.generation).to.equal(2);
    await new Api(server.url, body.client_token).ok('acceptPairing', {
      params: { pairing: stand.id },
      body: { agent_id: stand.pair.recipient.agentId, generation: 2 },
    });
  }
});

describe('the state of a pairing request', () => {
  const flags = ['account', 'initiator', 'recipient', 'accepted', 'forth', 'back'] as const;
  const all = Array.from({ length: 2 ** flags.length }, (_, bits) =>
    Object.fromEntries(flags.map((flag, n) => [flag, (bits & (1 << n)) !== 0])),
  ) as Record<(typeof flags)[number], boolean>[];

  it('is the first thing that is missing', () => {
    for (const facts of all) {
      const missing = !facts.account
        ? 'awaiting_account'
        : !facts.recipient
          ? 'awaiting_session'
          : !(facts.initiator && facts.accepted)
            ? 'awaiting_endpoint'
            : facts.forth && facts.back
              ? 'ready'
              : 'verifying';
      expect(stateOf({ closed: null, ...facts }), JSON.stringify(facts)).to.equal(missing);
    }
  });

  it('is how it ended, whatever else there is', () => {
    for (const closed of closedStates) for (const facts of all) expect(stateOf({ closed, ...facts })).to.equal(closed);
  });

  it('has one row at most for every trigger in every state, and a trigger for every row of the table', () => {
    const reached = states.flatMap((state) =>
      triggers.flatMap((on) => {
        const rows = transitionsFrom(pairingTable, state, on);
        expect(rows.length, `${on} in ${state}`).to.be.at.most(1);
        return rows;
      }),
    );
    expect([...new Set(reached)]).to.have.members([...pairingTable]);
  });
});
