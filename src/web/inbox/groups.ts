/** The groups of the inbox. */
import { computed } from '@preact/signals';
import type { Actor, Message } from '../../contract/types.ts';
import { briefOf, consequenceOf } from '../parts/ask.ts';
import { ago, formatDayTime, formatTime } from '../parts/time.tsx';
import { needs, needsOfMyAgents } from '../state/needs.ts';
import { approvalItem, type Item, ownAgent, toItem } from './items.ts';
import { answered, decided, invites, ownAsks } from './lists.ts';

interface Group {
  name: string;
  items: Item[];
}

const askItem = (message: Message, who: Actor, note: string, at: string): Item => ({
  kind: 'asks',
  id: message.id,
  who,
  board: message.board,
  ...briefOf(message),
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
      items: [
        ...answered.value.map(({ message, words, at }) => ({
          at,
          item: askItem(message, message.from, words, formatTime(at)),
        })),
        ...decided.value.map((approval) => {
          const { state, decided_at: at = '' } = approval;
          const note = state === 'declined' ? 'you declined' : 'you allowed it';
          return { at, item: { ...approvalItem(approval), note, when: formatTime(at), blocks: false } };
        }),
      ]
        .toSorted((a, b) => (a.at < b.at ? 1 : -1))
        .map(({ item }) => item),
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
