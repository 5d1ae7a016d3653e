/**
 * Requests by chance against every route: nothing is answered 5xx, nothing hangs, every error has the shape of errors. The
 * short form runs with all tests; SERVICE_TEST_LONG=1 sends 10,000 to each database. SERVICE_TEST_SEED repeats a run.
 */
import { expect } from 'chai';
import { errors } from '../../../src/contract/errors.ts';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { checkShape } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { type FuzzRequest, fuzzRequests } from '../../support/fuzz/requests.ts';
import { newStage } from '../../support/fuzz/stage.ts';
import { CLOSED, HANG, sendBytes } from '../../support/fuzz/wire.ts';
import type { RawAnswer } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const COUNT = LONG ? 10_000 : 400;
const SEED = Number(process.env['SERVICE_TEST_SEED'] ?? (LONG ? Date.now() % 1_000_000_000 : 1));
/** Requests about one stage, after which everything in it may be gone. */
const CHAPTER = 400;
const AT_ONCE = 8;

/** Codes whose status is not always the usual one. */
const twofold = ['invalid_request', 'role_not_found'];

const waits = ({ operation, bytes }: FuzzRequest): boolean =>
  operation === 'openStream' || /[?&]wait=/.test(bytes.subarray(0, 9_000).toString('latin1'));

/** What is wrong with an answer; null: nothing. */
function fault(request: FuzzRequest, answer: RawAnswer | typeof HANG | typeof CLOSED): string | null {
  if (answer === HANG) return 'no answer in a long time';
  const head = request.bytes.toString('latin1', 0, 8);
  if (answer === CLOSED)
    return request.cut || waits(request) || head.startsWith('CONNECT') ? null : 'closed without an answer';
  if (answer.status >= 500) return `${answer.status} ${answer.text}`;
  if (answer.text === '' && (head.startsWith('HEAD') || !request.plain)) return null;
  try {
    check(request, answer);
    return null;
  } catch (error) {
    return `${(error as Error).message}\n${answer.status} ${answer.text.slice(0, 500)}`;
  }
}

/** The operation that a request reaches: another one shares the path where the method was changed. */
function reached({ operation, bytes }: FuzzRequest): OperationName {
  const [method, target = ''] = bytes.subarray(0, 9_000).toString('latin1').split(' ', 2);
  const { path, method: own } = operations[operation];
  if (method === own || !target.startsWith('/v1/')) return operation;
  const other = (Object.keys(operations) as OperationName[]).find(
    (name) => operations[name].path === path && operations[name].method === method,
  );
  return other ?? operation;
}

function check(request: FuzzRequest, { status, headers, text, code }: RawAnswer): void {
  const { plain } = request;
  const operation = reached(request);
  const { kind }: OperationRow = operations[operation];
  if (status < 400 && (!plain || kind === 'stream' || kind === 'download')) return;
  checkShape(operation, { status, headers: new Headers([...headers]) }, JSON.parse(text));
  if (status >= 400 && !twofold.includes(code ?? ''))
    expect(status, code).to.equal(errors[code as keyof typeof errors].status);
}

forEachDatabase('any request', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it(`of ${COUNT} by chance is answered, never with 5xx, and errors have their shape`, async function () {
    this.timeout(LONG ? 3_600_000 : 120_000);
    if (LONG) console.log(`        SERVICE_TEST_SEED=${SEED}`);
    const found: string[] = [];
    const statuses: Record<string, number> = {};
    const tell = (request: FuzzRequest, answer: RawAnswer | typeof HANG | typeof CLOSED) => {
      const status = typeof answer === 'string' ? answer : answer.status;
      statuses[status] = (statuses[status] ?? 0) + 1;
      const wrong = fault(request, answer);
      if (wrong === null) return;
      found.push(
        `${request.operation} as ${request.credential}: ${wrong}\n${request.bytes.toString('latin1').slice(0, 3_000)}`,
      );
    };
    for (let chapter = 0; chapter * CHAPTER < COUNT; chapter++) {
      server.clock.advance(3_600_000);
      const stage = await newStage(server, `c${chapter}`);
      const requests = fuzzRequests(stage, {
        seed: SEED + 1_000 * chapter,
        count: Math.min(CHAPTER, COUNT - chapter * CHAPTER),
      });
      const send = async () => {
        for (let next = requests.shift(); next; next = requests.shift()) {
          tell(next, await sendBytes(server.url, { ...next, waits: waits(next) }));
          if (requests.length % 50 === 0) server.clock.nextMinute();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, send));
    }
    if (LONG) console.log(`        ${JSON.stringify(statuses)}`);
    const failures = server.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    expect([...found.slice(0, 20), ...failures.slice(0, 5)].join('\n\n'), `${found.length} wrong`).to.equal('');
    // Requests that only ever fail would prove little.
    expect(statuses['200'], JSON.stringify(statuses)).to.be.greaterThan(COUNT / 20);
    expect((await server.dana.call('getMe')).status).to.equal(200);
  });
});
