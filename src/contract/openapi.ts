/** The API description, made from the operations table and the schemas. */
import { z } from 'zod';
import { type OperationName, type OperationRow, operations, pathParameters } from './operations.ts';
import { errorBody } from './schemas/common.ts';
import { memberJoined } from './schemas/events.ts';
import { schemas } from './schemas/index.ts';

/** The version of the description, not of the server. */
export const API_VERSION = '0.1.0';

type Json = Record<string, unknown>;
type Parts = { params?: z.ZodObject; query?: z.ZodObject; body?: z.ZodType; answer: z.ZodType };

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  }) as Json;
  return rest;
};

/** An OpenAPI 3.1 document of every operation this server offers. */
export function openapi(serverVersion: string): object {
  const paths: Record<string, Json> = {};
  for (const name of Object.keys(operations) as OperationName[]) {
    const row: OperationRow = operations[name];
    paths[row.path] ??= {};
    (paths[row.path] as Json)[row.method.toLowerCase()] = operation(name, row);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Board collaboration service',
      version: API_VERSION,
      description: `Shared boards for people and their software agents. Served by version ${serverVersion}.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      securitySchemes,
      schemas: { Error: schemaOf(errorBody, 'output'), MemberJoined: schemaOf(memberJoined, 'output') },
      headers: { RequestId: { schema: { type: 'string' }, description: 'Names this request in the log.' } },
    },
  };
}

function operation(name: OperationName, row: OperationRow): Json {
  const parts = schemas[name] as unknown as Parts;
  return {
    operationId: name,
    summary: row.summary,
    ...(row.description ? { description: row.description } : {}),
    ...(row.deprecated ? { deprecated: true } : {}),
    security: securityOf(row),
    'x-credentials': row.credentials,
    'x-idempotency': row.idempotency,
    ...(row.archived ? { 'x-archived': row.archived } : {}),
    parameters: [
      ...pathParams(row, parts),
      ...queryParams(parts),
      ...(row.method === 'GET' ? [] : [keyHeader(row)]),
      ...(row.origin ? [originHeader] : []),
    ],
    ...(parts.body ? { requestBody: { required: true, content: json(schemaOf(parts.body, 'input')) } } : {}),
    ...(row.bytes === 'request' ? { requestBody: { required: true, content: bytes } } : {}),
    responses: { ...success(name, row, parts), default: failure },
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

/** Each entry is one way in. */
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

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const bytes: Json = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
const failure = { description: 'A refusal', content: json({ $ref: '#/components/schemas/Error' }) };

const keyHeader = (row: OperationRow): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required: row.keyRequired === true,
  schema: { type: 'string', minLength: 1, maxLength: 128 },
});

function success(name: OperationName, row: OperationRow, parts: Parts): Json {
  const content =
    name === 'openStream'
      ? { 'text/event-stream': { schema: { type: 'string' } } }
      : row.bytes === 'answer'
        ? { '*/*': { schema: { type: 'string', format: 'binary' } } }
        : json(schemaOf(parts.answer, 'output'));
  return Object.fromEntries(row.ok.map((status) => [String(status), { description: row.summary, content }]));
}

const pathParams = (row: OperationRow, parts: Parts): Json[] =>
  pathParameters(row.path).map((name) => {
    const schema = parts.params?.shape[name] as z.ZodType | undefined;
    const about = name === 'board' ? { description: 'Name or id of the board.' } : {};
    return {
      name,
      in: 'path',
      required: true,
      ...about,
      schema: schema ? schemaOf(schema, 'input') : { type: 'string' },
    };
  });

const queryParams = (parts: Parts): Json[] =>
  Object.entries(parts.query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema as z.ZodType, 'input'),
  }));
