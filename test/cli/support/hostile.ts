/** A server that writes hostile text into every string it answers with: its answers are made from the schemas of the operations. */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { boardFrames, hintFrames } from '../../../src/contract/nouns/record.ts';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { errorBody } from '../../../src/contract/schemas.ts';

/** Follows a mark, so that a colour of data is told from one of ours: what stands behind the mark is data. */
const MARK = '¤';

/** Colours, conceal, OSC 52 and 8, C1, bidi, carriage return, backspace, DEL, tags: all that acts on a terminal. */
export const hostile =
  `${MARK}\u001b[1m${MARK}\u001b[8m\u001b]52;c;aGk=\u0007\u001b]8;;https://evil.example\u001b\\` +
  '\u009b2J\u009d0;t\u009c\u0085\u202eright\u202c\u2066\u2069\rover\b\u007f\u0000\u{e0041}';

/** How the beginning of it is shown. */
export const shown = `${MARK}\\x1b[1m${MARK}\\x1b[8m`;

/** The same in JSON. */
export const shownInJson = `${MARK}\\u001b[1m${MARK}\\u001b[8m`;

/** What of a printed text would act on a terminal, but for our own colours. */
export function actingIn(text: string): string | null {
  const own = text.replaceAll(new RegExp(`(?<!${MARK})\u001b\\[(?:1|2|22|31|32|33|36|39)m`, 'g'), '');
  const found = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u.exec(own);
  return found && JSON.stringify(own.slice(Math.max(0, found.index - 60), found.index + 60));
}

/**
 * `kept`: answers keep to their schemas, and free text is hostile. `broken`: every string is, also ids, names and times.
 * `refused`: every operation fails with a hostile error, but for what tells which server it is.
 */
export type Manner = 'kept' | 'broken' | 'refused';

/** Answers that have a pattern, the first one that fits is taken. */
const samples = [
  'general',
  `${'0'.repeat(25)}1`,
  'CHK',
  'CHK-17',
  'member',
  '2026-03-02T09:00:00.000Z',
  `sha256:${'0'.repeat(64)}`,
  '4KQ-7ZX',
  'notes/api.md',
  'claude-code:s1',
  'https://team.example.com/#code=1',
];
const idOf = (pattern: string): string => `${/^\^(\w+)_/.exec(pattern)?.[1]}_${'0'.repeat(25)}1`;
const secretOf = (pattern: string): string => `${/^\^(ab[a-z]_)/.exec(pattern)?.[1]}${'A'.repeat(43)}`;

type Json = { [key: string]: unknown };

const schemas = new Map<z.ZodType, Json>();

/** The schema of an answer, made once: making it takes longer than the command that asks for the answer. */
function schemaOf(type: z.ZodType): Json {
  const made = schemas.get(type) ?? (z.toJSONSchema(type, { io: 'output', unrepresentable: 'any' }) as Json);
  schemas.set(type, made);
  return made;
}

/** A value of a schema, each union in its first form or its last. */
export class Answers {
  readonly #manner: Manner;
  readonly #last: boolean;

  constructor(manner: Manner, last: boolean) {
    this.#manner = manner;
    this.#last = last;
  }

  of(type: z.ZodType): unknown {
    return this.#value(schemaOf(type), '');
  }

  #value(schema: Json, name: string): unknown {
    const { const: only, enum: words, anyOf, oneOf, type } = schema;
    if (only !== undefined) return only;
    if (Array.isArray(words)) return words.at(this.#last ? -1 : 0);
    const forms = Array.isArray(type) ? type.map((each) => ({ ...schema, type: each })) : (anyOf ?? oneOf);
    if (Array.isArray(forms)) return this.#oneOf(forms, name);
    if (type === 'object') return this.#object(schema);
    if (type === 'array') return this.#list(schema, name);
    if (type === 'boolean') return name === 'more' ? false : this.#last;
    if (type === 'integer' || type === 'number') return Math.max(7, Number(schema.minimum ?? 0));
    if (type === 'null') return null;
    return this.#text(schema.pattern as string | undefined);
  }

