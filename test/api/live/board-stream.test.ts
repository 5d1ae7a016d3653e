import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ChainVerifier } from '../../../src/contract/chain.ts';
import { boardFrames } from '../../../src/contract/nouns/record.ts';
import { BoardStream } from '../../../src/server/live/board-stream.ts';
import { Connection } from '../../../src/server/live/connection.ts';
import type { Feed, Follower } from '../../../src/server/live/feed.ts';
import { frame } from '../../../src/server/live/frames.ts';
import { atMost } from '../../../src/server/live/looks.ts';
import type { News } from '../../../src/server/live/news.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { holdNextRead } from '../../support/hold-read.ts';
import { bothEnds } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, fillLog, memberIdOf, putOnBoard, revokeKey, setPolicy } from '../../support/state.ts';
import { type Frame, TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const isReady = (frame: Frame) => frame.event === 'ready';
const ids = (stream: TestStream) => stream.named('event').map((frame) => Number(frame.id));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

forEachDatabase('a stream of one board', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const refusal = async (query: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/v1/stream?${query}`, {
      headers: { ...server.dana.headers({}), ...headers },
    });
    const { error } = (await response.json()) as {
      error: { code: string; hint: string; details?: Record<string, unknown> };
    };
    return { answer: `${response.status} ${error.code}`, hint: error.hint, details: error.details };
  };

  it('gives the log from a number on, then `ready` with the head, then each new event', async () => {
    const board = await newBoard(server.dana);
    for (const n of range(1, 5)) await post(server.dana, board.name, `${n}`);
    const stream = await TestStream.open(server.dana, { board: board.name, after: 3 });
    const ready = await stream.frame(isReady);
    expect(ids(stream)).to.deep.equal([4, 5, 6, 7]);
    expect([ready.id, ready.data.head_seq]).to.deep.equal(['7', 7]);
    const next = await post(server.dana, board.name, 'live');
    const frame = await stream.frame(({ id, event }) => event === 'event' && id === String(next.seq));
    const { events } = await server.dana.ok('listEvents', { params: { board: board.name }, query: { after: 7 } });
    expect(frame.data).to.deep.equal(events[0]);
    expect(stream.frames.at(-1)?.event).to.equal('event');
    expect(stream.named('ready')).to.have.length(1);
    stream.close();
  });

  it('starts at the head when no number is given, by name and by id', async () => {
    const board = await newBoard(server.dana);
    await post(server.dana, board.name, 'old');
    for (const name of [board.name, board.id]) {
      const stream = await TestStream.open(server.dana, { board: name });
      expect((await stream.frame(isReady)).id).to.equal('3');
      expect(stream.named('event')).to.deep.equal([]);
      stream.close();
    }
  });

  it('has the headers and frames of the contract', async () => {
    const board = await newBoard(server.dana);
    await post(server.dana, board.name, 'one');
    const stream = await TestStream.open(server.dana, { board: board.name, after: 0, include: 'message' });
    await stream.frame(isReady);
    expect(stream.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(stream.headers.get('cache-control')).to.equal('no-store, no-transform');
    expect(stream.headers.get('x-accel-buffering')).to.equal('no');
    expect(stream.headers.get('content-encoding')).to.equal(null);
    expect(stream.headers.get('x-request-id')).to.match(/^req_/);
    for (const { event, data } of stream.frames) boardFrames.shape[event as keyof typeof boardFrames.shape].parse(data);
    expect(stream.frames.map((frame) => [frame.event, frame.id])).to.deep.equal([
      ['event', '1'],
      ['event', '2'],
      ['event', '3'],
      ['message', undefined],
      ['ready', '3'],
    ]);
    server.clock.advance(25_000);
    await stream.until(() => stream.comments.includes('keepalive'));
    stream.close();
  });

  it('resumes after the last id it was given, which takes the place of `after`', async () => {
    const board = await newBoard(server.dana);
    for (const n of range(1, 4)) await post(server.dana, board.name, `${n}`);
    const stream = await TestStream.open(server.dana, { board: board.name, after: 0 }, { 'last-event-id': '4' });
    await stream.frame(isReady);
    expect(ids(stream)).to.deep.equal([5, 6]);
    stream.close();
  });

  it('is refused beyond the head, with a malformed place and together with filters of hints', async () => {
    const { name } = await newBoard(server.dana);
    const beyond = await refusal(`board=${name}&after=3`);
    expect(beyond.answer).to.equal('400 invalid_request');
    expect(beyond.details).to.include({ head_seq: 2 });
    for (const query of ['after=x', 'after=-1', 'boards=a', 'events=head', 'include=all', `board=${name}`]) {
      expect((await refusal(`board=${name}&${query}`)).answer, query).to.equal('400 invalid_request');
    }
    for (const filter of ['boards=a', 'events=head']) {
      expect((await refusal(`board=${name}&${filter}`)).hint).to.match(/^Give board alone/);
    }
    expect((await refusal(`board=${name}`, { 'last-event-id': 'x' })).answer).to.equal('400 invalid_request');
    const { answer, details } = await refusal(`board=${name}`, { 'last-event-id': '9' });
    expect(answer).to.equal('400 invalid_request');
    expect(details).to.include({ field: 'Last-Event-ID', head_seq: 2 });
  });

  it('gives 1,000 events and 100 more posted meanwhile once each and in order', async () => {
    const board = await newBoard(server.dana);
    await fillLog(server, board.name, 998);
    const writers = [server.dana, await newAgent(server.dana, board.name), await newAgent(server.dana, board.name)];
    const stream = await TestStream.open(server.dana, { board: board.name, after: 0 });
    for (let n = 0; n < 34; n++) await Promise.all(writers.map((writer) => post(writer, board.name, `more ${n}`)));
    const { head_seq } = await server.dana.ok('getBoard', { params: { board: board.name } });
    await stream.until(() => ids(stream).at(-1) === head_seq);
    expect(ids(stream)).to.deep.equal(range(1, head_seq));
    const readyAt = stream.frames.findIndex(isReady);
    expect(stream.frames[readyAt - 1]?.id).to.equal(stream.frames[readyAt]?.id);
    const verifier = new ChainVerifier(board.id, { sha256 });
    for (const { data } of stream.named('event')) expect(await verifier.add(data)).to.equal(null);
    expect(verifier.finish(head_seq)).to.equal(null);
    stream.close();
  });

  it('gives a long log of large messages in parts, and holds no more than one of them for a reader that does not read', async () => {
    const board = await newBoard(server.dana);
    // A control character takes six bytes of JSON.
    const text = '\u0001'.repeat(32_000);
    for (let n = 0; n < 20; n++) await post(server.dana, board.name, text);
    const { client, serverEnd } = await bothEnds(server.url);
    serverEnd.cork();
    client.write(
      `GET /v1/stream?board=${board.name}&after=0 HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nAuthorization: Bearer ${server.dana.token}\r\n\r\n`,
    );
    await until(() => serverEnd.writableLength > 262_144, 'a part is written');
    await post(server.dana, board.name, 'and it goes on');
    expect(serverEnd.writableLength).to.be.below(2 * 262_144 + 10_000);
    client.destroy();

    const stream = await TestStream.open(server.dana, { board: board.name, after: 0 });
    await stream.frame(isReady);
    expect(ids(stream)).to.deep.equal(range(1, 23));
    stream.close();
  });

  it('is read once: what follows the log is not looked for through all of it again', async () => {
    const board = await newBoard(server.dana);
    await fillLog(server, board.name, 1_000);
    const stream = await TestStream.open(server.dana, { board: board.name, after: 0 });
    await stream.frame(isReady);
    let looks = 0;
    const plain = server.db.read;
    server.db.read = ((fn: never, allows: never) => {
      if (new Error().stack?.includes('feed.ts')) looks++;
      return plain.call(server.db, fn, allows);
    }) as never;
    const { seq } = await post(server.dana, board.name, 'the next');
    await stream.frame(({ id, event }) => event === 'event' && id === String(seq));
    Reflect.deleteProperty(server.db, 'read');
    expect(looks).to.equal(1);
    expect(ids(stream)).to.deep.equal(range(1, seq));
    stream.close();
  });

  it('misses nothing that comes while it opens and a change before it is still being read', async () => {
    const board = await newBoard(server.dana);
    const other = await TestStream.open(server.dana, { board: board.name });
    await other.frame(isReady);
    const reading = holdNextRead(server, 'feed.ts', 'before');
    await post(server.dana, board.name, 'a change before');
    await reading.begun;
    const stream = await TestStream.open(server.dana, { board: board.name });
    await stream.frame(isReady);
    const { seq } = await post(server.dana, board.name, 'and the next');
    reading.goOn();
    await stream.frame(({ id, event }) => event === 'event' && id === String(seq));
    expect(ids(stream)).to.deep.equal([seq]);
    for (const one of [stream, other]) one.close();
    Reflect.deleteProperty(server.db, 'read');
  });

  it('misses nothing that comes while it reads its first page', async () => {
    const board = await newBoard(server.dana);
    const [page, look] = [holdNextRead(server, 'board-stream.ts', 'after'), holdNextRead(server, 'feed.ts', 'after')];
    const stream = await TestStream.open(server.dana, { board: board.name });
    await page.begun;
    const { seq } = await post(server.dana, board.name, 'while it opens');
    await look.begun;
    page.goOn();
    await stream.frame(isReady);
    look.goOn();
    await stream.frame(({ id, event }) => event === 'event' && id === String(seq));
    expect(ids(stream)).to.deep.equal([seq]);
    stream.close();
    Reflect.deleteProperty(server.db, 'read');
  });

  it('misses nothing that the feed hands on in the moment in which its reading ends', async () => {
    const { id, name, head_seq: head } = await newBoard(server.dana);
    const token = server.dana.token ?? '';
    const holder = {
      credential: { kind: 'PK' as const, digest: server.root.tokenDigest(token), token },
      personId: (await server.dana.ok('getMe')).id,
    };
    const news = { first: head + 1, last: head + 1, events: [], framesAfter: () => frame('event', {}, head + 1) };
    const followers = new Set<Follower>();
    let handed = false;
    const hand = (): void => {
      if (!handed) for (const follower of followers) follower.news(news as unknown as News, { brakedMs: 0 } as never);
      handed = true;
    };
    const isBehind = (): boolean => {
      queueMicrotask(hand);
      return false;
    };
    const feed = { followers, startAt() {}, isBehind } as unknown as Feed;
    const streams = createServer((_, res) => {
      const connection = new Connection({ res, standing: ['Cache-Control', 'no-store'] }, server.clock);
      const place = { board: { id, name }, after: head, head, wantsMessages: false };
      new BoardStream({ ...server, feed, bound: atMost(1), connection, holder, ...place });
    });
    await new Promise<void>((resolve) => streams.listen(0, '127.0.0.1', resolve));
    const stream = await TestStream.open(new Api(`http://127.0.0.1:${(streams.address() as AddressInfo).port}`));
    await stream.frame((each) => each.id === `${head + 1}`);
    stream.close();
    streams.close();
  });

  it('withholds by the policy in force at that moment, and follows with no message then', async () => {
    const board = await newBoard(server.dana);
    const [reader, other] = [await newAgent(server.dana, board.name), await newAgent(server.dana, board.name)];
    const stream = await TestStream.open(reader, { board: board.name, include: 'message' });
    await stream.frame(isReady);
    const shown = await post(server.dana, board.name, 'to the other', { to: [`@${other.name}`] });
    await stream.frame(({ event, data }) => event === 'message' && data.seq === shown.seq);
    await setPolicy(server, board.name, { visibility: 'addressed' });
    const hidden = await post(server.dana, board.name, 'to the other', { to: [`@${other.name}`] });
    const mine = await post(server.dana, board.name, 'to the reader', { to: [`@${reader.name}`] });
    await stream.frame(({ event, data }) => event === 'message' && data.seq === mine.seq);
    const frame = stream.named('event').find(({ id }) => id === String(hidden.seq));
    expect(frame?.data).to.include({ data_withheld: true }).and.not.to.have.property('data');
    expect(stream.named('message').map(({ data }) => data.seq)).to.deep.equal([shown.seq, mine.seq]);
    stream.close();
  });

  it('is for members of the board: an agent on its own alone, a person as long as they are there', async () => {
    const sam = await server.person('sam');
    const [board, other] = [await newBoard(server.dana), await newBoard(server.dana)];
    await putOnBoard(server, board.name, sam);
    const agent = await newAgent(sam, board.name);
    const asked = async (api: typeof sam, name: string) => {
      const response = await fetch(`${server.url}/v1/stream?board=${name}`, { headers: api.headers({}) });
      const body = response.ok ? null : ((await response.json()) as { error: { code: string } });
      await response.body?.cancel().catch(() => {});
      return `${response.status} ${body?.error.code ?? ''}`.trim();
    };
    expect(await asked(agent, board.name)).to.equal('200');
    expect(await asked(agent, other.name)).to.equal('404 board_not_found');
    expect(await asked(sam, other.name)).to.equal('403 not_on_board');
    expect(await asked(sam, 'never-there')).to.equal('404 board_not_found');
    await endMember(server, await memberIdOf(server, board.name, sam), 'left');
    expect(await asked(sam, board.name)).to.equal('403 not_on_board');
    expect(await asked(agent, board.name)).to.equal('403 agent_removed');
    await changeBoard(server, board.name, { lifecycle: 'deleted' });
    expect(await asked(server.dana, board.name)).to.equal('404 board_not_found');
  });

  it('gives each kind of reader the message as that reader reads it', async () => {
    const pam = await server.person('pam');
    const board = await newBoard(server.dana);
    await putOnBoard(server, board.name, pam);
    const agents = [await newAgent(server.dana, board.name), await newAgent(pam, board.name)];
    const readers = [server.dana, pam, ...agents];
    const streams = await Promise.all(
      readers.map((reader) => TestStream.open(reader, { board: board.name, include: 'message' })),
    );
    for (const stream of streams) await stream.frame(isReady);
    for (const writer of readers) await post(writer, board.name, 'hello');
    for (const [n, stream] of streams.entries()) {
      await stream.until(() => stream.named('message').length === readers.length);
      const { messages } = await (readers[n] as typeof pam).ok('listMessages', { params: { board: board.name } });
      expect(stream.named('message').map((frame) => frame.data)).to.deep.equal(messages);
      stream.close();
    }
  });

  it('ends within a second of the access ending, each end with its reason', async () => {
    const ends: [string, (name: string, pam: Awaited<ReturnType<TestServer['person']>>) => Promise<void>][] = [
      ['credential_ended', async (_name, pam) => revokeKey(server, pam)],
      ['board_unavailable', async (name, pam) => endMember(server, await memberIdOf(server, name, pam), 'left')],
      ['board_unavailable', async (name) => changeBoard(server, name, { lifecycle: 'deleted' })],
    ];
    for (const [n, [reason, end]] of ends.entries()) {
      const pam = await server.person(`end-${n}`);
      const board = await newBoard(server.dana);
      await putOnBoard(server, board.name, pam);
      const stream = await TestStream.open(pam, { board: board.name });
      const staying = await TestStream.open(server.dana, { board: board.name });
      await stream.frame(isReady);
      await staying.frame(isReady);
      await end(board.name, pam);
      await server.clock.within(1_000, () => stream.until(() => stream.ended));
      expect(stream.frames.at(-1)).to.deep.include({ event: 'end', data: { reason } });
      if (n === 2) await server.clock.within(1_000, () => staying.until(() => staying.ended));
      else expect(staying.ended).to.equal(false);
      staying.close();
    }
  });

  it('ends with its seat, and at the moment its key expires', async () => {
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    const seat = await TestStream.open(agent, { board: board.name });
    await seat.frame(isReady);
    await endMember(server, agent.memberId);
    await server.clock.within(1_000, () => seat.until(() => seat.ended));
    expect(seat.frames.at(-1)?.data).to.deep.equal({ reason: 'credential_ended' });

    const kim = await server.person('kim', 'member', { expiresIn: 3_600 });
    await putOnBoard(server, board.name, kim);
    const stream = await TestStream.open(kim, { board: board.name });
    await stream.frame(isReady);
    server.clock.advance(3_400_000);
    await post(server.dana, board.name, 'still there');
    await stream.frame(({ event }) => event === 'event');
    server.clock.advance(200_000);
    await server.clock.within(1_000, () => stream.until(() => stream.ended));
    expect(stream.frames.at(-1)?.data).to.deep.equal({ reason: 'credential_ended' });
  });

  it('goes on past the end it had at first when its idle key was used meanwhile', async () => {
    const board = await newBoard(server.dana);
    const ivy = await server.person('ivy', 'member', { expiresIn: 3_600, idleSeconds: 3_600 });
    await putOnBoard(server, board.name, ivy);
    const stream = await TestStream.open(ivy, { board: board.name });
    await stream.frame(isReady);
    server.clock.advance(1_800_000);
    await ivy.ok('getMe');
    server.clock.advance(1_900_000);
    const { seq } = await post(server.dana, board.name, 'past the first end');
    await stream.frame(({ id }) => id === String(seq));
    expect(stream.ended).to.equal(false);
    server.clock.advance(3_600_000);
    await server.clock.within(1_000, () => stream.until(() => stream.ended));
  });

  it('works on an archived board', async () => {
    const board = await newBoard(server.dana);
    await changeBoard(server, board.name, { lifecycle: 'archived' });
    const stream = await TestStream.open(server.dana, { board: board.name, after: 0 });
    await stream.frame(isReady);
    expect(ids(stream)).to.deep.equal([1, 2, 3]);
    stream.close();
  });
});
