/** To whom a message goes: targets resolved to members, and the default of a reply. */
import { Refusal } from '../../contract/errors.ts';
import type { Role } from '../../contract/types.ts';
import { noSuchRole } from '../boards/roles.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { activeNames } from '../members/member-names.store.ts';
import { activeAgents, humanByHandle, type MemberRow, membersById, membersNamed } from '../members/members.store.ts';
import { parseTargets, quoted, type Target } from './targets.rules.ts';
import { threadMembers } from './threads.store.ts';

/** Most names or roles a refusal offers. */
const CHOICES = 50;

export interface Addressee {
  boardId: string;
  sender: MemberRow;
  readsAll: boolean;
  roles: Record<string, Role>;
}

export interface Addressing {
  /** Targets as recorded. */
  to: string[];
  everyone: boolean;
  /** Members by id, each once, in target order, never the sender; null for everyone. */
  recipients: MemberRow[] | null;
  /**
   * Ids of the members that were named, rather than meant by their role or owner; the sender too, if it names itself or
   * replies to its thread as a whole.
   */
  named: string[];
  /** Number of a message of the thread that names the same members, where one is known. */
  namedBy?: number | undefined;
}

/** Resolves targets as they were given. @throws Refusal `invalid_target`, `unknown_recipient`, `role_not_found`. */
export async function addressTo(tx: WriteTx, from: Addressee, given: string[]): Promise<Addressing> {
  const parsed = parseTargets(given);
  const to = parsed.map(({ text }) => text);
  const targets = parsed.map(({ target }) => target);
  if (targets.some((target) => target.kind === 'all')) return { to, everyone: true, recipients: null, named: [] };

  const names = targets.flatMap((target) => (target.kind === 'name' ? [target.name] : []));
  const byName = await activeByName(tx, from.boardId, names);
  const found = new Map<string, MemberRow>();
  for (const target of targets) {
    for (const member of await resolve(tx, from, target, byName)) {
      if (member.id !== from.sender.id) found.set(member.id, member);
    }
  }
  const named = names.flatMap((name) => byName.get(name)?.id ?? []);
  return { to, everyone: false, recipients: [...found.values()], named };
}

/**
 * The default recipients of a reply: authors and addressees in the thread's readable part, still active, in order of first
 * appearance, without the sender. @throws Refusal `reply_has_no_recipients`.
 */
export async function addressThread(tx: WriteTx, from: Addressee, rootSeq: number): Promise<Addressing> {
  const { sender } = from;
  const thread = await threadMembers(tx, from.boardId, rootSeq, { memberId: sender.id, readsAll: from.readsAll });
  const members = await membersById(tx, thread.ids);
  const active = thread.ids.flatMap((id) => members.get(id) ?? []).filter((member) => member.status === 'active');
  const recipients = active.filter((member) => member.id !== sender.id);
  if (recipients.length === 0) {
    throw new Refusal('reply_has_no_recipients', 'Nobody else is in this thread.', {
      hint: 'Name somebody: --to @NAME, or --to all.',
    });
  }
  // With its sender, who appears by writing, the list is the same for everyone in the thread, and is kept once.
  const named = [...new Set([...active, sender].map((member) => member.id))];
  const namedBy = thread.lists.get(named.join());
  return { to: recipients.map((member) => `@${member.name}`), everyone: false, recipients, named, namedBy };
}

export const toEveryone: Addressing = { to: ['all'], everyone: true, recipients: null, named: [] };

/** The active members of a board with these names. */
export async function activeByName(tx: WriteTx, boardId: string, names: string[]): Promise<Map<string, MemberRow>> {
  if (names.length === 0) return new Map();
  const rows = await membersNamed(tx, boardId, names);
  return new Map(rows.filter((row) => row.status === 'active').map((row) => [row.name, row]));
}

async function resolve(tx: WriteTx, from: Addressee, target: Target, named: Map<string, MemberRow>) {
  switch (target.kind) {
    case 'all':
      return [];
    case 'name': {
      const member = named.get(target.name);
      if (!member) throw unknownRecipient(`@${target.name}`, await activeNames(tx, from.boardId, CHOICES));
      return [member];
    }
    case 'role':
      if (!Object.hasOwn(from.roles, target.role)) {
        throw noSuchRole(quoted(target.role), from.roles, { target: quoted(`role:${target.role}`) });
      }
      return activeAgents(tx, from.boardId, 'role', [target.role]);
    case 'owner': {
      const person = await humanByHandle(tx, from.boardId, target.handle);
      if (!person)
        throw unknownRecipient(
          `owner:${target.handle}`,
          await activeNames(tx, from.boardId, CHOICES, { kind: 'human' }),
        );
      return activeAgents(tx, from.boardId, 'person_id', [person.person_id]);
    }
  }
}

function unknownRecipient(target: string, choices: string[]): Refusal {
  return new Refusal('unknown_recipient', `${quoted(target)} is not on this board.`, {
    hint: 'service board members shows who is.',
    details: { target: quoted(target), choices },
  });
}
