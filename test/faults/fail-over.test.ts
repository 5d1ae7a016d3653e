/**
 * A server on a Postgres of two servers lives on while the one that takes writes is killed and the other one takes over, and
 * keeps what it acknowledged. SERVICE_TEST_LONG=1 does it 10 times.
 */
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { newBoard } from '../support/cast.ts';
import { TestStream } from '../support/stream.ts';
import { newFolder, type Pair, remove, startPair } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { expectAllKept, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const ROUNDS = process.env['SERVICE_TEST_LONG'] === '1' ? 10 : 1;
const WRITERS = 8;
const STREAMS = 4;
/** How soon after the other one took over there are posts again. */
const BACK_MS = 15_000;

describe('a server whose Postgres is taken over by its standby', function () {
  this.timeout((ROUNDS + 1) * 90_000);
  let pair: Pair;
  let server: Child;
  const dataDir = newFolder('data');

  before(async () => {
    pair = await startPair();
    server = launchServer({ dataDir, db: pair.db });
    await server.ready;
  });
  after(async () => {
    await server.stop();
    await pair.stop();
    remove(dataDir);
  });

  it(`loses nothing that was acknowledged, and its streams leave nothing out, ${ROUNDS} times`, async () => {
    const dana = new Api(await server.ready, localKey(dataDir));
    const place: Place = { url: dana.url, token: dana.token ?? '', board: await newBoard(dana) };
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, () => TestStream.open(dana, { board: place.board.name, after: 0 })),
    );
    const target = new Target();
    target.up(dana.url);
    const fleet = new Fleet({
      target,
      token: place.token,
      board: place.board.name,
      writers: WRITERS,
      mayRepeat: ({ status }) => status === 503,
    });
    const acknowledged = (count: number) =>
      Promise.race([new Promise<void>((resolve) => fleet.after('acknowledged', count, resolve)), fleet.failure]);
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await pair.repair();
      await acknowledged(WRITERS * 8);
      await pair.failOver();
      const started = performance.now();
      await acknowledged(WRITERS);
      expect(performance.now() - started, 'until there were posts again').to.be.below(BACK_MS);
    }
    await fleet.finish();

    const record = new Reading(place.board.id);
    await record.catchUp(place);
    expectAllKept(fleet, record);
    expect(fleet.lost, 'answers that were lost').to.equal(0);
    expect(server.process.exitCode, 'exit code of the server').to.equal(null);
    const events = Array.from({ length: record.headSeq }, (_unused, n) => n + 1);
    for (const stream of streams) {
      await stream.until(() => Number(stream.named('event').at(-1)?.id) >= record.headSeq, 15_000);
      expect(stream.named('event').map(({ id }) => Number(id))).to.deep.equal(events);
      stream.close();
    }
  });
});
