/** How often `service run` starts its program because of what agents write. */
import { expect } from 'chai';
import { RunLimit } from '../../src/commands/run/lib/limit.ts';

describe('the limit of runs', () => {
  let now = 0;
  const started = (limit: RunLimit, times: number, everyMs: number) => {
    for (let i = 0; i < times; i++) {
      expect(limit.waitMs(), `start ${i + 1} at ${now}`).to.equal(0);
      limit.started();
      now += everyMs;
    }
  };
  const limited = (text?: string) => {
    now = 1_000_000;
    return new RunLimit(text, () => now);
  };

  it('is six in ten seconds and thirty in ten minutes, each counted from the start that goes out of it', () => {
    const limit = limited();
    started(limit, 6, 100);
    expect(limit.waitMs()).to.equal(9_400);
    now += 9_400;
    started(limit, 1, 0);
    expect(limit.waitMs()).to.equal(100);
    now += 60_000;
    started(limit, 23, 10_000);
    expect(limit.waitMs()).to.equal(1_600_000 - now);
    now += limit.waitMs();
    started(limit, 1, 0);
    expect(limit.waitMs()).to.be.above(0);
  });

  it('is what is asked for, with a burst that it allows, or none', () => {
    const few = limited('2/1h');
    started(few, 2, 1_000);
    expect(few.waitMs()).to.equal(3_598_000);
    const many = limited('600/10m');
    started(many, 10, 10);
    expect(many.waitMs()).to.equal(9_900);
    const all = limited('off');
    started(all, 5_000, 0);
  });

  it('takes nothing else', () => {
    for (const wrong of ['', '30', '/10m', '0/10m', '30/0s', '30/soon', 'none', '-1/10m', '30/10m/1'])
      expect(() => new RunLimit(wrong), wrong).to.throw('--max-runs takes');
  });
});
