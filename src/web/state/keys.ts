/** The keyboard: single keys and short sequences, outside of text fields, which can be turned off; and what `?` lists. */
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { keep, kept } from './kept.ts';

export interface KeyBinding {
  /** As `?` and the title of a button show it: `j`, `Shift j`, `g i`, `Mod k`, `Escape`. `Mod` is Ctrl, on a Mac Cmd. */
  keys: string;
  /** What it does, such as "Next message". */
  label: string;
  /** Answers false when it does not apply now, so that an older binding of the same keys is tried. */
  run(event: KeyboardEvent): unknown;
  /** Works in text fields too. */
  everywhere?: boolean;
}

interface Group {
  name: string;
  bindings: readonly KeyBinding[];
}

/** The groups of bindings in force, the newest last. */
export const keyGroups = signal<readonly Group[]>([]);
/** Whether single keys do anything. Keys with Ctrl or Cmd always do. */
export const singleKeys = signal(kept('single-keys') !== 'off');

/** Turns single keys on or off in this browser. */
export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  keep('single-keys', on ? null : 'off');
}

const isMac = /Mac|iP/.test(navigator.platform);

/** Keys as they stand on a keyboard: "Ctrl K", "Shift j", "Esc". */
export const keyWords = (keys: string): string =>
  keys
    .replace(
      /^Mod (.*)/,
      (_, rest: string) => `${isMac ? '⌘' : 'Ctrl'} ${rest.length === 1 ? rest.toUpperCase() : rest}`,
    )
    .replace('Escape', 'Esc');

/** Keeps bindings in force as long as the component is shown. @param name heading under which `?` lists them. */
export function useKeys(name: string, bindings: readonly KeyBinding[], deps: readonly unknown[] = []): void {
  // Not after the next paint, as with useEffect: a key pressed until then would do what the screen no longer shows.
  useLayoutEffect(() => {
    const group = { name, bindings };
    keyGroups.value = [...keyGroups.peek(), group];
    return () => {
      keyGroups.value = keyGroups.peek().filter((other) => other !== group);
    };
  }, deps as unknown[]);
}

/** Moves the focus by one among what `selector` names in `list`. False: nothing is there. */
export function moveFocus(list: Element | null, selector: string, step: 1 | -1): unknown {
  const all = [...(list?.querySelectorAll<HTMLElement>(selector) ?? [])];
  const at = all.indexOf(document.activeElement as HTMLElement);
  return all.length === 0 ? false : all[Math.min(all.length - 1, Math.max(0, at + step))]?.focus();
}

const SEQUENCE_MS = 1_000;
let before: { key: string; at: number } | null = null;

/** A pressed key in the form of {@link KeyBinding.keys}. */
function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const letter = /^[a-z]$/.test(key);
  return `${event.ctrlKey || event.metaKey ? 'Mod ' : ''}${event.shiftKey && (letter || event.key.length > 1) ? 'Shift ' : ''}${key}`;
}

const isText = (element: Element | null): boolean =>
  element instanceof HTMLElement &&
  (element.isContentEditable || element.matches('input:not([type=checkbox], [type=radio]), textarea, select'));

/** Runs the newest binding of a pressed key that applies. */
function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const name = nameOf(event);
  const single = !name.startsWith('Mod ') && event.key !== 'Escape';
  const typing = isText(event.target as Element);
  const sequence = before && event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${name}` : null;
  before = single && !typing ? { key: name, at: event.timeStamp } : null;
  const covered = document.querySelector('dialog:modal') !== null;
  const bindings = keyGroups
    .peek()
    .toReversed()
    .flatMap((group) => group.bindings);
  // A sequence that was begun goes before what its last key does alone.
  for (const wanted of sequence ? [sequence, name] : [name])
    for (const binding of bindings) {
      if (binding.keys !== wanted) continue;
      // Nothing happens behind a dialog.
      if (((typing || covered) && !binding.everywhere) || (single && !singleKeys.peek())) continue;
      if (binding.run(event) === false) continue;
      event.preventDefault();
      before = null;
      return;
    }
}

/** Begins to listen. */
export const listenToKeys = (): void => document.addEventListener('keydown', press);
