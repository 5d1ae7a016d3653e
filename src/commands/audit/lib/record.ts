/** Verifies the record of a board. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { patiently } from '../../../cli/list.ts';
import { keepNote } from '../../../cli/local-note.ts';
import type { Output } from '../../../cli/output.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { type BoardSession, staying } from '../../../cli/session/open-session.ts';
import { progressOf } from '../../../cli/terminal/progress.ts';
import { unexpected } from '../../../client/errors.ts';
import { type VerifyResult, verifyBoard } from '../../../client/verify.ts';
import type { ChainPoint } from '../../../contract/chain.ts';
import { idPattern } from '../../../contract/ids.ts';
import type { BoardEvent } from '../../../contract/types.ts';
import { usage } from '../../../local/failure.ts';
import { type BoardRef, pin, pinnedBoard, pinnedHead } from '../../../local/verified-heads.ts';
import type { verified } from './shapes.ts';

type VerifyRecord = z.infer<typeof verified>;

interface VerifyFlags {
  /** The event to begin with; beyond the first only the one after the remembered end. */
  start?: number | undefined;
  /** The id of a board that is taken as it is now: nothing that was checked under its name before counts. */
  accept?: string | undefined;
  /** Gets each event that passed. */
  onEvent?: ((event: BoardEvent) => void) | undefined;
}

/** A longer check shows how far it is. */
const SHORT = 5_000;

/**
 * Checks the record against what was found good last time, and remembers a good end. Another board under the same name
 * is no record to check, but a finding.
 *
 * @throws Failure `invalid_request` for an invalid start.
 */
export async function verifyRecord(
  session: BoardSession,
  out: Output,
  { start = 1, accept, onEvent }: VerifyFlags = {},
): Promise<VerifyRecord> {
  const { client, board } = session;
  const { folders } = runtime();
  const ref = await boardNow(session);
  const place = { origin: session.server.local ? 'local' : session.server.url, board };
  const before = pinnedBoard(folders, place);
  const same = before?.server_id === ref.server_id && before.board_id === ref.board_id;
  if (before && !same && accept !== ref.board_id) return replaced(ref, before, pinnedHead(folders, before));
  const remembered = pinnedHead(folders, ref);
  const [pinned, aside] = accept === ref.board_id ? [null, remembered] : [remembered, null];
  const known = pinned ?? undefined;
  const from = start > 1 ? startAt(session, start, known) : undefined;
  const progress = progressOf(out, board, (n) => String(Math.round(n)));
  const onPage = (done: number, total: number) => total > SHORT && progress.at(done, total);
  const options = { sha256, pinned: known, from, request: patiently(out), onEvent, onPage };
  const found = await verifyBoard(client, { id: ref.board_id, name: board }, options).finally(progress.end);
  const { problem, head } = found;
  if (!problem && head) await keepNote(pin(folders, place, ref, head, aside), out, 'The end is not remembered');
  return {
    ok: !problem,
    ...ref,
    events: found.events,
    head_seq: head?.seq ?? null,
    head_hash: head?.hash ?? null,
    payloads_checked: found.payloadsChecked,
    payloads_withheld: found.payloadsWithheld,
    problem: problem && { seq: problem.seq, problem: problem.reason },
    pinned: pinned && { ...pinned, matches: !problem || stands(pinned, found) },
    pinned_board: before && { ...before, matches: same },
  };
}

/** Which board stands under the name now, as its server says. */
async function boardNow({ client, board }: BoardSession): Promise<BoardRef> {
  const { server_id } = (await client.call('getInfo')).data;
  const { id: board_id } = (await client.call('getBoard', { params: { board } })).data;
  // They become part of a line that a person is to run.
  if (idPattern('srv').test(server_id) && idPattern('brd').test(board_id)) return { server_id, board_id };
  throw unexpected('The answer does not say which board of which server this is.');
}

/** The finding that it is another board than the one whose end is remembered. */
const replaced = (now: BoardRef, before: BoardRef, end: ChainPoint | null): VerifyRecord => ({
  ok: false,
  ...now,
  events: 0,
  head_seq: null,
  head_hash: null,
  payloads_checked: 0,
  payloads_withheld: 0,
  problem: { seq: 0, problem: REPLACED },
  pinned: end && { ...end, matches: false },
  pinned_board: { ...before, matches: false },
});

const REPLACED = 'board_replaced';

/** The remembered end, when the wished start follows it: only what continues something known to be good proves anything. */
function startAt(session: BoardSession, start: number, pinned: ChainPoint | undefined): ChainPoint {
  if (pinned?.seq === start - 1) return pinned;
  const [problem, flag] = pinned
    ? [`the last good check here ended at #${pinned.seq}`, ` --from ${pinned.seq + 1}`]
    : ['no check of this board is remembered here', ''];
  throw usage(
    `A check cannot start at #${start}: ${problem}.`,
    called(`service audit verify${flag}${staying(session)}`),
  );
}

/** Whether a check that ended early came to the remembered end: to it, or from it to an event that continues it. */
const stands = (pinned: ChainPoint, { events, head }: Pick<VerifyResult, 'events' | 'head'>): boolean =>
  events > 0 && head !== null && head.seq >= pinned.seq;

// Node's own hash is several times faster than the browser's, and the record may be long.
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const accepting = ({ board_id }: VerifyRecord, session: BoardSession): string =>
  `service audit verify --accept ${board_id}${staying(session)}`;

/** The finding in one line, and in a few where a person may know why it is another board or history. */
export function verifyText(session: BoardSession, result: VerifyRecord): string {
  const { board } = session;
  const { pinned_board: before, board_id, server_id } = result;
  if (result.problem?.problem === REPLACED && before)
    return [
      `${board}: this is not the board that was checked here before, so nothing was verified.`,
      `Checked before: ${before.board_id} of ${before.server_id}`,
      `There now:      ${board_id} of ${server_id}`,
      called(`If you know that it was made anew: ${accepting(result, session)}`),
    ].join('\n');
  if (result.problem) {
    const { seq, problem } = result.problem;
    const broken = `${board}: record broken at #${seq}: ${problem}`;
    if (!/^history_/.test(problem)) return broken;
    return `${broken}\n${called(`If you know that the server went back to a backup: ${accepting(result, session)}`)}`;
  }
  const hash = result.head_hash ? `sha256:${result.head_hash.replace(/^sha256:/, '').slice(0, 12)}…` : 'no hash';
  const withheld = result.payloads_withheld > 0 ? `, ${result.payloads_withheld} payloads withheld` : '';
  // A pin that was lost would otherwise go unnoticed: without it a rewritten past looks like any other.
  const first = result.pinned ? '' : '\nFirst check here: the end is remembered, and the next check compares with it.';
  return `${board}: ${result.events} events verified, head #${result.head_seq ?? 0} ${hash}${withheld}${first}`;
}
