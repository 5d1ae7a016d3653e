/** Writes from components: one at a time, retried with the same idempotency key while the outcome is unknown. */
import { useRef, useState } from 'preact/hooks';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import { isOutcomeUnknown } from '../api/errors.ts';

export interface Write {
  /** Whether a write is running; disable its button. */
  busy: boolean;
  /** The error of the last write; null if it succeeded. */
  error: unknown;
  /**
   * Runs a write unless one is running already.
   *
   * @param name identifies the write: a retry with the same name after an unknown outcome reuses the key
   * @returns true if it succeeded
   */
  run(name: string, send: (key: string) => Promise<unknown>): Promise<boolean>;
  /** Clears the error. */
  clear(): void;
}

/** Gives a component its own {@link Write}. */
export function useWrite(): Write {
  const [{ busy, error }, set] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });
  const running = useRef(false);
  const keys = useRef(new Map<string, string>());
  return {
    busy,
    error,
    clear: () => set({ busy: running.current, error: null }),
    async run(name, send) {
      if (running.current) return false;
      running.current = true;
      set({ busy: true, error: null });
      const key = keys.current.get(name) ?? newIdempotencyKey();
      keys.current.set(name, key);
      let failure: unknown = null;
      try {
        await send(key);
        keys.current.delete(name);
      } catch (error) {
        failure = error;
        if (!isOutcomeUnknown(error)) keys.current.delete(name);
      }
      running.current = false;
      set({ busy: false, error: failure });
      return failure === null;
    },
  };
}
