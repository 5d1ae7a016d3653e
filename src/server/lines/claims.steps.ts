/** Who is on which files: other agents whose lines can mean a same file, and what both are told of it. */
import { inEqualParts, overlap, STEPS, type Steps } from '../../contract/globs.ts';
import type { Body, LineOverlap } from '../../contract/types.ts';
import { recheckShown } from '../access/replay.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import { activeAgentsOfPerson, boardIdsOf } from '../members/memberships.store.ts';
import { type Notice, tell } from '../notices/notices.steps.ts';
import { boardNotFound, type Caller, type Shown } from '../operation/caller.ts';
import { sha256 } from '../text/hash.ts';
import { redact } from '../text/redaction.ts';
import { indexBy } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';
import { type ClaimRow, claimsElsewhere, newestClaims } from './claims.store.ts';
import { globsIn, hasLapsed, type LineRow } from './lines.rules.ts';

const TOLD_FOR_MS = 12 * 3_600_000;

/** What is told of a line that was set on another board: its text and globs are for the members there. */
const ELSEWHERE = 'a line on another board';

type Paths = Pick<LineRow, 'repo' | 'paths'>;

/** The lines with files on these boards that have not ended, in the order they came. */
export const standingClaims = async (tx: ReadTx, boardIds: string[]): Promise<ClaimRow[]> =>
  standing(tx, await newestClaims(tx, boardIds));

const standing = ({ now }: ReadTx, rows: ClaimRow[]): ClaimRow[] =>
  rows.filter((row) => !hasLapsed(row, row, now)).reverse();

/** The seats of the session that has this one, on all boards: only sessions that a machine brings are known as one. */
async function seatsOfSession(tx: ReadTx, agent: MemberRow): Promise<MemberRow[]> {
  const { session_digest: session } = agent;
  if (session === null) return [agent];
  return (await activeAgentsOfPerson(tx, agent.person_id)).filter((seat) => seat.session_digest?.equals(session));
}

/**
 * Other agents' lines that can mean a file of this one, which has been set. Whose line the former one of this agent did
 * not touch is told of it by a notice, which wakes nobody.
 */
export async function overlapsOf(
  tx: WriteTx,
  { shown }: Pick<Caller, 'shown'>,
  agent: MemberRow,
  { line, former }: { line: Paths; former: Paths | undefined },
): Promise<LineOverlap[]> {
  // Files of a repository without a name can be those of any: they are compared with none.
  if (line.paths === null || line.repo === null) return [];
  // Of two lines that are set at one moment, the later one finds the other.
  await tx.serialise(`files of ${line.repo}`);
  const ownSeats = await seatsOfSession(tx, agent);
  const own = new Set(ownSeats.map(({ id }) => id));
  const seats = indexBy(ownSeats, 'board_id');
  const places = [...seats.keys()];
  const standingNow = [...(await standingClaims(tx, places)), ...standing(tx, await claimsElsewhere(tx, places))];
  const others = standingNow.filter(({ member_id, repo }) => !own.has(member_id) && repo === line.repo);
  const found = new Map<string, LineOverlap[]>();
  const news: Notice[] = [];
  const boards = new Set<string>();
  // A line that was set on another board is there once for each seat that its session has on these.
  const holders = new Set<string>();
  for (const [other, steps] of inEqualParts(others, STEPS)) {
    const { agent: name, member_id, holder_id, board, at } = other;
    if (found.has(member_id) || holders.has(holder_id)) continue;
    const shared = sharedWith(line, other, steps);
    if (shared.length === 0) continue;
    boards.add(other.board_id);
    holders.add(holder_id);
    const [text, paths] =
      other.set_on === other.board_id ? [other.text, shared] : [ELSEWHERE, sharedWith(other, line, steps)];
    const about = { agent: name, member_id, board, line: text, since: timestamp(at) };
    found.set(
      member_id,
      paths.map((path) => ({ ...about, path })),
    );
    // Where the steps were not enough it is not known, and the other is told.
    const knew = former !== undefined && sharedWith(former, other, steps).length > 0 && steps.left > 0;
    if (!knew) news.push(noticeOf(tx, seats.get(other.board_id)!, other, shared));
  }
  await tell(tx, ...news);
  shown.boards = [...boards];
  return [...found.values()].flat();
}

/** A kept answer tells again of lines on other boards only while its caller could be told of them anew. */
export async function recheckOverlaps(tx: WriteTx, caller: Caller, { boards = [], ...shown }: Shown): Promise<void> {
  await recheckShown(tx, caller, shown);
  if (boards.length === 0) return;
  const ofPerson = await boardIdsOf(tx, caller.person.person_id);
  const seats = caller.seat && (await seatsOfSession(tx, caller.seat));
  const mayBeTold = (id: string) => ofPerson.includes(id) && (seats?.some((seat) => seat.board_id === id) ?? true);
  if (!boards.every(mayBeTold)) throw boardNotFound();
}

/** The other's globs that can mean a file of the line. */
function sharedWith(line: Paths, other: Paths, steps: Steps): string[] {
  if (line.paths === null || other.paths === null || line.repo !== other.repo) return [];
  const mine = globsIn(line.paths);
  return globsIn(other.paths).filter((glob) => overlap(mine, [glob], steps));
}

/**
 * Only names and the reader's own globs: what the other wrote is no word of the server's.
 * @param agent the seat on the board of the other agent: what it is called elsewhere is nothing to the members there.
 */
const noticeOf = (
  { now }: ReadTx,
  agent: Pick<MemberRow, 'id' | 'name'>,
  other: ClaimRow,
  shared: string[],
): Notice => ({
  member_id: other.member_id,
  kind: 'line_overlap',
  // Once while it stands, however often the line that meets these files is cleared and set again; only whose it is sets it anew.
  subject: `${agent.id} ${other.at} ${sha256(`${other.repo} ${other.paths}`)}`,
  expires_at: now + TOLD_FOR_MS,
  text: `${agent.name} on ${other.board} also works on files of your line: ${shared[0]}${shared.length > 1 ? ` and ${shared.length - 1} more` : ''}.`,
  about: { board: other.board },
});

/** The files of a request, as a line keeps them: without secrets. */
export const filesOf = ({ paths, repo }: Pick<Body<'setMyLine'>, 'paths' | 'repo'>): Paths =>
  paths === undefined
    ? { repo: null, paths: null }
    : { repo: repo ?? null, paths: JSON.stringify([...new Set(paths.map((path) => redact(path).text))]) };
