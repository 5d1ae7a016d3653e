/** One agent in a list: its state, work, delivery mode and menu. */
import { useState } from 'preact/hooks';
import { waitingWords } from '../../contract/agent-text.ts';
import type { Member } from '../../contract/types.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { Glyph, Presence } from '../parts/who.tsx';
import { write } from '../state/attempts.ts';
import { hrefOf } from '../state/route.ts';
import { Delivery } from './delivery.tsx';
import { LineForm } from './line-form.tsx';
import { harnessName, stateText } from './waking.ts';
import './agent.css';

/** What an agent works on: its line, and its task unless the line mentions it. */
function OnNow({ member }: { member: Member }) {
  const { line, board, waiting } = member;
  if (waiting) return <b>waits for {waitingWords(waiting)}</b>;
  const task = line?.task ?? member.current_task ?? null;
  if (!line && !task) return <span class="q">nothing said</span>;
  const named = task && !line?.text.includes(task.ref);
  return (
    <>
      <bdi>{line?.text ?? task?.title}</bdi>
      {task && named && (
        <>
          ,{' '}
          <a class="ref" href={hrefOf({ screen: 'board', board, tab: 'tasks', task: task.ref })}>
            {task.ref}
          </a>
        </>
      )}
    </>
  );
}

interface RowProps {
  member: Member;
  /** Whether the viewer owns the agent. */
  isOwn: boolean;
  others: string[];
  /** Shows the board instead of harness and role, for lists over several boards. */
  withBoard?: boolean;
  onChange: () => void;
}

export function AgentRow(props: RowProps) {
  const { member, isOwn, others, withBoard = false, onChange } = props;
  const [dialog, setAsked] = useState<'line' | 'remove' | null>(null);
  const onClose = (): void => setAsked(null);
  const href = hrefOf({ screen: 'board', board: member.board, tab: 'people', agent: member.name });
  const facts = withBoard
    ? member.board
    : [member.harness && harnessName(member.harness), member.role === 'member' ? null : member.role]
        .filter(Boolean)
        .join(', ');
  return (
    <li class="pa" id={member.id}>
      <Glyph who={member} size={28} others={others} />
      <span class="nm2">
        <a class="n ag" href={href} aria-label={`Agent ${member.name}`}>
          {member.name}
        </a>{' '}
        <span class="own">{facts}</span>
      </span>
      <span class="ps2">{member.state && <Presence state={member.state} words={stateText(member)} />}</span>
      <span class="li">
        <OnNow member={member} />
      </span>
      <span class="de">
        <Delivery member={member} own={isOwn} onChange={onChange} />
      </span>
      {isOwn || member.can_remove ? (
        <Menu button={<Icon name="dots" />} label={`More about ${member.name}`}>
          <a role="menuitem" href={href}>
            Open its page
          </a>
          {isOwn && (
            <button type="button" role="menuitem" onClick={() => setAsked('line')}>
              Say what it is on
            </button>
          )}
          {member.can_remove && (
            <button type="button" role="menuitem" onClick={() => setAsked('remove')}>
              Remove it from {member.board}
            </button>
          )}
        </Menu>
      ) : (
        <span />
      )}
      {dialog === 'line' && <LineForm member={member} onClose={onClose} onChange={onChange} />}
      {dialog === 'remove' && <RemoveAgent member={member} close={onClose} changed={onChange} />}
    </li>
  );
}

/** The dialog that removes an agent from its board. */
export function RemoveAgent({ member, close, changed }: { member: Member; close: () => void; changed: () => void }) {
  const params = { board: member.board, member: member.id };
  return (
    <Confirm
      title={`Remove ${member.name} from ${member.board}`}
      action={`Remove ${member.name}`}
      onClose={close}
      onConfirm={async () => {
        await write('removeMember', { params });
        changed();
      }}
    >
      <p>
        Its seat ends for good: it reads and writes here no more, and its tasks go back to open. What it wrote stays. To
        come back it has to join anew.
      </p>
    </Confirm>
  );
}
