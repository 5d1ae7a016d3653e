/** Formats pairing requests. */
import { called } from '../../../cli/runtime.ts';
import { fields, indented } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { PairingRequest, PairingSide } from '../../../contract/types.ts';

const SHOWN = 60;

/** Of the work, the beginning of its first line. */
function workWords(work: string): string {
  const [line = ''] = work.split(/\r?\n/);
  const cut = [...line].slice(0, SHOWN).join('');
  return `"${cut}${cut === work ? '' : '…'}"`;
}

const boardOf = ({ display, board_id }: PairingRequest): string => display?.boards[0]?.name ?? board_id;

/** `ana's codex with bob's claude`, as far as they are known. */
function between({ display, inviter_id, recipient_id, invite_id }: PairingRequest): string {
  const inviter = display?.person_handle ?? inviter_id;
  const initiator = display?.agent_name ? `${inviter}'s ${display.agent_name}` : inviter;
  const recipient = display?.recipient_handle ?? recipient_id ?? `the person who uses ${invite_id}`;
  const other = display?.recipient_agent_name ? `${recipient}'s ${display.recipient_agent_name}` : recipient;
  return `${initiator} with ${other}`;
}

const waitsFor = ({ awaiting }: PairingRequest): string =>
  awaiting === undefined ? '' : awaiting === 'both' ? 'waiting for both sides' : `waiting for the ${awaiting}`;

/** One row per request. */
export const pairingRows = (requests: PairingRequest[]): Promise<string[]> =>
  table(
    ['ID', 'STATE', 'BOARD', 'BETWEEN', 'WORK', 'NOTES'],
    requests.map((request) => [
      request.id,
      request.state,
      boardOf(request),
      between(request),
      workWords(request.work),
      waitsFor(request),
    ]),
  );

/** One request with all that is known of it, and what to run next. @param seat the id of the agent that reads it */
export function pairingText(request: PairingRequest, times: TimeStyle, seat?: string): string {
  const lines = fields([
    ['id', request.id],
    ['state', [request.state, waitsFor(request)].filter((part) => part !== '').join(', ')],
    ['board', boardOf(request)],
    ['between', between(request)],
    ['initiator', sessionWords(request.initiator)],
    ['recipient', sessionWords(request.recipient)],
    ['progress', progressWords(request)],
    ['reason', request.closed_reason],
    [
      request.closed_at === undefined ? 'until' : 'ended',
      request.closed_at === undefined ? showEnd(request.expires_at, times) : showTime(request.closed_at, times),
    ],
  ]);
  return [...lines, 'Work:', indented(request.work), ...nextLines(request, sideOf(request, seat))].join('\n');
}

const sessionWords = (endpoint: PairingRequest['initiator']): string | undefined =>
  endpoint && (endpoint.live ? 'a session is selected' : 'its session has ended; another has to be selected');

function progressWords({ progress }: PairingRequest): string | undefined {
  if (!progress) return undefined;
  return `to the recipient: ${progress.initiator_to_recipient}, back: ${progress.recipient_to_initiator}`;
}

/** What became of it, in one line, and what to run next. @param side the reader's */
export const changedText = (request: PairingRequest, again = '', side = sideOf(request)): string =>
  [
    [request.id, request.state, boardOf(request), between(request), waitsFor(request)]
      .filter((part) => part !== '')
      .join('  ') + again,
    ...nextLines(request, side),
  ].join('\n');

/** The reader's side, whose session alone they are shown; undefined where that is not known, or one person has both. */
function sideOf(request: PairingRequest, seat?: string): PairingSide | undefined {
  const { initiator, recipient, inviter_id, recipient_id } = request;
  if (seat !== undefined && seat === initiator?.agent_id) return 'initiator';
  if (inviter_id === recipient_id) return undefined;
  if (initiator?.session_binding !== undefined) return 'initiator';
  return recipient?.session_binding === undefined ? undefined : 'recipient';
}

const otherSidesCommand = { initiator: ' pairing accept ', recipient: ' pairing select ' };

/** The command of the other side would be refused to the reader. */
function nextLines({ next }: PairingRequest, side: PairingSide | undefined): string[] {
  if (!next || (side && next.command.includes(otherSidesCommand[side]))) return [];
  return [called(`Next: ${next.command}`), called(next.resume)];
}
