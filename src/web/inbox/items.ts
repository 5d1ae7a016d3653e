/** The items of the inbox, their groups and addresses. */
import { computed } from '@preact/signals';
import type { Actor, Need as AgentNeed, Message } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { consequenceOf, questionOf } from '../parts/ask.ts';
import { ago, formatDay, formatTime } from '../parts/time.tsx';
import type { Identity } from '../parts/who.tsx';
import { boardOf, type Need, needs, needsOfMyAgents } from '../state/needs.ts';
import type { InboxKind, Place } from '../state/route.ts';
import { describeAction } from './actions.ts';
import { answered, invites, ownAsks } from './lists.ts';

export interface Item {
  kind: InboxKind;
  id: string;
  who: Identity;
  board: string | undefined;
  title: string;
  /** The third line. */
  note: string;
  /** Whether `note` says that work is blocked. */
  blocks: boolean;
  /** At the right of the first line. */
  when: string;
  need?: Need;
}

interface Group {
  name: string;
  items: Item[];
}

/** "today, 13:40", "tomorrow, 13:40", or the date and time. */
export function formatDayTime(at: string): string {
  const day = formatDay(at);
  const tomorrow = formatDay(new Date(Date.parse(at) - 86_400_000).toISOString()) === 'Today';
  return `${tomorrow ? 'tomorrow' : day === 'Today' ? 'today' : day}, ${formatTime(at)}`;
}

/** Identifies an agent of the person by its name. */
export const ownAgent = (name: string | undefined): Identity => ({
  name: name ?? 'agent',
  kind: 'agent',
  owner: session.value?.person.handle ?? null,
});

const person = (name: string | undefined): Identity => ({ name: name ?? '?', kind: 'human', owner: null });

/** Turns a need into an item. */
export function toItem(need: Need): Item {
  const base = { id: need.id, board: boardOf(need), when: ago(need.at), blocks: false, need };
  if (need.kind === 'ask') {
    const { message } = need;
    const note =
      consequenceOf(message) ?? (message.ask?.options.length ? 'waits for your answer' : 'waits for your words');
    const blocks = !!message.ask?.blocking && message.ask.task !== null;
    return { ...base, kind: 'asks', who: message.from, title: questionOf(message).question, note, blocks };
  }
  if (need.kind === 'approval') {
    const { approval } = need;
    const title = describeAction(approval).request;
    const note = `held until ${formatDayTime(approval.expires_at)}`;
    return { ...base, kind: 'approvals', who: ownAgent(approval.display?.agent_name), title, note };
  }
  if (need.kind === 'agents')
    return { ...base, kind: 'agents', who: ownAgent(agentName(need.need)), ...agentNeedText(need.need) };
  const { display, expires_at } = need.pairing;
  const title = `Proposes work with one of your agents`;
  return {
    ...base,
    kind: 'pairings',
    who: person(display?.person_handle),
    title,
    note: `open until ${formatDayTime(expires_at)}`,
  };
}

/** The agent that a need is about; the first one for a thread. */
export const agentName = (need: AgentNeed): string | undefined =>
  need.kind === 'thread_held' ? need.agents[0] : need.agent;

/** Title and note for a need of an agent. */
export function agentNeedText(need: AgentNeed): Pick<Item, 'title' | 'note'> {
  switch (need.kind) {
    case 'thread_held':
      return { title: need.text, note: 'their messages wake nobody' };
    case 'agent_braked':
      return { title: `May agents go on waking ${need.agent}?`, note: `paused until ${formatDayTime(need.until)}` };
    case 'agent_waiting':
      return { title: need.question ?? need.text, note: 'waits for you in its session' };
    case 'task_stale':
      return { title: need.text, note: 'may be taken over' };
  }
}

const askItem = (message: Message, who: Actor, note: string, at: string): Item => ({
  kind: 'asks',
  id: message.id,
  who,
  board: message.board,
  title: questionOf(message).question,
  note,
  blocks: false,
  when: at,
});

/** The groups of the inbox. Empty ones are left out, except "Needs you". */
export const groups = computed((): Group[] => {
  const all: Group[] = [
    { name: 'Needs you', items: needs.value.map(toItem) },
    {
      name: 'For your agents',
      items: needsOfMyAgents.value.map((need) => {
        const item = toItem(need);
        const to = need.kind === 'ask' ? need.message.ask?.to.name : undefined;
        return { ...item, note: `to ${to}; you may answer for them` };
      }),
    },
    {
      name: 'You asked',
      items: ownAsks.value.map((message) => {
        const stakes = consequenceOf(message);
        const note = `waits for ${message.ask?.to.name}${stakes ? `, ${stakes}` : ''}`;
        return askItem(message, message.from, note, ago(message.at));
      }),
    },
    {
      name: 'Answered today',
      items: answered.value.map(({ message, words, at }) => askItem(message, message.from, words, formatTime(at))),
    },
    {
      name: 'Invites of your agents',
      items: invites.value.map((invite) => ({
        kind: 'invites',
        id: invite.id,
        who: ownAgent(invite.display?.agent_name),
        board: invite.display?.boards[0]?.name,
        title: invite.suggested_handle ? `Invite for ${invite.suggested_handle}` : 'Invite for one person',
        note: `works until ${formatDayTime(invite.expires_at)}`,
        blocks: false,
        when: ago(invite.created_at),
      })),
    },
  ];
  return all.filter(({ name, items }) => items.length > 0 || name === 'Needs you');
});

export const itemPlace = ({ kind, id }: Pick<Item, 'kind' | 'id'>): Place => ({ screen: 'inbox', kind, id });
