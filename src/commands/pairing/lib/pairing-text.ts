/** Formats pairing requests. */
import { called } from '../../../cli/runtime.ts';
import { inSession } from '../../../cli/session/here.ts';
import { fields, indented } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { PairingRequest } from '../../../contract/types.ts';

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

/** One request with all that is known of it, and what to run next. */
export function pairingText(request: PairingRequest, times: TimeStyle): string {
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
  return [...lines, 'Work:', indented(request.work), ...nextLine(request)].join('\n');
}

const sessionWords = (endpoint: PairingRequest['initiator']): string | undefined =>
  endpoint && (endpoint.live ? 'a session is selected' : 'its session has ended; another has to be selected');

function progressWords({ progress }: PairingRequest): string | undefined {
  if (!progress) return undefined;
  return `to the recipient: ${progress.initiator_to_recipient}, back: ${progress.recipient_to_initiator}`;
}

/** What became of it, in one line, and what to run next. */
export const changedText = (request: PairingRequest, again = ''): string =>
  [
    [request.id, request.state, boardOf(request), between(request), waitsFor(request)]
      .filter((part) => part !== '')
      .join('  ') + again,
    ...nextLine(request),
  ].join('\n');

/** What only a session can do is for its agent, not for the person who reads this. */
function nextLine({ next }: PairingRequest): string[] {
  if (!next) return [];
  const elsewhere = next.command.includes(' --here') && !inSession();
  return [called(`Next${elsewhere ? ', in the session of the agent' : ''}: ${next.command}`)];
}
