import { expect } from 'chai';
import { Refusal } from '../../src/contract/errors.ts';
import type { OperationName } from '../../src/contract/operations.ts';
import { tellRefusals } from '../../src/server/http/refusals.ts';
import type { Caller } from '../../src/server/operation/caller.ts';
import type { RateName } from '../../src/server/rates/table.ts';
import { operationsOf, type WorkRow, work } from '../../src/server/rates/table.ts';
import { countingOnce, limitWork, type Moment, takingTurns } from '../../src/server/rates/work.ts';
import { makeLogger } from '../../src/server/upkeep/logger.ts';
import { TestClock } from '../support/clock.ts';

const rows = Object.entries(work) as [RateName | 'writes', WorkRow][];
const NOW = 1_800_000_000_000;

const key = (id: string, person = 'hum_1'): Caller =>
  ({ kind: 'PK', key: { key_id: id }, person: { person_id: person } }) as Caller;
const browser = (id: string): Caller =>
  ({ kind: 'BR', key: { key_id: 'key_1' }, person: { person_id: 'hum_1' }, session: { session_id: id } }) as Caller;
const agent = (id: string, person = 'hum_1'): Caller =>
  ({ kind: 'AG', key: { key_id: 'key_1' }, person: { person_id: person }, seat: { id } }) as Caller;
const delegate = (id: string): Caller =>
  ({
    kind: 'DG',
    key: { key_id: 'key_1' },
    person: { person_id: 'hum_1' },
    delegation: { delegation_id: id },
  }) as Caller;

const momentOf = (row: WorkRow): Moment => (row.waiting ? 'waiting' : row.runsOnly ? 'running' : 'known');
const first = (bucket: RateName | 'writes'): OperationName =>
  bucket === 'writes' ? 'createBoard' : operationsOf(bucket)[0]!;

const endpoint = (id: string): Caller =>
  ({
    kind: 'PC',
    key: { key_id: 'key_1' },
    person: { person_id: 'hum_1' },
    proof: { proof_id: id },
  }) as Caller;

describe('limits on signed-in work', () => {
  for (const [bucket, row] of rows) {
    const name = first(bucket);
    const refused = (admit: ReturnType<typeof limitWork>, caller: Caller, now = NOW): string | null => {
      try {
        admit(name, caller, now, momentOf(row));
        return null;
      } catch (error) {
        return (error as { details: { bucket: string } }).details.bucket;
      }
    };
    /** How often a caller may before this bucket refuses; other buckets of the operation may be narrower. */
    const allowed = (admit: ReturnType<typeof limitWork>, caller: Caller): number => {
      for (let n = 0; n < 20_000; n++) {
        const by = refused(admit, caller);
        if (by === bucket) return n;
        if (by !== null) return -1;
      }
      return Number.POSITIVE_INFINITY;
    };
    const alone = rows.every(([other]) => other === bucket || !operationsOf(other).includes(name));

    it(`${bucket} refuses after its number times the factor, rounded up, and in the next window no more`, () => {
      const narrow = row.credential ?? row.person ?? 0;
      if (narrow > 0) {
        for (const factor of [1, 10, 0.125]) {
          const limit = Math.ceil(narrow * factor);
          const found = allowed(limitWork(factor), key('key_1'));
          if (alone || found !== -1) expect(found, `factor ${factor}`).to.equal(limit);
        }
        const admit = limitWork(1);
        if (allowed(admit, key('key_1')) !== -1) {
          expect(refused(admit, key('key_1'))).to.equal(bucket);
          expect(refused(admit, key('key_1'), NOW + 3_600_000)).to.equal(null);
        }
      }
      expect(allowed(limitWork(0), key('key_1'))).to.equal(Number.POSITIVE_INFINITY);
    });

    if (row.seat !== undefined)
      it(`${bucket} counts each agent for itself`, () => {
        const admit = limitWork(1);
        expect(allowed(admit, agent('mem_1'))).to.equal(row.seat);
        expect(allowed(admit, agent('mem_2'))).to.equal(row.seat);
        if (row.person !== undefined) expect(refused(admit, key('key_1'))).to.equal(null);
      });

    if (row.agents !== undefined)
      it(`${bucket} counts agents with their person`, () => {
        const admit = limitWork(1);
        for (let n = 0; n < row.person! / 2; n++) refused(admit, agent(`mem_${n}`));
        expect(allowed(admit, key('key_1'))).to.equal(row.person! / 2);
        expect(refused(admit, agent('mem_new'))).to.equal(bucket);
        expect(refused(admit, agent('mem_new', 'hum_2'))).to.equal(null);
      });
  }

  it('count every operation whose row names one of them', () => {
    for (const [bucket, row] of rows) {
      for (const name of operationsOf(bucket)) {
        const admit = limitWork(1);
        const count = (): void => {
          for (let n = 0; n < 1_201; n++)
            admit(
              name,
              row.person === undefined && row.credential === undefined ? agent('mem_1') : key('key_1'),
              NOW,
              momentOf(row),
            );
        };
        expect(count, `${bucket}: ${name}`).to.throw();
      }
    }
  });

  it('by credential count each key, browser session, seat, delegation and endpoint for itself', () => {
    const admit = limitWork(1);
    for (const make of [key, browser, agent, delegate, endpoint])
      for (const id of ['one', 'two']) {
        const caller = make(`${make.name}_${id}`);
        for (let n = 0; n < 1_200; n++) admit('listMessages', caller, NOW);
        expect(() => admit('listMessages', caller, NOW), caller.kind).to.throw();
      }
  });

  it('by person count all keys and browsers of the person together', () => {
    const admit = limitWork(1);
    for (let n = 0; n < 120; n++) admit('postMessage', n % 2 ? key(`key_${n}`) : browser(`ses_${n}`), NOW, 'running');
    expect(() => admit('postMessage', key('key_new'), NOW, 'running')).to.throw();
    expect(() => admit('postMessage', key('key_new', 'hum_2'), NOW, 'running')).not.to.throw();
  });

  it('count a request once at each moment, however often its transaction runs, and refuse again what they refused', () => {
    const admit = limitWork(1);
    const post = () => {
      const count = countingOnce(admit, 'postMessage');
      for (let run = 0; run < 3; run++)
        for (const moment of ['known', 'running'] as const) count(agent('one'), NOW, moment);
    };
    for (let n = 0; n < 60; n++) post();
    const count = countingOnce(admit, 'postMessage');
    for (let run = 0; run < 2; run++) expect(() => count(agent('one'), NOW, 'running')).to.throw('too often');
  });

  it('cost nothing to speak of', () => {
    const admit = limitWork(10);
    const callers = Array.from({ length: 100 }, (_unused, n) => agent(`mem_${n}`));
    const post = (n: number): void => {
      const caller = callers[n % 100]!;
      admit('postMessage', caller, NOW + n, 'known');
      admit('postMessage', caller, NOW + n, 'running');
    };
    for (let n = 0; n < 5_000; n++) post(n);
    const began = process.hrtime.bigint();
    for (let n = 5_000; n < 55_000; n++) post(n);
    const each = Number(process.hrtime.bigint() - began) / 50_000;
    expect(each, 'nanoseconds').to.be.below(20_000);
  });
});

