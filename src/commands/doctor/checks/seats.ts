/** Checks that servers still know the seats saved here. */
import { ClientError } from '../../../client/errors.ts';
import type { Member } from '../../../contract/types.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import type { SavedSeat, ServerEntry } from '../../../local/keys/credentials.ts';
import { daemonStatus } from '../../daemon/lib/daemon.ts';
import { type Asked, addressOf, askWhatItIs, clientAt } from '../lib/ask-server.ts';
import { type Around, type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { folderOf, SessionLines } from './session-lines.ts';

type Held = SavedSeat & { member_id: string };

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
  return Promise.all(held.map((seat) => lookAt(asked, seat, around, lines)));
}

/** What its daemon says it applies is not what its person has set. */
function unconfirmed({ name, board, presence, delivery, delivery_mode: mode }: Member): Finding | null {
  if (presence === 'no_session' || delivery === null || mode === null || delivery === mode) return null;
  const problem = `${name} on ${board} is to have mode ${mode}, and its daemon applies ${delivery}.`;
  return warning('seats', 'delivery_mode_unconfirmed', problem, 'service daemon restart');
}

async function lookAt(
  { origin, entry }: Asked,
  held: Held,
  around: Around,
  lines: SessionLines,
): Promise<Finding | null> {
  const { token, name, board } = held;
  if (token === undefined) {
    const fix = await fixOf('unauthorized', origin, held, lines);
    return failing('seats', 'unauthorized', `${name} on ${board}: the key it was made with has ended.`, fix);
  }
  try {
    const client = clientAt(origin, entry, around, { token });
    const { data: me } = await client.call('getMe', { maxAttempts: 1 });
    const params = { board: me.board ?? board, member: me.id };
    const { data: member } = await client.call('getMember', { params, maxAttempts: 1 });
    return unconfirmed(member);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const code = error.code === 'board_not_found' ? 'board_gone' : error.code;
    return failing('seats', code, `${name} on ${board}: ${error.message}`, await fixOf(code, origin, held, lines));
  }
}

async function fixOf(code: string, origin: string, held: Held, lines: SessionLines): Promise<string> {
  // Nothing brings it back; what is left of it here is forgotten.
  if (code === 'agent_removed' || code === 'board_gone')
    return `service agent leave --as ${lines.selector(held)} --yes`;
  if (code !== 'unauthorized') return `service server info ${origin}`;
  // Taken by another machine, or ended with the key that made it: its session gets another token by joining again.
  const status = await daemonStatus().catch(() => null);
  return (
    lines.joinAgain({ ...held, folder: folderOf(status, held.session) }) ??
    `service agent remove ${shellWord(held.name)} --board ${shellWord(held.board)} --server ${origin}`
  );
}
