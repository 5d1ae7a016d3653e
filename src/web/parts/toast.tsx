/** Short notes at the lower left that something was done: six seconds, longer while they have the focus. Never for errors. */
import { signal } from '@preact/signals';

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void } | undefined;
}

const toasts = signal<Toast[]>([]);
const MS = 6_000;
let last = 0;

const remove = (id: number): void => {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
};

/** Shows a note, such as "Copied". */
export function toast(text: string, action?: { label: string; run: () => void }): void {
  const id = ++last;
  toasts.value = [...toasts.peek().slice(-2), { id, text, action }];
  const end = (): void => {
    if (document.querySelector(`[data-toast="${id}"]`)?.matches(':focus-within, :hover')) setTimeout(end, MS);
    else remove(id);
  };
  setTimeout(end, MS);
}

/** Puts a text on the clipboard and says so. */
export async function copy(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  toast(`Copied ${what}`);
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, action }) => (
      <div class="toast" key={id} data-toast={id}>
        <span class="sp">{text}</span>
        {action && (
          <button
            type="button"
            class="b"
            onClick={() => {
              remove(id);
              action.run();
            }}
          >
            {action.label}
          </button>
        )}
      </div>
    ))}
  </div>
);
