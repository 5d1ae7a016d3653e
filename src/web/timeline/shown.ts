/** Notices which messages were really shown: in view for a moment, in a tab that is looked at. */

/** A message counts when this much of it, or of the view, was shown. */
const ENOUGH = 0.5;
const MOMENT_MS = 300;
const STEPS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

export class ShownMessages {
  private readonly seqs = new Map<Element, number>();
  private readonly inView = new Set<Element>();
  private readonly observer: IntersectionObserver;
  private readonly tell: (seqs: number[]) => void;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (seqs: number[]) => void) {
    this.tell = tell;
    this.observer = new IntersectionObserver((entries) => this.see(entries), { threshold: STEPS });
    document.addEventListener('visibilitychange', this.soon);
  }

  /** Watches an element until it was shown. The result ends it. */
  watch(element: Element, seq: number): () => void {
    this.seqs.set(element, seq);
    this.observer.observe(element);
    return () => this.forget(element);
  }

  close(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
    document.removeEventListener('visibilitychange', this.soon);
  }

  private forget(element: Element): void {
    this.seqs.delete(element);
    this.inView.delete(element);
    this.observer.unobserve(element);
  }

  private see(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, intersectionRatio, intersectionRect } of entries) {
      const enough = intersectionRatio >= ENOUGH || intersectionRect.height >= innerHeight * ENOUGH * ENOUGH;
      if (isIntersecting && enough) this.inView.add(target);
      else this.inView.delete(target);
    }
    this.soon();
  }

  private readonly soon = (): void => {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (document.hidden || this.inView.size === 0) return;
      const found = [...this.inView];
      const seqs = found.flatMap((element) => this.seqs.get(element) ?? []);
      for (const element of found) this.forget(element);
      this.tell(seqs);
    }, MOMENT_MS);
  };
}
