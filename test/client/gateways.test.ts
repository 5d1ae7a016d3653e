/** What stands before a server on the internet: proxies, load balancers and hosts that send people elsewhere. */
import { expect } from 'chai';
import { Client } from '../../src/client/client.ts';
import type { ClientError } from '../../src/client/errors.ts';
import { answerElsewhere, nock } from '../support/elsewhere.ts';
import { FakeClock, failure } from './support.ts';

const team = 'https://team.example.com';
const token = `abh_${'k'.repeat(43)}`;
const page = '<html><head><title>Bad gateway</title></head><body>nginx at 10.0.0.7</body></html>';
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const created = { id: 'brd_1', name: 'demo' };

/** As a program of a user makes it, on the platform's own `fetch`. */
function clientOf(origin = team) {
  const clock = new FakeClock();
  return { client: new Client({ origin, token, random: () => 0.5, sleep: clock.sleep, now: clock.now }), clock };
}

/** All of an error that can be printed or logged. */
const told = ({ code, message, hint, status, attempts, delivery, transient, retryAfter, details }: ClientError) => ({
  ...{ code, message, hint, status, attempts, delivery, transient, retryAfter, details },
});

function expectNothingLeaked(error: ClientError): void {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const text = `${each.message} ${each.stack} ${JSON.stringify(each)}`;
    expect(text).to.not.match(/<html|nginx|10\.0\.0\.7|Sign in/);
    expect(text).to.not.include(token);
  }
}

const behind = 'Try again in a moment; if it goes on, ask the operator of the server whether it is up.';

describe('client: behind a gateway', () => {
  answerElsewhere();

  it("tells a proxy's 502 page by its status and type, after 5 attempts", async () => {
    const proxy = nock(team).get('/v1/me').times(5).reply(502, page, html);
    const { client, clock } = clientOf();
    const error = await failure(client.call('getMe'));
    expect(told(error)).to.deep.equal({
      code: 'server_unexpected',
      message: 'The server cannot be reached: a proxy in front of it answered with status 502.',
      hint: behind,
      status: 502,
      attempts: 5,
      delivery: 'unclear',
      transient: true,
      retryAfter: undefined,
      details: { status: 502, content_type: 'text/html; charset=utf-8' },
    });
    expectNothingLeaked(error);
    expect(proxy.isDone()).to.equal(true);
    expect(clock.slept).to.deep.equal([275, 525, 1_025, 2_025]);
  });

  it('tells that a proxy takes no body of this size, once', async () => {
    nock(team).post('/v1/boards').reply(413, page, html);
    const { client } = clientOf();
    const error = await failure(client.call('createBoard', { body: { name: 'demo' } }));
    expect([error.code, error.message, error.hint, error.attempts]).to.deep.equal([
      'server_unexpected',
      'A proxy in front of the server takes no body of this size.',
      'Ask the operator of the server to let bodies of 64 MB through the proxy.',
      1,
    ]);
    expectNothingLeaked(error);
  });

  it('goes on when the proxy has its server again: the same key and the same bytes', async () => {
    const seen: unknown[] = [];
    nock(team)
      .on('request', ({ headers }: Request, _interceptor, body: string) =>
        seen.push([headers.get('idempotency-key'), headers.get('authorization'), body]),
      )
      .post('/v1/boards')
      .reply(502, page, html)
      .post('/v1/boards')
      .reply(504, page, html)
      .post('/v1/boards')
      .reply(201, created);
    const { client } = clientOf();
    const reply = await client.call('createBoard', { body: { name: 'demo' }, idempotencyKey: 'once' });
    expect(reply.data).to.deep.equal(created);
    expect(seen).to.deep.equal(Array(3).fill(['once', `Bearer ${token}`, '{"name":"demo"}']));
  });

  it('waits as long as the Retry-After of a load balancer says', async () => {
    nock(team)
      .get('/v1/me')
      .reply(503, page, { ...html, 'Retry-After': '7' });
    nock(team).get('/v1/me').reply(200, { id: 'hum_1' });
    const { client, clock } = clientOf();
    expect((await client.call('getMe')).data).to.deep.equal({ id: 'hum_1' });
    expect(clock.slept).to.deep.equal([7_000]);
  });

  it('fails at once when that is longer than the call may take, and says how long', async () => {
    nock(team)
      .get('/v1/me')
      .reply(503, page, { ...html, 'Retry-After': '120' });
    const { client, clock } = clientOf();
    const error = await failure(client.call('getMe'));
    expect(told(error)).to.deep.equal({
      code: 'server_unexpected',
      message: 'The server cannot be reached: a proxy in front of it answered with status 503.',
      hint: behind,
      status: 503,
      attempts: 1,
      delivery: 'unclear',
      transient: true,
      retryAfter: 120,
      details: { status: 503, content_type: 'text/html; charset=utf-8', retry_after: 120 },
    });
    expectNothingLeaked(error);
    expect(clock.slept).to.deep.equal([]);
  });

  for (const status of [500, 503, 520])
    it(`cannot say of a ${status} whether what must not be repeated was done behind it`, async () => {
      nock(team).post('/v1/keys').reply(status, 'upstream reset', { 'Content-Type': 'text/plain' });
      const { client } = clientOf();
      const error = await failure(client.call('createKey', { body: { name: 'ci' } }));
      expect([error.code, error.attempts, error.details?.['status']]).to.deep.equal(['outcome_unknown', 1, status]);
    });

  const redirects = [
    ['to a login page of another host', team, 'https://login.example.com/start?to=%2Fv1%2Fme'],
    ['from http to https of the same name', 'http://team.example.com', `${team}/v1/me`],
    ['to a page of its own', team, '/login'],
  ] as const;
  for (const [what, origin, location] of redirects) {
    it(`follows no redirect ${what}`, async () => {
      const other = new URL(location, origin);
      nock(origin)
        .get('/v1/me')
        .reply(301, '<html>Sign in</html>', { ...html, Location: location });
      const followed = nock(other.origin).get(`${other.pathname}${other.search}`).reply(200, { id: 'hum_2' });
      const { client, clock } = clientOf(origin);
      const error = await failure(client.call('getMe'));
      expect(told(error)).to.deep.equal({
        code: 'server_unexpected',
        message: 'The server answered with a redirect, which is not followed.',
        hint: `Use the address that the server really has instead of ${origin}.`,
        status: undefined,
        attempts: 1,
        delivery: 'answered',
        transient: false,
        retryAfter: undefined,
        details: { redirect: true },
      });
      expectNothingLeaked(error);
      expect(followed.isDone()).to.equal(false);
      expect(clock.slept).to.deep.equal([]);
    });
  }
});
