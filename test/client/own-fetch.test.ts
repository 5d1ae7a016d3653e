/** Answers that are left before their end, read by the `fetch` of commands and daemon. */
import { Agent, request } from 'node:http';
import { expect } from 'chai';
import { fetchBy, localFetch } from '../../src/local/node-fetch.ts';
import { clientOf, closeServers, failure, sendJson, serve, until } from './support.ts';

describe('the fetch of this program', () => {
  afterEach(closeServers);

  it('leaves a long page of a proxy without a second error, and closes its connection', async () => {
    let closed = 0;
    const { origin } = await serve((_seen, response) => {
      response.on('close', () => closed++);
      response.writeHead(502, { 'Content-Type': 'text/html' }).end('x'.repeat(1_000_000));
    });
    const { client } = clientOf(origin, { fetch: localFetch });
    const error = await failure(client.call('getMe'));
    expect(error).to.include({ code: 'server_unexpected', status: 502 });
    await until(() => closed === 5);
  });

  it('leaves a stream of events that answers an ordinary request, however fast it comes', async () => {
    let closed = 0;
    const { origin } = await serve((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const more = () => {
        while (!response.destroyed && response.write('data: x\n\n'.repeat(10_000)));
      };
      response.on('drain', more).on('close', () => closed++);
      more();
    });
    const { client } = clientOf(origin, { fetch: localFetch });
    expect((await failure(client.call('getMe'))).code).to.equal('server_unexpected');
    await until(() => closed === 1);
  });

  it('ends a body that is cancelled while nothing comes', async () => {
    let closed = 0;
    const { origin } = await serve((_seen, response) => {
      response.on('close', () => closed++);
      response.writeHead(200, { 'Content-Type': 'text/plain' }).write('first');
    });
    const { body } = await fetchBy(request, new URL(origin), {});
    const reader = body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).to.equal('first');
    const next = reader.read();
    await reader.cancel();
    expect(await next).to.deep.equal({ done: true, value: undefined });
    await until(() => closed === 1);
  });

  it('rejects the reader of a body that breaks off', async () => {
    const { origin } = await serve((_seen, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('first', () => response.destroy());
    });
    const answer = await fetchBy(request, new URL(origin), {});
    const outcome = await answer.text().catch((error: NodeJS.ErrnoException) => error.code);
    expect(outcome).to.equal('ECONNRESET');
  });

  it('uses a connection again whose answer had no body, or was read to its end', async () => {
    const agent = new Agent({ keepAlive: true });
    const { origin, seen } = await serve((_seen, response, count) => {
      if (count % 2) response.writeHead(204).end();
      else sendJson(response, 200, { ok: true });
    });
    try {
      const sockets = new Set<unknown>();
      agent.on('free', (socket) => sockets.add(socket));
      for (let n = 1; n <= 4; n++) {
        const freed = new Promise((resolve) => agent.once('free', resolve));
        const answer = await fetchBy(request, new URL(origin), {}, { agent });
        if (n % 2 === 0) expect(await answer.json()).to.deep.equal({ ok: true });
        await freed;
      }
      expect(seen.length).to.equal(4);
      expect(sockets.size).to.equal(1);
    } finally {
      agent.destroy();
    }
  });
});
