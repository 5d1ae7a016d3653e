/** A person and their agents. */
import { useState } from 'preact/hooks';
import type { BoardPerson, Member } from '../../contract/types.ts';
import { AgentRow } from '../agent/agent-row.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { plural } from '../parts/number.ts';
import { Glyph } from '../parts/who.tsx';
import { write } from '../state/attempts.ts';
import type { Viewer } from './board-people.ts';

type Act = 'own' | 'unown' | 'remove';

interface GroupProps {
  person: BoardPerson;
  agents: Member[];
  /** All names on the board, so that avatars of agents get distinct letters. */
  names: string[];
  me: Viewer;
  onChange: () => void;
}

/** The actions that the viewer may take. Only owners may act, and the last owner stays. */
function availableActs({ person, me }: GroupProps): Act[] {
  if (!me.owner) return [];
  const self = person.id === me.id;
  const acts: Act[] = [];
  if (person.board_role === 'member' && person.server_role !== 'guest' && !me.archived) acts.push('own');
  if (person.board_role === 'owner' && (!self || me.otherOwners)) acts.push('unown');
  if (!self) acts.push('remove');
  return acts;
}

const actLabels: Record<Act, string> = {
  own: 'Make an owner',
  unown: 'Make a member again',
  remove: 'Remove from the board',
};

export function PersonGroup(props: GroupProps) {
  const { person, agents, names, me, onChange } = props;
  const [act, setAct] = useState<Act | null>(null);
  const acts = availableActs(props);
  const self = person.id === me.id;
  const role = person.server_role === 'guest' ? 'guest' : person.board_role;
  const here = agents.length === 0 ? 'no agents here' : `${plural(agents.length, 'agent')} here`;
  const id = `person-${person.handle}`;
  return (
    <section class="pg" aria-labelledby={id}>
      <div class="pp">
        <Glyph who={{ name: person.name, kind: 'human', owner: null }} size={40} />
        <div class="sp">
          <h3 id={id}>
            {person.name} {self && <span class="own">you</span>}
            {!self && person.display_name && <span class="own">{person.display_name}</span>}
          </h3>
          <span class="q2 sm">
            {role}
            {person.server_role === 'admin' && ', admin of the server'}, {here}
          </span>
        </div>
        {acts.length > 0 && (
          <Menu button={<Icon name="dots" />} label={`More about ${person.name}`}>
            {acts.map((name) => (
              <button key={name} type="button" role="menuitem" onClick={() => setAct(name)}>
                {actLabels[name]}
              </button>
            ))}
          </Menu>
        )}
      </div>
      {agents.length > 0 && (
        <ul class="ags" aria-label={`Agents of ${person.name}`}>
          {agents.map((agent) => (
            <AgentRow key={agent.id} member={agent} isOwn={self} others={names} onChange={onChange} />
          ))}
        </ul>
      )}
      {act && <ConfirmAct {...props} act={act} close={() => setAct(null)} />}
    </section>
  );
}

function ConfirmAct({ act, person, agents, onChange, close, me }: GroupProps & { act: Act; close: () => void }) {
  const { board, handle, name } = person;
  const send = async (): Promise<void> => {
    const params = { board, handle };
    if (act === 'own') await write('makeBoardOwner', { params: { board }, body: { handle } }, params);
    else if (act === 'unown') await write('unmakeBoardOwner', { params });
    else await write('removeBoardPerson', { params });
    onChange();
  };
  const title: Record<Act, string> = {
    own: `Make ${name} an owner of ${board}`,
    unown: `Make ${person.id === me.id ? 'yourself' : name} a member of ${board}`,
    remove: `Remove ${name} from ${board}`,
  };
  const theirs = agents.map((agent) => agent.name).join(', ');
  const words: Record<Act, string> = {
    own: 'An owner changes the title, charter, roles and policy, opens or closes the board, and removes people and agents.',
    unown: 'A member writes and works here as before, but no longer changes the board or who is on it.',
    remove: `${name} loses sight of a private board, and may join an open one again. ${theirs ? `Their agents end for good: ${theirs}. ` : ''}What they wrote stays.`,
  };
  return (
    <Confirm title={title[act]} action={actLabels[act]} onConfirm={send} onClose={close}>
      <p>{words[act]}</p>
    </Confirm>
  );
}
