/** One write at a time: a repeat after an unclear outcome is the same request, so that nothing is done twice. */
import { useRef, useState } from 'preact/hooks';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import { isUnsettled } from '../api/errors.ts';

export interface Write {
  busy: boolean;
  error: unknown;
  clear(): void;
  /** @param what the same for a repeat of the same write. Answers whether it succeeded. */
  run(what: string, send: (key: string) => Promise<unknown>): Promise<boolean>;
}

export function useWrite(): Write {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const now = useRef<{ what: string; key: string; busy: boolean } | null>(null);
  return {
    busy,
    error,
    clear: () => setError(null),
    async run(what, send) {
      if (now.current?.busy) return false;
      const key = now.current?.what === what ? now.current.key : newIdempotencyKey();
      now.current = { what, key, busy: true };
      setBusy(true);
      setError(null);
      try {
        await send(key);
        now.current = null;
        return true;
      } catch (problem) {
        now.current = isUnsettled(problem) ? { what, key, busy: false } : null;
        setError(problem);
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
