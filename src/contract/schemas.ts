/** Building blocks shared by the schemas of all areas. Lengths of text count Unicode code points. */
import { z } from 'zod';
import { type IdPrefix, idPattern, patterns, reservedHandles } from './ids.ts';
import { isoTime } from './iso-time.ts';
import { nameProblem, titleProblem } from './one-line.ts';
import { codePoints } from './text.ts';

/** Bodies in which null is the same as an absent field: those of boards, their people and their seats. */
export const nullsLeftOut = z.registry<undefined>();

export const id = (prefix: IdPrefix) =>
  z.string().regex(idPattern(prefix), `must be an id that starts with ${prefix}_`);
export const time = z.string().regex(patterns.time, 'must be a time in UTC such as 2026-03-02T09:00:00.000Z');
/** A time as it is sent to the server, in any form of ISO 8601; it becomes milliseconds since the epoch. */
export const sentTime = z
  .string()
  .refine(
    (value) => !Number.isNaN(isoTime(value)),
    'must be a date and time that exist, with Z or an offset, such as 2026-03-02T09:00:00Z',
  )
  .meta({ format: 'date-time' })
  .transform(isoTime);
export const handle = z
  .string()
  .max(40)
  .regex(patterns.handle, 'must be up to 40 small letters and digits, in groups joined by hyphens');
export const boardName = z
  .string()
  .regex(patterns.boardName, 'must be 2 to 40 small letters, digits and hyphens, with no hyphen at either end');
export const memberName = z
  .string()
  .regex(patterns.memberName, 'must be up to 40 small letters, digits and hyphens, and not begin with a hyphen');
export const roleName = z
  .string()
  .regex(patterns.roleName, 'must be up to 32 small letters, digits and hyphens, and begin with a letter');
export const digest = z.string().regex(patterns.digest, 'must be sha256: and 64 hexadecimal digits');
export const seq = z.int().min(0);
export const serverRole = z.enum(['admin', 'member', 'guest']);
export const deliveryMode = z.enum(['focused', 'all', 'humans', 'off']);
/** Whose messages may reach a person's agents in the middle of a turn. */
export const midturnPolicy = z.enum(['owner-only', 'my-agents']);
export const presence = z.enum(['working', 'idle', 'waiting', 'no_session']);

/** A text of at most `max` code points. */
export const text = (max: number, min = 0) =>
  z
    .string()
    .refine(
      (value) => {
        const length = value.length <= max && min <= 1 ? value.length : codePoints(value);
        return length >= min && length <= max;
      },
      { error: `must have ${min === 0 ? 'at most' : `${min} to`} ${max} characters`, abort: true },
    )
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max });

/** A title of one line: at most `max` code points, all of them seen. */
export const oneLine = (max: number, min = 0, problemOf = titleProblem) =>
  text(max, min).superRefine((value, context) => {
    const problem = problemOf(value);
    if (problem !== null) context.addIssue(problem);
  });

/** A whole number in a query string. */
export const queryInt = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const problem = `must be a whole number ${bounds}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, problem)
    .transform(Number)
    .refine((value) => value >= min && value <= max, problem)
    .meta({ type: 'integer', minimum: min, maximum: max });
};

/** A boolean in a query string: exactly `true` or `false`. */
export const queryBool = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ type: 'boolean' });

/** A handle that a person can choose: not a reserved word. */
export const newHandle = handle.refine((value) => !reservedHandles.includes(value), 'is a word that nobody may have');

const MAX_DISPLAY_NAME = 80;

/** Normalising a long text is slow, so one that is too long in any case (at most four parts of two units each) is left as is. */
const composed = (value: string): string => (value.length > MAX_DISPLAY_NAME * 8 ? value : value.normalize('NFC'));

/** A display name: trimmed, one line that cannot be mistaken for another; an empty one becomes null. */
export const displayName = z
  .string()
  .transform((value) => composed(value.trim()))
  .pipe(oneLine(MAX_DISPLAY_NAME, 0, nameProblem))
  .transform((value) => (value === '' ? null : value));

/** A person, as the server knows them. */
export const person = z.strictObject({
  id: id('hum'),
  handle,
  display_name: z.string().nullable(),
  server_role: serverRole,
  created_at: time,
});

/** The name of a key, a delegation or a machine. */
export const keyName = z
  .string()
  .max(40)
  .regex(patterns.keyName, 'must be up to 40 small letters and digits, in groups joined by hyphens');

/**
 * A key that the client made itself and has saved before it sends it: 32 bytes in base64url, written in the one way
 * they encode again.
 */
export const clientToken = z
  .string()
  .regex(/^abh_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, 'must be abh_ and the base64url of 32 bytes')
  .describe(
    "The secret of the new key, made and saved by the client: with it the request may be sent again when its answer was lost, a guest's within 10 minutes. Left out, the server makes one and shows it once.",
  );

/** The proof of one endpoint, which its runtime made and has saved before it sends it; written in the one way 32 bytes encode. */
export const proofToken = z
  .string()
  .regex(/^abp_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, 'must be abp_ and the base64url of 32 bytes');

/** Page of a directory: people, keys, sessions, delegations, invites. */
export const directoryQuery = z.object({
  limit: queryInt(1, 500).default(200),
  after: z.string().max(200).optional(),
});
export const nextAfter = z.string().nullable();

/** The author, the addressee or the one who acted: `from`, `by`, `created_by`. */
export const actor = z.strictObject({
  id: id('mem'),
  name: memberName,
  kind: z.enum(['agent', 'human']),
  role: roleName.nullable(),
  owner: handle.nullable(),
  harness: z.string().nullable(),
});

/** Who caused an event, as frozen in the record. */
export const eventActor = z.strictObject({
  kind: z.enum(['agent', 'human', 'system']),
  member_id: id('mem').nullable(),
  name: z.string().nullable(),
  owner: z.string().nullable(),
});

export const errorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    hint: z.string(),
    next: z.strictObject({ command: z.string(), resume: z.string(), board_view: z.string().optional() }).optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Whether each is named only once. */
export const once = (ids: readonly string[]): boolean => new Set(ids).size === ids.length;
