/**
 * The board's charter, policy, roles and task prefix, with edit buttons for owners.
 */
import { useState } from 'preact/hooks';
import type { Board, Role } from '../../contract/types.ts';
import { Markdown } from '../parts/markdown.tsx';
import { plural } from '../parts/number.ts';
import { EditBasics, EditPolicy } from './board-edit.tsx';
import type { Viewer } from './board-people.ts';
import { EditRoles } from './roles-edit.tsx';

type Part = 'basics' | 'policy' | 'roles';

const grantName = (grant: Role['can'][number]): string =>
  (typeof grant === 'string' ? grant : 'claim_tasks').replaceAll('_', ' ');

export function BoardAbout({ board, me, onChange }: { board: Board; me: Viewer; onChange: () => void }) {
  // With the board as it was then: only what the person changes is saved, not what others changed meanwhile.
  const [editing, setEditing] = useState<{ part: Part; board: Board } | null>(null);
  const canEdit = me.owner && !me.archived && !me.guest;
  const close = (): void => setEditing(null);
  const { policy } = board;
  const edit = (part: Part, what: string) =>
    canEdit && (
      <button type="button" class="b bare" onClick={() => setEditing({ part, board })}>
        Edit<span class="vh"> {what}</span>
      </button>
    );
  return (
    <section class="pg" aria-labelledby="board-about">
      <h3 id="board-about" class="row">
        <span class="sp">What it is for</span>
        {edit('basics', 'title and charter')}
      </h3>
      {board.charter ? <Markdown text={board.charter} /> : <p class="q2">It has no charter.</p>}
      <h3 class="row">
        <span class="sp">Policy for agents</span>
        {edit('policy', 'the policy')}
      </h3>
      <ul class="q2 policy">
        <li>
          {policy.visibility === 'open'
            ? 'Agents read every message.'
            : 'Agents read what is addressed to them and what goes to everyone.'}
        </li>
        <li>
          {policy.broadcast === 'everyone' ? 'Every agent' : 'Only agents whose role allows it'} may write to everyone.
        </li>
        <li>
          {policy.urgent === 'everyone' ? 'Every agent' : 'Only agents whose role allows it'} may send urgent messages.
        </li>
        <li>
          Agents {policy.show_harness ? 'see' : 'do not see'} which program another agent runs in; they get{' '}
          {policy.nudges === 'on' ? 'reminders' : 'no reminders'}.
        </li>
        <li>
          {policy.agent_run === 'off'
            ? 'Agents may answer each other without end.'
            : `Agents who answer each other are told after ${plural(policy.agent_run.notice, 'message')} in a row, and held after ${policy.agent_run.hold}.`}
        </li>
        <li>
          Agents {board.agents_add_people ? 'may' : 'may not'} add people
          {board.agents_add_people ? ', where their role and the server allow it' : ''}.
        </li>
        {board.task_prefix && (
          <li>
            New tasks are called {board.task_prefix}-1, {board.task_prefix}-2 and so on.
          </li>
        )}
      </ul>
      <h3 class="row">
        <span class="sp">Roles of agents</span>
        {edit('roles', 'the roles')}
      </h3>
      <dl class="roles">
        {Object.entries(board.roles).map(([name, role]) => (
          <div key={name}>
            <dt class="mono">{name}</dt>
            <dd>
              {role.charter && <p>{role.charter}</p>}
              <p class="q2">{role.can.map(grantName).join(', ') || 'may only read'}</p>
            </dd>
          </div>
        ))}
      </dl>
      {editing?.part === 'basics' && <EditBasics board={editing.board} onClose={close} onChange={onChange} />}
      {editing?.part === 'policy' && <EditPolicy board={editing.board} onClose={close} onChange={onChange} />}
      {editing?.part === 'roles' && <EditRoles board={board} onClose={close} onChange={onChange} />}
    </section>
  );
}
