/** A note that an ask blocks work. */
import { Icon } from '../parts/icon.tsx';

export const Blocks = ({ note }: { note: string }) => (
  <span class="st bad">
    <Icon name="block" small />
    {note}
  </span>
);
