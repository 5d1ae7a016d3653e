/** Toasts that say what became of an action. They stay longer while hovered or focused. Not for errors that must stay. */
import { signal } from '@preact/signals';

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void } | undefined;
}

const toasts = signal<Toast[]>([]);
const DURATION_MS = 6_000;
let lastId = 0;

const remove = (id: number): void => {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
};

/** Shows a toast. */
export function toast(text: string, action?: { label: string; run: () => void }): void {
  const id = ++lastId;
  toasts.value = [...toasts.peek().slice(-2), { id, text, action }];
  const end = (): void => {
    if (document.querySelector(`[data-toast="${id}"]`)?.matches(':focus-within, :hover')) setTimeout(end, DURATION_MS);
    else remove(id);
  };
  setTimeout(end, DURATION_MS);
}

/** Copies a text to the clipboard and shows "Copied" with the name `what`, or that the browser did not allow it. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied ${what}`);
  } catch {
    // Without permission, or without https, where there is no clipboard.
    toast(`The browser did not let this page copy ${what}. Select it and copy it with the keyboard.`);
  }
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
