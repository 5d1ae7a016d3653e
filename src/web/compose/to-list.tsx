/** The list of recipients, urgency and reply options. Loaded on demand. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Board, Member } from '../../contract/types.ts';
import { isAddressed } from '../../contract/waking.ts';
import { Icon } from '../parts/icon.tsx';
import { Glyph } from '../parts/who.tsx';
import { summarizeMembers, targetLabel } from './audience.ts';
import type { Draft } from './draft.ts';

export interface Props {
  to: string[];
  others: readonly Member[];
  board: Board;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  /** The name of the asker, if the message answers an ask; the asker always receives it. */
  answers: string | null;
}

export default function Choices({ to, others, board, draft, onChange }: Props) {
  const toggle = (target: string): void => {
    const rest = to.filter((other) => other !== 'all' && other !== target);
    const next = to.includes(target) ? rest : [...rest, target];
    onChange({ to: target === 'all' || next.length === 0 ? ['all'] : next });
  };
  const first = useRef<HTMLFieldSetElement>(null);
  useLayoutEffect(() => first.current?.querySelector('input')?.focus(), []);
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
  const groups = [...owners.map((owner) => `owner:${owner}`), ...roles.map((role) => `role:${role}`)];
  const listed = ['all', ...others.map(({ name }) => `@${name}`), ...groups];
  // Those who left, or of whom there are fewer than a row takes. One that is taken out keeps its row, which has the focus.
  const seen = useRef(new Set<string>()).current;
  for (const target of to) seen.add(target);
  const unlisted = [...seen].filter((target) => !listed.includes(target));
  return (
    <fieldset class="to-list" ref={first}>
      <legend class="vh">Who gets it</legend>
      {choice(
        'all',
        <>
          <b>Everyone</b> <span class="q cut">{summarizeMembers(others)}</span>
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
      {groups.map((target) =>
        choice(
          target,
          <>
            <Icon name="people" />
            {targetLabel(target)}
          </>,
        ),
      )}
      {unlisted.map((target) =>
        choice(
          target,
          `${targetLabel(target)}${others.some((one) => isAddressed([target], one)) ? '' : ', no longer here'}`,
        ),
      )}
      <hr />
      <Check checked={draft.urgent} change={(urgent) => onChange({ urgent })}>
        <Icon name="urgent" />
        Urgent
      </Check>
      <Check checked={draft.expectsReply} change={(expectsReply) => onChange({ expectsReply })}>
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
