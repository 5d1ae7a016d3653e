/** What separates entries: a day, or where the new ones begin. */
import type { ComponentChildren } from 'preact';

export const Separator = ({ kind, children }: { kind: 'day' | 'new'; children: ComponentChildren }) => (
  // biome-ignore lint/a11y: a rule cannot hold words, and nothing moves this one
  <div class={kind} role="separator">
    {children}
  </div>
);
