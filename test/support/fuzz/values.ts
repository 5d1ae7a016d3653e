/** Values for fuzzing: such as fit a schema, such as are odd, and such as fit but for something odd in one place. */
import fc, { type Arbitrary } from 'fast-check';
import { z } from 'zod';
import { anyCharacter } from '../any-character.ts';

/** What of a JSON Schema matters here. */
interface Schema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  propertyNames?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

const LIMITS = [0, 1, -1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e308, -1e308, 0.5, 1e-7];

const nested = (levels: number): unknown => {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
};

const oddTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\n\r\t',
  '\u202e\u2066right to left',
  'e\u0301\u0301\u0301\u0323',
  '\ud83c',
  '\udf89 half',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  '\ufeff\uffff\u2028',
  '__proto__',
  'constructor',
  'NaN',
  'null',
  'true',
  "'; drop table people; --",
  '%',
  '%_\\',
  '$1 ? :name {} ??',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '"unclosed quote AND OR NEAR( *',
  '(((((',
  '-',
  '-word',
  '@all @everyone @',
  '9'.repeat(400),
  '-0',
  '1e999',
  '٣',
  'İıſK',
  'x'.repeat(32_769),
  'ß'.repeat(9_000),
  '\u{1f389}'.repeat(20_000),
  'a b '.repeat(20_000),
  '@a '.repeat(5_000),
  '```'.repeat(3_000),
] as const;

export const oddText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 60 }) },
);

export const oddValue: Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom<unknown>(null, true, false, [], {}, ...LIMITS),
  fc.constantFrom(nested(5), nested(31), nested(40), nested(2_000)),
  fc.constantFrom<unknown>(Array.from({ length: 60 }, String), Array(5_000).fill(0), [[[]]], { length: 3 }),
  fc.jsonValue(),
);

/** Texts that name something that exists. */
export interface Known {
  texts: readonly string[];
  /** Codes and tokens: for the fields that are meant for them, because a text of a board keeps what it holds. */
  secrets: readonly string[];
}

const textsFor = (field: string, { texts, secrets }: Known): readonly string[] =>
  /^(code|secret|invite|token|key)$/.test(field) ? secrets : texts;

const matching = new Map<string, Arbitrary<string>>();

/** Texts that match; kept, because they are slow to make. */
function matchingTexts(pattern: string): Arbitrary<string> {
  const made = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'));
  matching.set(pattern, made);
  return made;
}

/** Texts that fit a schema; those of the stage, if any does, are the likelier ones, because they lead somewhere. */
function textFor({ pattern, maxLength }: Schema, known: readonly string[]): Arbitrary<string> {
  const expression = pattern === undefined ? null : new RegExp(pattern, 'u');
  const fits = known.filter((text) => (expression?.test(text) ?? true) && text.length <= (maxLength ?? Infinity));
  const free = pattern !== undefined ? matchingTexts(pattern) : fc.string({ maxLength: Math.min(maxLength ?? 40, 40) });
  if (fits.length === 0) return free;
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fits) }, { weight: 1, arbitrary: free });
}

function numberFor({ type, minimum = -(2 ** 53), maximum = 2 ** 53 }: Schema): Arbitrary<number> {
  const least = Math.max(minimum, -(2 ** 53) + 1);
  const most = Math.min(maximum, 2 ** 53 - 1);
  const small = fc.integer({ min: Math.max(least, Math.min(-5, most)), max: Math.min(most, Math.max(least, 0) + 50) });
  const edge = fc.constantFrom(least, most);
  return type === 'integer' ? fc.oneof(small, edge) : fc.oneof(small, edge, fc.double({ min: least, max: most }));
}

function objectFor(schema: Schema, known: Known): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, of]) => [name, fitting(of, { ...known, texts: textsFor(name, known) })]),
  );
  const own = fc.record(fields, { requiredKeys: required.filter((name) => name in fields) });
  if (typeof additionalProperties !== 'object') return own;
  const names = propertyNames ? textFor(propertyNames, []) : fc.string();
  const others = fc.dictionary(names, fitting(additionalProperties, known), { maxKeys: 4 });
  return fc.tuple(own, others).map(([some, more]) => ({ ...some, ...more }));
}

/** Values that fit a JSON Schema, as far as it tells what fits. */
export function fitting(schema: Schema, known: Known): Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fitting(choice, known)));
  if (schema.allOf) return fitting(Object.assign({}, ...schema.allOf), known);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  switch (schema.type) {
    case 'string':
      return textFor(schema, known.texts);
    case 'integer':
    case 'number':
      return numberFor(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      if (schema.prefixItems) return fc.tuple(...schema.prefixItems.map((item) => fitting(item, known)));
      const { minItems = 0, maxItems = 4 } = schema;
      const length = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) };
      return fc.array(fitting(schema.items ?? {}, known), length);
    }
    case 'object':
      return objectFor(schema, known);
    default:
      return fc.jsonValue();
  }
}

export const jsonSchemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;

interface Change {
  how: 'replace' | 'leave out' | 'add' | 'wrap';
  /** Which of the places in a value, counted round. */
  at: number;
  odd: unknown;
}

const change: Arbitrary<Change> = fc.record({
  how: fc.constantFrom('replace', 'replace', 'replace', 'leave out', 'add', 'wrap'),
  at: fc.nat(1_000),
  odd: oddValue,
});

type Holder = Record<string, unknown>;

/** Every place in a value: what holds it, and under which name. */
function placesIn(value: unknown, found: [Holder, string][] = [], depth = 0): [Holder, string][] {
  if (typeof value !== 'object' || value === null || depth > 5) return found;
  for (const key of Object.keys(value).slice(0, 50)) {
    found.push([value as Holder, key]);
    placesIn((value as Holder)[key], found, depth + 1);
  }
  return found;
}

const nameOf = (odd: unknown): string => (typeof odd === 'string' ? odd : typeof odd).slice(0, 100);

function changed(value: unknown, { how, at, odd }: Change): unknown {
  const root: Holder = { it: structuredClone(value) };
  const places = placesIn(root);
  const [holder, key] = places[at % places.length] as [Holder, string];
  if (how === 'leave out') delete holder[key];
  else if (how === 'wrap') holder[key] = [holder[key]];
  else if (how === 'add' && typeof root['it'] === 'object' && root['it'] !== null)
    Object.defineProperty(root['it'], nameOf(odd), { value: odd, enumerable: true, configurable: true });
  else holder[key] = odd;
  return root['it'];
}

/** Values of which most fit and the others are odd in one place or two. */
export const nearly = (good: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc
    .tuple(
      good,
      fc.oneof(
        { weight: 1, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(change, { minLength: 1, maxLength: 2 }) },
      ),
    )
    .map(([value, changes]) => changes.reduce<unknown>(changed, value));
