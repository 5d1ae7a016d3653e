/** The button that summarizes the recipients and opens the list to choose them. */
import { Suspense } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { summarizeMembers, summarizeNames, targetLabel } from './audience.ts';
import type { Props } from './to-list.tsx';

const Choices = lazy(() => import('./to-list.tsx'));

export function ToMenu(props: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const leave = ({ target }: Event): void => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    addEventListener('mousedown', leave);
    addEventListener('focusin', leave);
    return () => {
      removeEventListener('mousedown', leave);
      removeEventListener('focusin', leave);
    };
  }, [open]);
  const { to, others } = props;
  const everyone = to.includes('all');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the list from wherever the focus is in it
    <div
      class="to-menu"
      ref={root}
      onKeyDown={(event) => {
        if (!open || event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        setOpen(false);
        opener.current?.focus();
      }}
    >
      <button ref={opener} type="button" class="tosum" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="at" />
        <span class="cut">
          {props.answers === null ? 'To ' : `Answers ${props.answers}, to `}
          <b>{everyone ? 'Everyone' : summarizeNames(to.map(targetLabel)) || 'nobody: choose who gets it'}</b>
          {everyone && <span class="desk">: {summarizeMembers(others)}</span>}
        </span>
        <Icon name="down" small />
      </button>
      {open && (
        <Suspense fallback={null}>
          <Choices {...props} />
        </Suspense>
      )}
    </div>
  );
}
