/** Checks that servers still know the seats saved here. */
import { ClientError } from '../../../client/errors.ts';
import type { Member } from '../../../contract/types.ts';
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import type { SavedSeat, ServerEntry } from '../../../local/keys/credentials.ts';
import { daemonStatus } from '../../daemon/lib/daemon.ts';
import { type Asked, addressOf, askWhatItIs, clientAt } from '../lib/ask-server.ts';
import { type Around, type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { folderOf, SessionLines } from './session-lines.ts';

type Held = SavedSeat & { member_id: string };
/** A server, and what the daemon says; null where none runs. */
type Told = Asked & { status: StatusAnswer | null };

export const seats: Check = {
  name: 'seats',
  async run(around) {
    const lines = await SessionLines.of(around);
    const groups = Object.entries(around.saved?.servers ?? {}).map(([origin, entry]) =>
      atServer(origin, entry, around, lines),
    );
    const results = (await Promise.all(groups)).flat();
    const stopped = results.filter((finding) => finding !== null);
    if (stopped.length > 0 || results.length === 0) return stopped;
    return [fine('seats', `${results.length} work`)];
  },
};

/** Null for a seat that works; nothing where its server cannot be asked, which is a finding of its own. */
async function atServer(
  saved: string,
  entry: ServerEntry,
  around: Around,
  lines: SessionLines,
): Promise<(Finding | null)[]> {
  const held = Object.entries(entry.seats).flatMap(([member_id, seat]) =>
    seat.token === undefined && !seat.key_ended_at ? [] : [{ ...seat, member_id }],
  );
  const origin = held.length === 0 ? null : await addressOf(saved, entry, around);
  if (origin === null) return [];
  const asked = await askWhatItIs(origin, entry, around).catch(() => null);
  if (asked?.info.server_id !== entry.server_id) return [];
  const status = await daemonStatus().catch(() => null);
  return Promise.all(held.map((seat) => lookAt({ ...asked, status }, seat, around, lines)));
}

/** Its board is there again, as after a restore of the server, and its daemon does not ask for it any more. */
function givenUp({ status }: Told, { member_id, name, board }: Held): Finding | null {
  if (!status?.agents?.some(({ agent, problem }) => agent.member_id === member_id && problem === 'board_gone'))
    return null;
  const problem = `${name} on ${board} is given nothing: its board was gone for a while.`;
  return failing('seats', 'board_gone', problem, 'service daemon restart');
}

/** What its daemon says it applies is not what its person has set. */
function unconfirmed({ name, board, presence, delivery, delivery_mode: mode }: Member): Finding | null {
  if (presence === 'no_session' || delivery === null || mode === null || delivery === mode) return null;
  const problem = `${name} on ${board} is to have mode ${mode}, and its daemon applies ${delivery}.`;
  return warning('seats', 'delivery_mode_unconfirmed', problem, 'service daemon restart');
}

async function lookAt(told: Told, held: Held, around: Around, lines: SessionLines): Promise<Finding | null> {
  const { origin, entry } = told;
  const { token, name, board } = held;
  if (token === undefined) {
    const fix = fixOf('unauthorized', told, held, lines);
    return failing('seats', 'unauthorized', `${name} on ${board}: the key it was made with has ended.`, fix);
  }
  try {
    const client = clientAt(origin, entry, around, { token });
    const { data: me } = await client.call('getMe', { maxAttempts: 1 });
    const params = { board: me.board ?? board, member: me.id };
    const { data: member } = await client.call('getMember', { params, maxAttempts: 1 });
    return givenUp(told, held) ?? unconfirmed(member);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const code = error.code === 'board_not_found' ? 'board_gone' : error.code;
    return failing('seats', code, `${name} on ${board}: ${error.message}`, fixOf(code, told, held, lines));
  }
}

function fixOf(code: string, { origin, status }: Told, held: Held, lines: SessionLines): string {
  // Nothing brings it back; what is left of it here is forgotten.
  if (code === 'agent_removed' || code === 'board_gone')
    return `service agent leave --as ${lines.selector(held)} --yes`;
  if (code !== 'unauthorized') return `service server info ${origin}`;
  // Taken by another machine, or ended with the key that made it: its session gets another token by joining again.
  return (
    lines.joinAgain({ ...held, folder: folderOf(status, held.session) }) ??
    `service agent remove ${shellWord(held.name)} --board ${shellWord(held.board)} --server ${origin}`
  );
}
