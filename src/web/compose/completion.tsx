/** Names that can follow an `@`: a list above the message box, moved through with the arrow keys. */
import { useEffect, useState } from 'preact/hooks';
import type { Board, Member } from '../../contract/types.ts';
import { Icon } from '../parts/icon.tsx';
import { Glyph, Presence } from '../parts/who.tsx';

interface Choice {
  /** What is written after the `@`. */
  insert: string;
  member?: Member;
  agents?: number;
}

const MOST = 8;
/** An `@` that begins a word, and what is written after it. */
const atCaret = /(?:^|[^\p{L}\p{N}_.@/\\-])@((?:role:)?[a-z0-9-]*)$/iu;

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
  return [...starts, ...(wanted === '' ? [] : holds)].slice(0, MOST);
}

const byKind = (a: Member, b: Member): number =>
  Number(a.kind === 'agent') - Number(b.kind === 'agent') || (a.name < b.name ? -1 : 1);

/** The completion of a text field: what its list shows, and the keys that it takes. */
export function useCompletion(options: {
  field: { current: HTMLTextAreaElement | null };
  others: readonly Member[];
  board: Board;
  replace: (text: string, caret: number) => void;
}) {
  const { field, others, board, replace } = options;
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const choices = typed === null ? [] : choicesFor(typed, others, board);
  const open = choices.length > 0;
  useEffect(() => setAt(0), [typed]);

  /** Looks at what stands before the caret. */
  const look = () => {
    const { current } = field;
    if (!current || current.selectionStart !== current.selectionEnd) return setTyped(null);
    setTyped(atCaret.exec(current.value.slice(0, current.selectionStart))?.[1] ?? null);
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
  /** Answers whether the key was one of the list's. */
  const press = (event: KeyboardEvent): boolean => {
    if (!open || event.isComposing || event.ctrlKey || event.metaKey) return false;
    if (event.key === 'ArrowDown') setAt((at + 1) % choices.length);
    else if (event.key === 'ArrowUp') setAt((at + choices.length - 1) % choices.length);
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) choose(choices[at] ?? choices[0]!);
    else if (event.key === 'Escape') close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { open, choices, at, look, close, press, choose, setAt };
}

const LIST = 'mention-list';

/** What makes the text field a combobox while its list is open. */
export const comboboxOf = ({ open, at }: { open: boolean; at: number }) =>
  open
    ? ({
        // HTML has no text field of several lines with this role; readers of the screen take it while the list is open.
        role: 'combobox' as 'textbox',
        'aria-expanded': true,
        'aria-controls': LIST,
        'aria-autocomplete': 'list',
        'aria-activedescendant': `${LIST}-${at}`,
      } as const)
    : {};

export function Completion({ choices, at, choose, setAt }: Omit<ReturnType<typeof useCompletion>, 'look' | 'press'>) {
  return (
    <div id={LIST} class="mentions" role="listbox" aria-label="People, agents and roles">
      {choices.map((choice, index) => (
        // The field keeps the focus and takes the keys.
        <div
          key={choice.insert}
          id={`${LIST}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onMouseMove={() => setAt(index)}
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
              <span class="own">{choice.agents === 1 ? '1 agent' : `${choice.agents} agents`}</span>
            </>
          )}
        </div>
      ))}
    </div>
  );
}
