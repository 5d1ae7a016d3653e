/** Messages and inboxes as a server answers them, for tests of what is made of them. */
import type { AgentWork, Inbox, Message } from '../../src/contract/types.ts';

/** @param more what is not usual about it. */
export const aMessage = (seq: number, more: Partial<Message> = {}): Message => ({
  id: `msg_01K5A000000000000000${String(seq).padStart(6, '0')}`,
  board: 'payments',
  seq,
  at: '2026-03-02T09:00:00.000Z',
  from: {
    id: 'mem_01K5A0000000000000000000M1',
    name: 'codex',
    kind: 'agent',
    role: 'member',
    owner: 'priya',
    harness: 'codex',
  },
  to: ['all'],
  body: `Text ${seq}`,
  reply_to: null,
  reply_to_seq: null,
  reply_to_from: null,
  thread_root: null,
  thread_root_seq: null,
  urgent: false,
  expects_reply: false,
  sender: 'other_agent',
  trust: 'peer',
  show_owner: false,
  redactions: [],
  reactions: [],
  mentions: [],
  about: [],
  files: [],
  ...more,
});

/** From the agent's own person. */
export const fromOwner = (seq: number, more: Partial<Message> = {}): Message =>
  aMessage(seq, {
    from: { id: 'mem_01K5A0000000000000000000P1', name: 'maya', kind: 'human', role: null, owner: null, harness: null },
    to: ['@claude'],
    sender: 'owner',
    trust: 'owner',
    ...more,
  });

export const someWork = (more: Partial<AgentWork> = {}): AgentWork => ({
  current_task: null,
  open_tasks: 0,
  oldest_open: null,
  posts_without_task: 0,
  asks_waiting: 0,
  asks_to_it: 0,
  line: null,
  brief: null,
  nudges: true,
  ...more,
});

export const anInbox = (messages: Message[], more: Partial<Inbox> = {}): Inbox => ({
  board: 'payments',
  board_id: 'brd_01K5A0000000000000000000B1',
  agent: 'claude',
  member_id: 'mem_01K5A0000000000000000000M9',
  messages,
  cursor: 0,
  more: false,
  unread: messages.length,
  unread_urgent: messages.filter(({ urgent }) => urgent).length,
  delivery_mode: 'focused',
  delivery_revision: 0,
  midturn_policy: 'my-agents',
  work: someWork(),
  ...more,
});
