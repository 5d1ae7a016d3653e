/** The forms a message's targets can have. Whether they exist on the board is decided elsewhere. */
import { Refusal } from '../../contract/errors.ts';
import { patterns } from '../../contract/ids.ts';
import { redact } from '../text/redaction.ts';

export type Target =
  | { kind: 'all' }
  | { kind: 'name'; name: string }
  | { kind: 'role'; role: string }
  | { kind: 'owner'; handle: string };

const MAX_HANDLE = 40;
const MAX_QUOTED = 60;

/** Reads `all`, `@name`, `role:R` or `owner:handle`, in lower case only; null for anything else. */
export function parseTarget(text: string): Target | null {
  if (text === 'all') return { kind: 'all' };
  if (text.startsWith('@')) {
    const name = text.slice(1);
    return patterns.memberName.test(name) ? { kind: 'name', name } : null;
  }
  if (text.startsWith('role:')) {
    const role = text.slice(5);
    return patterns.roleName.test(role) ? { kind: 'role', role } : null;
  }
  if (text.startsWith('owner:')) {
    const handle = text.slice(6);
    return handle.length <= MAX_HANDLE && patterns.handle.test(handle) ? { kind: 'owner', handle } : null;
  }
  return null;
}

/** A target as an error may quote it: somebody may have pasted a secret into the wrong field. */
export function quoted(target: string): string {
  return [...redact(target).text].slice(0, MAX_QUOTED).join('');
}

interface ParsedTarget {
  /** As posted, which is what the record keeps. */
  text: string;
  target: Target;
}

/**
 * Reads a message's targets: the same one twice is one, the order stays.
 *
 * @throws Refusal `invalid_target` for an unknown form, and for `all` together with others. `details.target` is cut to
 *   60 characters after redaction.
 */
export function parseTargets(list: readonly string[]): ParsedTarget[] {
  const parsed = [...new Set(list)].map((text): ParsedTarget => {
    const target = parseTarget(text);
    if (target) return { text, target };
    throw new Refusal('invalid_target', 'This is not a target a message can have.', {
      hint: 'Use all, @name, role:name or owner:handle, in lower case.',
      details: { target: quoted(text) },
    });
  });
  if (parsed.length > 1 && parsed.some(({ target }) => target.kind === 'all')) {
    throw new Refusal('invalid_target', 'A message to all can have no other target.', {
      hint: 'Leave out the other targets, or leave out all.',
      details: { target: 'all' },
    });
  }
  return parsed;
}
