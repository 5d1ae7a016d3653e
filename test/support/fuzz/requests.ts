/** Requests for fuzzing, as bytes: of every operation, by every kind of credential, right, nearly right and wrong. */
import fc, { type Arbitrary } from 'fast-check';
import { type CredentialKind, type OperationRow, pathParameters } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { fitting, jsonSchemaOf, type Known, nearly, oddText, oddValue } from './values.ts';

/** What requests speak of. */
export interface Stage {
  host: string;
  /** By a name of each: its kind, null for what works nowhere, and its header lines. */
  credentials: Record<string, { kind: CredentialKind | 'page' | null; lines: readonly string[] }>;
  known: Known;
}

export interface FuzzRequest {
  operation: OperationName;
  credential: string;
  bytes: Buffer;
  /** Its end is missing, or what it says of its length is not so: the server may wait for more. */
  cut: boolean;
  /** It is of the operation, whatever it asks of it. */
  plain: boolean;
}

const names = Object.keys(operations) as OperationName[];
const partsOf = (name: OperationName) => operations[name] as Partial<Record<'query' | 'body', never>>;

const oddHeaders = [
  'Accept: */*;q=x',
  'Accept-Encoding: br;q=9',
  'Content-Encoding: gzip',
  'Content-Type: text/plain',
  'Content-Type: application/json; charset=utf-16',
  'Content-Type: application/json; charset="utf-8"; boundary=x',
  'Cookie: a=b; =; ;;; service_session=abb_x; __proto__=1',
  'Cookie: service_session_1=abb_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'Authorization: Bearer',
  'Authorization: Bearer abh_',
  'Authorization: Bearer abd_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'Authorization: Basic eDp5',
  'Authorization: Bearer \x80\xff',
  'Expect: 100-continue',
  'Expect: the unexpected',
  'Forwarded: for=evil',
  'Host: elsewhere.example',
  'Idempotency-Key: ',
  `Idempotency-Key: ${'k'.repeat(129)}`,
  'Idempotency-Key: \xe9',
  'If-None-Match: *',
  'Last-Event-ID: 9999999999999999999',
  'Origin: null',
  'Origin: https://evil.example',
  'Range: bytes=9-1',
  'Sec-Fetch-Site: cross-site',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'X-Forwarded-For: 127.0.0.1',
  'X-HTTP-Method-Override: DELETE',
  'X-Service-Csrf: wrong',
  `X-Pad: ${'x'.repeat(17_000)}`,
  'bad header',
];

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A part of a path: what exists, or something odd, some of it as no client would write it. */
const partOf = (known: readonly string[], odd: boolean): Arbitrary<string> => {
  const good = fc.constantFrom(...known).map(encoded);
  if (!odd) return good;
  return fc.oneof(
    { weight: 1, arbitrary: good },
    { weight: 2, arbitrary: oddText.map((text) => encoded(text).slice(0, 9_000)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%', '%00', '%E0%A4%A', '..', '.', '%2e%2e', 'a%2Fb', ';x=1', '', '~', '?'),
    },
  );
};

function pathOf(name: OperationName, known: readonly string[], odd: boolean): Arbitrary<string> {
  const { path } = operations[name];
  const wanted = pathParameters(path);
  const parts = wanted.map((parameter) =>
    parameter === 'seq'
      ? fc.oneof(fc.integer({ min: 1, max: 40 }).map(String), partOf(odd ? known : ['3', '5'], odd))
      : partOf(known.filter(likely(parameter)).length > 0 ? known.filter(likely(parameter)) : known, odd),
  );
  return fc.tuple(...parts).map((values) => {
    let at = 0;
    return path.replaceAll(/\{[a-z_]+\}/g, () => values[at++] ?? '');
  });
}

const prefixes: Record<string, RegExp> = {
  board: /^(room-|brd_)/,
  message: /^msg_/,
  task: /^(tsk_|[A-Z]+-\d+$)/,
  file: /^fil_/,
  pairing: /^prq_/,
  version: /^(1|latest)$/,
  reaction: /^(eyes|done)$/,
  handle: /^c\d+[amog]$/,
  member: /^(mem_|helper$|c\d)/,
};
const likely = (parameter: string) => (text: string) => prefixes[parameter]?.test(text) ?? text.includes('_');

/** The query as it stands in the request line. */
function queryOf(name: OperationName, known: Known, odd: boolean): Arbitrary<string> {
  const schema = partsOf(name).query;
  const good = schema ? fitting(jsonSchemaOf(schema), known) : fc.constant({});
  const written = (odd ? nearly(good) : good).map((value) => {
    const entries = Object.entries(typeof value === 'object' && value !== null ? value : { value });
    const texts = entries.map(([key, item]) => [key, typeof item === 'string' ? item : (JSON.stringify(item) ?? '')]);
    return texts.map((pair) => pair.map((text) => encoded(text as string)).join('=')).join('&');
  });
  if (!odd) return written;
  return fc.oneof(
    { weight: 8, arbitrary: written },
    { weight: 1, arbitrary: written.map((text) => `${text}&${text}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%', '&&==&', 'limit=%00', 'after=%FF', '?', 'a[]=1&a[b]=2', 'x'.repeat(8_200)),
    },
  );
}

/** The body's bytes. */
function bodyOf(name: OperationName, known: Known, odd: boolean): Arbitrary<Buffer> {
  const { kind }: OperationRow = operations[name];
  if (kind === 'upload')
    return fc.oneof(
      oddText.map((text) => Buffer.from(text)),
      fc.uint8Array().map(Buffer.from),
    );
  const schema = partsOf(name).body;
  const good = schema ? fitting(jsonSchemaOf(schema), known) : fc.constant({});
  const json = (odd ? nearly(good) : good).map((value) => Buffer.from(JSON.stringify(value) ?? '', 'utf8'));
  if (!odd) return json;
  return fc.oneof(
    { weight: 12, arbitrary: json },
    { weight: 1, arbitrary: oddValue.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: json.map((bytes) => bytes.subarray(0, Math.floor(bytes.length / 2))) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('', '{', 'null', '{"a":1,"a":2}', '[1e999]', '\ufeff{}', '{"__proto__":{}}')
        .map((text) => Buffer.from(text)),
    },
  );
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'CONNECT'];

/** How the well-formed bytes of a request are spoilt. */
type Harm = { how: 'none' } | { how: 'cut' | 'flip' | 'insert'; at: number; bytes: Uint8Array };

const harm: Arbitrary<Harm> = fc.record({
  how: fc.constantFrom('cut', 'flip', 'insert'),
  at: fc.nat(100_000),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
});

function spoilt(bytes: Buffer, harmed: Harm): Buffer {
  if (harmed.how === 'none') return bytes;
  const at = harmed.at % (bytes.length || 1);
  if (harmed.how === 'cut') return bytes.subarray(0, at);
  const rest = bytes.subarray(harmed.how === 'flip' ? at + harmed.bytes.length : at);
  return Buffer.concat([bytes.subarray(0, at), harmed.bytes, rest]);
}

/** Mostly a credential of a kind that the operation takes. */
function credentialOf({ credentials: taken, origin }: OperationRow, all: Stage['credentials']): Arbitrary<string> {
  const any = Object.keys(all);
  const right = any.filter((name) => {
    const kind = all[name]?.kind;
    return kind === 'page' ? origin : kind && taken.includes(kind);
  });
  if (right.length === 0) return fc.constantFrom(...any);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...right) },
    { weight: 1, arbitrary: fc.constantFrom(...any) },
  );
}

/** What is odd about a request: nothing, where it is to get far. */
const oddities = [
  [],
  [],
  [],
  ['path'],
  ['query', 'body'],
  ['query', 'body'],
  ['head'],
  ['wire'],
  ['path', 'query', 'body', 'head'],
];

const requestOf = (name: OperationName, stage: Stage): Arbitrary<FuzzRequest> =>
  fc.oneof(...oddities.map((odd) => oddRequestOf(name, stage, (part) => odd.includes(part))));

function oddRequestOf(
  name: OperationName,
  { host, credentials, known }: Stage,
  odd: (part: string) => boolean,
): Arbitrary<FuzzRequest> {
  const row: OperationRow = operations[name];
  const reads = row.method === 'GET';
  const type = row.kind === 'upload' ? 'application/octet-stream' : 'application/json';
  const body = bodyOf(name, known, odd('body'));
  return fc
    .record({
      method: odd('head') ? fc.constantFrom(row.method, row.method, ...methods) : fc.constant(row.method),
      path: pathOf(name, known.texts, odd('path')),
      query: queryOf(name, known, odd('query')),
      credential: credentialOf(row, credentials),
      key: fc.option(fc.nat(40).map((n) => `key ${n}`)),
      headers: odd('head') ? fc.subarray(oddHeaders, { minLength: 1, maxLength: 2 }) : fc.constant([]),
      body: reads ? fc.constant(null) : odd('body') ? fc.option(body, { freq: 12 }) : body,
      length: odd('wire') ? fc.constantFrom(-3, -1, 0, 0, 0, 1, 3) : fc.constant(0),
      harm: odd('wire') ? harm : fc.constant({ how: 'none' } as const),
    })
    .map(({ method, path, query, credential, key, headers, body, length, harm: harmed }) => {
      const head = [
        `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
        `Host: ${host}`,
        'Connection: close',
        ...(credentials[credential]?.lines ?? []),
        ...(key === null ? [] : [`Idempotency-Key: ${key}`]),
        ...(body === null ? [] : [`Content-Type: ${type}`, `Content-Length: ${body.length + length}`]),
        ...headers,
      ].join('\r\n');
      const whole = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
      const bytes = spoilt(whole, harmed);
      const unharmed = harmed.how === 'none';
      return {
        operation: name,
        credential,
        bytes,
        cut: !unharmed || length !== 0,
        plain: unharmed && method === row.method,
      };
    });
}

const noise: Arbitrary<FuzzRequest> = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    oddText.map((text) => Buffer.from(`GET /${text} HTTP/1.1\r\n\r\n`)),
    fc.string({ maxLength: 80 }).map((text) => Buffer.from(`${text}\r\n\r\n`)),
  )
  .map((bytes) => ({ operation: 'getInfo' as const, credential: 'none', bytes, cut: true, plain: false }));

/** What takes something from the stage comes last, so that the rest finds it there. */
const takesAway = (name: OperationName): boolean => /^(leave|end|remove|revoke|delete|archive|unmake)/.test(name);
const inOrder = [...names.filter((name) => !takesAway(name)), ...names.filter(takesAway)];

/** Requests of all operations, those that only add in turns, and some noise. */
export function fuzzRequests(stage: Stage, { seed, count }: { seed: number; count: number }): FuzzRequest[] {
  const noisy = Math.ceil(count / 20);
  const each = Math.ceil((count - noisy) / names.length);
  let seeds = seed;
  const of = (arbitrary: Arbitrary<FuzzRequest>, numRuns: number) => fc.sample(arbitrary, { seed: seeds++, numRuns });
  const made = inOrder.map((name) => of(requestOf(name, stage), each));
  const turns = (lists: FuzzRequest[][]) =>
    Array.from({ length: each }, (_, turn) => lists.map((list) => list[turn] as FuzzRequest)).flat();
  const kept = inOrder.filter((name) => !takesAway(name)).length;
  return [...turns(made.slice(0, kept)), ...of(noise, noisy), ...turns(made.slice(kept))];
}
