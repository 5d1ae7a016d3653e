/** Streams and waits of browser sessions: what ends a session ends them at once. */
import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api, pathOf } from '../../support/api.ts';
import { Browser } from '../../support/browser.ts';
import { newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeKey, newBrowser, removePerson, revokeKey } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

/** Seconds of no other timer of the server, so that it can be counted. */
const WAIT = 599;

/** Everything of one browser that lasts: both kinds of stream and a wait, by cookie and as bearer. */
class Watching {
  readonly streams: TestStream[];
  readonly waits: Promise<string | undefined>[];
  readonly #server: TestServer;
  private constructor(server: TestServer, streams: TestStream[], waits: Promise<string | undefined>[]) {
    this.#server = server;
    this.streams = streams;
    this.waits = waits;
  }

  static async start(server: TestServer, browser: Browser, board: string, message: string): Promise<Watching> {
    const clients = [browser, browser.bearer];
    const streams = await Promise.all(
      clients.flatMap((api) => [TestStream.open(api), TestStream.open(api, { board })]),
    );
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const before = server.clock.waiting(WAIT * 1000);
    const waits = clients.map(async (api) => {
      const { code } = await api.call('listReplies', { params: { message }, query: { wait: WAIT } });
      return code;
    });
    await until(() => server.clock.waiting(WAIT * 1000) === before + 2, 'the waits sleep');
    return new Watching(server, streams, waits);
  }

  get running(): boolean {
    return this.streams.every((stream) => !stream.ended);
  }

  async expectEnded(ms = 1_000): Promise<void> {
    const release = this.#server.clock.holdBack(ms);
    for (const stream of this.streams) {
      await stream.until(() => stream.ended);
      expect(stream.frames.at(-1)).to.deep.include({ event: 'end', data: { reason: 'credential_ended' } });
    }
    for (const wait of this.waits) expect(await wait).to.equal('unauthorized');
    release();
  }
}

