/**
 * A server that is killed while sessions are paired: whatever was answered stands, whatever was not is found by asking again
 * with what the runtime has saved, and every request comes to the one end it was brought to. The short form runs with all
 * tests, SERVICE_TEST_LONG=1 kills 30 times on each database.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { PairingRequest, PairingSide, PairingState } from '../../src/contract/types.ts';
import { Api } from '../support/api.ts';
import { forEachDatabase } from '../support/databases.ts';
import { KilledRun, type Turn } from './killed-run.ts';

const KILLS = process.env['SERVICE_TEST_LONG'] === '1' ? 30 : 3;
const WRITERS = 3;

interface Seat {
  id: string;
  name: string;
  token: string;
}

interface Ended {
  id: string;
  state: PairingState;
  pings: number;
}

const sides: PairingSide[] = ['initiator', 'recipient'];

/** Brings requests between two sessions of one person to their ends, each call until it is answered. */
const turnOf =
  (board: { id: string; name: string }, seats: Seat[][], personId: string, ended: Ended[]): Turn =>
  async (run, writer, n) => {
    const owner = run.person.token;
    const [initiator, recipient] = seats[writer] as [Seat, Seat];
    const bySide = { initiator, recipient };
    const body = {
      board_id: board.id,
      recipient_id: personId,
      initiating_agent_id: initiator.id,
      work: `w${writer}-${n}`,
    };
    const once = key();
    const made = await run.until((url) => new Api(url, owner).call('createPairingRequest', { body, key: once }));
    const params = { pairing: made.body.id };
    if (n % 4 === 3) {
      const again = key();
      await run.until((url) => new Api(url, owner).call('cancelPairing', { params, key: again }));
      ended.push({ id: made.body.id, state: 'cancelled', pings: 0 });
      return;
    }
    const proofs = { initiator: '', recipient: '' };
    for (const side of sides) {
      proofs[side] = `abp_${randomBytes(32).toString('base64url')}`;
      const selection = {
        request_id: made.body.id,
        side,
        agent_id: bySide[side].id,
        session_binding: `sha256:${randomBytes(32).toString('hex')}`,
        generation: 1,
        client_token: proofs[side],
      };
      await run.until((url) => new Api(url, owner).call('selectPairingEndpoint', { body: selection }));
    }
    const accepting = { params, body: { agent_id: recipient.id, generation: 1 }, key: key() };
    await run.until((url) => new Api(url, proofs.recipient).call('acceptPairing', accepting));
    for (const side of sides) {
      const [from, to] = [bySide[side], bySide[side === 'initiator' ? 'recipient' : 'initiator']];
      const seen = await run.until((url) => new Api(url, proofs[side]).call('getPairingRequest', { params }));
      const { challenge } = seen.body;
      if (!challenge) throw new Error('this side has no challenge');
      const say = async (seat: Seat, message: Record<string, unknown>) => {
        const call = { params: { board: board.name }, body: message as { body: string }, key: key() };
        return (await run.until((url) => new Api(url, seat.token).call('postMessage', call))).body;
      };
      const ping = await say(from, { body: challenge.ping_text, to: [`@${to.name}`], expects_reply: true });
      const reply = await say(to, { body: challenge.reply_line, to: [`@${from.name}`], reply_to: ping.id });
      const report = {
        params,
        body: {
          generation: 1,
          direction: challenge.direction,
          ping_seq: ping.seq,
          reply_seq: reply.seq,
          handoff_id: `hnd_${n}`,
        },
        key: key(),
      };
      // The report that makes it ready ends the proof: asked again, its runtime is told no more than that.
      await run.until((url) => new Api(url, proofs[side]).call('verifyPairing', report), 401);
    }
    ended.push({ id: made.body.id, state: 'ready', pings: 2 });
  };

const key = (): string => randomUUID();

forEachDatabase('a server killed among pairings', (engine) => {
  it(`brings every request to its end through ${KILLS} kills`, async () => {
    const run = await KilledRun.begin(engine);
    const { id, name } = await run.person.ok('createBoard', { body: { name: 'killed' } });
    const me = await run.person.ok('getMe');
    const seats: Seat[][] = [];
    for (let writer = 0; writer < WRITERS; writer++) {
      seats[writer] = [];
      for (const _side of sides) {
        const { agent, token } = await run.person.ok('joinBoard', { body: { board: name, role: 'member' } });
        seats[writer]?.push({ id: agent.id, name: agent.name, token });
      }
    }
    const ended: Ended[] = [];
    await run.kills(KILLS, WRITERS, turnOf({ id, name }, seats, me.id, ended));

    const requests: PairingRequest[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: { requests: PairingRequest[]; next_after: string | null } = await run.person.ok(
        'listPairingRequests',
        { query: { state: 'all', limit: 100, ...(after ? { after } : {}) } },
      );
      requests.push(...page.requests);
      after = page.next_after;
    }
    const states = requests.map((request) => `${request.id} ${request.state} ${request.generation}`);
    expect(states).to.have.members(ended.map((one) => `${one.id} ${one.state} 1`));
    // Each message was written once, however often it was sent.
    const { message_count } = await run.person.ok('getBoard', { params: { board: name } });
    expect(message_count).to.equal(2 * ended.reduce((sum, { pings }) => sum + pings, 0));
    console.log(`        ${ended.length} requests, ${run.lost} answers lost`);
    expect(run.lost).to.be.greaterThan(0);
    await run.end();
  }).timeout(600_000);
});
