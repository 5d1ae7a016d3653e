/** What is wrong with a value, for whoever sent it: which field, and what is accepted there, in plain words. */
import type { z } from 'zod';

/** The hint where there is nothing better to say; whoever knows what was typed has something better. */
export const ANY_REQUEST = 'service openapi shows what every request takes.';

/** It names what is accepted and never what was sent; a sentence begins with the field. */
export interface Problem {
  /** Such as `to.0`; empty where the whole value is wrong. */
  field: string;
  problem: string;
}

/** The value as the schema reads it, or all that is wrong with it. */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { problems: [Problem, ...Problem[]] } {
  const read = schema.safeParse(value, { error: inWords });
  if (read.success) return { data: read.data };
  return { problems: read.error.issues.map((issue) => problemOf(issue)) as [Problem, ...Problem[]] };
}

/** Of a value that may have several forms, what is wrong with the one that comes nearest. */
function problemOf(issue: z.core.$ZodIssue, within: PropertyKey[] = []): Problem {
  const path = [...within, ...issue.path];
  if (issue.code === 'invalid_union') {
    const [first] = issue.errors.toSorted((a, b) => a.length - b.length || depthOf(b) - depthOf(a))[0] ?? [];
    if (first && first.path.length > 0) return problemOf(first, path);
  }
  const unknown = issue.code === 'unrecognized_keys' ? [issue.keys[0]!] : [];
  return { field: [...path, ...unknown].map((part) => String(part).slice(0, 60)).join('.'), problem: issue.message };
}

const depthOf = ([first]: z.core.$ZodIssue[]): number => first?.path.length ?? 0;

const firstOf = ({ errors }: { errors: z.core.$ZodIssue[][] }): z.core.$ZodIssue[] =>
  errors.flatMap((issues) => issues.slice(0, 1));

/** A schema that can be breached in another way says itself what it accepts; a test sends something wrong to all. */
const OTHER = 'is not of the accepted form';

const inWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'is missing; it ' : ''}must be ${typeName(issue)}`;
    case 'invalid_value':
      return `${issue.input === undefined ? 'is missing; it ' : ''}must be ${either(issue.values)}`;
    case 'too_small':
      return sized(issue.origin, 'at least', Number(issue.minimum));
    case 'too_big':
      return sized(issue.origin, 'at most', Number(issue.maximum));
    case 'unrecognized_keys':
      return notKnown(namesOf(issue));
    case 'invalid_key':
      return `has a name that ${issue.issues[0]?.message ?? OTHER}`;
    case 'invalid_union':
      return ofUnion(issue);
    default:
      return OTHER;
  }
};

type Issue<Kind extends z.core.$ZodIssueBase = z.core.$ZodIssue> = z.core.$ZodRawIssue<Kind>;

const typeNames: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** A number that must be whole says so whatever was sent. */
function typeName({ expected, inst }: Issue<z.core.$ZodIssueInvalidType>): string {
  const { format } = (inst?._zod.def ?? {}) as { format?: string };
  return format === 'safeint' ? 'a whole number' : (typeNames[expected] ?? String(expected));
}

function sized(origin: string, bound: 'at least' | 'at most', size: number): string {
  if (origin !== 'string' && origin !== 'array') return `must be ${bound} ${size}`;
  if (bound === 'at least' && size === 1) return 'must not be empty';
  const [one, more] = origin === 'string' ? ['character', 'characters'] : ['entry', 'entries'];
  return `must have ${bound} ${size} ${size === 1 ? one : more}`;
}

function namesOf({ inst }: Issue): string[] {
  const { shape = {} } = (inst?._zod.def ?? {}) as { shape?: object };
  return Object.keys(shape);
}

/** What is wrong with a field that has no place. @param names of those that have one there. */
export const notKnown = (names: readonly string[]): string =>
  `is not known here${names.length === 0 ? '' : `; known are ${names.join(', ')}`}`;

/** The values of the field that tells its forms apart, or else each form. */
function ofUnion({ inst, discriminator, errors }: Issue<z.core.$ZodIssueInvalidUnion>): string {
  const { options = [] } = (inst?._zod.def ?? {}) as { options?: z.ZodType[] };
  if (typeof discriminator === 'string')
    return `must be ${either(options.flatMap((option) => [...(option._zod.propValues?.[discriminator] ?? [])]))}`;
  const forms = new Set(firstOf({ errors }).map(({ message }) => message));
  return [...forms].join(', or ').replaceAll(/, or (is missing; it )?must be /g, ', or ') || OTHER;
}

/** `a`, `a or b`, `a, b or c` */
export function either(values: readonly unknown[]): string {
  const words = values.map((value) => (value === '' ? 'empty' : String(value)));
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
