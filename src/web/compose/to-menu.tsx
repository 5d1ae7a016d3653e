/** Who gets the message, in one line; opened, it is chosen there, and whether it is urgent or expects a reply. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Board, Member } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { Glyph } from '../parts/who.tsx';
import { inNumbers, listed, wordsOf } from './audience.ts';
import type { Draft } from './draft.ts';

interface Props {
  to: string[];
  others: readonly Member[];
  board: Board;
  draft: Draft;
  change: (change: Partial<Draft>) => void;
  /** The message answers a question, so that the asker always gets it. */
  answers: string | null;
}

export function ToMenu(props: Props) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    whole.current?.querySelector('input')?.focus();
    const leave = ({ target }: Event): void => {
      if (!whole.current?.contains(target as Node)) setOpen(false);
    };
    addEventListener('mousedown', leave);
    addEventListener('focusin', leave);
    return () => {
      removeEventListener('mousedown', leave);
      removeEventListener('focusin', leave);
    };
  }, [open]);
  const { to, others } = props;
  const everyone = to.includes('all');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the list from wherever the focus is in it
    <div
      class="to-menu"
      ref={whole}
      onKeyDown={(event) => {
        if (!open || event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        setOpen(false);
        opener.current?.focus();
      }}
    >
      <button ref={opener} type="button" class="tosum" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="at" />
        <span class="cut">
          {props.answers === null ? 'To ' : `Answers ${props.answers}, to `}
          <b>{everyone ? 'Everyone' : listed(to.map(wordsOf))}</b>
          {everyone && <span class="desk">: {inNumbers(others)}</span>}
        </span>
        <Icon name="down" small />
      </button>
      {open && <Choices {...props} />}
    </div>
  );
}

function Choices({ to, others, board, draft, change }: Props) {
  const toggle = (target: string): void => {
    const rest = to.filter((other) => other !== 'all' && other !== target);
    const next = to.includes(target) ? rest : [...rest, target];
    change({ to: target === 'all' || next.length === 0 ? ['all'] : next });
  };
  const choice = (target: string, children: ComponentChildren) => (
    <Check key={target} checked={to.includes(target)} change={() => toggle(target)}>
      {children}
    </Check>
  );
  const people = others.filter(({ kind }) => kind === 'human');
  const agents = others.filter(({ kind }) => kind === 'agent');
  const owners = [...new Set(agents.map(({ owner }) => owner))].filter(
    (owner) => agents.filter((agent) => agent.owner === owner).length > 1,
  );
  const roles = Object.keys(board.roles).filter((name) => agents.some(({ role }) => role === name));
  return (
    <fieldset class="to-list">
      <legend class="vh">Who gets it</legend>
      {choice(
        'all',
        <>
          <b>Everyone</b> <span class="q cut">{inNumbers(others)}</span>
        </>,
      )}
      {[...people, ...agents].map((member) =>
        choice(
          `@${member.name}`,
          <>
            <Glyph who={member} size={20} />
            <span class={member.kind === 'agent' ? 'mono' : ''}>{member.name}</span>
            {member.owner && <span class="own">{member.owner}’s agent</span>}
          </>,
        ),
      )}
      {[...owners.map((owner) => `owner:${owner}`), ...roles.map((role) => `role:${role}`)].map((target) =>
        choice(
          target,
          <>
            <Icon name="people" />
            {wordsOf(target)}
          </>,
        ),
      )}
      <hr />
      <Check checked={draft.urgent} change={(urgent) => change({ urgent })}>
        <Icon name="urgent" />
        Urgent
      </Check>
      <Check checked={draft.expectsReply} change={(expectsReply) => change({ expectsReply })}>
        <Icon name="clock" />
        Expects a reply
      </Check>
    </fieldset>
  );
}

const Check = (props: { checked: boolean; change: (checked: boolean) => void; children: ComponentChildren }) => (
  <label class="check">
    <input
      type="checkbox"
      checked={props.checked}
      onChange={({ currentTarget }) => {
        props.change(currentTarget.checked);
        currentTarget.checked = props.checked;
      }}
    />
    {props.children}
  </label>
);
