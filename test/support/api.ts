/**
 * A client for tests that speaks HTTP plainly and checks every answer it sees against the contract: status and shape of
 * successes, shape and codes of errors, and the headers every answer has.
 */
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { anyRequest, errorCodesOf, type OperationRow, statusesOf } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { errorBody } from '../../src/contract/schemas.ts';
import type { Answer } from '../../src/contract/types.ts';
import { noteSecrets } from './secrets.ts';
import { exercised } from './whole.ts';

export interface Call {
  params?: Record<string, string | number>;
  /** A list stands for a parameter given several times. */
  query?: Record<string, string | number | boolean | string[]>;
  body?: unknown;
  /** The body of an upload. */
  bytes?: Buffer | string;
  /** Idempotency-Key. */
  key?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answered<T> {
  status: number;
  body: T;
  /** The error's code, if it is one. */
  code: string | undefined;
  headers: Headers;
  replayed: boolean;
  text: string;
  bytes: Buffer;
}

/** What the server sent. */
type Sent = Pick<Answered<unknown>, 'status' | 'headers' | 'bytes'>;

const agent = new Agent({ keepAlive: true });

export class Api {
  readonly url: string;
  readonly token: string | undefined;
  /** The person's id, where the test made the person. */
  readonly personId: string | undefined;

  constructor(url: string, token?: string, personId?: string) {
    this.url = url;
    this.token = token;
    if (token !== undefined) noteSecrets(token);
    this.personId = personId;
  }

  /** Calls an operation; the answer may be a success or a refusal. */
  async call<Name extends OperationName>(name: Name, call: Call = {}): Promise<Answered<Answer<Name>>> {
    const row: OperationRow = operations[name];
    const { status, headers, bytes } = await this.send(row.method, call, pathOf(row.path, call));
    const text = bytes.toString('utf8');
    noteSecrets(`${text}${headers.get('set-cookie') ?? ''}`);
    const sent = row.kind === 'download' && status < 400;
    const body = (sent ? text : JSON.parse(text)) as Answer<Name> & {
      error?: { code: string; details?: Record<string, unknown> };
    };
    checkAnswer(name, { status, headers }, body);
    return {
      status,
      body,
      code: body.error?.code,
      headers,
      replayed: headers.get('idempotent-replayed') === 'true',
      text,
      bytes,
    };
  }

  /** By `node:http`, which costs a test less than half of what `fetch` does. */
  private send(method: string, call: Call, path: string): Promise<Sent> {
    const body = call.bytes ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const headers = { host: new URL(this.url).host, ...length, ...this.headers(call) };
    return new Promise((resolve, reject) => {
      const options = { method, path, headers, signal: call.signal, ...this.connection() };
      const outgoing = request(options, (answer) => read(answer).then(resolve, reject));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** How a request gets to the server. */
  connection(): RequestOptions {
    const { hostname, port } = new URL(this.url);
    return { hostname, port, agent };
  }

  /** Calls an operation that must succeed; answers its body. */
  async ok<Name extends OperationName>(name: Name, call: Call = {}): Promise<Answer<Name>> {
    const { status, body, text } = await this.call(name, call);
    if (status >= 400) throw new Error(`${name} answered ${status}: ${text}`);
    return body;
  }

  /** Calls an operation that must be refused; answers `status code`, such as `404 board_not_found`. */
  async refused(name: OperationName, call: Call = {}): Promise<string> {
    const { status, code, text } = await this.call(name, call);
    if (status < 400) throw new Error(`${name} was not refused: ${text}`);
    return `${status} ${code}`;
  }

  headers(call: Call): Record<string, string> {
    return {
      ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(call.bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...(call.key === undefined ? {} : { 'idempotency-key': call.key }),
      ...call.headers,
    };
  }
}

async function read(answer: IncomingMessage): Promise<Sent> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return { status: answer.statusCode ?? 0, headers: new Headers(headers), bytes: Buffer.concat(chunks) };
}

/** The details of a refusal. */
export const detailsOf = ({ body }: { body: unknown }): Record<string, unknown> | undefined =>
  (body as { error: { details?: Record<string, unknown> } }).error.details;

export function pathOf(path: string, { params = {}, query = {} }: Call): string {
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(params[name] ?? '')),
  );
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])),
  );
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function checkAnswer(name: OperationName, response: Pick<Response, 'status' | 'headers'>, body: unknown): void {
  checkShape(name, response, body);
  if (response.status < 400) exercised.add(name);
}

/**
 * Whether an answer is one of those the contract knows: the headers of all, the shape of an error or of the operation's answer.
 * Said without Chai, whose assertions took a tenth of the processor time of tests that make many calls.
 */
export function checkShape(name: OperationName, response: Pick<Response, 'status' | 'headers'>, body: unknown): void {
  checkHeaders(response);
  if (response.status >= 400) {
    checkError(name, response, body);
    return;
  }
  const statuses: readonly number[] = operations[name].ok;
  if (!statuses.includes(response.status)) throw new Error(`${name} answered ${response.status}, none of ${statuses}`);
  const parsed = operations[name].answer.safeParse(body);
  if (!parsed.success)
    throw new Error(`${name} answered off the contract: ${parsed.error.message}\n${JSON.stringify(body)}`);
}

/** As a validator says it that was not taught any words. */
const RAW =
  /Invalid (input|option|string|key|value|number|discriminator)|Too (big|small)|Unrecognized key|expected |accepted form/;

function checkError(
  name: OperationName,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: unknown,
): void {
  const { error } = errorBody.parse(body);
  const wrong = (what: string) => new Error(`${name} answered ${what}: ${status} ${JSON.stringify(error)}`);
  const code = error.code as ErrorCode;
  if (!anyRequest.includes(code) && !codesOf(name).has(code)) throw wrong('a code that is none of its own');
  if (!statusesOf(operations[name], code).includes(status)) throw wrong('a status that is none of its code');
  if (RAW.test(`${error.message}\n${error.hint}`)) throw wrong('in the words of a validator');
  if (code === 'invalid_request' && error.hint === '') throw wrong('without a hint');
  if (status === 401) checkHeader(headers, 'www-authenticate', /^Bearer realm="service"$/);
  if (status === 429 || status === 503) checkHeader(headers, 'retry-after', /^\d+$/);
}

const codes = new Map<OperationName, Set<ErrorCode>>();

function codesOf(name: OperationName): Set<ErrorCode> {
  const known = codes.get(name) ?? new Set(errorCodesOf(operations[name]));
  codes.set(name, known);
  return known;
}

function checkHeaders({ headers }: Pick<Response, 'headers'>): void {
  checkHeader(headers, 'x-request-id', /^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  checkHeader(headers, 'cache-control', /no-store|^private, no-cache$/);
  checkHeader(headers, 'x-content-type-options', /^nosniff$/);
  if (headers.has('access-control-allow-origin')) throw new Error('an answer allows another origin');
}

function checkHeader(headers: Headers, name: string, form: RegExp): void {
  const value = headers.get(name);
  if (value === null || !form.test(value)) throw new Error(`an answer's ${name} is ${value}, which is not ${form}`);
}
