/** Keyboard shortcuts: single keys and two-key sequences, which can be turned off, and keys with Ctrl or Cmd. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasConnection } from '../live/link.ts';
import { readStorage, writeStorage } from './storage.ts';

export interface KeyBinding {
  /** Such as `j`, `Shift j`, `g i`, `Mod k` or `Escape`. `Mod` is Ctrl, or Cmd on a Mac. */
  keys: string;
  /** What it does, such as "Next message". */
  label: string;
  /** Returns false if it does not apply now; then an older binding of the same keys is tried. */
  run(event: KeyboardEvent): unknown;
  /** Works in text fields too. */
  everywhere?: boolean;
}

interface KeyGroup {
  name: string;
  bindings: readonly KeyBinding[];
}

/** The active groups of bindings, newest last. */
export const keyGroups = signal<readonly KeyGroup[]>([]);
/** Whether single keys are on. Keys with Ctrl or Cmd always work. */
export const singleKeys = signal(readStorage('single-keys') !== 'off');

/** Turns single keys on or off in this browser. */
export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  writeStorage('single-keys', on ? null : 'off');
}

const isMac = /Mac|iP/.test(navigator.platform);

/** Formats keys for display: "Ctrl K", "Shift j", "Esc". */
export const formatKeys = (keys: string): string =>
  keys
    .replace(
      /^Mod (.*)/,
      (_, rest: string) => `${isMac ? '⌘' : 'Ctrl'} ${rest.length === 1 ? rest.toUpperCase() : rest}`,
    )
    .replace('Escape', 'Esc');

/** Activates bindings while the component is mounted. @param name heading in the list of keys */
export function useKeys(name: string, bindings: readonly KeyBinding[], deps: readonly unknown[] = []): void {
  // useEffect would run after the next paint, and a key pressed before it would act on the previous screen.
  useLayoutEffect(() => {
    const group = { name, bindings };
    keyGroups.value = [...keyGroups.peek(), group];
    return () => {
      keyGroups.value = keyGroups.peek().filter((other) => other !== group);
    };
  }, deps as unknown[]);
}

/** Moves the focus by one among the elements that match `selector`. Returns false if there are none. */
export function moveFocus(list: Element | null, selector: string, step: 1 | -1): unknown {
  const all = [...(list?.querySelectorAll<HTMLElement>(selector) ?? [])];
  const at = all.indexOf(document.activeElement as HTMLElement);
  return all.length === 0 ? false : all[Math.min(all.length - 1, Math.max(0, at + step))]?.focus();
}

/** How long what a number answers has to stand there before a key answers it. */
const STANDING_MS = 700;

/**
 * Tells whether a number was meant for what it would answer now. Another question that came by itself may have taken the
 * place of the one that the key was pressed for.
 *
 * @param id what a number answers; undefined: nothing
 * @param chosen whether the person moved to it
 */
export function useStanding(id: string | undefined, chosen = false): () => boolean {
  const shown = useRef({ id, since: Number.NEGATIVE_INFINITY });
  const { current } = shown;
  if (id !== undefined && id !== current.id) {
    const replaced = current.id !== undefined && !chosen;
    shown.current = { id, since: replaced ? performance.now() : Number.NEGATIVE_INFINITY };
  }
  return () => performance.now() - shown.current.since >= STANDING_MS;
}

/** Whether a number is held down: it decides once. */
export const isHeldNumber = ({ key, repeat }: KeyboardEvent): boolean => repeat && /^[1-9]$/.test(key);

const SEQUENCE_MS = 1_000;
/** Keys that answer, approve or withdraw: they do so only on a view that is up to date. */
const deciding = /^[1-9aw]$/;
let previousKey: { key: string; at: number } | null = null;

/** Formats a pressed key as {@link KeyBinding.keys} does. */
function keysOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const letter = /^[a-z]$/.test(key);
  return `${event.ctrlKey || event.metaKey ? 'Mod ' : ''}${event.shiftKey && (letter || event.key.length > 1) ? 'Shift ' : ''}${key}`;
}

/** Whether what is typed goes into an element. */
export const isTextField = (element: Element | null): boolean =>
  element instanceof HTMLElement &&
  (element.isContentEditable || element.matches('input:not([type=checkbox], [type=radio]), textarea, select'));

/** Runs the newest binding that matches the pressed key and applies. */
function handleKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing || isHeldNumber(event)) return;
  const name = keysOf(event);
  const single = !name.startsWith('Mod ') && event.key !== 'Escape';
  const typing = isTextField(event.target as Element);
  const sequence = previousKey && event.timeStamp - previousKey.at < SEQUENCE_MS ? `${previousKey.key} ${name}` : null;
  previousKey = single && !typing ? { key: name, at: event.timeStamp } : null;
  const behindDialog = document.querySelector('dialog:modal') !== null;
  const bindings = keyGroups
    .peek()
    .toReversed()
    .flatMap((group) => group.bindings);
  // A complete sequence wins over the binding of its last key alone.
  for (const wanted of sequence ? [sequence, name] : [name])
    for (const binding of bindings) {
      if (binding.keys !== wanted) continue;
      if (deciding.test(wanted) && !hasConnection()) continue;
      // Bindings of the page behind a dialog stay off.
      if (((typing || behindDialog) && !binding.everywhere) || (single && !singleKeys.peek())) continue;
      if (binding.run(event) === false) continue;
      event.preventDefault();
      previousKey = null;
      return;
    }
}

/** Starts handling keys for the whole page. */
export const listenToKeys = (): void => document.addEventListener('keydown', handleKeyDown);

/** What is typed for a text field that is still being loaded: the text after a pressed key; null: the key is not for the text. */
export function textAfter(text: string, { key, ctrlKey, metaKey, isComposing }: KeyboardEvent): string | null {
  if (ctrlKey || metaKey || isComposing) return null;
  if (key === 'Backspace') return text.slice(0, -1);
  return key.length === 1 ? text + key : null;
}
