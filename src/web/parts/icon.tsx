/** Icons, buttons that are only an icon, and the logo. */
import type { ButtonHTMLAttributes } from 'preact';
import type { Task } from '../../contract/types.ts';

/** An icon of the sprite in index.html. Hidden from screen readers, so never use it without a text. */
export const Icon = ({ name, small = false }: { name: string; small?: boolean }) => (
  <svg class={small ? 'i i12' : 'i'} aria-hidden="true">
    <use href={`#i-${name}`} />
  </svg>
);

type IconButtonProps = ButtonHTMLAttributes & {
  icon: string;
  label: string;
  small?: boolean;
  on?: boolean;
  class?: string;
};

/** A button that shows an icon and is named by its label. @param on whether it is pressed, if it stays so */
export const IconButton = ({ icon, label, small, on, class: more, ...rest }: IconButtonProps) => (
  <button
    type="button"
    class={`b bare ic${more ? ` ${more}` : ''}${on ? ' on' : ''}`}
    aria-label={label}
    aria-pressed={on}
    {...rest}
  >
    <Icon name={icon} small={small} />
  </button>
);

/** The icon of each state of a task. */
export const taskIcons: Record<Task['state'], string> = {
  open: 'open',
  in_progress: 'half',
  done: 'task',
  cancelled: 'x',
};

/** The logo. */
export const Mark = ({ size = 22 }: { size?: number }) => (
  <svg class="mark" width={size} height={size} viewBox="0 0 22 22" aria-hidden="true">
    <rect class="mark-ground" width="22" height="22" rx="6" />
    <path class="mark-lines" d="M6 7h10M6 11h7" />
    <rect class="mark-you" x="6" y="14" width="4.5" height="2.6" rx=".6" />
  </svg>
);
