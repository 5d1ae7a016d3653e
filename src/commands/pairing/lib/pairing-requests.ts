/** Creates, lists and accepts pairing requests. Binding a session goes through the daemon, which holds its proof. */
import { EXIT } from '../../../cli/errors.ts';
import { runtime } from '../../../cli/runtime.ts';
import { requireWhole, sessionHere } from '../../../cli/session/here.ts';
import type { BoardSession, Session } from '../../../cli/session/open-session.ts';
import { requireFeature } from '../../../client/features.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import { pages } from '../../../client/pages.ts';
import type { Answer, PairingRequest } from '../../../contract/types.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import { environmentToken } from '../../../local/actors.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { boardIdOf, personIdOf } from '../../approval/lib/ask-person.ts';
import { beginner } from '../../invite/lib/invite.ts';

/** All that are listed: those a person has part in, or an agent's person on its board. */
export async function listPairings({ client }: Session, state: string | undefined): Promise<PairingRequest[]> {
  await requireFeature(client, 'onboarding');
  const requests: PairingRequest[] = [];
  for await (const page of pages(client, 'listPairingRequests', { query: { state, limit: 100 } }))
    requests.push(...page.requests);
  return requests;
}

/** What work is proposed to whom. */
interface Proposal {
  /** A handle, or `me` for another session of one's own. */
  to: string;
  work: string;
  /** Which of a person's agents begins. */
  agent: string | undefined;
  key: string | undefined;
}

/** Proposes work on the session's board. */
export async function proposeWork(
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

interface Choice {
  pairing: string;
  /** Name or id. */
  agent: string;
  replace: boolean;
  key: string | undefined;
}

/** Asks an own agent to accept. */
export async function chooseAgent(
  { client }: Session,
  { pairing, agent, replace, key }: Choice,
): Promise<PairingRequest> {
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

/**
 * The current session, if it holds no seat yet: the daemon then reads requests for the person whose key it keeps.
 * @returns null where a seat, a credential or a person reads, which need no daemon for it.
 */
export async function sessionWithoutSeat(named: boolean): Promise<SessionHere | null> {
  const { env } = runtime();
  if (named || env.SERVICE_AGENT || environmentToken(env)) return null;
  const session = sessionHere();
  if (!session) return null;
  const { sessionSeats } = await import('../../../cli/session/own-seats.ts');
  return (await sessionSeats()).length === 0 ? session : null;
}

/** The request that is named, as the daemon sees it. */
export async function readByDaemon(session: SessionHere, server: string, pairing: string): Promise<PairingRequest> {
  const { askFor } = await import('../../../cli/session/ask-daemon.ts');
  const answer = await askFor(session, 'pairing', { server, action: 'get', pairing_id: pairing });
  return answer.pairing!;
}

/** All requests in a state, as the daemon lists them. */
export async function listByDaemon(
  session: SessionHere,
  server: string,
  state: 'open' | 'closed' | 'all' = 'open',
): Promise<PairingRequest[]> {
  const { askFor } = await import('../../../cli/session/ask-daemon.ts');
  const requests: PairingRequest[] = [];
  for (let after: string | undefined; ; ) {
    const page = await askFor(session, 'pairing', { server, action: 'list', state, ...(after ? { after } : {}) });
    requests.push(...(page.pairings ?? []));
    if (!page.next_after) return requests;
    after = page.next_after;
  }
}

interface Binding {
  action: 'select' | 'accept';
  pairing: string | undefined;
  here: boolean;
  replace: boolean;
  key: string | undefined;
}

/**
 * Binds one side to the session that runs this command: the initiator's by `select`, the recipient's by `accept`. The daemon
 * brings the session onto the board first where it has no seat there.
 *
 * @param serverOf the server that is meant: the named one, else that of the session's seats, else the usual one.
 */
export async function bindSession(
  serverOf: (session: SessionHere) => Promise<{ url: string }>,
  { action, pairing, here, replace, key }: Binding,
): Promise<PairingRequest> {
  if (!here) throw notHere(action);
  requireWhole(false);
  const session = sessionHere();
  if (!session) throw noSession(action);
  const { askFor } = await import('../../../cli/session/ask-daemon.ts');
  const answer = await askFor(session, 'pairing', {
    server: (await serverOf(session)).url,
    action,
    replace,
    idempotency_key: key ?? newIdempotencyKey(),
    ...(pairing === undefined ? {} : { pairing_id: pairing }),
  });
  return answer.pairing!;
}

/** A command typed in the wrong window binds nothing. */
const notHere = (action: Binding['action']): Failure =>
  usage(
    'This binds the session it is run in, so it wants --here.',
    `In the session that should do the work: service pairing ${action} PRQ --here`,
  );

const noSession = (action: Binding['action']): Failure =>
  new Failure(
    'agent_session_required',
    'This binds the session of an agent, not a terminal: it has to run in the session that should do the work.',
    {
      hint: `In that session: service pairing ${action} PRQ --here. Its program needs our hooks: service init`,
      exit: EXIT.refused,
    },
  );
