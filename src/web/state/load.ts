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
 * @param keys identify the data: a change discards the old value at once and loads anew
 * @param reloadOn a change loads again and keeps the old value meanwhile
 */
export function useLoad<T>(
  load: () => Promise<T>,
  keys: readonly unknown[] = [],
  reloadOn: readonly unknown[] = [],
): Load<T> {
  /** The keys as long as they are the same. */
  const latest = useRef(keys);
  if (keys.some((key, index) => !Object.is(key, latest.current[index]))) latest.current = keys;
  const of = latest.current;
  const [loaded, setLoaded] = useState<{ value: T | null; error: unknown; of: readonly unknown[] }>({ ...nothing, of });
  const state = loaded.of === of ? loaded : nothing;
  const failed = useRef(false);
  failed.current = state.error !== null;
  const started = useRef(0);
  /** Results of attempts up to this number are out of date and ignored. */
  const staleUpTo = useRef(0);
  const reload = async (): Promise<void> => {
    const attempt = ++started.current;
    const finish = (next: { value?: T; error: unknown }): void => {
      if (attempt <= staleUpTo.current || of !== latest.current) return;
      staleUpTo.current = attempt;
      setLoaded((last) => ({ ...(last.of === of ? last : nothing), ...next, of }));
    };
    await load().then(
      (value) => finish({ value, error: null }),
      (error: unknown) => finish({ error }),
    );
  };
  useEffect(() => void reload(), [...keys, ...reloadOn]);
  useEffect(() => listenToReturn(() => void (failed.current && reload())), keys as unknown[]);
  const set = (value: T): void => {
    if (of !== latest.current) return;
    staleUpTo.current = started.current;
    setLoaded({ value, error: null, of });
  };
  return { value: state.value, error: state.error, reload, set };
}
