/** What needs the person: asks to them, requests of their agents, and asks to their agents, in one order everywhere. */
import { computed, signal } from '@preact/signals';
import type { Approval, Message } from '../../contract/types.ts';
import { call, listAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { listen } from '../live/link.ts';
import { now } from './clock.ts';

export type Need =
  | { kind: 'ask'; id: string; at: string; message: Message }
  | { kind: 'approval'; id: string; at: string; approval: Approval };

/** Open asks that the person may answer, oldest first; null: not read yet. */
export const openAsks = signal<Message[] | null>(null);
/** Requests of their agents that wait for a decision. */
export const pendingApprovals = signal<Approval[]>([]);
/** Why the list could not be read. */
export const needsError = signal<unknown>(null);

const SOON = 30 * 60_000;

/** An open ask to the person themself; the others are to one of their agents. */
export const isToMe = (message: Message): boolean =>
  message.ask?.to.kind === 'human' && message.ask.to.name === session.value?.person.handle;

/** 0: due within 30 minutes, 1: blocks work, 2: a request of an agent, 3: the rest. */
function rank(need: Need, time: number): number {
  if (need.kind === 'approval') return 2;
  const { ask } = need.message;
  if (ask?.going_at && Date.parse(ask.going_at) - time <= SOON) return 0;
  return ask?.blocking ? 1 : 3;
}

/** The order of everything that needs somebody: by rank, each oldest first. */
export function inOrder(needs: Need[], time: number): Need[] {
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
    ],
    now.value,
  ),
);

/** Asks to the person's agents, which the person may answer for them. */
export const needsOfAgents = computed(() =>
  inOrder((openAsks.value ?? []).filter((message) => !isToMe(message)).map(asNeed), now.value),
);

/** What needs the person on one board. */
export const needsOn = (board: string): Need[] =>
  needs.value.filter((need) => need.kind === 'ask' && need.message.board === board);

let reading = false;
let again = false;

/** Reads the lists; a call while it reads has them read once more. */
export async function readNeeds(): Promise<void> {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    do {
      again = false;
      await read();
    } while (again);
    needsError.value = null;
  } catch (error) {
    needsError.value = error;
  } finally {
    reading = false;
  }
}

async function read(): Promise<void> {
  const asks: Message[] = [];
  for await (const page of listAll('listAsks', { query: { can_answer: true, limit: 200 } })) asks.push(...page.asks);
  openAsks.value = asks;
  if (session.peek()?.person.server_role === 'guest') return;
  const approvals: Approval[] = [];
  for await (const page of listAll('listApprovals', { query: { state: 'pending', limit: 100 } }))
    approvals.push(...page.approvals);
  pendingApprovals.value = approvals;
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
    body: { body: text, reply_to: message.id, ...(option === undefined ? {} : { answer: { option } }) },
  });
  openAsks.value = (openAsks.peek() ?? []).filter(({ id }) => id !== message.id);
  return posted;
}

let soonTimer: ReturnType<typeof setTimeout> | undefined;

/** Many hints within a moment are one read. */
function soon(): void {
  if (soonTimer !== undefined) return;
  soonTimer = setTimeout(() => {
    soonTimer = undefined;
    if (session.peek()) void readNeeds();
  }, 150);
}

listen((message) => {
  // Asks are opened, answered and closed by messages, and close by themselves, which is an event too: every new head counts.
  if (message.type === 'hint' && ['head', 'approval', 'boards', 'pairing'].includes(message.frame.event)) soon();
});

session.subscribe((current) => {
  if (current) return soon();
  openAsks.value = null;
  pendingApprovals.value = [];
});
