/** The API description, made from the operations table and the schemas. */
import type { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import { boardFrames, hintFrames, memberJoined } from '../nouns/record.ts';
import { anyRequest, errorCodesOf, keepsAnswers, type OperationRow, pathParameters, statusesOf } from '../operation.ts';
import { nouns, type OperationName } from '../operations.ts';
import { errorBody } from '../schemas.ts';
import { examples } from './examples.ts';
import { guide } from './guide.ts';
import { ApiSchemas, type Json } from './openapi-schemas.ts';

/** The version of the description, not of the server. */
const API_VERSION = '0.1.0';

/** An OpenAPI 3.1 document of every operation this server offers. */
export function openapi(serverVersion: string): object {
  const schemas = new ApiSchemas();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [tag, { operations }] of Object.entries(nouns))
    for (const [name, row] of Object.entries(operations) as [OperationName, OperationRow][]) {
      paths[row.path] ??= {};
      paths[row.path]![row.method.toLowerCase()] = operation(name, row, tag, schemas);
    }
  const all = Object.values(paths).flatMap((methods) => Object.values(methods));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Board collaboration service',
      version: API_VERSION,
      description: guide(serverVersion),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that answered with this description.' }],
    tags: Object.entries(nouns).map(([name, { about }]) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes,
      parameters: shareParameters(all),
      headers: describedHeaders,
      responses: { ...shareRefusals(all), Error: refusal(anyRequest) },
      schemas: components(schemas),
    },
  };
}

/** The data of an event depends on its type: each type has its own schema. */
function components(schemas: ApiSchemas): Json {
  schemas.of(errorBody, 'output');
  const joined = schemas.of(memberJoined, 'output');
  const all = schemas.components() as { Event: { properties: { data: Json } } };
  all.Event.properties.data['anyOf'] = [joined, { type: 'object' }];
  return all;
}

interface Operation extends Json {
  parameters: Json[];
  responses: Record<string, Json>;
}

function operation(name: OperationName, row: OperationRow, tag: string, schemas: ApiSchemas): Operation {
  const { body } = row;
  const request = body ? json(schemas.of(body, 'input'), examples[name]?.body) : row.kind === 'upload' ? binary : null;
  return {
    operationId: name,
    tags: [tag],
    summary: row.summary,
    ...(row.description ? { description: row.description } : {}),
    ...(row.deprecated ? { deprecated: true } : {}),
    security: securityOf(row),
    'x-credentials': row.credentials,
    'x-idempotency': row.idempotency,
    ...(row.archived ? { 'x-archived': row.archived } : {}),
    parameters: [
      ...pathParams(row, schemas),
      ...queryParams(row, schemas),
      ...(row.method === 'GET' ? [] : [keyHeader(row)]),
      ...(row.origin ? [originHeader] : []),
    ],
    ...(request ? { requestBody: { required: !body?.safeParse({}).success, content: request } } : {}),
    responses: { ...success(name, row, schemas), ...refusals(row), default: { $ref: '#/components/responses/Error' } },
  };
}

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  browser: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-service_session',
    description:
      "A browser session; on a local server the cookie is called service_session_<port>. Writes need the server's own Origin.",
  },
  csrf: { type: 'apiKey', in: 'header', name: 'X-Service-CSRF', description: 'The csrf_token of the browser session.' },
};

/** Each entry is an alternative. */
function securityOf({ credentials, method }: OperationRow): Json[] {
  if (credentials.length === 0) return [];
  const browser = method === 'GET' ? { browser: [] } : { browser: [], csrf: [] };
  return credentials.includes('BR') ? [{ bearer: [] }, browser] : [{ bearer: [] }];
}

const originHeader = {
  name: 'Origin',
  in: 'header',
  required: true,
  description: "The server's own origin: only its page may send this.",
  schema: { type: 'string' },
};

const keyHeader = (row: OperationRow): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required: row.keyRequired === true,
  description:
    'Where x-idempotency is K or R, a request that is sent again with the same key is carried out once. Keys that begin with their time, as ULIDs and UUIDs of version 7 do, are stored faster than random ones.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
});

const json = (schema: Json, example?: unknown): Json => ({
  'application/json': example === undefined ? { schema } : { schema, example },
});
const binary: Json = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

/** What a client acts on, besides status and body. */
const describedHeaders = {
  'Retry-After': header('Seconds after which it makes sense to try again; with 429, 503 and idempotency_in_progress.'),
  'Idempotent-Replayed': header('`true`: the kept answer of an earlier request with the same Idempotency-Key.'),
  ETag: header('The digest of the bytes, for If-None-Match and If-Range.'),
  'X-Service-File-Id': header('Id of the file.'),
  'X-Service-File-Version': header('Number of the version that these bytes are.'),
};

