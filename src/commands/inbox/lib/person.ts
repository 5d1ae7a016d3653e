/** Reads what waits for a person: unread boards, owed replies, agents' requests, new people. Acknowledges nothing. */
import type { z } from 'zod';
import { called } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { onOneLine, plural } from '../../../cli/terminal/fields.ts';
import { hanging } from '../../../cli/terminal/table.ts';
import type { TimeStyle } from '../../../cli/terminal/time.ts';
import { ClientError } from '../../../client/errors.ts';
import { serverInfo } from '../../../client/features.ts';
import { allRows } from '../../../client/pages.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Answer, Approval, Message, Need } from '../../../contract/types.ts';
import { actionWords } from '../../approval/lib/approval-text.ts';
import { allApprovals } from '../../approval/lib/approvals.ts';
import { readBoards } from '../../board/lib/list.ts';
import { defaultOf } from '../../board/lib/read/message-text.ts';
import type { inboxOfPerson } from './shapes.ts';

type PersonInbox = z.infer<typeof inboxOfPerson>;

type Arrivals = Answer<'getOnboardingInbox'>;

export async function readPersonInbox(session: Session): Promise<PersonInbox> {
  const { boards } = await readBoards(session, { all: false, archived: false });
  return {
    boards: boards
      .map(({ name, unread = 0, needs_reply, asks_to_me: asked }) => ({
        name,
        unread,
        needs_reply: needs_reply ?? 0,
        asks_to_me: asked ? asked.blocking + asked.going_with : 0,
      }))
      .filter((board) => board.unread > 0 || board.needs_reply > 0),
    asks: await asksFor(session),
    needs: await needsFor(session),
    ...(await onboardingFor(session)),
  };
}

async function asksFor({ client }: Session): Promise<Message[]> {
  const { features } = await serverInfo(client);
  if (!features.includes('asks')) return [];
  const asks = await allRows(client, 'listAsks', 'asks', { query: { can_answer: true, limit: 200 } });
  const blocking = (ask: Message) => (ask.ask?.blocking ? 0 : 1);
  return asks.sort((a, b) => blocking(a) - blocking(b));
}

async function needsFor({ client }: Session): Promise<Need[]> {
  const { features } = await serverInfo(client);
  return features.includes('brakes') ? (await client.call('listNeeds')).data.needs : [];
}

/** A guest brings nobody and is asked nothing. */
async function onboardingFor(session: Session): Promise<Omit<PersonInbox, 'boards' | 'asks' | 'needs'>> {
  const { client } = session;
  const nothing = { approvals: [], board_adds: [], arrivals: [], pairings_open: 0 };
  const { features } = await serverInfo(client);
  if (!features.includes('onboarding')) return nothing;
  try {
    const { data } = await client.call('getOnboardingInbox');
    const { board_adds, arrivals, counts } = data;
    const approvals = counts.approvals_pending === 0 ? [] : await allApprovals(session, 'pending');
    return { approvals, board_adds, arrivals, pairings_open: counts.pairings_open };
  } catch (error) {
    if (error instanceof ClientError && error.code === 'guest_not_allowed') return nothing;
    throw error;
  }
}

/** @param stay flags that keep to its server. */
export function personInboxText(
  { boards, asks, needs, approvals, board_adds: adds, arrivals, pairings_open: pairings }: PersonInbox,
  stay: string,
  times: TimeStyle,
): string {
  // An ask is shown itself, so it is not counted as a reply that is owed too.
  const owed = boards.map((board) => ({ ...board, replies: Math.max(0, board.needs_reply - board.asks_to_me) }));
  const needing = owed.filter(({ replies }) => replies > 0);
  const unread = boards.filter((board) => board.unread > 0);
  const lines = [
    ...(needing.length + asks.length + needs.length > 0 ? ['Needs you'] : []),
    ...needing.map((b) => `  ${b.name}  ${b.replies} to answer`),
    ...asks.flatMap((ask) => hanging(askLine(ask, times))),
    ...needs.flatMap((need) => hanging(escapeUntrusted(`  ${need.board}  ${need.text}`))),
    ...(unread.length > 0 ? ['Unread', ...unread.map((b) => `  ${b.name}  ${b.unread} unread`)] : []),
    ...(approvals.length > 0
      ? ['Waiting for your approval', ...approvals.flatMap((one) => hanging(approvalLine(one)))]
      : []),
    ...adds.map(({ board, added: { by } }) => `You were added to ${board.name}${by.name ? ` by @${by.name}` : ''}.`),
    ...arrivals.flatMap((arrival) => hanging(arrivalLine(arrival))),
    ...(pairings > 0 ? [`${plural(pairings, 'proposal', 'proposals')} of work: service pairing list${stay}`] : []),
  ];
  const [next] = [
    ...asks.map((ask) => `${answerTo(ask)} --board ${ask.board}`),
    ...approvals.map(({ id }) => `service approval allow ${id}`),
    ...needs.map(commandFor),
    // What a reply is owed to may have been read.
    ...needing.map(({ name }) => `service read --has awaits_me --board ${name}`),
    ...unread.map(({ name }) => `service read --mark-read --board ${name}`),
  ];
  if (next) lines.push(`Next: ${next}${stay}`);
  return called(lines.join('\n') || `Nothing is waiting for you. Your boards: service board list${stay}`);
}

const answerTo = ({ seq, ask }: Message): string =>
  `service answer ${seq} ${ask && ask.options.length > 0 ? '--option K' : '"…"'}`;

/** What the person can do about it. */
const commandFor = (need: Need): string => {
  switch (need.kind) {
    case 'thread_held':
      return `service thread continue ${need.seq} --board ${need.board}`;
    case 'agent_braked':
      return `service agent release ${need.agent} --board ${need.board}`;
    case 'task_stale':
      return `service task start ${need.task.ref} --take-over --board ${need.board}`;
    case 'agent_waiting':
      return `service agent show ${need.agent} --board ${need.board}`;
  }
};

const approvalLine = (approval: Approval): string =>
  escapeUntrusted(
    `  ${approval.id}  ${approval.display?.agent_name ?? approval.agent_id} wants to ${actionWords(approval)}`,
  );

const arrivalLine = ({ handle, boards }: Arrivals['arrivals'][number]): string =>
  `@${handle} came by your invite, with ${boards
    .map(({ board, agents }) => `${agents.map(({ name }) => name).join(', ')} on ${board.name}`)
    .join('; ')}.`;

/** `general#88  @codex asks @maya: Cap at a minute or at ten? (1 A minute, 2 Ten)` */
function askLine({ board, seq, from, body, ask }: Message, times: TimeStyle): string {
  const options = (ask?.options ?? []).map((option, i) => `${i + 1} ${onOneLine(option)}`).join(', ');
  const goes = ask ? defaultOf(ask, times) : null;
  const question = onOneLine(body.split('\n', 1)[0] ?? '');
  const whom = ask ? ` @${ask.to.name}` : '';
  return escapeUntrusted(
    `  ${board}#${seq}  @${from.name} asks${whom}${goes === null ? '' : `, ${goes}`}: ${question}${options ? ` (${options})` : ''}`,
  );
}
