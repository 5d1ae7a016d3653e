/** The items of the inbox and their addresses. */
import type { Need as AgentNeed, Approval } from '../../contract/types.ts';
import { session } from '../api/session.ts';
import { type Brief, briefOf, consequenceOf } from '../parts/ask.ts';
import { ago, formatDayTime } from '../parts/time.tsx';
import type { Identity } from '../parts/who.tsx';
import { boardOf, type Need } from '../state/needs.ts';
import type { InboxKind, Place } from '../state/route.ts';
import { requestWords } from './actions.ts';

export interface Item extends Partial<Brief> {
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

/** Identifies an agent of the person by its name. */
export const ownAgent = (name: string | undefined): Identity => ({
  name: name ?? 'agent',
  kind: 'agent',
  owner: session.value?.person.handle ?? null,
});

const person = (name: string | undefined): Identity => ({ name: name ?? '?', kind: 'human', owner: null });

/** What the items of a request of an agent say, whether it waits or was decided. */
export const approvalItem = (approval: Approval): Pick<Item, 'kind' | 'id' | 'who' | 'board' | 'title'> => ({
  kind: 'approvals',
  id: approval.id,
  who: ownAgent(approval.display?.agent_name),
  board: (approval.display?.requested_on ?? approval.display?.boards[0])?.name,
  title: requestWords(approval),
});

/** Turns a need into an item. */
export function toItem(need: Need): Item {
  const base = { id: need.id, board: boardOf(need), when: ago(need.at), blocks: false, need };
  if (need.kind === 'ask') {
    const { message } = need;
    const note =
      consequenceOf(message) ?? (message.ask?.options.length ? 'waits for your answer' : 'waits for your words');
    const blocks = !!message.ask?.blocking && message.ask.task !== null;
    return { ...base, kind: 'asks', who: message.from, ...briefOf(message), note, blocks };
  }
  if (need.kind === 'approval') {
    const { approval } = need;
    return { ...base, ...approvalItem(approval), note: `held until ${formatDayTime(approval.expires_at)}` };
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
      return {
        title:
          need.reason === 'reads'
            ? `${need.agent} acknowledges nothing of what it reads`
            : `May agents go on waking ${need.agent}?`,
        note: `paused until ${formatDayTime(need.until)}`,
      };
    case 'agent_waiting':
      return { title: need.question ?? need.text, note: 'waits for you in its session' };
    case 'task_stale':
      return { title: need.text, note: 'may be taken over' };
  }
}

export const itemPlace = ({ kind, id }: Pick<Item, 'kind' | 'id'>): Place => ({ screen: 'inbox', kind, id });
