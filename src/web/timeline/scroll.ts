/** Controls the scroll position: keeps it while content around it changes, and loads more near both ends. */
import { signal } from '@preact/signals';
import { isTextField } from '../state/keys.ts';
import type { ScrollTarget, Spot, Timeline } from './timeline.ts';

/** Closer to the end than this, the view follows new messages. */
const END_DISTANCE_PX = 24;
/** Loads more when fewer than this many screens of content are left. */
const PREFETCH_VIEWS = 2;
/** Space above the message that is scrolled to, which shows a bit of what came before. */
const TOP_MARGIN_PX = 96;
/** An entry of which less is in view is not what is read. */
const LINE_PX = 24;

export class Scroll {
  readonly atBottom = signal(true);
  private readonly timeline: Timeline;
  private scroller: HTMLElement | null = null;
  private anchor: { seq: string; top: number } | null = null;
  /**
   * The entry at the top of the view, and how far below the top it begins; where it begins above, as a share of its height,
   * which another width changes. Null: the end is read.
   */
  private reading: { seq: string; below: number } | null = null;
  private reachedTarget: ScrollTarget | null = null;
  private frame = 0;
  /** Whether the focus was inside before the change. */
  private hadFocus = false;
  private lastScrollTop = 0;
  /** Where the view began in the window. */
  private lastTop = 0;
  private lastWidth = 0;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  /** Observes the scrolling element. Returns a function that stops it. */
  attach(scroller: HTMLElement, flow: HTMLElement): () => void {
    this.scroller = scroller;
    const onScroll = (): void => {
      // The event of a position that was set here may come after more was added below it, which does not mean that the
      // person left the end.
      if (scroller.scrollTop !== this.lastScrollTop) this.updateReading();
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        this.loadMore();
      });
    };
    const updateTop = (): void => {
      this.lastTop = scroller.getBoundingClientRect().top;
    };
    // On a low window, or above the keyboard of a phone, what is around the view scrolls too.
    const onScrollAround = ({ target }: Event): void => {
      if (target !== scroller && target instanceof Node && target.contains(scroller)) updateTop();
    };
    const resizeObserver = new ResizeObserver((entries) => {
      const { top } = scroller.getBoundingClientRect();
      const moved = entries.some(({ target }) => target !== flow) ? top - this.lastTop : 0;
      this.lastTop = top;
      if (scroller.clientWidth !== this.lastWidth) {
        this.lastWidth = scroller.clientWidth;
        this.scrollToReading(scroller);
        this.updatePosition();
        return onScroll();
      }
      // What appears above the conversation, such as a question, moves nothing that is being read. When it goes, the browser itself may
      // have scrolled near the end.
      const kept = moved !== 0 && !this.timeline.following;
      if (kept) scroller.scrollTop = this.lastScrollTop + moved;
      else if (scroller.scrollTop !== this.lastScrollTop) this.updateReading();
      if (this.timeline.following) this.scrollToEnd();
      if (kept) this.updateReading();
      else this.updatePosition();
      onScroll();
    });
    updateTop();
    this.lastWidth = scroller.clientWidth;
    this.updateReading();
    scroller.addEventListener('scroll', onScroll, { passive: true });
    addEventListener('scroll', onScrollAround, { capture: true, passive: true });
    for (const element of [scroller.previousElementSibling!, scroller, flow]) resizeObserver.observe(element);
    return () => {
      cancelAnimationFrame(this.frame);
      resizeObserver.disconnect();
      scroller.removeEventListener('scroll', onScroll);
      removeEventListener('scroll', onScrollAround, { capture: true });
      this.scroller = null;
    };
  }

  /** The messages in the document, in order. */
  elements(): HTMLElement[] {
    return [...(this.scroller?.querySelectorAll<HTMLElement>('article') ?? [])];
  }

  /** The first message in view. */
  firstInView(): HTMLElement | undefined {
    const top = this.scroller?.getBoundingClientRect().top ?? 0;
    return this.elements().find((element) => element.getBoundingClientRect().bottom > top + 1);
  }

  /** Where the person is: the message with the focus if it is in view, else the first in view; null at the end. */
  spot(): Spot | null {
    const { scroller } = this;
    if (!scroller || this.atBottom.peek()) return null;
    const { top, bottom } = scroller.getBoundingClientRect();
    const focused = document.activeElement?.closest<HTMLElement>('article');
    const isInView = (element: HTMLElement): boolean => {
      const box = element.getBoundingClientRect();
      return scroller.contains(element) && box.bottom > top && box.top < bottom;
    };
    const element = focused && isInView(focused) ? focused : this.firstInView();
    return element ? { seq: Number(element.dataset['seq']), top: element.getBoundingClientRect().top - top } : null;
  }

  /** Before the document changes: remembers the position of the first visible entry. */
  beforeChange(): void {
    this.anchor = null;
    const { scroller } = this;
    if (!scroller) return;
    this.hadFocus = scroller.contains(document.activeElement);
    // The scroll event may not have fired yet.
    if (scroller.scrollTop !== this.lastScrollTop) this.updatePosition();
    const { top } = scroller.getBoundingClientRect();
    for (const element of scroller.querySelectorAll<HTMLElement>('[data-seq]')) {
      const box = element.getBoundingClientRect();
      if (box.bottom <= top) continue;
      this.anchor = { seq: element.dataset['seq']!, top: box.top };
      if (box.top >= top - 1) return;
    }
  }

  /** After the change: scrolls to the target, follows the end, or restores the remembered position. */
  afterChange(scroller: HTMLElement, target: ScrollTarget): void {
    this.scroller = scroller;
    if (target !== this.reachedTarget && this.scrollToTarget(scroller, target)) {
      this.reachedTarget = target;
      this.lastTop = scroller.getBoundingClientRect().top;
    } else if (this.timeline.following && this.timeline.atEnd.peek()) this.scrollToEnd();
    else if (this.anchor) {
      const element = scroller.querySelector(`[data-seq="${this.anchor.seq}"]`);
      const moved = element ? element.getBoundingClientRect().top - this.anchor.top : 0;
      if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
    }
    this.anchor = null;
    // The focused element may have been removed.
    if (this.hadFocus && document.activeElement === document.body) scroller.focus({ preventScroll: true });
    this.updateReading();
  }

  /** Loads more if an end is near. */
  loadMore(): void {
    const { scroller, timeline } = this;
    if (!scroller || !timeline.opened.peek() || timeline.stalled) return;
    const ahead = scroller.clientHeight * PREFETCH_VIEWS;
    if (scroller.scrollTop < ahead && !timeline.atStart.peek())
      void timeline.loadMore('older').then(() => this.scheduleLoadMore());
    else if (scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < ahead && !timeline.atEnd.peek())
      void timeline.loadMore('newer').then(() => this.scheduleLoadMore());
  }

  /** Checks again after a page was added, because a short page may not be enough. */
  private scheduleLoadMore(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.loadMore();
    });
  }

  private scrollToEnd(): void {
    if (this.scroller) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /** Scrolls to what was read before the width changed. */
  private scrollToReading(scroller: HTMLElement): void {
    const { reading } = this;
    const element = reading && scroller.querySelector(`[data-seq="${reading.seq}"]`);
    if (element) {
      const { top, height } = element.getBoundingClientRect();
      scroller.scrollTop += top - this.lastTop - reading.below * (reading.below < 0 ? height : 1);
    } else if (this.timeline.following) this.scrollToEnd();
  }

  /** After the view moved: notes what is read now. */
  private updateReading(): void {
    this.updatePosition();
    const { scroller } = this;
    // Where the width has just changed, what was read before is still to come back.
    if (!scroller || scroller.clientWidth !== this.lastWidth) return;
    this.setReading(null);
    if (this.timeline.following) return;
    const view = scroller.getBoundingClientRect().top;
    for (const element of scroller.querySelectorAll<HTMLElement>('[data-seq]')) {
      const { top, bottom, height } = element.getBoundingClientRect();
      if (bottom < view + LINE_PX) continue;
      const below = top - view;
      // A message holds its replies, which come after it here: the last one that begins above is read.
      if (below >= 0 && this.reading) return;
      this.setReading({ seq: element.dataset['seq']!, below: below < 0 ? below / height : below });
      if (below >= 0) return;
    }
  }

  private setReading(reading: { seq: string; below: number } | null): void {
    this.reading = reading;
    this.timeline.reading = reading && Number(reading.seq);
  }

  private updatePosition(): void {
    const { scroller, timeline } = this;
    if (!scroller) return;
    this.lastScrollTop = scroller.scrollTop;
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    const atEnd = left < END_DISTANCE_PX && timeline.atEnd.peek();
    timeline.following = atEnd;
    if (this.atBottom.peek() !== atEnd) this.atBottom.value = atEnd;
  }

  /** Returns false if the target is not in the document yet. */
  private scrollToTarget(scroller: HTMLElement, { seq, focus, top = TOP_MARGIN_PX }: ScrollTarget): boolean {
    // Messages may come when the person writes already, and what is typed then must not become keys.
    const takesFocus = focus && !isTextField(document.activeElement);
    if (seq === null) {
      if (!this.timeline.atEnd.peek()) return false;
      this.timeline.following = true;
      this.scrollToEnd();
      if (takesFocus) this.elements().at(-1)?.focus({ preventScroll: true });
      return true;
    }
    const element = scroller.querySelector<HTMLElement>(`article[data-seq="${seq}"]`);
    if (!element) return false;
    this.timeline.following = false;
    scroller.scrollTop += element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - top;
    if (takesFocus) element.focus({ preventScroll: true, focusVisible: this.timeline.opened.peek() } as FocusOptions);
    return true;
  }
}
