/** What needs the person: asks, requests of their agents, proposals of others, and asks to their agents, in one order everywhere. */
import { batch, computed, effect, signal } from '@preact/signals';
import type { Answer, Approval, Message, PairingRequest, Need as StandingNeed } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { listen } from '../live/link.ts';
import { now } from './clock.ts';
import { oneAtATime, Soon } from './soon.ts';

export type Need =
  | { kind: 'ask'; id: string; at: string; message: Message }
  | { kind: 'approval'; id: string; at: string; approval: Approval }
  | { kind: 'pairing'; id: string; at: string; pairing: PairingRequest }
  | { kind: 'agents'; id: string; at: string; need: StandingNeed };

/** Open asks that the person may answer, oldest first; null: not read yet. */
export const openAsks = signal<Message[] | null>(null);
/** Requests of their agents that wait for a decision. */
export const pendingApprovals = signal<Approval[]>([]);
/** Work that others propose and no agent was chosen for yet. */
const pendingPairings = signal<PairingRequest[]>([]);
/** What agents cannot go on with without the person, and when that may change by itself. */
const standing = signal<Answer<'listNeeds'>>({ needs: [], changes_at: null });
/** Why the list could not be read. */
export const needsError = signal<unknown>(null);

const SOON = 30 * 60_000;

/** An open ask to the person themself; the others are to one of their agents. */
export const isToMe = (message: Message): boolean =>
  message.ask?.to.kind === 'human' && message.ask.to.name === session.value?.person.handle;

/** 0: due within 30 minutes, 1: blocks work, such as a session that waits, 2: a request of an agent, 3: the rest. */
export function rank(need: Need, time: number): 0 | 1 | 2 | 3 {
  if (need.kind === 'approval') return 2;
  if (need.kind === 'pairing') return 3;
  if (need.kind === 'agents') return need.need.kind === 'agent_waiting' ? 1 : 3;
  const { ask } = need.message;
  if (ask?.going_at && Date.parse(ask.going_at) - time <= SOON) return 0;
  return ask?.blocking ? 1 : 3;
}

/** The order of everything that needs somebody: by rank, each oldest first. */
function inOrder(needs: Need[], time: number): Need[] {
  return needs.toSorted((a, b) => rank(a, time) - rank(b, time) || (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

const asNeed = (message: Message): Need => ({ kind: 'ask', id: message.id, at: message.at, message });

/** What needs the person, in order. */
export const needs = computed(() =>
  inOrder(
    [
      ...(openAsks.value ?? []).filter(isToMe).map(asNeed),
      ...pendingApprovals.value.map(
        (approval): Need => ({ kind: 'approval', id: approval.id, at: approval.created_at, approval }),
      ),
      ...pendingPairings.value.map(
        (pairing): Need => ({ kind: 'pairing', id: pairing.id, at: pairing.created_at, pairing }),
      ),
      ...standing.value.needs.map((need): Need => ({ kind: 'agents', id: idOf(need), at: need.at, need })),
    ],
    now.value,
  ),
);

/** Two needs may be about one thing, such as an agent that is paused and waits. */
const idOf = ({ kind, id }: StandingNeed): string => `${kind}-${id}`;

/** Asks to the person's agents, which the person may answer for them. */
export const needsOfAgents = computed(() =>
  inOrder((openAsks.value ?? []).filter((message) => !isToMe(message)).map(asNeed), now.value),
);

/** The board that it comes from; undefined where the person cannot see it. */
export function boardOf(need: Need): string | undefined {
  if (need.kind === 'ask') return need.message.board;
  if (need.kind === 'agents') return need.need.board;
  const { display } = need.kind === 'approval' ? need.approval : need.pairing;
  return (display?.requested_on ?? display?.boards[0])?.name;
}

/** What needs the person on one board. */
export const needsOn = (board: string): Need[] => needs.value.filter((need) => boardOf(need) === board);

/** Reads the lists. All are shown at once, so that nothing moves when the last of them comes. */
export const readNeeds = oneAtATime(async () => {
  const guest = session.peek()?.person.server_role === 'guest';
  try {
    const [asks, approvals, pairings, agents] = await Promise.all([
      readAll('listAsks', 'asks', { query: { can_answer: true, limit: 200 } }),
      guest ? [] : readAll('listApprovals', 'approvals', { query: { state: 'pending', limit: 100 } }),
      guest ? [] : readAll('listPairingRequests', 'requests', { query: { state: 'open', limit: 100 } }),
      call('listNeeds'),
    ]);
    batch(() => {
      openAsks.value = asks;
      pendingApprovals.value = approvals;
      pendingPairings.value = pairings.filter(isForMe);
      standing.value = agents;
      needsError.value = null;
    });
  } catch (error) {
    needsError.value = error;
  }
});

/** A proposal that waits for the person to choose one of their agents. */
function isForMe({
  recipient_id,
  inviter_id,
  awaiting,
  recipient,
  chosen_recipient_agent_id,
}: PairingRequest): boolean {
  const me = session.peek()?.person.id;
  const waits = awaiting === 'recipient' || awaiting === 'both';
  return recipient_id === me && inviter_id !== me && waits && !recipient?.live && !chosen_recipient_agent_id;
}

/** Answers an ask with an option or in words; the same key as long as the outcome is unknown. */
export async function answer(
  message: Message,
  { option, body, key }: { option?: number; body?: string; key: string },
): Promise<Message> {
  const text = body ?? message.ask?.options[(option ?? 1) - 1] ?? '';
  const posted = await call('postMessage', {
    params: { board: message.board },
    idempotencyKey: key,
    body: { body: text, reply_to: message.id, answer: option === undefined ? {} : { option } },
  });
  openAsks.value = (openAsks.peek() ?? []).filter(({ id }) => id !== message.id);
  return posted;
}

const soon = new Soon(() => {
  if (session.peek()) void readNeeds();
});

/** An ask closes by itself when it goes with its default, which no event tells. */
effect(() => {
  const times = (openAsks.value ?? []).flatMap(({ ask }) => (ask?.going_at ? [Date.parse(ask.going_at)] : []));
  const next = Math.min(...times) - Date.now();
  // Later ones are looked at again whenever the list is read.
  if (next > 2 ** 31 - 1) return;
  const timer = setTimeout(() => soon.ask(), Math.max(next, 0) + 1_000);
  return () => clearTimeout(timer);
});

const soonAgents = new Soon(() => void readStanding());

const readStanding = oneAtATime(async () => {
  if (!session.peek()) return;
  try {
    standing.value = await call('listNeeds');
  } catch (error) {
    needsError.value = error;
  }
});

/** Some come and go because time passes. */
effect(() => {
  const { changes_at: at } = standing.value;
  if (at === null) return;
  const timer = setTimeout(() => soonAgents.ask(), Math.min(Math.max(Date.parse(at) - Date.now(), 0) + 500, 3_600_000));
  return () => clearTimeout(timer);
});

listen((message) => {
  if (message.type === 'hint' && ['presence', 'delivery'].includes(message.frame.event)) soonAgents.ask();
  // Asks are opened, answered and closed by messages: every new head counts.
  if (message.type === 'hint' && ['head', 'approval', 'boards', 'pairing'].includes(message.frame.event)) soon.ask();
});

session.subscribe((current) => {
  if (current) return soon.ask();
  openAsks.value = null;
  pendingApprovals.value = [];
  pendingPairings.value = [];
  standing.value = { needs: [], changes_at: null };
});
