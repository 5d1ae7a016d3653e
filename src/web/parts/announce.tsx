/** What a reader of the screen hears without going there: politely, or at once. */
import { type Signal, signal } from '@preact/signals';

interface Said {
  text: string;
  /** Makes the same text a new one, which is said again. */
  count: number;
}

const polite = signal<Said>({ text: '', count: 0 });
const assertive = signal<Said>({ text: '', count: 0 });

/** Says a text at the next pause, or at once if it is urgent. */
export function announce(text: string, { urgent = false } = {}): void {
  const region = urgent ? assertive : polite;
  region.value = { text, count: region.peek().count + 1 };
}

const Text = ({ of }: { of: Signal<Said> }) => <span key={of.value.count}>{of.value.text}</span>;

export const Announcements = () => (
  <>
    <div class="vh" aria-live="polite" data-testid="said">
      <Text of={polite} />
    </div>
    <div class="vh" aria-live="assertive" data-testid="said-at-once">
      <Text of={assertive} />
    </div>
  </>
);
