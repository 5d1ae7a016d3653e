/** Completion of mentions after `@`. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Board, Member } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { plural } from '../parts/number.ts';
import { Glyph, Presence } from '../parts/who.tsx';

interface Choice {
  /** The text after the `@`. */
  insert: string;
  member?: Member;
  agents?: number;
}

const MAX_CHOICES = 8;
/** Matches an `@` at the start of a word before the caret, and the text after it. */
const MENTION_AT_CARET = /(?:^|[^\p{L}\p{N}_.@/\\-])@((?:role:)?[a-z0-9-]*)$/iu;

function choicesFor(typed: string, others: readonly Member[], board: Board): Choice[] {
  const wanted = typed.toLowerCase();
  const roles = Object.keys(board.roles).map((role) => ({
    insert: `role:${role}`,
    agents: others.filter((member) => member.kind === 'agent' && member.role === role).length,
  }));
  const all: Choice[] = [
    ...others.toSorted(byKind).map((member) => ({ insert: member.name, member })),
    ...roles.filter(({ agents }) => agents > 0 || wanted.startsWith('role')),
  ];
  const starts = all.filter(({ insert }) => insert.startsWith(wanted) || insert.startsWith(`role:${wanted}`));
  const holds = all.filter((choice) => !starts.includes(choice) && choice.insert.includes(wanted));
  return [...starts, ...(wanted === '' ? [] : holds)].slice(0, MAX_CHOICES);
}

const byKind = (a: Member, b: Member): number =>
  Number(a.kind === 'agent') - Number(b.kind === 'agent') || (a.name < b.name ? -1 : 1);

/** The state of the completion list of a text field. */
export function useCompletion(options: {
  field: { current: HTMLTextAreaElement | null };
  others: readonly Member[];
  board: Board;
  replace: (text: string, caret: number) => void;
}) {
  const { field, others, board, replace } = options;
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const choices = typed === null ? [] : choicesFor(typed, others, board);
  const open = choices.length > 0;
  useEffect(() => setActive(0), [typed]);

  /** Opens, updates or closes the list for the text before the caret. */
  const update = () => {
    const { current } = field;
    if (!current || current.selectionStart !== current.selectionEnd) return setTyped(null);
    setTyped(MENTION_AT_CARET.exec(current.value.slice(0, current.selectionStart))?.[1] ?? null);
  };
  const close = (): void => setTyped(null);
  const choose = ({ insert }: Choice) => {
    const { current } = field;
    if (!current || typed === null) return;
    const start = current.selectionStart - typed.length;
    const before = `${current.value.slice(0, start)}${insert} `;
    replace(before + current.value.slice(current.selectionStart).replace(/^ /, ''), before.length);
    close();
  };
  /** Handles a key of the open list. Returns whether it did. */
  const handleKey = (event: KeyboardEvent): boolean => {
    if (!open || event.isComposing || event.ctrlKey || event.metaKey) return false;
    if (event.key === 'ArrowDown') setActive((active + 1) % choices.length);
    else if (event.key === 'ArrowUp') setActive((active + choices.length - 1) % choices.length);
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) choose(choices[active] ?? choices[0]!);
    else if (event.key === 'Escape') close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { open, choices, active, update, close, handleKey, choose, setActive };
}

const LIST = 'mention-list';

/** ARIA attributes of the text field while the list is open. */
export const comboboxProps = ({ open, active }: { open: boolean; active: number }) =>
  open
    ? ({
        // The role is not allowed on a textarea, but screen readers support it.
        role: 'combobox' as 'textbox',
        'aria-expanded': true,
        'aria-controls': LIST,
        'aria-autocomplete': 'list',
        'aria-activedescendant': `${LIST}-${active}`,
      } as const)
    : {};

export function Completion({
  choices,
  active,
  choose,
  setActive,
}: Omit<ReturnType<typeof useCompletion>, 'update' | 'handleKey'>) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active]);
  return (
    <div ref={list} id={LIST} class="mentions" role="listbox" aria-label="People, agents and roles">
      {choices.map((choice, index) => (
        // The field keeps the focus and takes the keys.
        <div
          key={choice.insert}
          id={`${LIST}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          onMouseMove={() => setActive(index)}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(choice);
          }}
        >
          {choice.member ? (
            <>
              <Glyph who={choice.member} size={24} />
              <b class={choice.member.kind === 'agent' ? 'n ag' : 'n'}>{choice.member.name}</b>
              {choice.member.owner && <span class="own">{choice.member.owner}’s agent</span>}
              <span class="sp" />
              {choice.member.state && <Presence state={choice.member.state} />}
            </>
          ) : (
            <>
              <span class="mention-role">
                <Icon name="people" />
              </span>
              <b class="n">{choice.insert}</b>
              <span class="own">{plural(choice.agents ?? 0, 'agent')}</span>
            </>
          )}
        </div>
      ))}
    </div>
  );
}
