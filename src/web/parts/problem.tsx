/** An error where it happened: the API's message, its hint, and what the person can do. */
import type { ComponentChildren } from 'preact';
import { problemOf } from '../api/errors.ts';
import { Icon } from './icon.tsx';

/**
 * @param error nothing is shown for null
 * @param again tries once more
 */
export function ProblemLine(props: { error: unknown; again?: () => unknown; children?: ComponentChildren }) {
  const { error, again, children } = props;
  if (error === null) return null;
  const { message, hint, code } = problemOf(error);
  return (
    <div class="problem" role="alert" data-code={code}>
      <Icon name="urgent" />
      <span>
        {message} {hint && <span class="q2">{hint}</span>}
      </span>
      {again && (
        <button type="button" class="b" onClick={() => void again()}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}
