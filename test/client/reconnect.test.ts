import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { boardStream } from '../../src/client/board-stream.ts';
import {
  collect,
  endText,
  eventText,
  readyText,
  refusing,
  serveStream,
  streamClock,
  watchBoard as watch,
  writing,
} from './stream-support.ts';
import { clientOf, closeServers, deadOrigin, tick, until, untilTestEnds } from './support.ts';

describe('client: a stream comes back', () => {
  afterEach(closeServers);

  it('resumes after the last event with Last-Event-ID when the connection breaks', async () => {
    const server = await serveStream([
      writing(eventText(4) + eventText(5) + eventText(6).slice(0, 20), 'break'),
      writing(eventText(6), 'close'),
      writing(eventText(7)),
    ]);
    const reader = watch(server.origin, { after: 3 });
    await reader.got(4);
    expect(reader.frames.map((frame) => frame.id)).to.deep.equal([4, 5, 6, 7]);
    expect(server.streams.map((seen) => seen.headers['last-event-id'])).to.deep.equal([undefined, '5', '6']);
    expect(reader.reconnects.map((info) => info.reason)).to.deep.equal(['server_unreachable', 'closed']);
    expect(reader.connects).to.deep.equal([false, true, true]);
  });

  it('resumes from ready when no event came before the connection broke', async () => {
    const server = await serveStream([writing(readyText(9), 'break'), writing(eventText(10))]);
    const reader = watch(server.origin);
    await reader.got(2);
    expect(server.streams[1]?.headers['last-event-id']).to.equal('9');
    expect(reader.frames.map((frame) => frame.id)).to.deep.equal([9, 10]);
  });

  it('takes 60 s without a byte for a dead connection, and comments for life', async () => {
    let first: ServerResponse | undefined;
    const server = await serveStream([
      (response, seen) => {
        first = response;
        writing(eventText(1))(response, seen);
      },
      writing(eventText(2)),
    ]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(1);
    for (let n = 1; n <= 4; n++) {
      await tick();
      reader.clock.advance(25_000);
      const before = reader.counting.chunks();
      first?.write(': keepalive\n\n');
      await until(() => reader.counting.chunks() > before);
    }
    expect(server.streams).to.have.length(1);
    await tick();
    reader.clock.advance(59_999);
    await tick();
    expect(server.streams).to.have.length(1);
    reader.clock.advance(1);
    await reader.got(2);
    expect(reader.reconnects[0]).to.include({ reason: 'request_timeout' });
    expect(server.streams[1]?.headers['last-event-id']).to.equal('1');
  });

  it('does not count the time that its reader takes as silence', async () => {
    let open: ServerResponse | undefined;
    const server = await serveStream([
      (response, seen) => {
        open = response;
        writing(eventText(1))(response, seen);
      },
    ]);
    const clock = streamClock();
    const stream = boardStream(clientOf(server.origin, { clock }).client, { board: 'demo', after: 0 });
    await stream.next();
    clock.advance(600_000);
    await tick();
    const next = stream.next();
    open?.write(eventText(2));
    expect((await next).value).to.include({ id: 2 });
    expect(server.streams).to.have.length(1);
    await stream.return();
  });

  it('doubles the delay from 1 s to 60 s, drawn at random, and starts again after 60 s of health', async () => {
    const closing = Array.from({ length: 9 }, () => writing(': hello\n\n', 'close'));
    let last: ServerResponse | undefined;
    const server = await serveStream([
      ...closing,
      (response, seen) => {
        last = response;
        writing(eventText(1))(response, seen);
      },
      writing(eventText(2)),
    ]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(1);
    // Half of 1, 2, 4 … 60 seconds.
    const half = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
    expect(reader.clock.slept).to.deep.equal(half);
    await tick();
    reader.clock.advance(59_000);
    const before = reader.counting.chunks();
    last?.write(': keepalive\n\n');
    await until(() => reader.counting.chunks() > before);
    await tick();
    reader.clock.advance(1_000);
    last?.end();
    await reader.got(2);
    expect(reader.clock.slept.at(-1)).to.equal(500);
  });

  it('waits at least as long as the server asks with retry: and with Retry-After', async () => {
    const server = await serveStream([
      writing('retry: 2000\n\n', 'close'),
      refusing(503, 'unavailable', { 'Retry-After': '7' }),
      writing(eventText(1)),
    ]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(1);
    expect(reader.clock.slept).to.deep.equal([2_500, 7_000]);
  });

  it('waits at least as long as retry: says, even when that is more than a minute', async () => {
    const server = await serveStream([writing('retry: 90000\n\n', 'close'), writing(eventText(1))]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(1);
    expect(reader.clock.slept).to.deep.equal([90_000]);
  });

  it('takes a missing name for being offline once it was connected, and for a mistake before', async () => {
    const server = await serveStream([writing(eventText(1), 'close'), writing(eventText(2))]);
    const missing = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) });
    let requests = 0;
    const { client } = clientOf(server.origin, {
      clock: streamClock(),
      fetch: (input, init) => (++requests === 2 ? Promise.reject(missing) : fetch(input, init)),
    });
    const reader = collect(boardStream(client, { board: 'demo', after: 0, signal: untilTestEnds() }));
    await reader.got(2);
    expect(reader.frames).to.have.length(2);

    const lost = clientOf('http://no.invalid', { clock: streamClock(), fetch: () => Promise.reject(missing) });
    const outcome = await collect(boardStream(lost.client, { board: 'demo' })).end();
    expect(outcome).to.include({ code: 'server_unreachable', attempts: 1 });
  });

  it('comes back after a shutdown of the server', async () => {
    const server = await serveStream([writing(eventText(1) + endText('server_shutdown')), writing(eventText(2))]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(3);
    expect(reader.frames.map((frame) => frame.event)).to.deep.equal(['event', 'end', 'event']);
  });

  it('gives up a first connection after 5 tries, but comes back as often as it takes', async () => {
    const origin = await deadOrigin();
    expect(await watch(origin).end()).to.include({ code: 'server_unreachable', attempts: 5 });

    const away = Array.from({ length: 12 }, () => refusing(503, 'unavailable'));
    const server = await serveStream([writing(eventText(1), 'close'), ...away, writing(eventText(2))]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(2);
    expect(server.streams).to.have.length(14);
  });

  it('ends quietly when it is aborted: while it reads, while it connects and while it waits', async () => {
    const reading = new AbortController();
    const one = await serveStream([writing(eventText(1))]);
    const first = watch(one.origin, { after: 0, signal: reading.signal });
    await first.got(1);
    reading.abort();
    expect(await first.end()).to.equal('ended');

    const connecting = new AbortController();
    const two = await serveStream([() => connecting.abort()]);
    expect(await watch(two.origin, { signal: connecting.signal }).end()).to.equal('ended');

    const waiting = new AbortController();
    const three = await serveStream([writing('', 'close')]);
    const onReconnect = () => waiting.abort();
    expect(await watch(three.origin, { signal: waiting.signal, onReconnect }).end()).to.equal('ended');
    expect(three.streams).to.have.length(1);
  });

  it('closes its connection when the reader leaves', async () => {
    let closed = false;
    const server = await serveStream([
      (response, seen) => {
        response.on('close', () => (closed = true));
        writing(eventText(1))(response, seen);
      },
    ]);
    const { client } = clientOf(server.origin, { clock: streamClock() });
    for await (const frame of boardStream(client, { board: 'demo', after: 0 })) {
      expect(frame.id).to.equal(1);
      break;
    }
    await until(() => closed);
  });
});
