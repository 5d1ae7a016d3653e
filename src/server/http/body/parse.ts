/** From the wire to an operation's input, by its schemas. */
import { z } from 'zod';
import { Refusal } from '../../../contract/errors.ts';
import { nameProblem, notKnown, readAs } from '../../../contract/openapi/problems.ts';
import type { Shapes } from '../../../contract/operation.ts';
import { type OperationName, operations } from '../../../contract/operations.ts';
import { nullsLeftOut } from '../../../contract/schemas.ts';
import { redact } from '../../text/redaction.ts';
import type { Once } from '../context.ts';
import { malformed } from '../limits.ts';
import { one } from '../request-head.ts';
import { parseJson } from './json.ts';

/** The body of an operation that takes none. */
const nothing = z.strictObject({});
const partsOf = (name: OperationName): Shapes => operations[name];

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
    const repeatable = formsOf(part as z.ZodType).some((form) => form instanceof z.ZodArray);
    if (more.length > 0 && !repeatable) throw malformed(key, 'is given more than once');
    for (const each of all) {
      if (each.includes('\0') || !each.isWellFormed()) throw malformed(key, 'holds a character that is not allowed');
    }
    values[key] = repeatable ? all : value;
  }
  return check(schema, values);
}

/** @throws Refusal `unsupported_media_type`, `invalid_request`. */
export function parseBody(name: OperationName, contentType: Once, bytes: Buffer): unknown {
  const { body: schema = nothing } = partsOf(name);
  if (bytes.length > 0) requireJson(contentType);
  const value = bytes.length === 0 ? {} : parseJson(bytes);
  requireKnown([schema], value);
  return check(schema, nullsLeftOut.has(schema) ? withoutNulls(schema, value) : value);
}

/**
 * Refuses the first field that no form of a value knows, before anything else is asked of it: reading a body as its
 * schema finds every fault of it, and there may be a hundred thousand.
 */
function requireKnown(schemas: readonly z.ZodType[], value: unknown, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  const forms = schemas.flatMap(formsOf);
  if (Array.isArray(value)) {
    const items = forms.flatMap((form) => (form instanceof z.ZodArray ? [form.element as z.ZodType] : []));
    for (let n = 0; n < value.length && items.length > 0; n++) requireKnown(items, value[n], `${path}${n}.`);
    return;
  }
  const objects = forms.filter((form) => form instanceof z.ZodObject || form instanceof z.ZodRecord);
  for (const name in value) {
    const parts = objects.flatMap((form) => partOf(form, name));
    if (parts.length > 0) requireKnown(parts, (value as Record<string, unknown>)[name], `${path}${name}.`);
    else if (objects.length > 0) throw wrong(`${path}${name.slice(0, 60)}`, problemOf(objects, name));
  }
}

/** A schema without what only says that it may be left out, or each of those that it stands for. */
function formsOf(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return formsOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return formsOf(schema.in as z.ZodType);
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(formsOf);
  return [schema];
}

/** What an object's field is read as; nothing where it has no place. */
function partOf(form: z.ZodObject | z.ZodRecord, name: string): z.ZodType[] {
  if (form instanceof z.ZodObject) return Object.hasOwn(form.shape, name) ? [form.shape[name] as z.ZodType] : [];
  return (form.keyType as z.ZodType).safeParse(name).success ? [form.valueType as z.ZodType] : [];
}

function problemOf(objects: readonly (z.ZodObject | z.ZodRecord)[], name: string): string {
  const [record] = objects.filter((form) => form instanceof z.ZodRecord);
  const read = record ? readAs(record.keyType as z.ZodType, name) : null;
  if (read && 'problems' in read) return nameProblem(read.problems[0].problem);
  return notKnown([...new Set(objects.flatMap((form) => Object.keys((form as z.ZodObject).shape)))]);
}

/** Leaves out each null of a field that may be left out. */
function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return withoutNulls(schema.unwrap() as z.ZodType, value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const shape: Record<string, z.ZodType> = schema instanceof z.ZodObject ? schema.shape : {};
  const others = schema instanceof z.ZodRecord ? (schema.valueType as z.ZodType) : z.unknown();
  const kept = Object.entries(value).flatMap(([name, item]) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const mayLack = field instanceof z.ZodOptional || field instanceof z.ZodDefault;
    return item === null && mayLack ? [] : [[name, withoutNulls(field ?? others, item)]];
  });
  return Object.fromEntries(kept);
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
  throw wrong(field, problem);
}

/** A name that somebody made up may hold whatever was pasted there. */
const wrong = (field: string, problem: string): Refusal => malformed(redact(field).text || 'body', problem);
