/** The command palette: goes to boards, people, agents, tasks and files, and runs actions. */
import './palette.css';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Glyph } from '../parts/who.tsx';
import { formatKeys } from '../state/keys.ts';
import { closeOverlay, openOverlay, typedAhead } from '../state/overlay.ts';
import { room } from '../state/room.ts';
import { buildSections, type Choice, type PaletteData } from './choices.ts';

const DEBOUNCE_MS = 150;

/** Loads the lists once, and search results after each pause in typing. */
function usePaletteData(typed: string): PaletteData {
  const [read, setRead] = useState<PaletteData>({ tasks: [], files: [], agents: [], searchResults: [] });
  const add = (parts: Partial<PaletteData>): void => setRead((before) => ({ ...before, ...parts }));
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const ignore = (): void => {};
    call('listAllTasks', { query: { state: 'active', limit: 200 }, signal }).then(
      ({ tasks }) => add({ tasks }),
      ignore,
    );
    call('listMyAgents', { signal }).then(({ agents }) => add({ agents }), ignore);
    const here = room.peek();
    if (here)
      call('listFiles', { params: { board: here.name }, query: { limit: 200 }, signal }).then(
        ({ files }) => add({ files }),
        ignore,
      );
    return () => stop.abort();
  }, []);
  useEffect(() => {
    const q = typed.trim();
    if (q.length < 2) return add({ searchResults: [] });
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call('search', { query: { q, kind: 'task,file', limit: 8 }, signal: stop.signal }).then(
        ({ results }) => add({ searchResults: results }),
        () => {},
      );
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed]);
  return read;
}

export default function Palette() {
  const [typed, setTyped] = useState(typedAhead.peek());
  const [active, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const read = usePaletteData(typed);
  const sections = buildSections(typed, read);
  const flat = sections.flatMap(({ choices }) => choices);
  const current = Math.min(active, flat.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [current, typed]);

  const choose = (choice: Choice | undefined): void => {
    if (!choice) return;
    closeOverlay();
    // After the closing dialog has restored the focus.
    requestAnimationFrame(() => choice.run());
  };
  const handleKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt((current + 1) % flat.length);
    else if (event.key === 'ArrowUp') setAt((current - 1 + flat.length) % flat.length);
    else if (event.key === 'Enter' && !event.isComposing) choose(flat[current]);
    else if (event.key === '?' && typed === '') openOverlay('keys');
    else return;
    event.preventDefault();
  };
  let index = 0;
  return (
    <Dialog label="Go to or do" class="pal" onClose={closeOverlay}>
      <label class="row qin">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={flat.length > 0 ? `${id}-${current}` : undefined}
          aria-autocomplete="list"
          aria-label="Go to or do"
          placeholder="Go to, or do"
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={handleKey}
        />
      </label>
      <div id={`${id}-list`} class="pl" ref={list} role="listbox" aria-label="Results">
        {sections.map(({ name, choices }) => [
          <div key={name} class="ph3" role="presentation">
            {name}
          </div>,
          ...choices.map((choice) => {
            const own = index++;
            return (
              <Line
                key={choice.id}
                id={`${id}-${own}`}
                choice={choice}
                words={typed.trim()}
                current={own === current}
                onHover={() => setAt(own)}
                onChoose={() => choose(choice)}
              />
            );
          }),
        ])}
      </div>
      {flat.length === 0 && <p class="q2 pn">Nothing is called so.</p>}
      <div class="pft q2 sm desk" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
        <span class="sp" />
        <span>
          <kbd>?</kbd> all keys
        </span>
      </div>
    </Dialog>
  );
}

function Line(props: {
  id: string;
  choice: Choice;
  words: string;
  current: boolean;
  onHover: () => void;
  onChoose: () => void;
}) {
  const { choice, words, current } = props;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus and names the active option
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the text field chooses
    <div
      id={props.id}
      role="option"
      aria-selected={current}
      class={current ? 'pi cur' : 'pi'}
      onMouseMove={current ? undefined : props.onHover}
      onClick={props.onChoose}
    >
      {choice.who ? <Glyph who={choice.who} size={20} /> : <Icon name={choice.icon ?? 'right'} />}
      <span class="sp cut">
        {choice.ref && (
          <>
            <span class="ref">
              <Marked text={choice.ref} words={words} />
            </span>{' '}
          </>
        )}
        <Marked text={choice.label} words={words} />
      </span>
      <span class="q2 sm cut note">{choice.note}</span>
      {choice.keys && (
        <span class="nw desk">
          {formatKeys(choice.keys)
            .split(' ')
            .map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
        </span>
      )}
    </div>
  );
}

/** Marks the query in a text. */
function Marked({ text, words }: { text: string; words: string }) {
  const at = words ? text.toLowerCase().indexOf(words.toLowerCase()) : -1;
  if (at < 0) return <>{text}</>;
  const end = at + words.length;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, end)}</mark>
      {text.slice(end)}
    </>
  );
}
