/**
 * Random interleavings of everything that is done to a pairing request with everything that ends what it rests on, told to the
 * server and to a model alike. SERVICE_TEST_LONG=1 tells 100 of them to each database.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { PairingSide } from '../../../src/contract/types.ts';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { setPerson } from '../invites/cast.ts';
import {
  cancel,
  codeOf,
  decline,
  newProof,
  newSide,
  type Pair,
  pairOn,
  propose,
  roundTrip,
  type Side,
  sides,
  verify,
} from './cast.ts';
import { PairingModel, TEN_MINUTES } from './model.ts';
import { setRow } from './stand.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const STORIES = LONG ? 100 : 14;
const SEED = Number(process.env['SERVICE_TEST_SEED'] ?? 7);

const side = fc.constantFrom<PairingSide>('initiator', 'recipient');
/** Mostly the first. */
const which = fc.constantFrom(0, 0, 0, 1);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('select' as const),
      side,
      agent: which,
      binding: which,
      replace: fc.boolean(),
      stale: fc.constantFrom(false, false, false, false, true),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('accept' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('verify' as const), side }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('choose' as const), agent: which, replace: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'revoke' as const), side, agent: which }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('archive' as const, 'restore' as const, 'tick' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('demote', 'decline', 'cancel', 'leave', 'remove_person', 'deadline') as fc.Arbitrary<
        'demote' | 'decline' | 'cancel' | 'leave' | 'remove_person' | 'deadline'
      >,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
/** Most stories begin as requests mostly do. */
const select = (of: PairingSide): Step => ({
  do: 'select',
  side: of,
  agent: 0,
  binding: 0,
  replace: false,
  stale: false,
});
const opening: Step[] = [select('initiator'), select('recipient'), { do: 'accept' }];
const stories = fc
  .tuple(fc.nat({ max: 3 }), fc.array(step, { minLength: 8, maxLength: 16, size: 'max' }))
  .map(([begun, steps]) => [...opening.slice(0, begun), ...steps]);

interface Keyed extends Side {
  keyId: string;
}

/** An agent that came by a key of its own, which may end without its person's end. */
async function keyed(server: TestServer, pair: Pair, of: PairingSide): Promise<Keyed> {
  const { person, personId } = pair[of];
  const key = await person.ok('createKey', { body: { name: `key-${++keys}` } });
  const side = await newSide(new Api(server.url, key.token, personId), pair.board.name);
  return { ...side, keyId: key.id };
}
let keys = 0;

class Tale {
  readonly model = new PairingModel();
  readonly #server: TestServer;
  readonly #pair: Pair;
  readonly #id: string;
  readonly #agents: Record<PairingSide, Keyed[]>;
  /** Every proof there was, the newest last. */
  readonly #proofs: Record<PairingSide, Api[]> = { initiator: [], recipient: [] };

  private constructor(server: TestServer, pair: Pair, id: string, agents: Record<PairingSide, Keyed[]>) {
    this.#server = server;
    this.#pair = pair;
    this.#id = id;
    this.#agents = agents;
  }

  static async begin(server: TestServer): Promise<Tale> {
    const pair = await pairOn(server);
    const agents: Record<PairingSide, Keyed[]> = { initiator: [], recipient: [] };
    for (const of of sides) agents[of] = [await keyed(server, pair, of), await keyed(server, pair, of)];
    const [initiator] = agents.initiator;
    if (!initiator) throw new Error('nobody begins');
    return new Tale(server, pair, (await propose({ ...pair, initiator })).id, agents);
  }

  get #request() {
    return { id: this.#id };
  }

  /** What the server answers, and what the model does; null where there is nothing to answer. */
  async take(taken: Step): Promise<[string, string] | null> {
    const { model } = this;
    const { initiator, recipient } = this.#pair;
    const params = { board: this.#pair.board.name };
    switch (taken.do) {
      case 'select':
        return [await this.#select(taken), model.select(taken)];
      case 'accept': {
        const body = { agent_id: this.#endpointSeat(), generation: model.generation };
        const proof = this.#proofs.recipient.at(-1) ?? this.#stranger();
        const answer = await proof.call('acceptPairing', { params: { pairing: this.#id }, body });
        return [codeOf(answer), model.accept()];
      }
      case 'verify':
        return [await this.#verify(taken.side), model.verify(taken.side)];
      case 'choose': {
        const body = {
          agent_id: this.#agents.recipient[taken.agent]?.agentId ?? '',
          generation: model.generation,
          replace: taken.replace,
        };
        const answer = await recipient.person.call('choosePairingAgent', { params: { pairing: this.#id }, body });
        return [codeOf(answer), model.choose(taken.agent, taken.replace)];
      }
      case 'decline':
        return [codeOf(await decline(recipient.person, this.#request)), model.end('declined')];
      case 'cancel':
        return [codeOf(await cancel(initiator.person, this.#request)), model.end('cancelled')];
      case 'remove': {
        const gone = !model.sides[taken.side].seats[taken.agent];
        const member = this.#agents[taken.side][taken.agent]?.agentId ?? '';
        if (!gone) await this.#pair[taken.side].person.ok('removeMember', { params: { ...params, member } });
        model.removeSeat(taken.side, taken.agent);
        return null;
      }
      case 'revoke': {
        const { keyId = '' } = this.#agents[taken.side][taken.agent] ?? {};
        const works = model.sides[taken.side].keys[taken.agent];
        if (works) await this.#pair[taken.side].person.ok('revokeKey', { params: { key: keyId } });
        model.revokeKey(taken.side, taken.agent);
        return null;
      }
      case 'remove_person':
        if (!model.removed) {
          const { name } = await recipient.person.ok('getMe');
          await this.#server.dana.ok('removePerson', { params: { handle: name ?? '' } });
        }
        model.removePerson();
        return null;
      case 'archive':
        await initiator.person.ok('archiveBoard', { params });
        model.archived = true;
        return null;
      case 'restore':
        await initiator.person.ok('restoreBoard', { params });
        model.archived = false;
        return null;
      case 'tick':
        this.#server.clock.advance(TEN_MINUTES);
        model.now += TEN_MINUTES;
        return null;
      case 'demote':
        await setPerson(this.#server, initiator.person, { server_role: 'member' });
        return null;
      case 'leave':
        if (model.sides.recipient.seats.some(Boolean) || model.closed === null)
          await recipient.person.call('leaveBoard', { params });
        model.leave();
        return null;
      case 'deadline':
        if (model.closed === null) await setRow(this.#server, this.#id, { expires_at: this.#server.clock.now() });
        model.endBySelf('expired');
        return null;
    }
  }

  #stranger = (): Api => new Api(this.#server.url, newProof());

  #endpointSeat(): string {
    const agent = this.model.sides.recipient.endpoint?.agent ?? 0;
    return this.#agents.recipient[agent]?.agentId ?? '';
  }

  async #select({ side: of, agent, binding, replace, stale }: Extract<Step, { do: 'select' }>): Promise<string> {
    const client_token = newProof();
    const { person } = this.#agents[of][agent] ?? this.#pair[of];
    const answer = await person.call('selectPairingEndpoint', {
      body: {
        request_id: this.#id,
        side: of,
        agent_id: this.#agents[of][agent]?.agentId ?? '',
        session_binding: `sha256:${String(binding).repeat(64)}`,
        generation: this.model.generation + (stale ? 1 : 0),
        replace,
        client_token,
      },
    });
    if (answer.status === 200) this.#proofs[of].push(new Api(this.#server.url, client_token));
    return codeOf(answer);
  }

  async #verify(of: PairingSide): Promise<string> {
    const proof = this.#proofs[of].at(-1) ?? this.#stranger();
    const { model } = this;
    const true_ = model.works(of) && model.state === 'verifying';
    const report = true_
      ? await roundTrip(this.#selected(), this.#request, proof, of)
      : {
          generation: model.generation,
          direction: of === 'initiator' ? 'initiator_to_recipient' : 'recipient_to_initiator',
          ping_seq: 1,
          reply_seq: 2,
          handoff_id: 'hnd_0',
        };
    return codeOf(await verify(proof, this.#request, report));
  }

  /** The agents whose sessions are selected now. */
  #selected(): Pair {
    const of = (name: PairingSide): Side => this.#agents[name][this.model.sides[name].endpoint?.agent ?? 0] as Side;
    return { ...this.#pair, initiator: of('initiator'), recipient: of('recipient') };
  }

  /** Compares everything that shows with the model. */
  async compare(where: string): Promise<void> {
    const { model } = this;
    const params = { pairing: this.#id };
    const seen = await this.#pair.initiator.person.ok('getPairingRequest', { params });
    const { state, generation, accepted } = seen;
    expect({ state, generation, accepted }, where).to.deep.equal({
      state: model.state,
      generation: model.generation,
      accepted: model.accepted,
    });
    for (const of of sides) {
      expect(seen[of]?.live ?? false, `${where}: ${of} live`).to.equal(model.live(of));
      const works: boolean[] = [];
      for (const proof of this.#proofs[of])
        works.push((await proof.call('getPairingRequest', { params })).status === 200);
      const expected = this.#proofs[of].map((_proof, n) => n === this.#proofs[of].length - 1 && model.works(of));
      expect(works, `${where}: proofs of the ${of}`).to.deep.equal(expected);
    }
  }
}

forEachDatabase('a pairing request among troubles', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(async function () {
    this.timeout(LONG ? 600_000 : 120_000);
    await server.stop();
  });

  it(`is always what the contract says, in ${STORIES} stories`, async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    const reached = new Set<string>();
    for (const [n, steps] of fc.sample(stories, { numRuns: STORIES, seed: SEED }).entries()) {
      const tale = await Tale.begin(server);
      const told: string[] = [];
      for (const taken of steps) {
        told.push(JSON.stringify(taken));
        const where = `story ${n}\n${told.join('\n')}\n`;
        const answers = await tale.take(taken);
        if (answers) expect(answers[0], where).to.equal(answers[1]);
        await tale.compare(where);
        reached.add(tale.model.state);
      }
    }
    if (LONG) expect([...reached]).to.include.members(['ready', 'declined', 'cancelled', 'expired', 'verifying']);
    const failures = server.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    expect(failures.slice(0, 3).join('\n')).to.equal('');
  });
});
