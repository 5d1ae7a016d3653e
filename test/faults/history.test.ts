/**
 * Random runs, judged from outside: several clients, a server or two that are killed, clocks that jump by an hour, of all or
 * of one alone, every call and every answer against the record. And the judge itself: servers that are wrong on purpose are found out.
 *
 * The short form plays few runs; SERVICE_TEST_LONG=1 plays 100 on each database. SERVICE_TEST_SEED=n plays run n alone.
 */
import { expect } from 'chai';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { Crew } from './crew.ts';
import { wrongsIn } from './history.ts';
import { RandomRun } from './random-run.ts';
import { Reading } from './record.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const one = process.env['SERVICE_TEST_SEED'];
const SEEDS = one === undefined ? Array.from({ length: LONG ? 100 : 1 }, (_, n) => n + 1) : [Number(one)];
const KILLS = LONG ? 2 : 1;
const JUMPS = 2;
/** So many runs at most until a wrong server has shown what it does. */
const PATIENCE = 12;

forEachDatabase('a random run', (engine: Engine) => {
  it(`is what its record says, ${SEEDS.length} times`, async function () {
    this.timeout(90_000 + SEEDS.length * 30_000);
    const crew = await Crew.start(engine, { jumps: true });
    let calls = 0;
    let lost = 0;
    for (const seed of SEEDS) {
      const run = new RandomRun(crew, seed, { kills: KILLS, jumps: JUMPS });
      const history = await run.play();
      // The chain holds, and the timeline is what the record says.
      await new Reading(run.place.board.id).catchUp(run.place);
      expect(wrongsIn(history), `SERVICE_TEST_SEED=${seed}`).to.deep.equal([]);
      const kills = run.struck.filter((fault) => 'kill' in fault).length;
      expect([kills, run.struck.length - kills], `SERVICE_TEST_SEED=${seed}`).to.deep.equal([KILLS, JUMPS]);
      calls += history.calls.length;
      lost += history.calls.filter((call) => call.lost).length;
    }
    console.log(`        ${calls} calls, of which ${lost} were sent again`);
    expect(lost).to.be.greaterThan(0);
    await crew.stop();
  });

  const bugs: [string, RegExp][] = [
    [`no_notify_${engine}`, /waits are \d+ ms late/],
    ['stale_credential', /after its removal/],
    ['double_effect', /done 2 times/],
    ['cursor_back', /the read position/],
    ['two_winners', /was taken by/],
  ];
  if (engine === 'sqlite') bugs.push(['lost_write', /acknowledged and gone|stands elsewhere|board_not_found/]);
  const short = engine === 'sqlite' ? bugs.slice(1, 3) : bugs.slice(0, 1);
  for (const [bug, found] of LONG ? bugs : short)
    it(`of a server with the bug ${bug} is found out`, async function () {
      this.timeout(240_000);
      const crew = await Crew.start(engine, { bug });
      const wrongs: string[] = [];
      for (let seed = 1; seed <= PATIENCE && !wrongs.some((wrong) => found.test(wrong)); seed++) {
        // A run may not even get to its end.
        const judged = await new RandomRun(crew, seed).play().then(wrongsIn, (error: Error) => [error.message]);
        wrongs.push(...judged);
      }
      expect(wrongs.join('\n')).to.match(found);
      await crew.stop();
    });
});
