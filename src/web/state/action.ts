/** What a component runs one at a time, such as writes. */
import { useRef, useState } from 'preact/hooks';

export interface Running {
  /** Whether something is running; disable its button. */
  busy: boolean;
  /** The error of the last run; null if it succeeded. */
  error: unknown;
  /** Clears the error. */
  clear(): void;
}

export interface Action extends Running {
  /** Runs something unless something is running already. @returns true if it succeeded */
  run(act: () => Promise<unknown>): Promise<boolean>;
}

/** Gives a component its own {@link Action}. */
export function useAction(): Action {
  const [{ busy, error }, set] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });
  const running = useRef(false);
  return {
    busy,
    error,
    clear: () => set({ busy: running.current, error: null }),
    async run(act) {
      if (running.current) return false;
      running.current = true;
      set({ busy: true, error: null });
      let failure: unknown = null;
      try {
        await act();
      } catch (error) {
        failure = error;
      }
      running.current = false;
      set({ busy: false, error: failure });
      return failure === null;
    },
  };
}
