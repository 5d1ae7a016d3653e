import { expect } from 'chai';
import { type HintStreamOptions, hintStream } from '../../src/client/hint-stream.ts';
import { hintFrameNames } from '../../src/contract/values.ts';
import { B, collect, endText, refusing, serveStream, streamClock, writing } from './stream-support.ts';
import { clientOf, closeServers, untilTestEnds } from './support.ts';

const watch = (origin: string, options: HintStreamOptions = {}) =>
  collect(hintStream(clientOf(origin, { clock: streamClock() }).client, { signal: untilTestEnds(), ...options }));
const head = (seq: number) => `event: head\ndata: {"board":"demo","board_id":"${B}","seq":${seq}}\n\n`;

describe('client: the stream of hints', () => {
  afterEach(closeServers);

  it('gives out every frame of the contract and leaves unknown ones out', async () => {
    const names = hintFrameNames.filter((name) => name !== 'end');
    const text = names.map((name) => `event: ${name}\ndata: {"n":"${name}"}\n\n`).join('event: hologram\ndata: {\n\n');
    const server = await serveStream([writing(text)]);
    const reader = watch(server.origin);
    await reader.got(names.length);
    expect(reader.frames.map((frame) => frame.event)).to.deep.equal(names);
  });

  it('asks for the boards and frames it is told, and resumes by nothing', async () => {
    const server = await serveStream([writing(head(3), 'close'), writing(head(4))]);
    const reader = watch(server.origin, { boards: ['demo', B], events: ['head', 'unread'] });
    await reader.got(2);
    expect(server.streams[1]?.url).to.equal(`/v1/stream?boards=demo%2C${B}&events=head%2Cunread`);
    expect(server.streams[1]?.headers).to.not.have.property('last-event-id');
  });

  it('goes on when one board becomes unavailable', async () => {
    const server = await serveStream([writing(`event: board_unavailable\ndata: {"board_id":"${B}"}\n\n${head(4)}`)]);
    const reader = watch(server.origin);
    await reader.got(2);
    expect(reader.frames.map((frame) => frame.event)).to.deep.equal(['board_unavailable', 'head']);
    expect(server.reads).to.have.length(0);
  });

  it('ends with the server’s own refusal, or unauthorized, when the credential ends', async () => {
    const told = await serveStream([writing(endText('credential_ended'))], refusing(401, 'access_key_invalid'));
    expect(await watch(told.origin).end()).to.include({ code: 'access_key_invalid', status: 401 });
    expect(told.reads.map((seen) => seen.url)).to.deep.equal(['/v1/me']);
    const untold = await serveStream([writing(endText('credential_ended'))]);
    expect(await watch(untold.origin).end()).to.include({ code: 'unauthorized', status: 401 });
  });

  it('ends with 401 when the connection is refused, and comes back after a shutdown', async () => {
    const server = await serveStream([writing(endText('server_shutdown')), refusing(401, 'unauthorized')]);
    expect(await watch(server.origin).end()).to.include({ code: 'unauthorized' });
    expect(server.streams).to.have.length(2);
  });
});
