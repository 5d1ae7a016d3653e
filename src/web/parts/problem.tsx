/** Shows an error with its hint and a retry button. */
import type { ComponentChildren } from 'preact';
import { toProblem } from '../api/errors.ts';
import { Icon } from './icon.tsx';

/** @param error renders nothing if null */
export function ProblemLine(props: { error: unknown; onRetry?: () => unknown; children?: ComponentChildren }) {
  const { error, onRetry, children } = props;
  if (error === null) return null;
  const { message, hint, code } = toProblem(error);
  return (
    <div class="problem" role="alert" data-code={code}>
      <Icon name="urgent" />
      <span>
        {message} {hint && <span class="q2">{hint}</span>}
      </span>
      {onRetry && (
        <button type="button" class="b" onClick={() => void onRetry()}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}
