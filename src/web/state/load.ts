/** Loads data from the server for a component. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { listenToReturn } from '../live/link.ts';

export interface Load<T> {
  /** Null until the first load succeeds. */
  value: T | null;
  /** The error of the last load; null if it succeeded. */
  error: unknown;
  /** Loads again. `value` keeps the old data until then. */
  reload(): Promise<void>;
  /** Takes a newer value, such as the answer to a write. */
  set(value: T): void;
}

const nothing = { value: null, error: null };

/**
 * Loads when the component mounts, on `reload`, and after a failure when a lost connection is there again.
 *
 * @param keys identify the data: a change discards the old value and loads anew
 * @param reloadOn a change loads again and keeps the old value meanwhile
 */
export function useLoad<T>(
  load: () => Promise<T>,
  keys: readonly unknown[] = [],
  reloadOn: readonly unknown[] = [],
): Load<T> {
  const [state, setState] = useState<{ value: T | null; error: unknown }>(nothing);
  const failed = useRef(false);
  failed.current = state.error !== null;
  const started = useRef(0);
  /** Results of attempts up to this number are out of date and ignored. */
  const staleUpTo = useRef(0);
  const reload = async (): Promise<void> => {
    const attempt = ++started.current;
    const finish = (next: { value?: T; error: unknown }): void => {
      if (attempt <= staleUpTo.current) return;
      staleUpTo.current = attempt;
      setState((last) => ({ ...last, ...next }));
    };
    await load().then(
      (value) => finish({ value, error: null }),
      (error: unknown) => finish({ error }),
    );
  };
  useEffect(() => {
    setState(nothing);
    return () => {
      staleUpTo.current = started.current;
    };
  }, keys as unknown[]);
  useEffect(() => void reload(), [...keys, ...reloadOn]);
  useEffect(() => listenToReturn(() => void (failed.current && reload())), keys as unknown[]);
  const set = (value: T): void => {
    staleUpTo.current = started.current;
    setState({ value, error: null });
  };
  return { ...state, reload, set };
}
