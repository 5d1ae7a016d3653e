import { expect } from 'chai';
import { type CallInput, Client } from '../../src/client/client.ts';
import { type WaitOptions, waitFor } from '../../src/client/wait.ts';
import { clientOf, closeServers, deadOrigin, FakeClock, failure, refusal, sendJson, serve } from './support.ts';

const empty = { messages: [], cursor: 3 };
const found = (...seqs: number[]) => ({ messages: seqs.map((seq) => ({ id: `msg_${seq}`, seq })), cursor: 3 });

/** Only the limits on headers are held: 15 s and the wait. */
const waitClock = () => new FakeClock((ms) => ms >= 15_000);

/** Each answer takes as long as it says before it comes. */
async function inbox(clock: FakeClock, answers: ([seconds: number, status: number, body: unknown] | 'reset')[]) {
  const started = clock.time;
  const at: number[] = [];
  const server = await serve((_, response, count) => {
    at.push((clock.time - started) / 1000);
    const answer = answers[count - 1] ?? [0, 403, refusal('one_poll_too_many')];
    if (answer === 'reset') return response.destroy();
    clock.time += answer[0] * 1000;
    sendJson(response, answer[1], answer[2], answer[1] === 429 ? { 'Retry-After': '20' } : {});
  });
  const wait = (options: WaitOptions<'readInbox'>, input: CallInput<'readInbox'> = {}) =>
    waitFor(clientOf(server.origin, { clock }).client, 'readInbox', input, options);
  return { ...server, at, wait };
}