  #oneOf(forms: Json[], name: string): unknown {
    const some = forms.filter((each) => each.type !== 'null');
    // Otherwise a list would never end.
    if (some.length < forms.length && /^(next|prev)_/.test(name)) return null;
    return this.#value(some.at(this.#last ? -1 : 0)!, name);
  }

  #list({ prefixItems, items = { type: 'string' }, minItems = 1 }: Json, name: string): unknown[] {
    const each = (prefixItems ?? Array.from({ length: Number(minItems) }, () => items)) as Json[];
    return each.map((item) => this.#value(item, name));
  }

  #object({ properties = {}, additionalProperties: others, propertyNames: names }: Json): Json {
    const entries = Object.entries(properties as { [key: string]: Json });
    const record = Object.fromEntries(entries.map(([name, each]) => [name, this.#value(each, name)]));
    // Names of a record are text as well.
    if (entries.length === 0 && others !== undefined && others !== false) {
      const name = this.#value((names ?? { type: 'string' }) as Json, '') as string;
      record[name] = this.#value((others === true ? { type: 'string' } : others) as Json, '');
    }
    return record;
  }

  #text(pattern: string | undefined): string {
    if (pattern === undefined || this.#manner === 'broken') return hostile;
    const test = new RegExp(pattern, 'u');
    const found = [...samples, idOf(pattern), secretOf(pattern)].find((sample) => test.test(sample));
    if (found === undefined) throw new Error(`no sample fits ${pattern}: add one`);
    return found;
  }
}

const routes = (Object.entries(operations) as [OperationName, OperationRow][])
  .map(([name, row]) => ({
    name,
    row,
    parameters: (row.path.match(/\{/g) ?? []).length,
    path: new RegExp(`^${row.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  // Of two that fit, the one with fewer parameters is meant.
  .sort((a, b) => a.parameters - b.parameters);

export class HostileServer {
  manner: Manner = 'kept';
  /** Which form of a union is answered. */
  last = false;
  /** Operations that were asked for, and other addresses. */
  asked: string[] = [];
  /** What is answered instead, made of what would be. */
  instead: Partial<Record<OperationName, (answer: Json) => unknown>> = {};
  readonly #server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const route = routes.find(({ row, path }) => row.method === request.method && path.test(pathname));
    this.asked.push(route?.name ?? pathname);
    if (route) this.#answer(route.name, route.row, searchParams, response);
    else this.#json(response, pathname === '/openapi.json' ? 200 : 404, { info: { title: hostile } });
  });

  static async start(): Promise<HostileServer> {
    const server = new HostileServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get serverId(): string {
    return idOf('^srv_');
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(name: OperationName, row: OperationRow, query: URLSearchParams, response: ServerResponse): void {
    // Who waits or follows is told in the end that there is nothing more.
    const again = this.asked.filter((each) => each === name).length > (name === 'openStream' ? 1 : 3);
    if (name === 'getInfo') this.#json(response, 200, this.#info());
    else if (this.manner === 'refused' || again) this.#json(response, 403, this.#refusal());
    else if (name === 'openStream') this.#stream(query, response);
    else if (row.kind === 'download') this.#bytes(response);
    else this.#json(response, row.ok[0]!, this.#record(name));
  }

  /** An invite whose server says that it has another address is refused before anything of it is shown. */
  #record(name: OperationName): unknown {
    const record = new Answers(this.manner, this.last).of(operations[name].answer) as Json;
    if (name === 'previewInvite') return { ...record, server_url: this.url };
    return this.instead[name]?.(record) ?? record;
  }

  #refusal(): object {
    const body = new Answers('broken', false).of(errorBody) as { error: { code: string; details: Json } };
    return { error: { ...body.error, details: { ...body.error.details, lines: [hostile], choices: [hostile] } } };
  }

  /** Which server it is and what it can do stays readable, so that commands go on. */
  #info(): object {
    const info = new Answers('kept', true).of(operations.getInfo.answer) as { features: string[] };
    const features = [
      'asks',
      'board_stream',
      'brakes',
      'collect_wait',
      'delegation_list',
      'files',
      'invite_show',
      'lines',
    ];
    const more = ['onboarding', 'pagination', 'profile', 'search', 'tasks'];
    return { ...info, server_id: this.serverId, features: [...features, ...more, hostile] };
  }

  #json(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req_\u0085\u009b8m' });
    response.end(JSON.stringify(body));
  }

  #bytes(response: ServerResponse): void {
    const bytes = Buffer.from(`${hostile}\n`);
    response.writeHead(200, {
      'Content-Type': 'text/plain',
      'Content-Length': bytes.length,
      ETag: `"sha256:${createHash('sha256').update(bytes).digest('hex')}"`,
      'X-Service-File-Version': '7',
      'X-Service-File-Id': idOf('^fil_'),
    });
    response.end(bytes);
  }

  /** One message after the last one that the reader knows. */
  #stream(query: URLSearchParams, response: ServerResponse): void {
    const answers = new Answers(this.manner, this.last);
    const seq = Number(query.get('after') ?? 7) + 1;
    const event = {
      ...(answers.of(boardFrames.shape.event) as Json),
      seq,
      type: 'message.posted',
      data_withheld: undefined,
    };
    const hint = { ...(answers.of(hintFrames.shape.head) as Json), seq };
    const frames = query.has('board') ? { event } : { ready: { boards: 1 }, head: hint };
    const lines = Object.entries(frames).map(
      ([name, data]) => `event: ${name}\nid: ${seq}\ndata: ${JSON.stringify(data)}\n\n`,
    );
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`retry: 0\n${lines.join('')}`);
  }
}
