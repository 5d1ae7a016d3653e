/** A check of the record that fails: how it says so, and that what was known to be good stays known. */
import { readFileSync, writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('audit verify', function () {
  this.timeout(60_000);
  const home = homeWithBoard();
  const pins = () => home().path('state', 'audit-heads.json');

  before(async () => {
    for (const text of ['one', 'two', 'three']) await home().json(['say', text]);
    expect(await home().json(['audit', 'verify'])).to.deep.include({ ok: true, events: 5, problem: null });
  });

  /** Says what is wrong, exits with 3 and leaves the remembered end as it was. */
  async function finds(seq: number, problem: string): Promise<void> {
    const before = readFileSync(pins(), 'utf8');
    const shown = await home().run(['audit', 'verify']);
    expect([shown.code, shown.stdout.trim()]).to.deep.equal([3, `demo: record broken at #${seq}: ${problem}`]);
    const record = await home().run(['audit', 'verify', '--json']);
    expect(record.code).to.equal(3);
    expect(JSON.parse(record.stdout)).to.deep.include({ ok: false, problem: { seq, problem } });
    expect(readFileSync(pins(), 'utf8')).to.equal(before);
  }

  /** Lets the program remember another end than the one it found. */
  async function remembering(change: (pin: { seq: number; hash: string }) => void, check: () => Promise<void>) {
    const before = readFileSync(pins(), 'utf8');
    const heads = JSON.parse(before) as Record<string, { seq: number; hash: string }>;
    for (const pin of Object.values(heads)) change(pin);
    writeFileSync(pins(), JSON.stringify(heads));
    await check();
    writeFileSync(pins(), before);
  }

  it('finds a history that is another one than last time', () =>
    remembering(
      (pin) => Object.assign(pin, { seq: 4, hash: `sha256:${'f'.repeat(64)}` }),
      () => finds(4, 'history_rewritten'),
    ));

  it('finds a history that became shorter', () =>
    remembering(
      (pin) => Object.assign(pin, { seq: 9 }),
      () => finds(6, 'history_lost'),
    ));

  it('finds a message that was changed in the database', async () => {
    const file = new Sqlite(home().path('data', 'service.db'), { timeout: 5_000 });
    file.exec('DROP TRIGGER events_no_update');
    const change = (from: string, to: string) =>
      file.prepare('UPDATE events SET data = replace(data, ?, ?) WHERE seq = 4').run(from, to);
    change('"two"', '"tvo"');
    await finds(4, 'data_hash_mismatch');
    change('"tvo"', '"two"');
    file.close();
    expect((await home().run(['audit', 'verify'])).code).to.equal(0);
  });
});
