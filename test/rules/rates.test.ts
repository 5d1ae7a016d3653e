import { expect } from 'chai';
import { MOST_SUBJECTS, msLeft, rateLimited, Windows } from '../../src/server/rates/window.ts';

describe('windows', () => {
  it('count per subject and begin anew with each minute of the clock', () => {
    const windows = new Windows(60_000);
    expect([windows.add('a', 60_000), windows.add('a', 119_999), windows.add('b', 119_999)]).to.deep.equal([1, 2, 1]);
    expect([windows.add('a', 120_000), windows.count('b', 120_000)]).to.deep.equal([1, 0]);
  });

  it('begin anew when the clock is set back', () => {
    const windows = new Windows(60_000);
    windows.add('a', 600_000);
    expect(windows.add('a', 1)).to.equal(1);
  });

  it('forget who was not counted for longest once there are too many', () => {
    const windows = new Windows(60_000);
    for (let n = 0; n < MOST_SUBJECTS; n++) windows.add(`s${n}`, 1);
    windows.add('s0', 1);
    windows.add('one more', 1);
    expect([windows.count('s0', 1), windows.count('s1', 1), windows.count('s2', 1)]).to.deep.equal([2, 0, 1]);
  });
});

describe('a refusal for its number', () => {
  it('names its bucket and the whole seconds until the window ends, 1 to 60', () => {
    const seconds = (now: number, ms: number) => rateLimited('redeem', msLeft(now, ms)).retryAfter;
    expect([seconds(0, 60_000), seconds(59_999, 60_000), seconds(58_000, 60_000)]).to.deep.equal([60, 1, 2]);
    expect(seconds(3_600_000, 3_600_000)).to.equal(3600);
    const refusal = rateLimited('redeem', 6_001);
    expect(refusal).to.include({ status: 429, code: 'rate_limited', retryAfter: 7 });
    expect(refusal.body().error.details).to.deep.equal({ bucket: 'redeem', retry_after_seconds: 7 });
  });
});
