/** Creates seats and saves their tokens on this machine. */
import type { z } from 'zod';
import { unsaved } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { savedSeats } from '../../../cli/session/own-seats.ts';
import { requireSavable } from '../../../cli/session/savable.ts';
import type { seatUse } from '../../../cli/shapes.ts';
import type { BodyIn, Member } from '../../../contract/types.ts';
import { usualRole } from '../../../contract/values.ts';
import { selectorOf } from '../../../local/actors.ts';
import { usage } from '../../../local/failure.ts';
import {
  credentialsPath,
  localEntry,
  putSeat,
  requireNames,
  updateCredentials,
} from '../../../local/keys/credentials.ts';

interface SeatOptions {
  body: BodyIn<'joinBoard'>;
  key: string | undefined;
  printed: boolean;
  out: Output;
}

/** Makes a seat and saves its token. With a credential of the environment nothing is saved, so the token is printed. */
export async function createSeat({ client, entry, server }: BoardSession, { body, key, printed, out }: SeatOptions) {
  if (!entry && !printed)
    throw usage(
      'With SERVICE_TOKEN nothing is saved here, so the token of the seat would be lost.',
      'Add --print-token',
    );
  if (entry) await requireSavable();
  const reply = await client.call('joinBoard', {
    body: { ...body, role: body.role ?? usualRole },
    idempotencyKey: key,
  });
  const { agent, token } = reply.data;
  if (entry) await saveSeat(server, reply.data, { out, key });
  return { agent, token, stored: entry ? ('file' as const) : null, reply };
}

type SeatField = 'board_id' | 'board' | 'name' | 'role' | 'harness';

/**
 * Keeps the token of a seat on this machine.
 * @param out where that is said, if anywhere @param key the idempotency key, with which a repeat gets the token again
 * @throws Failure `server_unexpected`; `folder_unwritable` and the like, with what to do about the seat
 */
export async function saveSeat(
  { url, local }: Pick<BoardSession['server'], 'url' | 'local'>,
  { agent, token }: { agent: Pick<Member, 'id' | 'joined_at' | SeatField>; token: string },
  { out, key }: { out?: Output | undefined; key?: string | undefined } = {},
): Promise<void> {
  requireNames(agent);
  const { folders } = runtime();
  await updateCredentials(folders, (saved) => {
    const origin = (local ? localEntry(saved)?.[0] : undefined) ?? url;
    const { board_id, board, name, role, harness, joined_at } = agent;
    const seat = { token, board_id, board, name, role, harness, session: null, created_at: joined_at };
    putSeat(saved, origin, agent.id, seat);
  }).catch((error: unknown) => {
    const { name, board } = agent;
    const seat = `${name} has a seat on ${board}, and its token`;
    if (key !== undefined)
      throw unsaved(error, `${seat} was not saved.`, 'run the same command again, which gets the same seat');
    const remove = `service agent remove ${name} --board ${board} --server ${url}`;
    throw unsaved(error, `${seat} is lost.`, `remove the seat: ${remove}`);
  });
  out?.note(`Saved in ${credentialsPath(folders)} (mode 0600).`);
}

/** How to act as an agent from here: by its name where this machine has no other of it. */
export function useOf(agent: { id: string; name: string; board: string }): Use {
  const all = savedSeats();
  const taken = all.some(({ memberId, saved }) => saved.name === agent.name && memberId !== agent.id);
  const as = taken ? selectorOf({ ...agent, member_id: agent.id }, all) : agent.name;
  return { as, env: `SERVICE_AGENT=${as}`, bound_session: null };
}

export type Use = z.infer<typeof seatUse>;
