import { expect } from 'chai';
import {
  B,
  endText,
  eventText,
  readyText,
  refusing,
  serveStream,
  watchBoard as watch,
  writing,
} from './stream-support.ts';
import { closeServers, tick } from './support.ts';

describe('client: the stream of a board', () => {
  afterEach(closeServers);

  it('gives out events, ready and messages as they come, and leaves unknown frames out', async () => {
    const message = 'event: message\ndata: {"id":"msg_1"}\n\n';
    const text = `retry: 2000\n\n${eventText(4)}${message}event: hologram\ndata: no json\n\n${readyText(4)}${eventText(5)}`;
    const server = await serveStream([writing(text)]);
    const reader = watch(server.origin, { after: 3, include: 'message' });
    await reader.got(4);
    expect(reader.frames.map((frame) => [frame.event, frame.id])).to.deep.equal([
      ['event', 4],
      ['message', undefined],
      ['ready', 4],
      ['event', 5],
    ]);
    expect(reader.frames[0]?.data).to.include({ seq: 4, board_id: B });
    const { url, headers } = server.streams[0]!;
    expect(url).to.equal('/v1/stream?board=demo&after=3&include=message');
    expect(headers.accept).to.equal('text/event-stream');
    expect(headers.authorization).to.equal('Bearer abh_test');
    expect(headers).to.not.have.property('last-event-id');
  });

  it('puts frames together that arrive in pieces, also within a character', async () => {
    const bytes = Buffer.from(eventText(1).replace('"x"', '"é🎉"'));
    const server = await serveStream([
      async (response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        for (const byte of bytes) {
          response.write(Buffer.from([byte]));
          await tick();
        }
      },
    ]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(1);
    expect(reader.frames[0]?.data).to.include({ type: 'é🎉' });
  });

  it('ends with server_unexpected at an event that is not the next one', async () => {
    const broken: Record<string, [string, number?]> = {
      gap: [eventText(4) + eventText(6), 3],
      repeat: [eventText(4) + eventText(4), 3],
      'gap at the start': [eventText(5), 3],
      'gap after ready': [readyText(3) + eventText(5)],
      'another number inside': [eventText(4, 4) + eventText(9, 5), 3],
      'no id': [eventText(4).replace('id: 4\n', ''), 3],
      'no JSON': ['event: event\nid: 4\ndata: {\n\n', 3],
    };
    for (const [name, [text, after]] of Object.entries(broken)) {
      const server = await serveStream([writing(text)]);
      const outcome = await watch(server.origin, { after }).end();
      expect(outcome, name).to.have.property('code', 'server_unexpected');
    }
  });

  it('notices a gap across a reconnection', async () => {
    const server = await serveStream([writing(eventText(4), 'close'), writing(eventText(6))]);
    expect(await watch(server.origin, { after: 3 }).end()).to.include({ code: 'server_unexpected' });
  });

  it('ends with the server’s own refusal when the credential ends', async () => {
    const server = await serveStream([writing(endText('credential_ended'))], refusing(403, 'agent_removed'));
    expect(await watch(server.origin).end()).to.include({ code: 'agent_removed', status: 403 });
    expect(server.streams).to.have.length(1);
  });

  it('ends with unauthorized when the credential ended and the server does not say how', async () => {
    const server = await serveStream([writing(endText('credential_ended'))]);
    expect(await watch(server.origin).end()).to.include({ code: 'unauthorized', status: 401 });
  });

  it('ends with what a fresh read of the board answers when the board is unavailable', async () => {
    for (const text of [endText('board_unavailable'), 'event: board_unavailable\ndata: {}\n\n']) {
      const server = await serveStream([writing(text)], refusing(404, 'board_not_found'));
      expect(await watch(server.origin).end()).to.include({ code: 'board_not_found', status: 404 });
      expect(server.reads.map((seen) => seen.url)).to.deep.equal(['/v1/boards/demo']);
    }
  });

  it('goes on when the board turns out to be readable again', async () => {
    const server = await serveStream([writing(eventText(1) + endText('board_unavailable')), writing(eventText(2))]);
    const reader = watch(server.origin, { after: 0 });
    await reader.got(3);
    expect(reader.frames.at(-1)).to.include({ id: 2 });
  });

  it('ends at once with 400, 401, 403, 404 and an outdated server, also on coming back', async () => {
    const answers = [
      [400, 'invalid_request', 'invalid_request'],
      [401, 'unauthorized', 'unauthorized'],
      [403, 'not_on_board', 'not_on_board'],
      [404, 'board_not_found', 'board_not_found'],
      [404, 'not_found', 'server_outdated'],
    ] as const;
    for (const [status, code, expected] of answers) {
      const first = await serveStream([refusing(status, code)]);
      expect(await watch(first.origin).end(), code).to.include({ code: expected, status });
      const later = await serveStream([writing(eventText(1), 'close'), refusing(status, code)]);
      expect(await watch(later.origin, { after: 0 }).end(), code).to.include({ code: expected, status });
    }
  });

  it('says server_unexpected for a page instead of a stream', async () => {
    const server = await serveStream([
      (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>'),
    ]);
    expect(await watch(server.origin).end()).to.include({ code: 'server_unexpected' });
  });

  it('refuses a frame without an end instead of filling the memory', async () => {
    const server = await serveStream([
      (response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        const block = 'x'.repeat(1024 * 1024);
        response.write('event: event\nid: 1\ndata: ');
        for (let n = 0; n < 20; n++) response.write(block);
      },
    ]);
    expect(await watch(server.origin, { after: 0 }).end()).to.include({ code: 'response_too_large' });
  });
});
