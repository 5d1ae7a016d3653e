/** What the tests of pairing requests have in common. */
import { randomBytes } from 'node:crypto';
import type { Answer, PairingRequest, PairingSide } from '../../../src/contract/types.ts';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import type { TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';

export interface Side {
  person: Api;
  personId: string;
  agent: Agent;
  agentId: string;
  /** The hash of the session that was last selected. */
  binding: string;
}

export interface Pair {
  board: { id: string; name: string };
  initiator: Side;
  recipient: Side;
}

let count = 0;

export const newBinding = (): string => `sha256:${randomBytes(32).toString('hex')}`;
export const newProof = (): string => `abp_${randomBytes(32).toString('base64url')}`;

export async function newSide(person: Api, board: string): Promise<Side> {
  const agent = await newAgent(person, board);
  return { person, personId: person.personId ?? '', agent, agentId: agent.memberId, binding: newBinding() };
}

/** Two people on a board, each with an agent there. */
export async function pairOn(server: TestServer, options: Record<string, unknown> = {}): Promise<Pair> {
  const n = ++count;
  const ina = await server.person(`ina-${n}`);
  const rob = await server.person(`rob-${n}`);
  const { id, name } = await newBoard(ina, options);
  await putOnBoard(server, name, rob);
  return { board: { id, name }, initiator: await newSide(ina, name), recipient: await newSide(rob, name) };
}

/** One person with two agents, who pairs their own sessions. */
export async function pairOfOne(server: TestServer): Promise<Pair> {
  const ina = await server.person(`ina-${++count}`);
  const { id, name } = await newBoard(ina);
  return { board: { id, name }, initiator: await newSide(ina, name), recipient: await newSide(ina, name) };
}

export const proposal = ({ board, initiator, recipient }: Pair, work = 'review the plan') => ({
  board_id: board.id,
  recipient_id: recipient.personId,
  initiating_agent_id: initiator.agentId,
  work,
});

export const propose = (pair: Pair, work?: string): Promise<PairingRequest> =>
  pair.initiator.person.ok('createPairingRequest', { body: proposal(pair, work) });

export interface Selected {
  proof: Api;
  token: string;
  answer: Answer<'selectPairingEndpoint'>;
}

export const selection = (id: string, side: PairingSide, { agentId, binding }: Side, more = {}) => ({
  request_id: id,
  side,
  agent_id: agentId,
  session_binding: binding,
  generation: 1,
  client_token: newProof(),
  ...more,
});

/** Selects a side's endpoint; answers the client that shows its proof. */
export async function select(
  server: { url: string },
  pair: Pair,
  { id, generation = 1 }: { id: string; generation?: number },
  side: PairingSide,
  more: Record<string, unknown> = {},
): Promise<Selected> {
  const body = selection(id, side, pair[side], { generation, ...more });
  const answer = await pair[side].person.ok('selectPairingEndpoint', { body });
  return { proof: new Api(server.url, body.client_token), token: body.client_token, answer };
}

export const look = (api: Api, { id }: { id: string }): Promise<PairingRequest> =>
  api.ok('getPairingRequest', { params: { pairing: id } });

export const accept = (proof: Api, { id }: { id: string }, body: Record<string, unknown>) =>
  proof.call('acceptPairing', { params: { pairing: id }, body });

export const cancel = (api: Api, { id }: { id: string }) => api.call('cancelPairing', { params: { pairing: id } });
export const decline = (api: Api, { id }: { id: string }) => api.call('declinePairing', { params: { pairing: id } });

/** A request whose two sides are selected and accepted. */
export async function verifying(server: { url: string }, pair: Pair) {
  const request = await propose(pair);
  const initiator = await select(server, pair, request, 'initiator');
  const recipient = await select(server, pair, request, 'recipient');
  await recipient.proof.ok('acceptPairing', {
    params: { pairing: request.id },
    body: { agent_id: pair.recipient.agentId, generation: 1 },
  });
  return { request, proofs: { initiator: initiator.proof, recipient: recipient.proof } };
}

export const sides = ['initiator', 'recipient'] as const;
export const other = (side: PairingSide): PairingSide => (side === 'initiator' ? 'recipient' : 'initiator');

/** A ping and its reply between the two seats, as their sessions would post them; answers what the pinging side reports. */
export async function roundTrip(pair: Pair, request: { id: string }, proof: Api, side: PairingSide) {
  const { challenge } = await look(proof, request);
  if (!challenge) throw new Error('this side has no challenge');
  const [from, to] = [pair[side].agent, pair[other(side)].agent];
  const ping = await from.ok('postMessage', {
    params: { board: pair.board.name },
    body: { body: challenge.ping_text, to: [`@${to.name}`], expects_reply: true },
  });
  const reply = await to.ok('postMessage', {
    params: { board: pair.board.name },
    body: { body: challenge.reply_line, to: [`@${from.name}`], reply_to: ping.id },
  });
  return {
    generation: challenge.generation,
    direction: challenge.direction,
    ping_seq: ping.seq,
    reply_seq: reply.seq,
    handoff_id: `hnd_${randomBytes(16).toString('hex')}`,
  };
}

export const verify = (proof: Api, { id }: { id: string }, body: Record<string, unknown>) =>
  proof.call('verifyPairing', { params: { pairing: id }, body });

export const codeOf = ({ status, code }: { status: number; code: string | undefined }): string =>
  code === undefined ? `${status}` : `${status} ${code}`;

/** The message of a refusal. */
export const messageOf = ({ text }: { text: string }): string => JSON.parse(text).error.message;

export const notYourAgent = 'You have no such active agent on this board.';
