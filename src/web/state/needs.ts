/** What needs the person, in the order used everywhere: asks, requests from agents, proposals and stuck agents. */
import { batch, computed, effect, signal } from '@preact/signals';
import type { HintFrame } from '../../client/hint-stream.ts';
import { HOUR } from '../../contract/durations.ts';
import type { Need as AgentNeed, Answer, Approval, Message, PairingRequest } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { listenToHints, listenToReturn } from '../live/link.ts';
import { serverNow, serverTime } from './clock.ts';
import { oneAtATime, Throttle } from './throttle.ts';

export type Need =
  | { kind: 'ask'; id: string; at: string; message: Message }
  | { kind: 'approval'; id: string; at: string; approval: Approval }
  | { kind: 'pairing'; id: string; at: string; pairing: PairingRequest }
  | { kind: 'agents'; id: string; at: string; need: AgentNeed };

/** Open asks that the person may answer, oldest first; null until loaded. */
export const openAsks = signal<Message[] | null>(null);
/** Ids of those that are addressed to the person, whose name on a board need not be the handle. */
const asksToMe = signal<ReadonlySet<string>>(new Set());
/** Requests from the person's agents that wait for a decision. */
export const pendingApprovals = signal<Approval[]>([]);
/** Work that others propose, for which the person has to choose an agent. */
const pendingPairings = signal<PairingRequest[]>([]);
/** Situations in which agents cannot continue without the person, and when the list next changes without an event. */
const agentNeeds = signal<Answer<'listNeeds'>>({ needs: [], changes_at: null });
export const needsError = signal<unknown>(null);

const DUE_SOON_MS = 30 * 60_000;

/** Whether an ask is addressed to the person and not to one of their agents. */
export const isAskedOfMe = ({ id, ask }: Message): boolean =>
  asksToMe.value.has(id) || (ask?.to.kind === 'human' && ask.to.name === session.value?.person.handle);

/** 0: due within 30 minutes, 1: blocks work, 2: a request from an agent, 3: the rest. */
export function rank(need: Need, time: number): 0 | 1 | 2 | 3 {
  if (need.kind === 'approval') return 2;
  if (need.kind === 'pairing') return 3;
  if (need.kind === 'agents') return need.need.kind === 'agent_waiting' ? 1 : 3;
  const { ask } = need.message;
  if (ask?.going_at && Date.parse(ask.going_at) - time <= DUE_SOON_MS) return 0;
  return ask?.blocking ? 1 : 3;
}

