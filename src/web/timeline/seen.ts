/** Reports which messages the person has seen: in view for a moment, in a visible tab. */

/** The share of a message that has to be visible. A long one counts when it fills a quarter of the window. */
const MIN_RATIO = 0.5;
const DELAY_MS = 300;
const THRESHOLDS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

export class SeenTracker {
  private readonly seqs = new Map<Element, number>();
  private readonly inView = new Set<Element>();
  private readonly observer: IntersectionObserver;
  private readonly onSeen: (seqs: number[]) => void;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSeen: (seqs: number[]) => void) {
    this.onSeen = onSeen;
    this.observer = new IntersectionObserver((entries) => this.handleIntersections(entries), { threshold: THRESHOLDS });
    document.addEventListener('visibilitychange', this.scheduleReport);
  }

  /** Watches an element until it is seen. Returns a function that stops it. */
  watch(element: Element, seq: number): () => void {
    this.seqs.set(element, seq);
    this.observer.observe(element);
    return () => this.unwatch(element);
  }

  close(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
    document.removeEventListener('visibilitychange', this.scheduleReport);
  }

  private unwatch(element: Element): void {
    this.seqs.delete(element);
    this.inView.delete(element);
    this.observer.unobserve(element);
  }

  private handleIntersections(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, intersectionRatio, intersectionRect } of entries) {
      const visible = intersectionRatio >= MIN_RATIO || intersectionRect.height >= innerHeight * MIN_RATIO * MIN_RATIO;
      if (isIntersecting && visible) this.inView.add(target);
      else this.inView.delete(target);
    }
    this.scheduleReport();
  }

  private readonly scheduleReport = (): void => {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (document.hidden || this.inView.size === 0) return;
      const found = [...this.inView];
      const seqs = found.flatMap((element) => this.seqs.get(element) ?? []);
      for (const element of found) this.unwatch(element);
      this.onSeen(seqs);
    }, DELAY_MS);
  };
}
