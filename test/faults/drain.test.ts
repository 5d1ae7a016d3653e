/**
 * A server that is asked to end answers what had reached it. Under load it is sent SIGTERM at moments drawn by chance;
 * every request whose bytes had been sent by then gets its answer, every wait ends empty, every stream gets its last
 * frame, and nothing acknowledged is lost.
 */
import { get } from 'node:http';
import { expect } from 'chai';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { call, must } from './api.ts';
import { newPlace, remove, type Where } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Chance, chance } from './random.ts';
import { expectAllKept, expectSameAgain, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const DRAINS = process.env['SERVICE_TEST_LONG'] === '1' ? 40 : 2;
const WRITERS = 16;
const STREAMS = 6;
const WAITS = 6;
/** A server with nothing slow to do must be gone by then. */
const MOST_MS = 5_000;

const places: Where[] = [];

forEachDatabase('a server asked to end', (engine: Engine) => {
  it(`answers what had reached it, ${DRAINS} times under load`, async function () {
    this.timeout(120_000 + DRAINS * 15_000);
    const luck = chance();
    console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
    const where = await newPlace(engine);
    places.push(where);
    let server = launchServer(where);
    const place = await placeOn(server, where);
    const target = new Target();
    const fleet = new Fleet({ target, token: place.token, board: place.board.name, writers: WRITERS });
    for (let n = 0; n < DRAINS; n++) {
      await Promise.race([drain(server, place, { fleet, target, luck }), fleet.failure]);
      server = launchServer(where);
      place.url = await server.ready;
    }
    target.up(place.url);
    await fleet.finish();
    const reading = new Reading(place.board.id);
    await reading.catchUp(place);
    expectAllKept(fleet, reading);
    await expectSameAgain(
      place,
      fleet.acknowledged.filter((post) => post.tries > 1),
    );
    expect(await server.stop()).to.equal(0);
  });
});

after(() => {
  for (const { dataDir } of places) remove(dataDir);
});

async function placeOn(server: Child, where: Where): Promise<Place & { agentToken: string }> {
  const url = await server.ready;
  const token = localKey(where.dataDir);
  const person = { url, token, method: 'POST' };
  const board = await must<Place['board']>({ ...person, path: '/v1/boards', body: '{"name":"drains"}' });
  const body = JSON.stringify({ board: board.name, role: 'member' });
  const { token: agentToken } = await must<{ token: string }>({ ...person, path: '/v1/join', body });
  return { url, token, board, agentToken };
}

interface Load {
  fleet: Fleet;
  target: Target;
  luck: Chance;
}

async function drain(
  server: Child,
  place: Place & { agentToken: string },
  { fleet, target, luck }: Load,
): Promise<void> {
  const streams = await Promise.all(Array.from({ length: STREAMS }, (_, n) => openStream(place, n % 2 === 0)));
  // Nobody posts anything urgent, so these wait until the server ends.
  const waits = Array.from({ length: WAITS }, () =>
    call({ url: place.url, token: place.agentToken, path: '/v1/me/inbox?wait=60&urgent=true' }),
  );
  for (const wait of waits) wait.catch(() => {});
  target.up(place.url);
  await new Promise<void>((resolve) => fleet.after('acknowledged', luck.between(50, 150), resolve));

  const keepsSending = luck.pick([true, false]);
  if (!keepsSending) target.down();
  const onTheirWay = fleet.onTheirWay();
  const begun = performance.now();
  const code = server.stop();
  const answered = await Promise.all(onTheirWay.map((one) => one.answered));
  expect(await code, `exit code; it wrote: ${server.errors}`).to.equal(0);
  target.down();
  expect(performance.now() - begun, 'milliseconds until it was gone').to.be.below(MOST_MS);

  const lost = answered.filter((one) => !one).length;
  expect(lost, `of ${onTheirWay.length} requests that were on their way, how many got no answer`).to.equal(0);
  for (const wait of await Promise.all(waits)) {
    expect(wait.status).to.equal(200);
    expect((JSON.parse(wait.body) as { messages: unknown[] }).messages).to.deep.equal([]);
  }
  for (const text of await Promise.all(streams.map((stream) => stream.ended))) {
    expect(text.endsWith('event: end\ndata: {"reason":"server_shutdown"}\n\n'), text.slice(-200)).to.equal(true);
  }
}

/** Opens a stream; `ended` answers all it carried once it ended as an answer should end. */
function openStream({ url, token, board }: Place, ofBoard: boolean): Promise<{ ended: Promise<string> }> {
  const path = ofBoard ? `/v1/stream?board=${board.name}` : '/v1/stream';
  return new Promise((resolve, reject) => {
    const request = get(url + path, { agent: false, headers: { Authorization: `Bearer ${token}` } }, (res) => {
      let text = '';
      const ended = new Promise<string>((done, fail) => {
        res.on('error', fail);
        res.on('end', () => done(text));
      });
      ended.catch(() => {});
      res.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('event: ready')) resolve({ ended });
      });
    });
    request.on('error', reject);
  });
}
