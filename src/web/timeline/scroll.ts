/** Where the view stands: it stays on what is read while things change around it, and asks for more at both ends. */
import { signal } from '@preact/signals';
import type { Aim, Timeline } from './timeline.ts';

/** This near to the end it goes on with what is new. */
const AT_END = 24;
/** More is read when less than this many views are left. */
const AHEAD = 2;
/** Something of what came before stays in view above what it opens at. */
const LEAD = 96;

export class Scroll {
  /** Whether the end is in view. */
  readonly atBottom = signal(true);
  private readonly timeline: Timeline;
  private scroller: HTMLElement | null = null;
  private anchor: { seq: string; top: number } | null = null;
  private done: Aim | null = null;
  private frame = 0;
  /** Whether something in it had the focus before the change. */
  private held = false;
  /** How far it was scrolled when that was last looked at. */
  private top = 0;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  /** Follows an element. The result ends it. */
  attach(scroller: HTMLElement, flow: HTMLElement): () => void {
    this.scroller = scroller;
    const moved = (): void => {
      this.see();
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        this.fill();
      });
    };
    const sized = new ResizeObserver(() => {
      if (scroller.scrollTop !== this.top) this.see();
      if (this.timeline.following) this.toEnd();
      moved();
    });
    scroller.addEventListener('scroll', moved, { passive: true });
    sized.observe(flow);
    sized.observe(scroller);
    return () => {
      cancelAnimationFrame(this.frame);
      sized.disconnect();
      scroller.removeEventListener('scroll', moved);
      this.scroller = null;
    };
  }

  /** The entries as they stand in the document, in order. */
  elements(): HTMLElement[] {
    return [...(this.scroller?.querySelectorAll<HTMLElement>('article') ?? [])];
  }

  /** The first message in view. */
  firstInView(): HTMLElement | undefined {
    const top = this.scroller?.getBoundingClientRect().top ?? 0;
    return this.elements().find((element) => element.getBoundingClientRect().bottom > top + 1);
  }

  /** Remembers where the first entry in view stands, before the document changes. */
  beforeChange(): void {
    this.anchor = null;
    const { scroller } = this;
    if (!scroller) return;
    this.held = scroller.contains(document.activeElement);
    // The event of a scroll may still be on its way.
    if (scroller.scrollTop !== this.top) this.see();
    const { top } = scroller.getBoundingClientRect();
    for (const element of scroller.querySelectorAll<HTMLElement>('[data-seq]')) {
      const box = element.getBoundingClientRect();
      if (box.bottom <= top) continue;
      this.anchor = { seq: element.dataset['seq']!, top: box.top };
      if (box.top >= top - 1) return;
    }
  }

  /** After the change: goes where it was sent, stays at the end, or keeps what is read in its place. */
  afterChange(scroller: HTMLElement, aim: Aim): void {
    this.scroller = scroller;
    if (aim !== this.done && this.reach(scroller, aim)) {
      this.done = aim;
      this.anchor = null;
    } else if (this.timeline.following && this.timeline.atEnd.peek()) this.toEnd();
    else if (this.anchor) {
      const element = scroller.querySelector(`[data-seq="${this.anchor.seq}"]`);
      const moved = element ? element.getBoundingClientRect().top - this.anchor.top : 0;
      if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
    }
    this.anchor = null;
    // What had the focus may have been cut off.
    if (this.held && document.activeElement === document.body) scroller.focus({ preventScroll: true });
    this.see();
  }

  /** Reads more at an end that is near. */
  fill(): void {
    const { scroller, timeline } = this;
    if (!scroller || !timeline.opened.peek() || timeline.error.peek() !== null) return;
    const ahead = scroller.clientHeight * AHEAD;
    if (scroller.scrollTop < ahead && !timeline.atStart.peek()) void timeline.more('older').then(() => this.fillOn());
    else if (scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < ahead && !timeline.atEnd.peek())
      void timeline.more('newer').then(() => this.fillOn());
  }

  /** After a page: a short one may not have been enough. */
  private fillOn(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.fill();
    });
  }

  private toEnd(): void {
    if (this.scroller) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  private see(): void {
    const { scroller, timeline } = this;
    if (!scroller) return;
    this.top = scroller.scrollTop;
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    const atEnd = left < AT_END && timeline.atEnd.peek();
    timeline.following = atEnd;
    if (this.atBottom.peek() !== atEnd) this.atBottom.value = atEnd;
  }

  /** Scrolls to where the view is sent; false when it is not in the document yet. */
  private reach(scroller: HTMLElement, { seq, focus }: Aim): boolean {
    if (seq === null) {
      if (!this.timeline.atEnd.peek()) return false;
      this.timeline.following = true;
      this.toEnd();
      if (focus) this.elements().at(-1)?.focus({ preventScroll: true });
      return true;
    }
    const element = scroller.querySelector<HTMLElement>(`article[data-seq="${seq}"]`);
    if (!element) return false;
    this.timeline.following = false;
    scroller.scrollTop += element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - LEAD;
    if (focus) element.focus({ preventScroll: true, focusVisible: this.timeline.opened.peek() } as FocusOptions);
    return true;
  }
}
