/** After a post, tells who gets it when and what is unread. Gives up after two seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Output } from '../../../../cli/output.ts';
import { atServerOf, type BoardSession } from '../../../../cli/session/open-session.ts';
import type { Client } from '../../../../client/client.ts';
import type { Answer, Member, Message } from '../../../../contract/types.ts';
import { isAddressed, wakesAgent } from '../../../../contract/waking.ts';
import { deliveredTo } from '../../../inbox/lib/hold-deliveries.ts';
import { allMembers } from '../list.ts';

type Outcome = 'now' | 'turn_end' | 'next_turn' | 'not_woken' | 'no_session' | 'cannot_read' | 'over_limit' | 'person';

export interface Notes {
  unread: { count: number; seqs: number[]; from: { name: string; sender: string }[] } | null;
  recipients:
    | { name: string; presence: string | null; delivery: string | null; mentioned: boolean; outcome: Outcome }[]
    | null;
}

const LIMIT_MS = 2000;

/** How many names or numbers stand in the advice. */
const SHOWN = 5;

/** What an agent's inbox says; null for a person, or when it could not be read. */
type AgentInbox = Answer<'readInbox'> | null;

/** What is read at once; what fails or takes too long leaves its part out. */
export async function readNotes(session: BoardSession, message: Message): Promise<{ notes: Notes; inbox: AgentInbox }> {
  const { client, agent, board } = session;
  const inbox = agent ? inTime(client.call('readInbox', { maxAttempts: 1 }).then((reply) => reply.data)) : null;
  const [unread, recipients] = await Promise.all([
    inTime(unreadOf(session, message, inbox)),
    inTime(allMembers(client, board).then((members) => recipientsOf(message, members))),
  ]);
  return { notes: { unread, recipients }, inbox: await inbox };
}

/** What its reader has neither been given nor answered. */
async function unreadOf(
  { client, seat, board }: BoardSession,
  { from, reply_to_seq }: Message,
  asked: Promise<AgentInbox> | null,
): Promise<Notes['unread']> {
  const delivered = asked && seat ? deliveredTo(seat) : new Set<number>();
  const read = asked ? await asked : await personUnread(client, board);
  if (!read) return null;
  const given = await delivered;
  const open = read.messages.filter(({ seq }) => !given.has(seq) && seq !== reply_to_seq);
  const answered = open[0] ? await answersOf(client, board, from.name, open[0].seq) : new Set();
  const messages = open.filter(({ seq }) => !answered.has(seq));
  return { count: read.unread - (read.messages.length - messages.length), ...listed(messages) };
}

/** Numbers of the messages that a member has replied to since one of them. */
async function answersOf(client: Client, board: string, from: string, after: number): Promise<Set<number | null>> {
  const query = { from, after, limit: 200 };
  const { data } = await client.call('listMessages', { params: { board }, query, maxAttempts: 1 });
  return new Set(data.messages.map((message) => message.reply_to_seq));
}

/** The advice in words. */
export function notesText({ unread, recipients }: Notes): string[] {
  const lines = [...Map.groupBy(recipients ?? [], (recipient) => recipient.outcome)]
    .filter(([outcome]) => outcome !== 'person')
    .flatMap(([outcome, those]) =>
      firstOf(those.map(({ name }) => `@${name}`)).map((name) => `${name} ${words[outcome]}.`),
    );
  if (unread && unread.count > 0) {
    const names = unread.from.map(({ name }) => `@${name}`).join(', ');
    const seqs = unread.seqs.slice(0, SHOWN).map((seq) => `#${seq}`);
    const more = unread.seqs.length > SHOWN ? ', …' : '';
    lines.push(`${unread.count} unread from ${names} (${seqs.join(', ')}${more}).`);
  }
  return lines;
}

/** Each name of a few; of many, the first and how many more: on a large board every post would list everybody. */
const firstOf = (names: string[]): string[] =>
  names.length <= SHOWN ? names : [`Each of ${names.slice(0, 3).join(', ')} and ${names.length - 3} more`];

/** A message to everyone that wakes no agent is worth knowing about. */
export function warnIfNobodyWakes(session: BoardSession, { recipients }: Notes, message: Message, out: Output): void {
  const outcomes = recipients?.map((recipient) => recipient.outcome) ?? [];
  if (!message.to.includes('all') || !outcomes.includes('next_turn')) return;
  if (outcomes.includes('now') || outcomes.includes('turn_end')) return;
  const { held, thread_root_seq: root, seq } = message;
  const [why, hint] = held
    ? [
        'the thread is held',
        `Your person lets it go on: service thread continue ${root ?? seq} --board ${message.board}${atServerOf(session)}`,
      ]
    : ['a message to everyone wakes only those it mentions', 'service say --to @name …'];
  out.warn('wakes_no_agent', `This wakes no agent: ${why}.`, hint);
}

const words: Record<Outcome, string> = {
  now: 'gets it now',
  turn_end: 'gets it when its turn ends',
  next_turn: 'gets it with its next turn',
  not_woken: 'is not woken; it finds it in its inbox',
  no_session: 'has no session; it finds it in its inbox',
  cannot_read: 'cannot read it',
  over_limit: 'is not woken: too many mentions',
  person: 'reads it on the board',
};

function recipientsOf(message: Message, members: Member[]) {
  const others = members.filter((member) => member.id !== message.from.id && isTarget(message, member));
  return others.map((member) => {
    const mention = message.mentions.find((found) => found.id === member.id);
    return {
      name: member.name,
      presence: member.presence,
      delivery: member.delivery_mode,
      mentioned: mention !== undefined,
      outcome: outcomeFor(message, member, mention),
    };
  });
}

const isTarget = (message: Message, member: Member): boolean =>
  isAddressed(message.to, member) || message.mentions.some((mention) => mention.id === member.id);

function outcomeFor(message: Message, member: Member, mention: Message['mentions'][number] | undefined): Outcome {
  if (member.kind === 'human') return 'person';
  if (mention?.reason === 'cannot_read') return 'cannot_read';
  const { id, name, presence, delivery_mode } = member;
  const mode = delivery_mode ?? 'focused';
  const braked = member.braked !== undefined;
  const woken = wakesAgent(message, { id, name, mode, braked });
  if (mention?.reason === 'limit' && !(woken && isAddressed(message.to, member))) return 'over_limit';
  if (mode === 'off') return 'not_woken';
  if (presence === null || presence === 'no_session') return 'no_session';
  if (woken) return presence === 'working' ? 'turn_end' : 'now';
  // Only in this mode a turn begins with messages that have not woken the agent.
  return mode === 'focused' && !braked ? 'next_turn' : 'not_woken';
}

async function personUnread(client: Client, board: string): Promise<{ unread: number; messages: Message[] }> {
  const { data } = await client.call('getBoard', { params: { board }, maxAttempts: 1 });
  if (!data.unread) return { unread: 0, messages: [] };
  const query = { after: data.read_up_to ?? 0, limit: 50 };
  const page = await client.call('listMessages', { params: { board }, query, maxAttempts: 1 });
  return { unread: data.unread, messages: page.data.messages.filter((message) => message.sender !== 'self') };
}

function listed(messages: Message[]) {
  const from = new Map(
    messages.map((message) => [message.from.id, { name: message.from.name, sender: message.sender }]),
  );
  return { seqs: messages.map((message) => message.seq), from: [...from.values()] };
}

const inTime = <T>(work: Promise<T>): Promise<T | null> =>
  Promise.race([work.catch(() => null), sleep(LIMIT_MS, null, { ref: false })]);
