/** Calls of a client that share their time, as those of one command do. */
import { expect } from 'chai';
import { clientOf, closeServers, FakeClock, failure, sendJson, serve } from './support.ts';

describe('client: the time of all calls', () => {
  afterEach(closeServers);

  /** A server that answers after so many milliseconds of the client's clock. */
  async function slow(ms: number, options: { together?: boolean } = { together: true }) {
    // What is left of the time guards a call, however short it is.
    const clock = new FakeClock((ms) => ms > 3_000);
    const server = await serve((_, response) => {
      clock.advance(ms);
      sendJson(response, 200, { boards: [], next_after: null });
    });
    const { client } = clientOf(server.origin, { ...options, clock, timeoutMs: 30_000 });
    return { client, clock, seen: server.seen };
  }

  it('is over when they took it together: the one that is under way is cut off, the next is not sent', async () => {
    const { client, seen } = await slow(12_000);
    for (const _ of [1, 2]) await client.call('listBoards');
    expect(await failure(client.call('listBoards', { maxAttempts: 1 }))).to.include({
      code: 'request_timeout',
      delivery: 'unclear',
    });
    expect(seen).to.have.length(3);
    const { code, delivery, hint } = await failure(client.call('createBoard', { body: { name: 'demo' } }));
    expect([code, delivery, hint]).to.deep.equal([
      'request_timeout',
      'not_sent',
      'Try again with a longer --timeout, in seconds; 0 for none.',
    ]);
    expect(seen).to.have.length(3);
  });

  it('runs once for calls at once, and not between calls', async () => {
    const { client, clock } = await slow(6_000);
    await Promise.all([client.call('listBoards'), client.call('listBoards')]);
    clock.advance(600_000);
    await Promise.all([client.call('listBoards'), client.call('listBoards')]);
    expect((await failure(client.call('listBoards'))).code).to.equal('request_timeout');
  });

  it('does not run for one that waits or has a limit of its own', async () => {
    const { client } = await slow(14_000);
    for (const _ of [1, 2, 3]) {
      await client.call('readInbox', { params: { board: 'demo' }, query: { wait: 10 } });
      await client.call('listBoards', { timeoutMs: 20_000 });
    }
    await client.call('listBoards');
  });

  it('is each call of its own where nothing else was said', async () => {
    const { client } = await slow(14_000, {});
    for (const _ of [1, 2, 3, 4]) await client.call('listBoards');
  });
});
