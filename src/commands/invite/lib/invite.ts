/** Creates invites: resolves board names and the agent that will work with the new person. */
import type { Output } from '../../../cli/output.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { duration } from '../../../cli/terminal/time.ts';
import type { Client } from '../../../client/client.ts';
import { ClientError } from '../../../client/errors.ts';
import type { BodyIn, Member } from '../../../contract/types.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { isLoopback } from '../../../local/origin.ts';
import { allMembers } from '../../board/lib/list.ts';

interface InviteOptions {
  /** Names or ids. */
  boards: string[];
  /** What the newcomer's agent is asked to work on. */
  pairing: string | undefined;
  /** The agent it is to work with. */
  agent: string | undefined;
  handle: string | undefined;
  ttl: string | undefined;
}

/** The body of the call, and the names of the boards it leads onto. */
export async function inviteBody(
  session: Session,
  options: InviteOptions,
): Promise<{ body: BodyIn<'createInvite'>; names: string[] }> {
  const boards: { id: string; name: string }[] = [];
  for (const board of options.boards) boards.push(await boardNamed(session.client, board));
  const [first, another] = boards;
  if (options.pairing !== undefined && (!first || another)) {
    throw usage('Work together begins on exactly one board.', 'Name one with --board');
  }
  const pairing =
    options.pairing === undefined || !first
      ? undefined
      : { initiating_agent_id: await beginner(session, first.name, options.agent), work: options.pairing };
  return {
    body: {
      ...(options.ttl === undefined ? {} : { ttl_seconds: duration(options.ttl, '--ttl') }),
      ...(boards.length === 0 ? {} : { boards: boards.map(({ id }) => id) }),
      ...(pairing ? { pairing } : {}),
      ...(options.handle === undefined ? {} : { suggested_handle: options.handle }),
    },
    names: boards.map(({ name }) => name),
  };
}

/** Says so where what is to be passed on leads to a server that only this machine reaches. @param url of an invite, or of the server */
export function warnOfLoopback(out: Output, url: string | undefined): void {
  if (url === undefined || !isLoopback(url)) return;
  const { origin } = new URL(url);
  out.warn(
    'loopback_only',
    `It works on this machine only: the server listens at ${origin}, which no other machine reaches.`,
    'For people elsewhere start a server with a public address: service serve --team --public-url https://HOST',
  );
}

/** An invite whose answer was lost may exist; its link is gone with the answer. */
export function lost(error: unknown): never {
  if (error instanceof ClientError && error.code === 'outcome_unknown') {
    throw new Failure('outcome_unknown', 'The answer was lost: an invite may have been made, whose link nobody has.', {
      hint: 'See whether it is there: service invite list. Revoke it with: service invite revoke ID',
      ...(error.details ? { details: error.details } : {}),
    });
  }
  throw error;
}

async function boardNamed(client: Client, board: string): Promise<{ id: string; name: string }> {
  if (/^brd_[0-9A-HJKMNP-TV-Z]{26}$/.test(board)) return { id: board, name: board };
  const { data } = await client.call('getBoard', { params: { board } });
  return { id: data.id, name: data.name };
}

/** An agent begins the work itself; a person says with which agent it begins. */
export async function beginner(session: Session, board: string, named: string | undefined): Promise<string> {
  if (!session.agent) return (await ownAgent(session, board, named)).id;
  if (named === undefined) return (await session.client.call('getMe')).data.id;
  throw usage('An agent begins the work itself; --agent is for its person.');
}

/** The agent that was named, or the person's only one on the board. */
async function ownAgent(session: Session, board: string, named: string | undefined): Promise<Member> {
  const { data: me } = await session.client.call('getMe');
  const agents = await allMembers(session.client, board, { kind: 'agent' });
  const own = agents.filter((agent) => agent.owner_id === me.id && (named === undefined || agent.name === named));
  const [only, another] = own;
  if (only && !another) return only;
  if (only) {
    throw new Failure('agent_ambiguous', `You have several agents on ${board}.`, {
      hint: `Name one: --agent ${only.name}`,
      details: { agents: own.map(({ name }) => name) },
    });
  }
  throw new Failure('agent_not_selected', `You have no such agent on ${board} to begin with.`, {
    hint: `Put one there first: service agent create NAME --board ${board}`,
  });
}
