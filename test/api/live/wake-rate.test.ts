/** How often a process tells the others that something was committed. */
import { expect } from 'chai';
import pg from 'pg';
import { PostgresWake } from '../../../src/server/db/postgres-wake.ts';
import { TestClock } from '../../support/clock.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

const COMMITS = 1_000;
const MOST_PER_SECOND = 200;

forEachDatabase('wake-ups of other processes', (engine) => {
  if (engine === 'sqlite') return;

  it('are merged: at most 200 a second, however much is committed, and none of the keys is left out', async () => {
    const url = await newPostgresDatabase();
    const listener = new pg.Client({ connectionString: url });
    await listener.connect();
    await listener.query('LISTEN service_wake');
    const keys = new Set<string>();
    let notifications = 0;
    listener.on('notification', ({ payload }) => {
      const told = (JSON.parse(payload ?? '') as { keys: string[] }).keys;
      if (told.length > 0) notifications++;
      for (const key of told) keys.add(key);
    });
    const wake = new PostgresWake(
      url,
      new TestClock(),
      { committed() {}, gap() {}, watched: () => [] },
      { counter: async () => 0, versions: async () => new Map() },
    );
    await wake.start();
    const begun = performance.now();
    for (let n = 0; n < COMMITS; n++) {
      wake.send([`board:${n}`]);
      // About a commit a millisecond: twice what the rule speaks of.
      while (performance.now() - begun < n) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => keys.size === COMMITS, 'every key was told');
    const seconds = (performance.now() - begun) / 1_000;
    expect(notifications).to.be.within(2, Math.ceil(seconds * MOST_PER_SECOND) + 1);
    await wake.close();
    await listener.end();
  });

  it('are told from what somebody else says on their channel', async () => {
    const url = await newPostgresDatabase();
    const heard: string[][] = [];
    const wake = new PostgresWake(
      url,
      new TestClock(),
      { committed: (keys) => void heard.push(keys), gap() {}, watched: () => [] },
      { counter: async () => 0, versions: async () => new Map() },
    );
    await wake.start();
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const ours = JSON.stringify({ from: 'another process', keys: ['board:1'] });
    for (const payload of ['', 'hello', 'null', '{}', '{"from":"x","keys":"board:1"}', '{"from":"x","keys":[1]}', ours])
      await other.query('SELECT pg_notify($1, $2)', ['service_wake', payload]);
    await until(() => heard.flat().includes('board:1'), 'the wake-up behind them was heard');
    expect(heard).to.deep.equal([['board:1']]);
    await wake.close();
    await other.end();
  });
});