function header(description: string): Json {
  return { description, schema: { type: 'string' } };
}

const headers = (...names: (keyof typeof describedHeaders)[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The headers of a success. */
function headersOf(row: OperationRow): Json {
  if (row.kind === 'download') return { headers: headers('ETag', 'X-Service-File-Id', 'X-Service-File-Version') };
  return keepsAnswers(row) ? { headers: headers('Idempotent-Replayed') } : {};
}

/** The codes that come with a time to wait. */
const passing: readonly ErrorCode[] = ['rate_limited', 'unavailable', 'idempotency_in_progress'];

const refusal = (codes: readonly ErrorCode[]): Json => ({
  description: `Codes: ${codes.join(', ')}.`,
  ...(passing.some((code) => codes.includes(code)) ? { headers: headers('Retry-After') } : {}),
  content: json({ $ref: '#/components/schemas/ErrorBody' }),
});

/** The frames of a stream by name, with the data of each. */
const frames = (schemas: ApiSchemas): Json[] => [boardFrames, hintFrames].map((schema) => schemas.of(schema, 'output'));

function success(name: OperationName, row: OperationRow, schemas: ApiSchemas): Record<string, Json> {
  const content =
    row.kind === 'stream'
      ? { 'text/event-stream': { schema: { type: 'string', contentSchema: { anyOf: frames(schemas) } } } }
      : row.kind === 'download'
        ? { '*/*': { schema: { type: 'string', format: 'binary' } } }
        : json(schemas.of(row.answer, 'output'), examples[name]?.answer);
  const answer = { description: row.summary, ...headersOf(row), content };
  return Object.fromEntries(row.ok.map((status) => [String(status), answer]));
}

/** One answer for each status, which names the error codes that come with it. */
function refusals(row: OperationRow): Record<string, Json> {
  const codes = errorCodesOf(row);
  const statuses = [...new Set(codes.flatMap((code) => statusesOf(row, code)))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [String(status), refusal(codes.filter((code) => statusesOf(row, code).includes(status)))]),
  );
}

const pathParams = ({ path, params }: OperationRow, schemas: ApiSchemas): Json[] =>
  pathParameters(path).map((name) => {
    const schema = params?.shape[name] as z.ZodType | undefined;
    const about = name === 'board' ? { description: 'Name or id of the board.' } : {};
    const shape = schema ? schemas.of(schema, 'input') : { type: 'string' };
    return { name, in: 'path', required: true, ...about, schema: shape };
  });

const queryParams = ({ query }: OperationRow, schemas: ApiSchemas): Json[] =>
  Object.entries((query?.shape ?? {}) as Record<string, z.ZodType>).map(([name, schema]) => {
    const { success: optional, data: usual } = schema.safeParse(undefined);
    // A list is written as one text, so what stands for it has no form of its own.
    const shown = usual === undefined || typeof usual === 'object' ? {} : { default: usual };
    return { name, in: 'query', required: !optional, schema: { ...schemas.of(schema, 'input'), ...shown } };
  });

/** Parts that several operations share become components that they refer to. */
class Shared {
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly components: Json = {};

  constructor(parts: readonly Json[]) {
    for (const part of parts) this.#counts.set(JSON.stringify(part), (this.#counts.get(JSON.stringify(part)) ?? 0) + 1);
  }

  /** The part itself, or a reference to its component. @param kind the group of components @param name its name there */
  of(part: Json, kind: string, name: string): Json {
    const text = JSON.stringify(part);
    if (this.#counts.get(text) === 1) return part;
    if (!this.#names.has(text)) {
      let free = name;
      for (let n = 2; free in this.components; n++) free = `${name}${n}`;
      this.#names.set(text, free);
      this.components[free] = part;
    }
    return { $ref: `#/components/${kind}/${this.#names.get(text)}` };
  }
}

/** Answers the components that were made. */
function shareParameters(all: Operation[]): Json {
  const shared = new Shared(all.flatMap(({ parameters }) => parameters));
  const pascal = (name: string) => name.replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
  for (const one of all)
    one.parameters = one.parameters.map((part) => shared.of(part, 'parameters', pascal(String(part['name']))));
  return shared.components;
}

/** Answers the components that were made. */
function shareRefusals(all: Operation[]): Json {
  const refused = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const shared = new Shared(all.flatMap((one) => refused(one).map(([, response]) => response)));
  for (const one of all)
    for (const [status, response] of refused(one))
      one.responses[status] = shared.of(response, 'responses', `Refused${status}`);
  return shared.components;
}