forEachDatabase('what a browser watches', (engine) => {
  let server: TestServer;
  let person: Api;
  let board: string;
  let message: string;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());
  beforeEach(async () => {
    person = await server.person(`person-${++people}`);
    board = (await newBoard(person)).name;
    message = (await post(person, board, 'hello')).id;
  });

  const browserFor = (options = {}) => newBrowser(server, person, options);
  const watch = (browser: Browser) => Watching.start(server, browser, board, message);

  it('comes by its cookie alone, as an EventSource asks for it, and goes on where that left off', async () => {
    const { cookie } = await browserFor();
    const asEventSource = (path: string, headers: Record<string, string> = {}) =>
      TestStream.open(new Api(server.url), Object.fromEntries(new URLSearchParams(path)), {
        accept: 'text/event-stream',
        cookie,
        ...headers,
      });
    const hints = await asEventSource('');
    expect([hints.status, hints.headers.get('content-type')]).to.deep.equal([200, 'text/event-stream; charset=utf-8']);
    await hints.frame(({ event }) => event === 'ready');
    const stream = await asEventSource(`board=${board}`);
    const { seq } = await post(person, board, 'seen on the page');
    await stream.frame(({ id }) => id === String(seq));
    await hints.frame(({ event, data }) => event === 'head' && data.seq === seq);
    stream.close();
    const { seq: missed } = await post(person, board, 'missed');
    const again = await asEventSource(`board=${board}`, { 'last-event-id': String(seq) });
    const frame = await again.frame(({ event }) => event !== 'ready');
    expect(frame.id).to.equal(String(missed));
    for (const open of [hints, again]) open.close();
    const response = await fetch(server.url + pathOf('/v1/stream', {}), {
      headers: { cookie: `${cookie}x; ${cookie}` },
    });
    expect(response.status).to.equal(401);
    await response.body?.cancel();
  });

  it('ends when the person ends this session, and the other session goes on', async () => {
    const [one, two] = [await browserFor(), await browserFor()];
    const [ending, staying] = [await watch(one), await watch(two)];
    await person.ok('endBrowserSession', { params: { session: one.sessionId } });
    await ending.expectEnded();
    expect(staying.running).to.equal(true);
    await person.ok('endAllBrowserSessions');
    await staying.expectEnded();
    expect((await person.call('getMe')).status).to.equal(200);
  });

  it('ends when the page signs out, and when another session takes the browser over', async () => {
    const out = await browserFor();
    const signedOut = await watch(out);
    await out.ok('endMyBrowserSession');
    await signedOut.expectEnded();

    const before = await browserFor();
    const replaced = await watch(before);
    await before.ok('createBrowserSession', { body: { key: person.token } });
    await replaced.expectEnded();
  });

  it('ends when its key is revoked, and when its person is removed', async () => {
    const revoked = await watch(await browserFor());
    await revokeKey(server, person);
    await revoked.expectEnded();

    const other = await server.person(`person-${++people}`);
    board = (await newBoard(other)).name;
    message = (await post(other, board, 'hello')).id;
    const removed = await watch(await newBrowser(server, other));
    await removePerson(server, other);
    await removed.expectEnded();
  });

  it('ends at the moment the session expires, and at the moment its key does', async () => {
    for (const expiring of ['session', 'key'] as const) {
      const end = server.clock.now() + 500_000;
      const browser = await browserFor(expiring === 'session' ? { expiresAt: end } : {});
      if (expiring === 'key') await changeKey(server, person, { expires_at: end });
      const watching = await watch(browser);
      server.clock.advance(300_000);
      const { seq } = await post(person, board, 'still there');
      await watching.streams[1]?.frame(({ id }) => id === String(seq));
      expect(watching.running).to.equal(true);
      const again = await watch(browser);
      server.clock.advance(200_000);
      await again.expectEnded();
      for (const stream of watching.streams) await server.clock.within(1_000, () => stream.until(() => stream.ended));
    }
  });

  it('has places of its own: one session’s streams take none of another’s', async () => {
    const [one, two] = [await browserFor(), await browserFor()];
    const streams = await Promise.all(Array.from({ length: 32 }, () => TestStream.open(one)));
    const more = await TestStream.open(one.bearer);
    expect(more.status).to.equal(429);
    const other = await TestStream.open(two);
    expect(other.status).to.equal(200);
    for (const stream of [...streams, more, other]) stream.close();
  });

  if (engine === 'postgres') {
    describe('at another process', () => {
      let twin: RunningServer;
      before(async () => {
        twin = await startTwin(server);
      });
      after(() => twin.close());

      const there = ({ secret, csrf, sessionId }: Browser) =>
        Object.assign(new Browser(twin.url, secret, csrf), { sessionId });

      it('ends with the session, ended here, and with its end', async () => {
        const browser = await browserFor();
        const watching = await watch(there(browser));
        await person.ok('endBrowserSession', { params: { session: browser.sessionId } });
        await watching.expectEnded();
        const expiring = await watch(there(await browserFor({ expiresAt: server.clock.now() + 60_000 })));
        server.clock.advance(60_000);
        await expiring.expectEnded();
      });

      it('ends within a second though no wake-up tells of it', async () => {
        const browser = await browserFor();
        const watching = await watch(there(browser));
        await server.db.write((tx) =>
          tx.change((db) => db('browser_sessions').where('id', browser.sessionId).update({ ended_at: tx.now })),
        );
        await watching.expectEnded(2_000);
      });

      it('is of the same session: its token and answers are known there', async () => {
        const browser = await browserFor();
        const call = { params: { board }, body: { body: 'once' }, key: 'k' };
        const first = await browser.ok('postMessage', call);
        const again = await there(browser).call('postMessage', call);
        expect([again.replayed, again.body]).to.deep.equal([true, first]);
      });
    });
  }
});
