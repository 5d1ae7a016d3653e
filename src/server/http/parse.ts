/** From the wire to an operation's input, by its schemas. */
import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import { readAs } from '../../contract/problems.ts';
import { nullsLeftOut } from '../../contract/schemas/common.ts';
import { schemas } from '../../contract/schemas/index.ts';
import { redact } from '../text/redaction.ts';
import { parseJson } from './json.ts';
import { malformed } from './limits.ts';
import { type Once, one } from './request-head.ts';

type Parts = { params?: z.ZodObject; query?: z.ZodObject; body?: z.ZodType };
const partsOf = (name: OperationName): Parts => schemas[name] as unknown as Parts;

/** @throws Refusal `invalid_request` for a parameter that can name nothing. */
export function parseParams(name: OperationName, params: Record<string, string>): Record<string, string> {
  const { params: schema } = partsOf(name);
  if (schema) check(schema.loose(), params);
  return params;
}

/** Unknown parameters are ignored, a repeated one is refused. @throws Refusal `invalid_request`. */
export function parseQuery(name: OperationName, querystring: string): unknown {
  const { query: schema } = partsOf(name);
  if (!schema) return {};
  const given = new URLSearchParams(querystring);
  const values: Record<string, string | string[]> = {};
  for (const [key, part] of Object.entries(schema.shape)) {
    const all = given.getAll(key);
    const [value, ...more] = all;
    if (value === undefined) continue;
    const repeatable = takesList(part as z.ZodType);
    if (more.length > 0 && !repeatable) throw malformed(key, 'is given more than once');
    for (const each of all) {
      if (each.includes('\0') || !each.isWellFormed()) throw malformed(key, 'holds a character that is not allowed');
    }
    values[key] = repeatable ? all : value;
  }
  return check(schema, values);
}

/** Whether a parameter may be given several times. */
function takesList(part: z.ZodType): boolean {
  if (part instanceof z.ZodOptional) return takesList(part.unwrap() as z.ZodType);
  if (part instanceof z.ZodPipe) return takesList(part.in as z.ZodType);
  return part instanceof z.ZodArray;
}

/** @throws Refusal `unsupported_media_type`, `invalid_request`. */
export function parseBody(name: OperationName, contentType: Once, bytes: Buffer): unknown {
  const { body: schema } = partsOf(name);
  if (bytes.length > 0) requireJson(contentType);
  const value = bytes.length === 0 ? {} : parseJson(bytes);
  if (schema === undefined) return check(z.strictObject({}), value);
  return check(schema, nullsLeftOut.has(schema) ? withoutNulls(schema, value) : value);
}

/** Leaves out each null of a field that may be left out. */
function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return withoutNulls(schema.unwrap() as z.ZodType, value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { partOf, mayLack } = fieldsOf(schema);
  const kept = Object.entries(value).filter(([name, item]) => item !== null || !mayLack(name));
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutNulls(partOf(name), item)]));
}

/** What the schema of an object says of each of its fields. */
function fieldsOf(schema: z.ZodType): { partOf(name: string): z.ZodType; mayLack(name: string): boolean } {
  if (schema instanceof z.ZodRecord) return { partOf: () => schema.valueType as z.ZodType, mayLack: () => false };
  const shape: Record<string, z.ZodType> = schema instanceof z.ZodObject ? schema.shape : {};
  const partOf = (name: string) => (Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : z.unknown());
  const mayLack = (name: string) => partOf(name) instanceof z.ZodOptional || partOf(name) instanceof z.ZodDefault;
  return { partOf, mayLack };
}

function requireJson(given: Once): void {
  if (given === 'application/json') return;
  const [type, ...parameters] = one(given)
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const utf8 = parameters.every((parameter) => /^charset="?utf-8"?$/.test(parameter) || parameter === '');
  if (type === 'application/json' && utf8) return;
  throw new Refusal('unsupported_media_type', 'The body must be application/json in UTF-8.', {
    hint: 'Send "Content-Type: application/json".',
  });
}

function check(schema: z.ZodType, value: unknown): never {
  const read = readAs(schema, value);
  if ('data' in read) return read.data as never;
  const [{ field, problem }] = read.problems;
  // A name that somebody made up may hold whatever was pasted there.
  throw malformed(redact(field).text || 'body', problem);
}