/** Sorts by rank, then oldest first. */
function sortNeeds(needs: Need[], time: number): Need[] {
  return needs.toSorted((a, b) => rank(a, time) - rank(b, time) || (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

const asNeed = (message: Message): Need => ({ kind: 'ask', id: message.id, at: message.at, message });

/** Everything that needs the person, sorted. */
export const needs = computed(() =>
  sortNeeds(
    [
      ...(openAsks.value ?? []).filter(isAskedOfMe).map(asNeed),
      ...pendingApprovals.value.map(
        (approval): Need => ({ kind: 'approval', id: approval.id, at: approval.created_at, approval }),
      ),
      ...pendingPairings.value.map(
        (pairing): Need => ({ kind: 'pairing', id: pairing.id, at: pairing.created_at, pairing }),
      ),
      ...agentNeeds.value.needs.map((need): Need => ({ kind: 'agents', id: idOf(need), at: need.at, need })),
    ],
    serverNow.value,
  ),
);

/** Two needs can share an id, such as an agent that is both paused and waiting. */
const idOf = ({ kind, id }: AgentNeed): string => `${kind}-${id}`;

/** Asks to the person's agents, which the person may answer instead. */
export const needsOfMyAgents = computed(() =>
  sortNeeds((openAsks.value ?? []).filter((message) => !isAskedOfMe(message)).map(asNeed), serverNow.value),
);

/** The board it comes from; undefined if the person cannot see that board. */
export function boardOf(need: Need): string | undefined {
  if (need.kind === 'ask') return need.message.board;
  if (need.kind === 'agents') return need.need.board;
  const { display } = need.kind === 'approval' ? need.approval : need.pairing;
  return (display?.requested_on ?? display?.boards[0])?.name;
}

/** The needs on one board. */
export const needsOnBoard = (board: string): Need[] => needs.value.filter((need) => boardOf(need) === board);

const lists = ['asks', 'approvals', 'pairings', 'agents'] as const;
type List = (typeof lists)[number];

/** The lists to read next; those that could not be read stay. */
const changed = new Set<List>();

/** Loads the changed lists and updates them in one batch, so that the layout changes once. */
const readChanged = oneAtATime(async () => {
  const due = new Set(changed);
  changed.clear();
  const requests = session.peek()?.person.server_role !== 'guest';
  try {
    const [asks, toMe, approvals, pairings, agents] = await Promise.all([
      due.has('asks') ? readAll('listAsks', 'asks', { query: { can_answer: true, limit: 200 } }) : null,
      due.has('asks') ? readAll('listAsks', 'asks', { query: { to_me: true, limit: 200 } }) : null,
      requests && due.has('approvals')
        ? readAll('listApprovals', 'approvals', { query: { state: 'pending', limit: 100 } })
        : null,
      requests && due.has('pairings')
        ? readAll('listPairingRequests', 'requests', { query: { state: 'open', limit: 100 } })
        : null,
      due.has('agents') ? call('listNeeds') : null,
    ]);
    batch(() => {
      if (asks) openAsks.value = asks;
      if (toMe) asksToMe.value = new Set(toMe.map(({ id }) => id));
      if (approvals) pendingApprovals.value = approvals;
      if (pairings) pendingPairings.value = pairings.filter(awaitsMyChoice);
      if (agents) agentNeeds.value = agents;
      needsError.value = null;
    });
  } catch (error) {
    for (const list of due) changed.add(list);
    needsError.value = error;
  }
});

/** Loads all lists. */
export function readNeeds(): Promise<void> {
  for (const list of lists) changed.add(list);
  return readChanged();
}

/** Whether a proposal waits for the person to choose one of their agents. */
function awaitsMyChoice({
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

/** Posts an answer to an ask. */
export async function postAnswer(
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

const throttle = new Throttle(() => {
  if (session.peek()) void readChanged();
});

/** Loads lists in a moment. */
function schedule(due: readonly List[]): void {
  for (const list of due) changed.add(list);
  throttle.schedule();
}

/** Milliseconds until shortly after a time. Once it has passed, as on a clock ahead of the server's, each wait is twice as long. */
const delayUntil = (time: number): number => Math.abs(time - serverTime()) + 1_000;

/** No event reports that an ask closed because its default applies, so a timer reloads the list then. */
effect(() => {
  const times = (openAsks.value ?? []).flatMap(({ ask }) => (ask?.going_at ? [Date.parse(ask.going_at)] : []));
  const delay = Math.min(...times.map(delayUntil));
  // setTimeout takes no more than 2^31 - 1 ms; a later reload of the list sets the timer then.
  if (delay > 2 ** 31 - 1) return;
  const timer = setTimeout(() => schedule(['asks']), delay);
  return () => clearTimeout(timer);
});

/** Some needs start or end with time alone. */
effect(() => {
  const { changes_at: at } = agentNeeds.value;
  if (at === null) return;
  const timer = setTimeout(() => schedule(['agents']), Math.min(delayUntil(Date.parse(at)), HOUR));
  return () => clearTimeout(timer);
});

/** The lists that a hint may have changed. */
const changes: Partial<Record<HintFrame['event'], readonly List[]>> = {
  // Messages open, answer and close asks, and hold threads; tasks become stale and are taken over.
  head: ['asks', 'agents'],
  presence: ['agents'],
  delivery: ['agents'],
  approval: ['approvals'],
  pairing: ['pairings'],
  boards: lists,
};

listenToHints(({ event }) => {
  const due = changes[event];
  if (due) schedule(due);
});

// Other hints than `head` that came meanwhile do not come again.
listenToReturn(() => schedule(lists));

session.subscribe((current) => {
  if (current) return schedule(lists);
  openAsks.value = null;
  asksToMe.value = new Set();
  pendingApprovals.value = [];
  pendingPairings.value = [];
  agentNeeds.value = { needs: [], changes_at: null };
});