describe('client: waiting', () => {
  afterEach(closeServers);

  it('cuts a long wait into polls of at most 50 s until it is over', async () => {
    const clock = waitClock();
    const server = await inbox(clock, [
      [50, 200, empty],
      [50, 200, empty],
      [20, 200, empty],
    ]);
    const result = await server.wait({ waitSeconds: 120 }, { query: { after: 7, urgent: true } });
    expect(result.timedOut).to.equal(true);
    expect(result.reply.data).to.deep.equal(empty);
    expect(server.seen.map((seen) => seen.url)).to.deep.equal(
      [50, 50, 20].map((wait) => `/v1/me/inbox?after=7&urgent=true&wait=${wait}`),
    );
  });

  it('ends as soon as something is there', async () => {
    const clock = waitClock();
    const server = await inbox(clock, [
      [50, 200, empty],
      [3, 200, found(9)],
    ]);
    const result = await server.wait({ waitSeconds: 600 });
    expect(result).to.have.property('timedOut', false);
    expect(result.reply.data).to.deep.equal(found(9));
  });

  it('asks once and does not wait with 0 seconds', async () => {
    const clock = waitClock();
    const server = await inbox(clock, [[0, 200, empty]]);
    expect((await server.wait({ waitSeconds: 0 })).timedOut).to.equal(true);
    expect(server.seen.map((seen) => seen.url)).to.deep.equal(['/v1/me/inbox?wait=0']);
  });

  it('retries like any call with 0 seconds', async () => {
    const clock = waitClock();
    const server = await inbox(clock, ['reset', 'reset', [0, 200, found(1)]]);
    expect((await server.wait({ waitSeconds: 0 })).timedOut).to.equal(false);
  });

  it('goes on behind what is not what was waited for', async () => {
    const clock = waitClock();
    const server = await inbox(clock, [
      [5, 200, found(4, 6)],
      [5, 200, found(8)],
    ]);
    const until = ({ messages }: { messages: { seq: number }[] }) => messages.some((message) => message.seq === 8);
    const result = await server.wait({ waitSeconds: 60, until });
    expect(result.reply.data).to.deep.equal(found(8));
    expect(server.seen[1]?.url).to.equal('/v1/me/inbox?after=6&wait=50');
  });

  it('asks again at most once a second when an empty answer comes early', async () => {
    const clock = waitClock();
    const server = await inbox(clock, [
      [0, 200, empty],
      [0.4, 200, empty],
      [30, 200, empty],
      [1, 200, found(5)],
    ]);
    await server.wait({ waitSeconds: 600 });
    expect(server.at).to.deep.equal([0, 1, 2, 32]);
  });

  it('lets failures that pass cost time, but not attempts', async () => {
    const clock = waitClock();
    const away = Array.from({ length: 8 }, () => 'reset' as const);
    const server = await inbox(clock, [...away, [0, 503, refusal('unavailable')], [2, 200, found(5)]]);
    const told: string[] = [];
    const result = await server.wait({ waitSeconds: 600, onNoAnswer: ({ code }) => told.push(code) });
    expect(result.timedOut).to.equal(false);
    expect(told).to.deep.equal(['server_unreachable']);
    expect(server.seen).to.have.length(10);
    const gaps = server.at.slice(1).map((time, index) => time - (server.at[index] ?? 0));
    expect(Math.min(...gaps)).to.be.at.least(1);
    expect(Math.max(...gaps)).to.be.at.most(8);
  });

  it('has timed out, without an error, when the server went away but had answered before', async () => {
    const clock = waitClock();
    const away = Array.from({ length: 40 }, () => 'reset' as const);
    const server = await inbox(clock, [[50, 200, empty], ...away]);
    expect(await server.wait({ waitSeconds: 60 })).to.have.property('timedOut', true);
  });

  it('fails after the wait when no poll was ever answered', async () => {
    const clock = waitClock();
    const started = clock.time;
    const { client } = clientOf(await deadOrigin(), { clock });
    const error = await failure(waitFor(client, 'readInbox', {}, { waitSeconds: 30 }));
    expect(error.code).to.equal('server_unreachable');
    expect(clock.time - started).to.be.within(30_000, 31_000);
  });

  it('ends at once with 401, 403, 404 and a second 500', async () => {
    const endings: [number, string][] = [
      [401, 'unauthorized'],
      [403, 'agent_removed'],
      [404, 'board_not_found'],
    ];
    for (const [status, code] of endings) {
      const server = await inbox(waitClock(), [
        [50, 200, empty],
        [1, status, refusal(code)],
      ]);
      expect(await failure(server.wait({ waitSeconds: 600 }))).to.include({ code, status });
      expect(server.seen).to.have.length(2);
    }
    const broken = [0, 500, refusal('internal')] as [number, number, unknown];
    const server = await inbox(waitClock(), [broken, broken]);
    expect(await failure(server.wait({ waitSeconds: 600 }))).to.include({ code: 'internal' });
  });

  it('obeys Retry-After, or fails at once when it reaches beyond the wait', async () => {
    const limited = [0, 429, refusal('rate_limited')] as [number, number, unknown];
    const patient = await inbox(new FakeClock((ms) => ms >= 15_000 && ms !== 20_000), [limited, [1, 200, found(1)]]);
    await patient.wait({ waitSeconds: 60 });
    expect(patient.at).to.deep.equal([0, 20]);
    const hurried = await inbox(waitClock(), [limited]);
    const error = await failure(hurried.wait({ waitSeconds: 10 }));
    expect(error).to.include({ code: 'rate_limited', retryAfter: 20 });
    expect(error.details).to.deep.equal({ retry_after: 20 });
  });

  it('runs out as any wait where others took all places for waits until then', async () => {
    const taken = [0, 429, refusal('rate_limited', { bucket: 'open_streams' })] as [number, number, unknown];
    const server = await inbox(new FakeClock((ms) => ms >= 15_000 && ms !== 20_000), [taken, taken, [0, 200, empty]]);
    expect(await server.wait({ waitSeconds: 30 })).to.have.property('timedOut', true);
    expect(server.at).to.deep.equal([0, 20, 30]);
    expect(server.seen.at(-1)?.url).to.equal('/v1/me/inbox?wait=0');
  });

  it('goes on while this machine is offline, where the name of the server was found before', async () => {
    const clock = waitClock();
    const server = await inbox(clock, [
      [50, 200, empty],
      [2, 200, found(5)],
    ]);
    let requests = 0;
    const offline: typeof fetch = async (input, init) => {
      if (requests++ % 2 === away) throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ENOTFOUND' } });
      return fetch(input, init);
    };
    let away = 1;
    const { client } = clientOf(server.origin, { clock, fetch: offline });
    const result = await waitFor(client, 'readInbox', {}, { waitSeconds: 600 });
    expect([requests, result.reply.data]).to.deep.equal([3, found(5)]);
    [requests, away] = [0, 0];
    expect(await failure(waitFor(client, 'readInbox', {}, { waitSeconds: 600 }))).to.include({
      code: 'server_unreachable',
    });
  });

  for (const [way, ms] of [
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    it(`is as long as it was when the clock of the machine is set ${way} by an hour`, async () => {
      const { now } = Date;
      let ahead = 0;
      Date.now = () => now() + ahead;
      const server = await serve((_, response) => {
        ahead = ms;
        sendJson(response, 200, empty);
      });
      const began = performance.now();
      try {
        const signal = AbortSignal.timeout(10_000);
        await waitFor(new Client({ origin: server.origin }), 'readInbox', { signal }, { waitSeconds: 1 });
      } finally {
        Date.now = now;
      }
      expect(performance.now() - began).to.be.at.least(990);
    });
  }

  it('waits for replies in the same way', async () => {
    const clock = waitClock();
    const server = await serve((_, response, count) => {
      clock.time += 50_000;
      sendJson(response, 200, {
        message_id: 'msg_1',
        root: null,
        next_after: null,
        replies: count === 2 ? [{ seq: 9 }] : [],
      });
    });
    const { client } = clientOf(server.origin, { clock });
    const input = { params: { message: 'msg_1' }, query: { after: 3 } };
    const result = await waitFor(client, 'listReplies', input, { waitSeconds: 200 });
    expect(result.reply.data.replies).to.deep.equal([{ seq: 9 }]);
    expect(server.seen[1]?.url).to.equal('/v1/messages/msg_1/replies?after=3&wait=50');
  });

  it('rejects with the reason of a signal that is aborted', async () => {
    const abort = new AbortController();
    const server = await serve(() => abort.abort(new Error('stop it')));
    const { client } = clientOf(server.origin);
    const outcome = await waitFor(client, 'readInbox', { signal: abort.signal }, { waitSeconds: 60 }).catch(
      (error: Error) => error,
    );
    expect(outcome).to.have.property('message', 'stop it');
  });
});
