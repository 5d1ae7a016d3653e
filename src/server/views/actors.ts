/** The one place that decides how a member looks to a reader. */
import type { Actor } from '../../contract/types.ts';
import type { Reader } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { type MemberRow, membersById } from '../members/members.store.ts';

type Shown = Pick<MemberRow, 'id' | 'name' | 'kind' | 'role' | 'harness'> & { handle: string };

/** @param reader null: somebody off the board, who is a person and sees what people see. */
export function actorView(member: Shown, reader: Reader | null): Actor {
  const agent = member.kind === 'agent';
  return {
    id: member.id,
    name: member.name,
    kind: member.kind,
    role: agent ? member.role : null,
    owner: agent ? member.handle : null,
    harness: agent && seesHarness(member.id, reader) ? member.harness : null,
  };
}

export type ActorById = (id: string) => Actor;

/** How these members look to a reader, each asked for by its id. */
export async function actorsOf(tx: ReadTx, reader: Reader, ids: string[]): Promise<ActorById> {
  const members = await membersById(tx, ids);
  return (id) => {
    const member = members.get(id);
    if (!member) throw new Error(`member ${id} is missing`);
    return actorView(member, reader);
  };
}

export const seesHarness = (memberId: string, reader: Reader | null): boolean =>
  reader === null || reader.showsHarness || reader.memberId === memberId;