describe('the turns of searches', () => {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  beforeEach(() => {
    started.length = 0;
    ends.clear();
  });
  const of = (caller: Caller, name: OperationName = 'search', gone: (left: () => void) => void = () => {}) => ({
    name,
    caller,
    gone,
  });
  const run = (what: string) => () =>
    new Promise<string>((resolve, reject) => {
      started.push(what);
      ends.set(what, (error) => (error ? reject(error) : resolve(what)));
    });
  const settled = async () => {
    for (let n = 0; n < 1_000; n++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('are two at once for a person and their agents, in the order in which they came', async () => {
    const inTurn = takingTurns();
    const all = ['1', '2', '3', '4'].map((what) => inTurn(of(what === '2' ? agent('mem_1') : key(what)), run(what)));
    const other = inTurn(of(key('key_9', 'hum_2')), run('other'));
    await settled();
    expect(started).to.deep.equal(['1', 'other', '2']);
    ends.get('2')?.(new Error('it failed'));
    await all[1]?.catch((error: Error) => expect(error.message).to.equal('it failed'));
    await settled();
    expect(started).to.deep.equal(['1', 'other', '2', '3']);
    ends.get('1')?.();
    await settled();
    expect(started.at(-1)).to.equal('4');
    for (const what of ['3', '4', 'other']) ends.get(what)?.();
    expect(await Promise.all([all[0], all[2], all[3], other])).to.deep.equal(['1', '3', '4', 'other']);
    // Nothing is left of them that keeps a later one waiting.
    const later = [inTurn(of(key('5')), run('5')), inTurn(of(key('6')), run('6'))];
    await settled();
    expect(started.slice(-2)).to.deep.equal(['5', '6']);
    for (const what of ['5', '6']) ends.get(what)?.();
    await Promise.all(later);
  });

  it('of clients that have gone do not come', async () => {
    const inTurn = takingTurns();
    const first = ['1', '2'].map((what) => inTurn(of(key(what)), run(what)));
    const gone = inTurn(
      of(key('3'), 'search', (left) => left()),
      run('3'),
    ).catch((error: Refusal) => error);
    await settled();
    for (const what of ['1', '2']) ends.get(what)?.();
    expect(await Promise.all(first)).to.deep.equal(['1', '2']);
    const refusal = (await gone) as Refusal;
    expect(refusal.code).to.equal('unavailable');
    expect(started).to.deep.equal(['1', '2']);

    // Nor are they told of to the operator, in the place of what the server cannot do.
    const told: Record<string, unknown>[] = [];
    const tell = tellRefusals(
      makeLogger({ dataDir: '', logTo: { write: (line) => void told.push(JSON.parse(line)) } }),
      new TestClock(),
    );
    tell(refusal, {});
    for (const what of ['stream', 'code', 'stream']) tell(new Refusal('unavailable', `No ${what}.`), {});
    expect(told.map(({ reason }) => reason)).to.deep.equal(['No stream.', 'No code.']);
  });

  for (const [how, all] of Object.entries({
    'asked for at once': (one: (n: number) => Promise<unknown>) => Promise.all([1, 2, 3, 4].map(one)),
    'where each has ended before the next comes': async (one: (n: number) => Promise<unknown>) => {
      for (const n of [1, 2, 3, 4]) await one(n);
    },
  }))
    it(`of one person lie apart, so that others are answered between them, ${how}`, async () => {
      const inTurn = takingTurns();
      let turns = 0;
      const at: number[] = [];
      const count = () => {
        turns++;
        if (at.length < 4) setImmediate(count);
      };
      setImmediate(count);
      await all((n) => inTurn(of(key(`${n}`)), async () => at.push(turns)));
      for (const [n, turn] of at.entries()) if (n > 0) expect(turn - at[n - 1]!).to.be.at.least(20);
    });

  it('do not hold up what takes none', async () => {
    const inTurn = takingTurns();
    void inTurn(of(key('1'), 'listBoards'), run('list'));
    expect(started).to.deep.equal(['list']);
    ends.get('list')?.();
  });
});
