import { expect } from 'chai';
import { createEnvironment } from '../../src/daemon/server-link/transport.ts';
import { TestDaemonClock } from '../support/daemon-clock.ts';

describe('time as server connections see it', () => {
  it('is that of the clock which nobody sets', async () => {
    const clock = new TestDaemonClock();
    let day = clock.now();
    const world = createEnvironment(
      { ...clock, nowUs: clock.nowUs, now: () => day, after: clock.after.bind(clock) },
      { write: () => {} },
      '1.2.3',
    );
    const began = world.now();
    day += 86_400_000;
    await clock.advance(1_000);
    expect(world.now() - began).to.equal(1_000);
    expect(world.wallNow()).to.equal(day);
    expect(world.userAgent).to.equal('service/1.2.3');
  });

  it('passes for sleepers, and ends for those called away', async () => {
    const clock = new TestDaemonClock();
    const world = createEnvironment(clock, { write: () => {} }, '1.2.3');
    const told: string[] = [];
    const away = new AbortController();
    void world.sleep(100).then(() => told.push('slept'));
    void world.sleep(100, away.signal).catch(() => told.push('away'));
    away.abort();
    await clock.advance(99);
    expect(told).to.deep.equal(['away']);
    await clock.advance(1);
    expect(told).to.deep.equal(['away', 'slept']);
    expect(await world.sleep(1, away.signal).catch(() => 'at once')).to.equal('at once');
    expect(clock.timers()).to.deep.equal([]);
  });

  it('asks its clock for no time that is over', async () => {
    const asked: number[] = [];
    const after = (ms: number, run: () => void) => {
      asked.push(ms);
      run();
      return () => {};
    };
    await createEnvironment({ nowUs: () => 0, now: () => 0, after }, { write: () => {} }, '1.2.3').sleep(-45_000);
    expect(asked).to.deep.equal([0]);
  });
});
