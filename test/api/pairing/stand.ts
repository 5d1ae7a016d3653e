/** A pairing request brought into each of its states, for tests that walk all of them. */
import type { PairingState } from '../../../src/contract/types.ts';
import { settle } from '../../../src/server/pairing/move.steps.ts';
import { type PairingRow, requestById } from '../../../src/server/pairing/requests.store.ts';
import { Api } from '../../support/api.ts';
import { newBoard } from '../../support/cast.ts';
import type { TestServer } from '../../support/server.ts';
import { type Connected, connect, invite, secretOf } from '../invites/cast.ts';
import { newSide, type Pair, roundTrip, type Side, select, selection, sides } from './cast.ts';

export interface Stand {
  id: string;
  pair: Pair;
  inviteId: string;
  secret: string;
  /** Another agent of each person on the board. */
  spare: { initiator: Side; recipient?: Side };
  proofs: { initiator?: Api; recipient?: Api };
}

export interface RequestBody {
  /** The initiator is selected where the state allows it not to be. */
  initiator?: boolean;
  /** Ended ones end before anybody came by the invite. */
  early?: boolean;
}

let count = 0;

/** By an invite whose redeemer is the recipient. The inviter is an admin who owns the board. */
export async function standIn(
  server: TestServer,
  state: PairingState,
  { initiator = true, early = false }: RequestBody = {},
) {
  const n = ++count;
  const ina = await server.person(`ann-${n}`, 'admin');
  const { id: boardId, name } = await newBoard(ina);
  const board = { id: boardId, name };
  const mine = await newSide(ina, name);
  const issued = await invite(ina, {
    boards: [boardId],
    pairing: { initiating_agent_id: mine.agentId, work: 'review the plan' },
  });
  const stand: Stand = {
    id: issued.pairing_request_id ?? '',
    pair: { board, initiator: mine, recipient: mine },
    inviteId: issued.id,
    secret: secretOf(issued),
    spare: { initiator: await newSide(ina, name) },
    proofs: {},
  };
  if (initiator) await bring(server, stand, 'initiator');
  if (state === 'awaiting_account') return stand;
  if (early) return endIt(server, stand, state);
  await redeem(server, stand, `new-bob-${n}`);
  if (state === 'awaiting_session') return stand;
  await bring(server, stand, 'recipient');
  const ended = state !== 'awaiting_endpoint';
  if (ended || !initiator) await acceptIt(stand);
  if (state === 'awaiting_endpoint' || state === 'verifying') return stand;
  return endIt(server, stand, state);
}

async function endIt(server: TestServer, stand: Stand, state: PairingState): Promise<Stand> {
  const params = { pairing: stand.id };
  const { initiator, recipient } = stand.pair;
  if (state === 'declined') await recipient.person.ok('declinePairing', { params });
  if (state === 'cancelled') await initiator.person.ok('cancelPairing', { params });
  if (state === 'expired') {
    await setRow(server, stand.id, { expires_at: server.clock.now() });
    await server.db.write(async (tx) => {
      const row = await requestById(tx, stand.id);
      if (row) await settle(tx, row);
    });
  }
  if (state === 'ready') {
    for (const side of sides) {
      const proof = stand.proofs[side] as Api;
      await proof.ok('verifyPairing', { params, body: await roundTrip(stand.pair, stand, proof, side) });
    }
  }
  return stand;
}

export async function redeem(server: TestServer, stand: Stand, handle: string): Promise<void> {
  const answer = await connect(server, { invite: stand.secret, handle });
  if (answer.status !== 201) throw new Error(`the invite was refused: ${JSON.stringify(answer.body)}`);
  const { person, key } = answer.body as Connected;
  const bob = new Api(server.url, key.token, person.id);
  stand.pair.recipient = await newSide(bob, stand.pair.board.name);
  stand.spare.recipient = await newSide(bob, stand.pair.board.name);
}

export async function bring(server: TestServer, stand: Stand, side: 'initiator' | 'recipient'): Promise<void> {
  stand.proofs[side] = (await select(server, stand.pair, { id: stand.id }, side)).proof;
}

const acceptIt = ({ id, pair, proofs }: Stand) =>
  proofs.recipient?.ok('acceptPairing', {
    params: { pairing: id },
    body: { agent_id: pair.recipient.agentId, generation: 1 },
  });

export const rowOf = async (server: TestServer, id: string): Promise<PairingRow> => {
  const [row] = await server.db.read((tx) =>
    tx.query<PairingRow>((db) => db('pairing_requests').where({ id }).select('*')),
  );
  if (!row) throw new Error('there is no such request');
  return row;
};

export const setRow = (server: TestServer, id: string, columns: Partial<PairingRow>): Promise<number> =>
  server.db.write((tx) => tx.change((db) => db('pairing_requests').where({ id }).update(columns)));

/** The call by which a side's runtime selects its session. */
export const choosing = (stand: Stand, side: 'initiator' | 'recipient', more = {}) =>
  selection(stand.id, side, stand.pair[side], more);
