/** Where the focus goes when the element that has it is removed. */

/** Moves the focus to what the screen shows. */
export function focusMain(): void {
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

/** How long the screen has to move the focus itself. */
const OWN_FOCUS_MS = 100;

/** What has the focus only because the element that had it is gone. */
let standIn: Element | null = null;

/** Whether nothing has the focus that a person or the screen gave it to. */
export const isFocusLost = (): boolean => {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement === standIn;
};

/**
 * Where the element with the focus goes, such as the button of what was just ended, the focus goes to what is left
 * around it, unless the screen moves it elsewhere.
 */
export function keepFocus(): void {
  let around: readonly EventTarget[] = [];
  // Before what keeps the event to itself, as messages do.
  addEventListener(
    'focusin',
    (event) => {
      around = event.composedPath();
      standIn = null;
    },
    true,
  );
  const restore = (): void => {
    if (document.activeElement !== document.body) return;
    const left = around.find((target): target is HTMLElement => target instanceof HTMLElement && target.isConnected);
    if (!left?.closest('main')) focusMain();
    else {
      // What the Tab key reaches, such as a message, stays so.
      if (left.tabIndex < 0) left.tabIndex = -1;
      left.focus({ preventScroll: true });
    }
    standIn = document.activeElement;
  };
  new MutationObserver(() => {
    const [last] = around;
    if (document.activeElement === document.body && last instanceof Node && !last.isConnected)
      setTimeout(restore, OWN_FOCUS_MS);
  }).observe(document.body, { childList: true, subtree: true });
}
