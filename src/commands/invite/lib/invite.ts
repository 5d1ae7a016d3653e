/** Who begins the work that an invite or a proposal is about, and where what is passed on leads. */
import type { Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { type Session, stayingAt } from '../../../cli/session/open-session.ts';
import { copyable } from '../../../cli/terminal/fields.ts';
import { showEnd, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Answer, Member } from '../../../contract/types.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { isLoopback } from '../../../local/origin.ts';
import { allMembers } from '../../board/lib/list.ts';

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
    hint: `Put one there first: service agent create NAME --board ${board}${stayingAt(session)}`,
  });
}

type Invite = Answer<'createInvite'>;

/** What it is, who can use it and until when; the link alone on its line; what revokes it; and the text to pass on. @param stay flags that keep to its server */
export function newInviteText(
  invite: Invite,
  boards: string[],
  { times, stay }: { times: TimeStyle; stay: string },
): string {
  const onto = boards.length === 0 ? '' : `, onto ${boards.join(', ')}`;
  return [
    `Invite for one person, ${invite.server_role}${onto}, works once, ends ${showEnd(invite.expires_at, times)}:`,
    invite.invite,
    called(`Revoke it: service invite revoke ${invite.id}${stay}`),
    'To pass on, in private:',
    copyable(invite.prompt),
  ].join('\n');
}
