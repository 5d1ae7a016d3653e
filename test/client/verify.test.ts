import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { sha256, verifyBoard } from '../../src/client/verify.ts';
import { canonicalJson } from '../../src/contract/canonical.ts';
import { envelopeText, ZERO_HASH } from '../../src/contract/chain.ts';
import type { BoardEvent } from '../../src/contract/types.ts';
import { clientOf, closeServers, failure, refusal, sendJson, serve } from './support.ts';

const B = 'brd_01K5A0000000000000000000B1';
const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** A sound record of `count` events, every tenth with its data withheld. */
function record(count: number): BoardEvent[] {
  const events: BoardEvent[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const data = { n: seq, text: 'é\u2028🎉' };
    const event: BoardEvent = {
      id: `evt_${seq}`,
      board_id: B,
      seq,
      type: 'message.posted',
      at: '2026-03-02T09:00:00.000Z',
      actor: { kind: 'system', member_id: null, name: null, owner: null },
      ...(seq % 10 === 0 ? { data_withheld: true as const } : { data }),
      data_hash: digest(canonicalJson(data)),
      prev_hash: events.at(-1)?.hash ?? ZERO_HASH,
      hash: '',
    };
    events.push({ ...event, hash: digest(envelopeText(event)) });
  }
  return events;
}

/** Serves a record in pages; it may announce another head than it has. */
async function serving(events: BoardEvent[], head = events.length, laterHead = head) {
  const server = await serve(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://host');
    if (pathname !== '/v1/boards/demo/events') return sendJson(response, 404, refusal('board_not_found'));
    const after = Number(searchParams.get('after'));
    const rest = events.filter((event) => event.seq > after);
    const page = rest.slice(0, Number(searchParams.get('limit')));
    const next_after = rest.length > page.length ? page.at(-1)?.seq : null;
    sendJson(response, 200, {
      board: 'demo',
      events: page,
      head_seq: after === 0 ? head : laterHead,
      next_after,
      prev_before: null,
    });
  });
  return { ...server, client: clientOf(server.origin).client };
}

const demo = { id: B, name: 'demo' };
const events = record(450);
const point = (seq: number) => ({ seq, hash: events[seq - 1]?.hash ?? '' });

describe('client: verifying a board', () => {
  afterEach(closeServers);

  it('hashes with WebCrypto what Node.js hashes the same way', async () => {
    expect(`sha256:${await sha256('é\u2028🎉')}`).to.equal(digest('é\u2028🎉'));
  });

  it('reads the whole record in pages of 200 and finds a sound one sound', async () => {
    const { client, seen } = await serving(events);
    const result = await verifyBoard(client, demo);
    expect(result).to.deep.equal({
      events: 450,
      payloadsChecked: 405,
      payloadsWithheld: 45,
      head: point(450),
      problem: null,
    });
    expect(seen.map((request) => request.url)).to.deep.equal(
      [0, 200, 400].map((after) => `/v1/boards/demo/events?after=${after}&limit=200`),
    );
  });

  it('tells after each page how many events it has checked, and of how many', async () => {
    const told: [number, number][] = [];
    const onPage = (done: number, total: number) => told.push([done, total]);
    await verifyBoard((await serving(events)).client, demo, { onPage });
    await verifyBoard((await serving(events)).client, demo, { pinned: point(100), from: point(100), onPage });
    expect(told).to.deep.equal([
      [200, 450],
      [400, 450],
      [450, 450],
      [200, 350],
      [350, 350],
    ]);
  });

  it('stops at the first problem and asks for no further page', async () => {
    const forged = events.map((event) => (event.seq === 5 ? { ...event, data: { n: 6 } } : event));
    const { client, seen } = await serving(forged);
    const result = await verifyBoard(client, demo);
    expect(result.problem).to.deep.equal({ seq: 5, reason: 'data_hash_mismatch' });
    expect(result.events).to.equal(4);
    expect(seen).to.have.length(1);
  });

  it('notices a record that ends before the head it announces, or before the pinned event', async () => {
    const short = await serving(events.slice(0, 100), 103);
    expect((await verifyBoard(short.client, demo)).problem).to.deep.equal({ seq: 101, reason: 'truncated' });
    const lost = await serving(events.slice(0, 100));
    const pinned = point(120);
    expect((await verifyBoard(lost.client, demo, { pinned })).problem).to.deep.equal({
      seq: 101,
      reason: 'history_lost',
    });
  });

  it('holds the server to the head that it announced first', async () => {
    const { client } = await serving(events, 460, 450);
    expect((await verifyBoard(client, demo)).problem).to.deep.equal({ seq: 451, reason: 'truncated' });
  });

  it('notices that the pinned event was rewritten', async () => {
    const { client } = await serving(events);
    const result = await verifyBoard(client, demo, { pinned: { seq: 7, hash: ZERO_HASH } });
    expect(result.problem).to.deep.equal({ seq: 7, reason: 'history_rewritten' });
  });

  it('starts after a pinned event', async () => {
    const { client, seen } = await serving(events);
    const result = await verifyBoard(client, demo, { pinned: point(440), from: point(440) });
    expect(result).to.deep.include({ events: 10, head: point(450), problem: null });
    expect(seen[0]?.url).to.equal(`/v1/boards/demo/events?after=440&limit=200`);
  });

  it('compares the pinned event itself where none follows it', async () => {
    const ended = { pinned: point(450), from: point(450) };
    const { client, seen } = await serving(events);
    expect(await verifyBoard(client, demo, ended)).to.deep.include({ events: 0, head: point(450), problem: null });
    expect(seen.map(({ url }) => url)).to.deep.equal([
      '/v1/boards/demo/events?after=450&limit=200',
      '/v1/boards/demo/events?after=449&limit=1',
    ]);
    const other = { seq: 450, hash: ZERO_HASH };
    const rewritten = await verifyBoard(client, demo, { pinned: other, from: other });
    expect(rewritten).to.deep.include({ events: 0, problem: { seq: 450, reason: 'history_rewritten' } });
    const changed = await serving([...events.slice(0, -1), { ...events[449]!, type: 'task.created' }]);
    const { problem } = await verifyBoard(changed.client, demo, ended);
    expect(problem).to.deep.equal({ seq: 450, reason: 'hash_mismatch' });
    const gone = await serving(events.slice(0, -1), 450);
    const lost = await verifyBoard(gone.client, demo, ended);
    expect(lost).to.deep.include({ events: 0, problem: { seq: 450, reason: 'history_lost' } });
  });

  it('checks what is appended while it reads', async () => {
    const { client } = await serving(events, 400);
    expect(await verifyBoard(client, demo)).to.deep.include({ events: 450, problem: null });
  });

  it('fails, instead of calling the record sound, when it cannot be read', async () => {
    const { client } = await serving(events);
    expect((await failure(verifyBoard(client, { id: B, name: 'other' }))).code).to.equal('board_not_found');
    const odd = await serve((_, response) => sendJson(response, 200, { events: null, next_after: null }));
    expect((await failure(verifyBoard(clientOf(odd.origin).client, demo))).code).to.equal('server_unexpected');
  });
});
