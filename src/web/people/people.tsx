/** The people of a board with their agents, and what may be changed about the board; or one agent's own page. */
import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../contract/types.ts';
import { AgentPage } from '../agent/agent-page.tsx';
import { DeliveryMeaning } from '../agent/delivery.tsx';
import { listen } from '../live/link.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import type { Room } from '../state/room.ts';
import type { BoardPlace } from '../state/route.ts';
import { AddPerson } from './add-person.tsx';
import { BoardAbout } from './board-about.tsx';
import { BoardLife } from './board-life.tsx';
import { agentsOf, standingOf, useBoardPeople } from './board-people.ts';
import { CodeForm, JoinCodes, NewCode } from './join-codes.tsx';
import { PersonGroup } from './person-group.tsx';
import './people.css';

type Made = Answer<'createJoinCode'>;

/** The delivery mode of an own agent is told as a hint that names the agent only. */
function useModes(room: Room): void {
  useEffect(
    () =>
      listen((message) => {
        const { frame } = message.type === 'hint' ? message : { frame: null };
        if (frame?.event === 'delivery' && frame.data.board_id === room.board.peek()?.id) void room.refresh();
      }),
    [room],
  );
}

export default function People({ here, room }: { here: BoardPlace; room: Room }) {
  useModes(room);
  return here.agent ? <AgentPage key={here.agent} name={here.agent} room={room} /> : <List room={room} />;
}

const count = (number: number, one: string, more: string): string => `${number} ${number === 1 ? one : more}`;

function List({ room }: { room: Room }) {
  const { people, error, refresh } = useBoardPeople(room);
  const [asked, setAsked] = useState<'person' | 'line' | 'guest' | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const [codes, setCodes] = useState(0);
  const board = room.board.value;
  const members = room.members.value;
  const me = standingOf(room, people);
  const agents = members.filter(({ kind, status }) => kind === 'agent' && status === 'active').length;
  const close = (): void => setAsked(null);
  if (!board) return <div class="page" aria-busy="true" />;
  const reads = board.visibility === 'private' ? 'Private: nobody else sees it.' : 'Open to everyone on the server.';
  // The reader comes first, then the owners, then the others as they came.
  const order = (handle: string, role: string): number => (handle === me.handle ? 0 : role === 'owner' ? 1 : 2);
  const sorted = (people ?? []).toSorted((a, b) => order(a.handle, a.board_role) - order(b.handle, b.board_role));
  return (
    <div class="page">
      <div class="col wide">
        <h2 class="vh">People</h2>
        <div class="row w peoplebar">
          <p class="q2 sp">
            {count(board.people_count, 'person', 'people')} and {count(agents, 'agent', 'agents')}. {reads}
          </p>
          {!me.guest && !me.archived && (
            <>
              <button type="button" class="b" onClick={() => setAsked('person')}>
                <Icon name="plus" />
                Add a person
              </button>
              <button type="button" class="b" onClick={() => setAsked('guest')}>
                Guest code
              </button>
              <button type="button" class="b pri" onClick={() => setAsked('line')}>
                <Icon name="term" />
                Join line for an agent
              </button>
            </>
          )}
        </div>
        <ProblemLine error={error} />
        {made && <NewCode made={made} close={() => setMade(null)} />}
        {sorted.map((person) => (
          <PersonGroup
            key={person.id}
            person={person}
            agents={agentsOf(members, person.handle)}
            names={members.map(({ name }) => name)}
            me={me}
            changed={refresh}
          />
        ))}
        {agents > 0 && <DeliveryMeaning />}
        {!me.guest && <JoinCodes room={room} made={codes} />}
        <BoardAbout board={board} me={me} changed={refresh} />
        <BoardLife board={board} me={me} changed={refresh} />
      </div>
      {asked === 'person' && <AddPerson room={room} people={people ?? []} close={close} changed={refresh} />}
      {(asked === 'line' || asked === 'guest') && (
        <CodeForm
          board={board}
          guest={asked === 'guest'}
          close={close}
          made={(code) => {
            setMade(code);
            setCodes(codes + 1);
            close();
          }}
        />
      )}
    </div>
  );
}
