/** A menu button. Arrow keys move, Escape closes and returns the focus to the button. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * @param button the content of the button
 * @param label its accessible name, if the content has no text
 * @param children the items: buttons and links, each of which closes the menu
 */
export function Menu(props: {
  class?: string;
  button: ComponentChildren;
  label?: string;
  opensUp?: boolean;
  children: ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);

  useLayoutEffect(() => {
    if (!open) return;
    items(list.current)[0]?.focus();
    const leave = (event: MouseEvent): void => {
      if (!list.current?.parentElement?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('mousedown', leave);
    return () => removeEventListener('mousedown', leave);
  }, [open]);

  const close = (): void => {
    setOpen(false);
    opener.current?.focus();
  };
  const move = (event: KeyboardEvent): void => {
    const all = items(list.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    const to = steps[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') close();
    else if (to !== undefined) all[(to + all.length) % all.length]?.focus();
    else return;
    if (event.key !== 'Tab') event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="menu">
      <button
        ref={opener}
        type="button"
        class={props.class ?? 'b bare ic'}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={props.label}
        onClick={() => setOpen(!open)}
      >
        {props.button}
      </button>
      {open && (
        <div
          ref={list}
          class={props.opensUp ? 'menu-list up' : 'menu-list'}
          role="menu"
          tabIndex={-1}
          onKeyDown={move}
          // Before the item acts: a dialog that it opens gives the focus back to what has it then.
          onClickCapture={close}
        >
          {props.children}
        </div>
      )}
    </div>
  );
}

const items = (list: HTMLElement | null): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? []),
];
