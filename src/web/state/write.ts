/** A write of the person: never sent twice at once, and repeated with the same key as long as its outcome is unknown. */
import { useRef, useState } from 'preact/hooks';
import { isUnsettled } from '../api/errors.ts';

export interface Write {
  /** Whether one is under way: its button waits. */
  busy: boolean;
  /** Why the last one did not succeed; null when it did. */
  error: unknown;
  /**
   * Carries out a write, unless one is under way.
   *
   * @param name what it does; a repeat of the same name after an unknown outcome gets the same key
   * @returns whether it succeeded
   */
  run(name: string, send: (key: string) => Promise<unknown>): Promise<boolean>;
  /** Forgets the error. */
  clear(): void;
}

/** Writes of one component: one at a time. */
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
      const key = keys.current.get(name) ?? crypto.randomUUID();
      keys.current.set(name, key);
      let failure: unknown = null;
      try {
        await send(key);
        keys.current.delete(name);
      } catch (error) {
        failure = error;
        if (!isUnsettled(error)) keys.current.delete(name);
      }
      running.current = false;
      set({ busy: false, error: failure });
      return failure === null;
    },
  };
}
