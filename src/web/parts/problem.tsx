/** An error where it happened: the API's message, its hint, and what the person can do. */
import type { ComponentChildren } from 'preact';
import { problemOf } from '../api/errors.ts';
import { Icon } from './icon.tsx';

export function ProblemLine({ error, children }: { error: unknown; children?: ComponentChildren }) {
  const { message, hint, code } = problemOf(error);
  return (
    <div class="problem" role="alert" data-code={code}>
      <Icon name="urgent" />
      <span>
        {message} {hint && <span class="q2">{hint}</span>}
      </span>
      {children}
    </div>
  );
}
