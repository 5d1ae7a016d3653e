/** Asks whose card is in view in the conversation; the "needs you" strip above it leaves them out. */
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Ids of the visible asks. */
export const visibleAsks = signal<ReadonlySet<string>>(new Set());

function setVisible(id: string, visible: boolean): void {
  if (visibleAsks.peek().has(id) === visible) return;
  const next = new Set(visibleAsks.peek());
  if (visible) next.add(id);
  else next.delete(id);
  visibleAsks.value = next;
}

/** Tracks whether the card of an ask is in view. Pass the result to the card's `ref`. */
export function useVisibleAsk(id: string): RefObject<HTMLDivElement | null> {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setVisible(id, entry?.isIntersecting ?? false), {
      threshold: 0.6,
    });
    if (card.current) observer.observe(card.current);
    return () => {
      observer.disconnect();
      setVisible(id, false);
    };
  }, [id]);
  return card;
}
