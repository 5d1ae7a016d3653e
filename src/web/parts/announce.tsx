/** Live regions for screen readers: polite, or assertive for urgent texts. */
import { type Signal, signal } from '@preact/signals';

interface Announcement {
  text: string;
  /** Changes with each announcement, so that a repeated text is read again. */
  count: number;
}

const polite = signal<Announcement>({ text: '', count: 0 });
const assertive = signal<Announcement>({ text: '', count: 0 });

/** Announces a text to screen readers; an urgent one interrupts. */
export function announce(text: string, { urgent = false } = {}): void {
  const region = urgent ? assertive : polite;
  region.value = { text, count: region.peek().count + 1 };
}

const Region = ({ announcement }: { announcement: Signal<Announcement> }) => (
  <span key={announcement.value.count}>{announcement.value.text}</span>
);

export const Announcements = () => (
  <>
    <div class="vh" aria-live="polite" data-testid="said">
      <Region announcement={polite} />
    </div>
    <div class="vh" aria-live="assertive" data-testid="said-at-once">
      <Region announcement={assertive} />
    </div>
  </>
);
