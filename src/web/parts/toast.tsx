/** Toasts that say what became of an action. */
import { signal } from '@preact/signals';

interface Toast {
  id: number;
  text: string;
  /** It ends the toast unless it resolves to false. */
  action?: { label: string; run: () => unknown } | undefined;
  /** Until the person closes it. */
  stays?: boolean;
}

const toasts = signal<Toast[]>([]);
const DURATION_MS = 6_000;
let lastId = 0;

const remove = (id: number): void => {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
};

/** Shows at most three that go by themselves, and each text once. */
function show(shown: Omit<Toast, 'id'>): number {
  const id = ++lastId;
  const others = toasts.peek().filter(({ text }) => text !== shown.text);
  toasts.value = [...others.filter(({ stays }, n) => stays || n >= others.length - 2), { id, ...shown }];
  return id;
}

/** Shows a toast for six seconds, and longer while it is hovered or focused. */
export function toast(text: string, action?: Toast['action']): void {
  const id = show({ text, action });
  const end = (): void => {
    if (document.querySelector(`[data-toast="${id}"]`)?.matches(':focus-within, :hover')) setTimeout(end, DURATION_MS);
    else remove(id);
  };
  // Counted from when it is on the screen: a hidden or busy page shows it later.
  requestAnimationFrame(() => setTimeout(end, DURATION_MS));
}

/** Shows an error in a toast, until the person closes it or does what it offers. */
export function toastError(text: string, action?: Toast['action']): void {
  show({ text, action, stays: true });
}

/**
 * Copies a text to the clipboard and shows "Copied" with the name `what`, or that the browser did not allow it. Resolves to
 * whether it did.
 */
export async function copy(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied ${what}`);
    return true;
  } catch {
    // Without permission, or without https, where there is no clipboard.
    toastError(`The browser did not let this page copy ${what}. Select it and copy it with the keyboard.`);
    return false;
  }
}

/** A screen reader says an error at once, and what was done when it has time. */
export const Toasts = () => (
  <div class="toasts">
    <List shown={toasts.value.filter(({ stays }) => stays)} />
    <div role="status">
      <List shown={toasts.value.filter(({ stays }) => !stays)} />
    </div>
  </div>
);

const List = ({ shown }: { shown: readonly Toast[] }) => (
  <>
    {shown.map(({ id, text, action, stays }) => (
      <div class="toast" key={id} data-toast={id} role={stays ? 'alert' : undefined}>
        <span class="sp">{text}</span>
        {[action, stays && { label: 'Close', run: () => {} }].map(
          (each) =>
            each && (
              <button
                key={each.label}
                type="button"
                class="b"
                onClick={async () => {
                  if ((await each.run()) !== false) remove(id);
                }}
              >
                {each.label}
              </button>
            ),
        )}
      </div>
    ))}
  </>
);
