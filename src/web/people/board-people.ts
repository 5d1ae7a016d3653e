/** The people of the open board with what only the list of people tells: who owns it, who is a guest. */
import { useEffect } from 'preact/hooks';
import type { BoardPerson, Member } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';

interface BoardPeople {
  /** Null: not read yet. */
  people: BoardPerson[] | null;
  error: unknown;
  refresh(): void;
}

export function useBoardPeople(room: Room): BoardPeople {
  const { value, error, reload } = useLoad(
    () => readAll('listBoardPeople', 'people', { params: { board: room.name } }),
    [room],
  );
  useEffect(() => room.subscribeThrottled(({ event }) => /^(person|member)\./.test(event.type), reload), [room]);
  return {
    people: value,
    error,
    refresh: () => {
      reload();
      void room.refresh();
    },
  };
}

/** What the person themself may do with the board. */
export interface Standing {
  handle: string;
  guest: boolean;
  owner: boolean;
  /** Whether somebody else owns the board too, so that this owner may leave. */
  otherOwners: boolean;
  archived: boolean;
}

export function standingOf(room: Room, people: BoardPerson[] | null): Standing {
  const person = session.value?.person;
  const owners = (people ?? []).filter(({ board_role }) => board_role === 'owner');
  return {
    handle: person?.handle ?? '',
    guest: person?.server_role === 'guest',
    owner: owners.some(({ id }) => id === person?.id),
    otherOwners: owners.some(({ id }) => id !== person?.id),
    archived: room.board.value?.lifecycle !== 'active',
  };
}

/** The agents of a person that are on the board now, by name. */
export const agentsOf = (members: Member[], handle: string): Member[] =>
  members
    .filter(({ kind, owner, status }) => kind === 'agent' && owner === handle && status === 'active')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
