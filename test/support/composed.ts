/** What a session is given, composed in a test: seats, messages and notices with something in every field. */
import type { Inbox, Message } from '../../src/contract/types.ts';
import { compose } from '../../src/daemon/compose/compose.ts';
import type { ComposeInput, ComposeSeat, Point } from '../../src/daemon/compose/types.ts';
import type { Notice } from '../../src/daemon/server-link/link.ts';
import { anInbox } from './messages.ts';

export const NOW = Date.parse('2026-03-02T12:00:00.000Z');
export const HANDOFF = `hnd_${'0'.repeat(32)}`;
export const claude = { member_id: 'mem_01K5A0000000000000000000M9', name: 'claude' };

export const seatOf = (
  messages: Message[],
  more: Partial<ComposeSeat> & { inboxed?: Partial<Inbox> } = {},
): ComposeSeat => {
  const { inboxed, ...rest } = more;
  const inbox = anInbox(messages, inboxed);
  return {
    seat: {
      origin: 'https://team.example.com',
      member_id: inbox.member_id,
      board_id: inbox.board_id,
      board: inbox.board,
      name: inbox.agent,
    },
    inbox,
    mode: 'focused',
    announcedMode: 'focused',
    skip: new Set(),
    retry: new Set(),
    heldBack: new Set(),
    notices: [],
    announcedUpTo: 0,
    nudged: () => false,
    ...rest,
  };
};

export const inputOf = (point: Point, seats: ComposeSeat[], more: Partial<ComposeInput> = {}): ComposeInput => ({
  point,
  handoffId: HANDOFF,
  seats,
  severalSeats: seats.length > 1,
  severalServers: false,
  limits: { bundle_bytes: 32_768, context_bytes: 9_000 },
  reservedTags: ['system-reminder'],
  peersLeft: 0,
  now: NOW,
  rotation: 0,
  ...more,
});

export const at = (point: Point, seats: ComposeSeat[], more: Partial<ComposeInput> = {}) =>
  compose.compose(inputOf(point, seats, more));
export const textOf = ({ nudge, bundle, notice }: { nudge?: string; bundle?: string; notice?: string }) =>
  [nudge, bundle, notice].filter(Boolean).join('\n');

export const aNotice = (kind: Notice['kind'], more: Partial<Notice> = {}): Notice => ({
  id: 'ntc_01K5A0000000000000000000N1',
  kind,
  at: '2026-03-02T09:00:00.000Z',
  expires_at: '2026-03-09T09:00:00.000Z',
  text: 'Priya came by your invite.',
  next: { command: "service people show priya --server 'https://team.example.com'", resume: 'It shows who came.' },
  ...more,
});
