/** The palette: type to go to a board, person, agent, task or file, or to do what this screen can do. */
import './palette.css';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Glyph } from '../parts/who.tsx';
import { formatKeys } from '../state/keys.ts';
import { closeOverlay, openOverlay } from '../state/overlay.ts';
import { room } from '../state/room.ts';
import { type Choice, type Read, sectionsOf } from './choices.ts';

const PAUSE_MS = 150;

/** Reads what can be gone to: once the lists, and with each pause in typing what the server finds. */
function useRead(typed: string): Read {
  const [read, setRead] = useState<Read>({ tasks: [], files: [], agents: [], found: [] });
  const add = (parts: Partial<Read>): void => setRead((before) => ({ ...before, ...parts }));
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
    if (q.length < 2) return add({ found: [] });
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call('search', { query: { q, kind: 'task,file', limit: 8 }, signal: stop.signal }).then(
        ({ results }) => add({ found: results }),
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed]);
  return read;
}

export default function Palette() {
  const [typed, type] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const read = useRead(typed);
  const sections = sectionsOf(typed, read);
  const flat = sections.flatMap(({ choices }) => choices);
  const current = Math.min(at, flat.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [current, typed]);

  const choose = (choice: Choice | undefined): void => {
    if (!choice) return;
    closeOverlay();
    // After the dialog has given the focus back.
    requestAnimationFrame(() => choice.run());
  };
  const press = (event: KeyboardEvent): void => {
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
            type(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
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
                point={() => setAt(own)}
                choose={() => choose(choice)}
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
  point: () => void;
  choose: () => void;
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
      onMouseMove={current ? undefined : props.point}
      onClick={props.choose}
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

/** A text with the typed words marked. */
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
