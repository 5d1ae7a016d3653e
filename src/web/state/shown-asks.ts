/** Asks whose card is in view in the conversation: the strip above it does not ask the same again. */
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Ids of asks that are in view. */
export const shownAsks = signal<ReadonlySet<string>>(new Set());

function set(id: string, shown: boolean): void {
  if (shownAsks.peek().has(id) === shown) return;
  const next = new Set(shownAsks.peek());
  if (shown) next.add(id);
  else next.delete(id);
  shownAsks.value = next;
}

/** Notes whether the card of an ask is in view; the result goes to the card's `ref`. */
export function useShownAsk(id: string): RefObject<HTMLDivElement | null> {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => set(id, entry?.isIntersecting ?? false), { threshold: 0.6 });
    if (card.current) observer.observe(card.current);
    return () => {
      observer.disconnect();
      set(id, false);
    };
  }, [id]);
  return card;
}
