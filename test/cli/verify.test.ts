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

  describe('from the remembered end on', () => {
    const from = async (seq: number) => {
      const { code, stdout } = await home().run(['audit', 'verify', '--from', String(seq), '--json']);
      return { code, ...JSON.parse(stdout) };
    };

    it('reads only what came since, and remembers the new end', async () => {
      expect(await home().json(['audit', 'verify'])).to.deep.include({ ok: true, head_seq: 5 });
      await home().json(['say', 'four']);
      const { pinned, ...found } = await from(6);
      expect(found).to.deep.include({ code: 0, ok: true, events: 1, payloads_checked: 1, head_seq: 6, problem: null });
      expect(pinned).to.deep.include({ seq: 5, matches: true });
      expect(await from(7)).to.deep.include({ code: 0, ok: true, events: 0, head_seq: 6 });
      expect(await from(1)).to.deep.include({ code: 0, ok: true, events: 6, head_seq: 6 });
    });

    it('starts nowhere else, since nothing is known to be good there, and says where it can', async () => {
      const refused = await home().run(['audit', 'verify', '--from', '3', '--json']);
      expect(refused.code).to.equal(2);
      const { code, hint } = JSON.parse(refused.stdout).error;
      expect([code, hint]).to.deep.equal(['invalid_request', 'service audit verify --from 7']);
      expect((await home().run(['audit', 'verify', '--from', '0'])).code).to.equal(2);

      const before = readFileSync(pins(), 'utf8');
      writeFileSync(pins(), '{}');
      const unknown = await home().run(['audit', 'verify', '--from', '7', '--json']);
      expect([unknown.code, JSON.parse(unknown.stdout).error.hint]).to.deep.equal([2, 'service audit verify']);
      expect(readFileSync(pins(), 'utf8')).to.equal('{}');
      writeFileSync(pins(), before);
    });

    it('finds that what follows does not continue it', async () => {
      await home().json(['say', 'five']);
      await remembering(
        (pin) => Object.assign(pin, { hash: `sha256:${'f'.repeat(64)}` }),
        async () => {
          const remembered = readFileSync(pins(), 'utf8');
          const { pinned, ...found } = await from(7);
          expect(found).to.deep.include({ code: 3, ok: false, problem: { seq: 7, problem: 'prev_hash_mismatch' } });
          expect(pinned).to.deep.include({ seq: 6, matches: false });
          expect(readFileSync(pins(), 'utf8')).to.equal(remembered);
        },
      );
    });
  });
});
