/** A modal dialog. When it closes, the focus returns to the element that opened it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** @param label its accessible name */
export function Dialog(props: { label: string; class?: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  /** Whether the mouse was pressed beside the dialog, and not only let go there after selecting text. */
  const pressedBeside = useRef(false);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const { current } = dialog;
    current?.showModal();
    return () => {
      current?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it, as Escape does
    <dialog
      ref={dialog}
      class={`dlg ${props.class ?? ''}`}
      aria-label={props.label}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onMouseDown={({ target }) => {
        pressedBeside.current = target === dialog.current;
      }}
      onClick={({ target }) => {
        if (target === dialog.current && pressedBeside.current) props.onClose();
      }}
    >
      {props.children}
    </dialog>
  );
}
