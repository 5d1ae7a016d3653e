/** Which handles people can choose. */
import { Refusal } from '../../contract/errors.ts';
import { patterns, reservedHandles } from '../../contract/ids.ts';
import { slug } from '../../contract/text.ts';
import { findSecrets } from '../text/redaction.ts';

const MAX = 40;

/** @throws Refusal `handle_invalid`, whose hint suggests one that would do. */
export function requireUsableHandle(handle: string): void {
  const fits = handle.length <= MAX && patterns.handle.test(handle);
  if (fits && !reservedHandles.includes(handle)) return;
  // A key that was pasted here by mistake is not repeated in the hint.
  const near = findSecrets(handle).length > 0 ? '' : slug(handle);
  const better = near === '' || reservedHandles.includes(near) ? '' : ` For example: ${near}.`;
  throw new Refusal('handle_invalid', 'This handle cannot be used.', {
    hint: `A handle has up to ${MAX} small letters and digits, in groups joined by hyphens, and is no reserved word.${better}`,
  });
}

/**
 * The one answer for a handle that is somebody's or once was, or that a member of one of the person's boards has as a
 * name: which of them it is would tell of boards that the caller may not see.
 */
export const handleTaken = (handle: string): Refusal =>
  new Refusal('handle_taken', `The handle ${handle} is taken.`, {
    hint: 'Choose another: a handle is never given to a second person, and is no name of another member of their boards.',
  });
