/** Pairing requests from the command line. What binds a session goes through the daemon, which alone holds its proofs. */
import { requireFeature } from '../client/features.ts';
import { newIdempotencyKey } from '../client/idempotency.ts';
import { pages } from '../client/pages.ts';
import type { Answer, PairingRequest } from '../contract/types.ts';
import { Failure, usage } from '../local/failure.ts';
import type { BoardSession } from './base.ts';
import { daemonOptions } from './daemon.ts';
import { EXIT } from './exit.ts';
import { beginner } from './inviting.ts';
import { boardIdOf, personIdOf } from './requesting.ts';
import { runtime } from './runtime.ts';
import type { Session } from './session.ts';

/** All that are listed: those a person has part in, or an agent's person on its board. */
export async function allPairings({ client }: Session, state: string | undefined): Promise<PairingRequest[]> {
  await requireFeature(client, 'onboarding');
  const requests: PairingRequest[] = [];
  for await (const page of pages(client, 'listPairingRequests', { query: { state, limit: 100 } }))
    requests.push(...page.requests);
  return requests;
}

/** What work is proposed to whom. */
export interface Proposal {
  /** A handle, or `me` for another session of one's own. */
  to: string;
  work: string;
  /** Which of a person's agents begins. */
  agent: string | undefined;
  key: string | undefined;
}

/** Proposes work on the session's board. */
export async function proposed(
  session: BoardSession,
  { to, work, agent, key }: Proposal,
): Promise<Answer<'createPairingRequest'>> {
  const { client, board } = session;
  await requireFeature(client, 'onboarding');
  const initiating_agent_id = await beginner(session, board, agent);
  const body = {
    board_id: await boardIdOf(session),
    recipient_id: await personIdOf(client, to),
    initiating_agent_id,
    work,
  };
  return (await client.call('createPairingRequest', { body, idempotencyKey: key })).data;
}

export interface Choice {
  pairing: string;
  /** Name or id. */
  agent: string;
  replace: boolean;
  key: string | undefined;
}

/** Asks an own agent to accept. */
export async function chosen({ client }: Session, { pairing, agent, replace, key }: Choice): Promise<PairingRequest> {
  const params = { pairing };
  const { data: request } = await client.call('getPairingRequest', { params });
  const board = request.display?.boards[0]?.name ?? '';
  const named = agent.replace(/^@/, '');
  const agent_id = named.startsWith('mem_')
    ? named
    : (await client.call('getMember', { params: { board, member: named } })).data.id;
  const body = { agent_id, generation: request.generation, replace };
  return (await client.call('choosePairingAgent', { params, body, idempotencyKey: key })).data;
}

export interface Binding {
  action: 'select' | 'accept';
  pairing: string | undefined;
  here: boolean;
  replace: boolean;
  key: string | undefined;
}

/** Binds one side to the session that runs this command: the initiator's by `select`, the recipient's by `accept`. */
export async function boundHere(
  { client, server }: Session,
  { action, pairing, replace, key }: Binding,
): Promise<PairingRequest> {
  const { harness, session } = sessionHere(action);
  const { askDaemon } = await import('../daemon/control/client.ts');
  const answer = await askDaemon(daemonOptions(true), 'pairing', {
    harness,
    session,
    cwd: process.cwd(),
    server: server.url,
    action,
    replace,
    idempotency_key: key ?? newIdempotencyKey(),
    ...(pairing === undefined ? {} : { pairing_id: pairing }),
  });
  const bound = answer.pairing?.id ?? pairing;
  if (typeof bound !== 'string') throw new Failure('internal', 'The delivery daemon named no request.');
  return (await client.call('getPairingRequest', { params: { pairing: bound } })).data;
}

/** So that a command typed in the wrong window binds nothing. @throws Failure of usage */
export function requireHere({ action, here }: Pick<Binding, 'action' | 'here'>): void {
  if (here) return;
  throw usage(
    `This binds the session it is run in, so it wants --here.`,
    `In the session that should do the work: service pairing ${action} PRQ --here`,
  );
}

/** The session of an agent's program that this runs in. @throws Failure `agent_session_required` in a plain terminal */
export function sessionHere(action: Binding['action']): { harness: string; session: string } {
  const [, harness, session] = /^([a-z0-9][a-z0-9-]{0,39}):(.+)$/.exec(runtime().env.SERVICE_SESSION ?? '') ?? [];
  if (harness !== undefined && session !== undefined) return { harness, session };
  throw new Failure(
    'agent_session_required',
    'This binds the session of an agent, and a terminal is none: it has to run in the session that should do the work.',
    {
      hint: `In that session: service pairing ${action} PRQ --here. Its program needs our hooks: service init`,
      exit: EXIT.refused,
    },
  );
}
