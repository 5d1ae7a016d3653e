/** The props of every board tab. */
import type { Room } from '../state/room.ts';
import type { BoardPlace } from '../state/route.ts';

export interface TabProps {
  here: BoardPlace;
  room: Room;
}
