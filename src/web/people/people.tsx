/** The People tab: people, agents, codes and board settings; or the page of one agent. */
import { useEffect, useState } from 'preact/hooks';
import type { Answer, BoardPerson } from '../../contract/types.ts';
import { AgentPage } from '../agent/agent-page.tsx';
import { DeliveryHelp } from '../agent/delivery.tsx';
import { listenToHints } from '../live/link.ts';
import { Icon } from '../parts/icon.tsx';
import { plural } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { atLoss } from '../parts/time.tsx';
import type { Room } from '../state/room.ts';
import type { BoardPlace } from '../state/route.ts';
import { AddPerson } from './add-person.tsx';
import { BoardAbout } from './board-about.tsx';
import { BoardLife } from './board-life.tsx';
import { agentsOf, useBoardPeople, viewerOf } from './board-people.ts';
import { CodeForm, JoinCodes, NewCode } from './join-codes.tsx';
import { PersonGroup } from './person-group.tsx';
import './people.css';

type CreatedCode = Answer<'createJoinCode'>;

/** Reloads members after a `delivery` hint, which does not contain the new mode. */
function useDeliveryModes(room: Room): void {
  useEffect(
    () =>
      listenToHints(({ event, data }) => {
        if (event === 'delivery' && data.board_id === room.board.peek()?.id) void room.refresh();
      }),
    [room],
  );
}

export default function People({ here, room }: { here: BoardPlace; room: Room }) {
  useDeliveryModes(room);
  return here.agent ? <AgentPage key={here.agent} name={here.agent} room={room} /> : <List room={room} />;
}

function List({ room }: { room: Room }) {
  const { people, error, refresh } = useBoardPeople(room);
  const [dialog, setAsked] = useState<'person' | 'line' | 'guest' | null>(null);
  const [createdCode, setMade] = useState<CreatedCode | null>(null);
  const [createdCount, setCodes] = useState(0);
  const board = room.board.value;
  const members = room.members.value;
  const me = viewerOf(room, people);
  const agents = members.filter(({ kind, status }) => kind === 'agent' && status === 'active').length;
  const close = (): void => setAsked(null);
  if (!board) return <div class="page" aria-busy="true" />;
  const reads = board.visibility === 'private' ? 'Private: nobody else sees it.' : 'Open to everyone on the server.';
  // The person themself first, then owners, then the others in the order they joined.
  const order = ({ id, board_role }: BoardPerson): number => (id === me.id ? 0 : board_role === 'owner' ? 1 : 2);
  const sorted = (people ?? []).toSorted((a, b) => order(a) - order(b));
  return (
    <div class="page">
      <div class="col wide inorder">
        <h2 class="vh">People</h2>
        <div class="row w peoplebar">
          <p class="q2 sp">
            {plural(board.people_count, 'person', 'people')} and {plural(agents, 'agent')}
            {atLoss()}. {reads}
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
        <ProblemLine error={error} onRetry={refresh} />
        {createdCode && <NewCode made={createdCode} close={() => setMade(null)} />}
        {!people && error === null && <div aria-busy="true" />}
        {sorted.map((person) => (
          <PersonGroup
            key={person.id}
            person={person}
            agents={agentsOf(members, person.id)}
            names={members.map(({ name }) => name)}
            me={me}
            onChange={refresh}
          />
        ))}
        {agents > 0 && <DeliveryHelp />}
        {!me.guest && <JoinCodes room={room} made={createdCount} />}
        <BoardAbout board={board} me={me} onChange={refresh} />
        <BoardLife room={room} board={board} me={me} onChange={refresh} />
      </div>
      {dialog === 'person' && <AddPerson room={room} people={people ?? []} onClose={close} onChange={refresh} />}
      {(dialog === 'line' || dialog === 'guest') && (
        <CodeForm
          board={board}
          guest={dialog === 'guest'}
          onClose={close}
          onCreated={(code) => {
            setMade(code);
            setCodes(createdCount + 1);
            close();
          }}
        />
      )}
    </div>
  );
}
