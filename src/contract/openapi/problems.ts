/** Describes validation errors to the client: which field is wrong, and what it accepts. */
import type { z } from 'zod';

/** The default hint; a caller that knows what was typed replaces it. */
export const ANY_REQUEST = 'service openapi shows what every request takes.';

/** The message names what is accepted, never what was sent, and begins with the field. */
interface Problem {
  /** Such as `to.0`; empty where the whole value is wrong. */
  field: string;
  problem: string;
}

/** Parses a value with a schema: the parsed value, or all problems. */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { problems: [Problem, ...Problem[]] } {
  const read = schema.safeParse(value, { error: inWords });
  if (read.success) return { data: read.data };
  return { problems: read.error.issues.map((issue) => problemOf(issue)) as [Problem, ...Problem[]] };
}

/** For a union, the problems of the alternative that matches best. */
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

/** Schemas with other checks carry their own message; a test sends an invalid value to each. */
const OTHER = 'is not of the accepted form';

const inWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'is missing; it ' : ''}must be ${typeName(issue)}`;
    case 'invalid_value':
      return `${issue.input === undefined ? 'is missing; it ' : ''}must be ${either(issue.values)}`;
    case 'too_small':
      return issue.inclusive === false && issue.origin === 'number'
        ? `must be more than ${issue.minimum}`
        : sized(issue.origin, 'at least', Number(issue.minimum));
    case 'too_big':
      return sized(issue.origin, 'at most', Number(issue.maximum));
    case 'unrecognized_keys':
      return notKnown(namesOf(issue));
    case 'invalid_key':
      return nameProblem(issue.issues[0]?.message ?? OTHER);
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

/** A whole number says so for every invalid value. */
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

/** The problem of an unknown field. @param names of the known fields */
export const notKnown = (names: readonly string[]): string =>
  `is not known here${names.length === 0 ? '' : `; known are ${names.join(', ')}`}`;

/** The description of a field whose name does not fit. */
export const nameProblem = (problem: string): string => `has a name that ${problem}`;

/** The values of the discriminating field, or the description of each alternative. */
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
