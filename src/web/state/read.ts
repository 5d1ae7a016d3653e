/** What a component reads from the server, or why it could not. */
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Read<T> {
  /** Null: not read yet. */
  value: T | null;
  /** Why the last try failed; null when it did not. */
  error: unknown;
  /** Reads it again; what was read stays meanwhile. */
  again(): Promise<void>;
}

const nothing = { value: null, error: null };

/**
 * Reads at once, and again by `again`.
 *
 * @param of what is read: when it changes, what was read before is gone
 * @param since when one of these changes it is read again
 */
export function useRead<T>(
  read: () => Promise<T>,
  of: readonly unknown[] = [],
  since: readonly unknown[] = [],
): Read<T> {
  const [state, setState] = useState<{ value: T | null; error: unknown }>(nothing);
  const begun = useRef(0);
  /** Answers to tries up to this one come too late. */
  const past = useRef(0);
  const again = async (): Promise<void> => {
    const turn = ++begun.current;
    const show = (next: { value?: T; error: unknown }): void => {
      if (turn <= past.current) return;
      past.current = turn;
      setState((last) => ({ ...last, ...next }));
    };
    await read().then(
      (value) => show({ value, error: null }),
      (error: unknown) => show({ error }),
    );
  };
  useEffect(() => {
    setState(nothing);
    return () => {
      past.current = begun.current;
    };
  }, of as unknown[]);
  useEffect(() => void again(), [...of, ...since]);
  return { ...state, again };
}
