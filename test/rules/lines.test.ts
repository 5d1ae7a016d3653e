import { expect } from 'chai';
import { hasLapsed, turnsAt } from '../../src/server/lines/lines.rules.ts';
import { stateWord } from '../../src/server/seats/presence.rules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const never = undefined;
const report = (presence: 'working' | 'no_session', at: number, keptUntil: number | null = null) => ({
  presence,
  presence_since: at,
  reported_at: at,
  kept_until: keptUntil,
});

describe('a line', () => {
  const working = { kind: 'working' as const, until: null, at: 10 * MINUTE };
  const paused = { kind: 'paused' as const, until: HOUR, at: 10 * MINUTE };

  it('about work goes with the presence that ends after it was set, and not with one that ended before', () => {
    const end = 12 * MINUTE;
    expect(hasLapsed(working, report('working', 9 * MINUTE), end - 1)).to.equal(false);
    expect(hasLapsed(working, report('working', 9 * MINUTE), end)).to.equal(true);
    expect(hasLapsed(working, report('no_session', 11 * MINUTE), 11 * MINUTE)).to.equal(true);
    expect(hasLapsed(working, report('no_session', 9 * MINUTE), 11 * MINUTE)).to.equal(false);
    expect(hasLapsed(working, report('working', 6 * MINUTE), 11 * MINUTE)).to.equal(false);
  });

  it('about work stays for as long as its agent is kept, which could not report', () => {
    const lapsed = (now: number, keptUntil: number) =>
      hasLapsed(working, report('working', 11 * MINUTE, keptUntil), now);
    expect([lapsed(HOUR - 1, HOUR), lapsed(HOUR, HOUR)]).to.deep.equal([false, true]);
    expect(lapsed(14 * MINUTE - 1, 12 * MINUTE)).to.equal(false);
    expect([lapsed(13 * HOUR - 1, 13 * HOUR), lapsed(13 * HOUR, 13 * HOUR)]).to.deep.equal([false, true]);
  });

  it('about work goes after 12 hours with nobody there, and stays while somebody is', () => {
    const end = working.at + 12 * HOUR;
    for (const absent of [never, report('no_session', 9 * MINUTE)]) {
      expect(hasLapsed(working, absent, end - 1)).to.equal(false);
      expect(hasLapsed(working, absent, end)).to.equal(true);
    }
    expect(hasLapsed(working, report('working', end), end + MINUTE)).to.equal(false);
  });

  it('about a pause outlives its session, and goes 7 days after its end', () => {
    expect(hasLapsed(paused, report('no_session', 11 * MINUTE), HOUR)).to.equal(false);
    expect(hasLapsed(paused, never, HOUR + 7 * 24 * HOUR - 1)).to.equal(false);
    expect(hasLapsed(paused, report('working', 8 * 24 * HOUR), HOUR + 7 * 24 * HOUR)).to.equal(true);
  });

  it('is looked at again when it turns late and when it goes', () => {
    expect(turnsAt(paused, 0)).to.equal(HOUR);
    expect(turnsAt(paused, HOUR)).to.equal(HOUR + 7 * 24 * HOUR);
    expect(turnsAt(working, 0)).to.equal(working.at + 12 * HOUR);
    expect(turnsAt(working, 13 * HOUR)).to.equal(null);
  });

  it('and the presence make one word, in this order', () => {
    const words = [
      stateWord('waiting', paused, 0),
      stateWord('working', paused, HOUR - 1),
      stateWord('no_session', paused, HOUR),
      stateWord('no_session', working, 0),
      stateWord('idle', working, 0),
      stateWord('working', null, 0),
      stateWord('idle', null, 0),
    ];
    expect(words).to.deep.equal(['waiting', 'paused', 'late', 'disconnected', 'working', 'working', 'idle']);
  });
});
