/** The people of the open board with their roles, which the list of members does not contain. */
import { useEffect } from 'preact/hooks';
import type { BoardPerson, Member } from '../../contract/types.ts';
import { readAll } from '../api/client.ts';
import { session } from '../api/session.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';

interface BoardPeople {
  /** Null until loaded. */
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

/** The signed-in person's rights on the board. */
export interface Viewer {
  id: string | undefined;
  guest: boolean;
  owner: boolean;
  otherOwners: boolean;
  /** The only owner cannot leave, and who that is stands in the list of people. */
  canLeave: boolean;
  archived: boolean;
}

export function viewerOf(room: Room, people: BoardPerson[] | null): Viewer {
  const person = session.value?.person;
  const owners = (people ?? []).filter(({ board_role }) => board_role === 'owner');
  const owner = owners.some(({ id }) => id === person?.id);
  const otherOwners = owners.some(({ id }) => id !== person?.id);
  return {
    id: person?.id,
    guest: person?.server_role === 'guest',
    owner,
    otherOwners,
    canLeave: people !== null && (!owner || otherOwners),
    archived: room.board.value?.lifecycle !== 'active',
  };
}

/** A person's active agents on the board, sorted by name. */
export const agentsOf = (members: Member[], personId: string): Member[] =>
  members
    .filter(({ kind, owner_id, status }) => kind === 'agent' && owner_id === personId && status === 'active')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
