/**
 * Two servers on a Postgres of two hosts live on while the host that takes writes is killed and the other one takes over, and
 * keep what they acknowledged. SERVICE_TEST_LONG=1 does it 10 times.
 */
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { newBoard } from '../support/cast.ts';
import { TestStream } from '../support/stream.ts';
import { Crew } from './crew.ts';
import { newFolder, type Pair, startPair } from './databases.ts';
import { expectAllKept, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const ROUNDS = process.env['SERVICE_TEST_LONG'] === '1' ? 10 : 1;
/** At each server. */
const WRITERS = 4;
const STREAMS = 2;
/** How soon after the other host took over both servers take posts again. */
const BACK_MS = 15_000;

describe('two servers whose Postgres is taken over by its standby', function () {
  this.timeout((ROUNDS + 1) * 90_000);
  let pair: Pair;
  let crew: Crew;

  before(async () => {
    pair = await startPair();
    crew = await Crew.at({ dataDir: newFolder('data'), db: pair.db });
  });
  after(async () => {
    await crew.stop();
    await pair.stop();
  });

  it(`lose nothing that was acknowledged, and their streams leave nothing out, ${ROUNDS} times`, async () => {
    const { dana, servers } = crew;
    const place: Place = { url: dana.url, token: dana.token ?? '', board: await newBoard(dana) };
    const streams = await Promise.all(
      servers.flatMap(({ url }) =>
        Array.from({ length: STREAMS }, () =>
          TestStream.open(new Api(url, place.token), { board: place.board.name, after: 0 }),
        ),
      ),
    );
    const fleets = servers.map(({ url }) => {
      const target = new Target();
      target.up(url);
      const mayRepeat = ({ status }: { status: number }) => status === 503;
      return new Fleet({ target, token: place.token, board: place.board.name, writers: WRITERS, mayRepeat });
    });
    const acknowledged = (count: number) =>
      Promise.all(
        fleets.map((fleet) =>
          Promise.race([new Promise<void>((resolve) => fleet.after('acknowledged', count, resolve)), fleet.failure]),
        ),
      );
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await pair.repair();
      await acknowledged(WRITERS * 8);
      await pair.failOver();
      const started = performance.now();
      await acknowledged(WRITERS);
      expect(performance.now() - started, 'until there were posts again').to.be.below(BACK_MS);
    }
    for (const fleet of fleets) await fleet.finish();

    const record = new Reading(place.board.id);
    await record.catchUp(place);
    const posts = { acknowledged: fleets.flatMap((fleet) => fleet.acknowledged), pending: new Set<never>() };
    expectAllKept(posts, record);
    for (const [n, { child }] of servers.entries()) {
      expect(fleets[n]?.lost, 'answers that were lost').to.equal(0);
      expect(child.process.exitCode, 'exit code of a server').to.equal(null);
    }
    const events = Array.from({ length: record.headSeq }, (_unused, n) => n + 1);
    for (const stream of streams) {
      await stream.until(() => Number(stream.named('event').at(-1)?.id) >= record.headSeq);
      expect(stream.named('event').map(({ id }) => Number(id))).to.deep.equal(events);
      stream.close();
    }
  });
});
