/**
 * A server that is killed keeps what it acknowledged. Sixteen writers post under load while it dies at moments drawn by
 * chance: while it starts, as it begins to listen, with the first connection, in the middle of bursts.
 *
 * The short form runs with all tests. SERVICE_TEST_LONG=1 kills 200 times on each database.
 */
import { expect } from 'chai';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { must } from './api.ts';
import { newPlace, remove, type Where } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Chance, chance } from './random.ts';
import { expectAllKept, expectSameAgain, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const KILLS = LONG ? 200 : 5;
const WRITERS = 16;
/** How long a start takes at most before it is killed in the middle of it. */
const START_MS = 600;

/** Weighted by repetition: bursts are where most can go wrong. */
const MOMENTS = [
  'starting',
  'listening',
  'connected',
  'connected',
  'sent',
  'sent',
  'sent',
  'acknowledged',
  'acknowledged',
  'acknowledged',
  'later',
  'later',
] as const;
type Moment = (typeof MOMENTS)[number];

const places: Where[] = [];

async function place(engine: Engine): Promise<Where> {
  const where = await newPlace(engine);
  places.push(where);
  return where;
}

after(() => {
  for (const { dataDir } of places) remove(dataDir);
});

forEachDatabase('a killed server', (engine) => {
  it(`keeps every acknowledged post once through ${KILLS} kills`, async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    const run = await Run.begin(await place(engine), luckOf());
    await run.kills(KILLS);
    await run.end();
  });

  it('is replaced at once when it dies, and not before', async () => {
    const where = await place(engine);
    const first = launchServer(where);
    await first.ready;
    const second = launchServer(where);
    expect(await second.exited).to.not.equal(0);
    expect(second.errors).to.include('already_running');
    await first.kill();
    const third = launchServer(where);
    await third.ready;
    expect(await third.stop()).to.equal(0);
  });
});

function luckOf(): Chance {
  const luck = chance();
  console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
  return luck;
}

/** One server's life over many deaths. */
class Run {
  readonly #where: Where;
  readonly #luck: Chance;
  readonly #target = new Target();
  readonly #fleet: Fleet;
  readonly #reading: Reading;
  readonly #place: Place;
  readonly #moments = new Map<Moment, number>();
  #server: Child;
  #checked = 0;

  private constructor(where: Where, luck: Chance, server: Child, place: Place) {
    this.#where = where;
    this.#luck = luck;
    this.#server = server;
    this.#place = place;
    this.#reading = new Reading(place.board.id);
    const { token, board } = place;
    this.#fleet = new Fleet({ target: this.#target, token, board: board.name, writers: WRITERS });
  }

  static async begin(where: Where, luck: Chance): Promise<Run> {
    // The very first start makes the schema, the person and the key: it is killed in the middle too.
    for (let n = 0; n < (LONG ? 5 : 1); n++) await killWhileStarting(launchServer(where), luck);
    const server = launchServer(where);
    const url = await server.ready;
    const token = localKey(where.dataDir);
    const board = await must<Place['board']>({
      url,
      token,
      method: 'POST',
      path: '/v1/boards',
      body: JSON.stringify({ name: 'faults' }),
    });
    return new Run(where, luck, server, { url, token, board });
  }

  /** Kills the server this often, each time going on from what it left. */
  async kills(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const moment = this.#luck.pick(MOMENTS);
      this.#moments.set(moment, (this.#moments.get(moment) ?? 0) + 1);
      await Promise.race([this.#killAt(moment), this.#fleet.failure]);
      await this.#restart();
      await this.#check();
    }
    this.#target.up(this.#place.url);
  }

  /** Lets the writers finish and compares everything once more, this time from the first event on. */
  async end(): Promise<void> {
    await this.#fleet.finish();
    const whole = new Reading(this.#place.board.id);
    await whole.catchUp(this.#place);
    expectAllKept(this.#fleet, whole);
    expect(this.#fleet.pending.size).to.equal(0);

    const { acknowledged, lost } = this.#fleet;
    const retried = acknowledged.filter((post) => post.tries > 1);
    const others = Array.from({ length: 100 }, () => this.#luck.pick(acknowledged));
    await expectSameAgain(this.#place, [...retried.slice(-500), ...others]);
    const { head_seq } = await must<{ head_seq: number }>({ ...this.#place, path: '/v1/boards/faults' });
    expect(head_seq, 'head after the repeats').to.equal(whole.headSeq);

    const replayed = acknowledged.filter((post) => post.replayed).length;
    const moments = [...this.#moments].map(([moment, times]) => `${times} ${moment}`).join(', ');
    console.log(
      `        ${acknowledged.length} posts, ${lost} answers lost, ${replayed} of those posts had been committed` +
        ` (${moments})`,
    );
    expect(await this.#server.stop(), 'exit code').to.equal(0);
  }

  async #killAt(moment: Moment): Promise<void> {
    if (moment === 'starting') {
      await this.#server.kill();
      await killWhileStarting(launchServer(this.#where), this.#luck);
      return;
    }
    if (moment === 'listening') return this.#server.kill();
    const dead = this.#deathAt(moment);
    this.#target.up(this.#place.url);
    await dead;
  }

  /** Kills within the very callback that tells of the moment. */
  #deathAt(moment: 'connected' | 'sent' | 'acknowledged' | 'later'): Promise<void> {
    return new Promise((resolve) => {
      const strike = (): void => {
        this.#target.down();
        resolve(this.#server.kill());
      };
      const most = { connected: 4, sent: 100, acknowledged: 200 };
      if (moment === 'later') this.#fleet.after('connected', 1, () => setTimeout(strike, this.#luck.between(0, 120)));
      else this.#fleet.after(moment, this.#luck.between(1, most[moment]), strike);
    });
  }

  async #restart(): Promise<void> {
    this.#server = launchServer(this.#where);
    this.#place.url = await this.#server.ready;
  }

  /** While the writers wait for the server, what it has must be what they were told. */
  async #check(): Promise<void> {
    await this.#reading.catchUp(this.#place);
    expectAllKept(this.#fleet, this.#reading, this.#checked);
    this.#checked = this.#fleet.acknowledged.length;
  }
}

/** Kills a server after a time in which it may or may not have become ready. */
async function killWhileStarting(server: Child, luck: Chance): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const soon = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, luck.between(0, START_MS));
  });
  await Promise.race([soon, server.ready]);
  clearTimeout(timer);
  await server.kill();
}
