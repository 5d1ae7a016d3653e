/** What a call answers, or why it did not. */
import { useEffect, useState } from 'preact/hooks';

export interface Answered<T> {
  value: T | null;
  error: unknown;
  again(): void;
}

/** Calls once, and once more by `again`. */
export function useAnswer<T>(read: () => Promise<T>): Answered<T> {
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null });
  useEffect(() => {
    let current = true;
    read().then(
      (value) => current && setState({ value, error: null }),
      (error: unknown) => current && setState((last) => ({ ...last, error })),
    );
    return () => {
      current = false;
    };
  }, [tries]);
  return { ...state, again: () => setTries(tries + 1) };
}
