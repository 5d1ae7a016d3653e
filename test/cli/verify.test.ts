/** A check of the record that fails: how it says so, and that what was known to be good stays known. */
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { folders } from '../../src/local/folders.ts';
import { pin, pinnedHead } from '../../src/local/verified-heads.ts';
import { homeWithBoard } from './support/shared.ts';

describe('audit verify', () => {
  const home = homeWithBoard('demo', { apart: true });
  const pins = () => home().path('state', 'audit-heads.json');

  before(async () => {
    for (const text of ['one', 'two', 'three']) await home().json(['say', text]);
    expect(await home().json(['audit', 'verify'])).to.deep.include({ ok: true, events: 5, pinned_board: null });
  });

  /** Says what is wrong, exits with 3 and leaves the remembered end as it was. */
  async function finds(seq: number, problem: string): Promise<void> {
    const before = readFileSync(pins(), 'utf8');
    const shown = await home().run(['audit', 'verify']);
    const record = await home().run(['audit', 'verify', '--json']);
    expect(record.code).to.equal(3);
    const { board_id, ...found } = JSON.parse(record.stdout);
    expect(found).to.deep.include({ ok: false, problem: { seq, problem } });
    const accepts = `\nIf you know that the server went back to a backup: service audit verify --accept ${board_id}`;
    const text = `demo: record broken at #${seq}: ${problem}${problem.startsWith('history_') ? accepts : ''}`;
    expect([shown.code, shown.stdout.trim()]).to.deep.equal([3, text]);
    for (const args of [
      ['verify', '-q'],
      ['export', 'x.ndjson', '--verify'],
    ]) {
      const told = await home().run(['audit', ...args]);
      const error = `Error (check_failed): demo: record broken at #${seq}: ${problem}\n`;
      expect([told.code, told.stdout], args.join(' ')).to.deep.equal([3, '']);
      expect(told.stderr, args.join(' ')).to.satisfy((text: string) => text.startsWith(error));
      const failed = await home().run(['audit', ...args, '--json']);
      expect([failed.code, JSON.parse(failed.stdout).error.code], args.join(' ')).to.deep.equal([3, 'check_failed']);
    }
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

  it('accepts what is left after a restore for the board that is named, and for no other', async () => {
    const before = readFileSync(pins(), 'utf8');
    const [key] = Object.keys(JSON.parse(before));
    const other = { seq: 8, hash: `sha256:${'e'.repeat(64)}` };
    const lost = { seq: 9, hash: `sha256:${'f'.repeat(64)}` };
    writeFileSync(pins(), JSON.stringify({ [key!]: lost, 'srv_1|brd_1': other }));
    const wrong = await home().run(['audit', 'verify', '--accept', 'brd_01M81X6K8ETNDGDXTRJ4E5SERW']);
    expect(wrong.code).to.equal(3);
    const line = /service (audit verify --accept brd_\w+)/.exec(wrong.stdout)![1]!;
    expect(await home().json(line.split(' '))).to.deep.include({ ok: true, events: 5, pinned: null });
    const end = JSON.parse(before)[key!];
    expect(JSON.parse(readFileSync(pins(), 'utf8'))).to.deep.equal({ [key!]: end, 'srv_1|brd_1': other });
    expect((await home().json(['audit', 'verify'])).pinned).to.deep.equal({ ...end, matches: true });
    writeFileSync(pins(), before);
  });

  it('exports with --verify what it verified, in one reading', async () => {
    const { url } = (await home().json(['whoami'])).server;
    let readings = 0;
    const changing = createServer(async (request, response) => {
      const headers = { authorization: request.headers.authorization ?? '' };
      const answer = await fetch(`${url}${request.url}`, { headers });
      let text = await answer.text();
      if (request.url?.includes('/events') && ++readings > 1) text = text.replace('"two"', '"2wo"');
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    }).listen(0, '127.0.0.1');
    await once(changing, 'listening');
    const env = {
      SERVICE_SERVER: `http://127.0.0.1:${(changing.address() as AddressInfo).port}`,
      SERVICE_TOKEN: readFileSync(home().path('data', 'local-key'), 'utf8').trim(),
    };
    const path = home().path('checked.ndjson');
    const written = await home().json(['audit', 'export', path, '--verify', '--board', 'demo'], { env });
    const events = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect([written.events, events.length]).to.deep.equal([5, 5]);
    expect(JSON.parse(events[4]!)).to.include(written.head);
    expect(readFileSync(path, 'utf8')).to.include('"two"').and.not.include('2wo');
    // From now on each reading is changed: only what was good before it goes out.
    const piped = await home().run(['audit', 'export', '-', '--verify', '--board', 'demo'], { env });
    expect([piped.code, piped.stdout]).to.deep.equal([
      3,
      events
        .slice(0, 3)
        .map((line) => `${line}\n`)
        .join(''),
    ]);
    changing.close();
  });

  it('remembers the further end of two checks at once, whichever ends last', async () => {
    const place = folders({ SERVICE_HOME: home().path('two-checks') });
    const [name, ref] = [
      { origin: 'local', board: 'demo' },
      { server_id: 'srv_1', board_id: 'brd_1' },
    ];
    for (const seq of [5, 7, 6]) await pin(place, name, ref, { seq, hash: `sha256:${seq}` });
    expect(pinnedHead(place, ref)).to.deep.equal({ seq: 7, hash: 'sha256:7' });
  });

  it('finds a message that was changed in the database', async () => {
    const file = new Sqlite(home().path('data', 'service.db'), { timeout: 5_000 });
    file.exec('DROP TRIGGER events_no_update');
    const change = (from: string, to: string) =>
      file.prepare('UPDATE events SET data = replace(data, ?, ?) WHERE seq = 4').run(from, to);
    change('"two"', '"tvo"');
    await finds(4, 'data_hash_mismatch');
    // The check ended before it came to the remembered end.
    const { stdout } = await home().run(['audit', 'verify', '--json']);
    expect(JSON.parse(stdout).pinned).to.include({ seq: 5, matches: false });
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

    it('finds that the end itself is another one, with nothing new behind it', () =>
      remembering(
        (pin) => Object.assign(pin, { hash: `sha256:${'f'.repeat(64)}` }),
        async () => {
          const { pinned, ...found } = await from(7);
          expect(found).to.deep.include({ code: 3, ok: false, problem: { seq: 6, problem: 'history_rewritten' } });
          expect(pinned).to.deep.include({ seq: 6, matches: false });
        },
      ));

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

  describe('of another board under the name of the one that was checked', () => {
    const boards = () => home().path('state', 'audit-boards.json');
    type Known = { server_id: string; board_id: string };
    const known = (): Record<string, Known> => JSON.parse(readFileSync(boards(), 'utf8'));

    /** Fails with 3, remembers nothing, and prints the line that accepts it. */
    async function refuses(was: Known): Promise<string> {
      const before = [pins(), boards()].map((path) => readFileSync(path, 'utf8'));
      const shown = await home().run(['audit', 'verify']);
      expect(shown.code, shown.stdout).to.equal(3);
      const record = await home().run(['audit', 'verify', '--json']);
      expect(record.code).to.equal(3);
      const { board_id, server_id, ...found } = JSON.parse(record.stdout);
      expect(found).to.deep.include({
        ok: false,
        events: 0,
        problem: { seq: 0, problem: 'board_replaced' },
        pinned_board: { ...was, matches: false },
      });
      expect(shown.stdout).to.equal(
        [
          'demo: this is not the board that was checked here before, so nothing was verified.',
          `Checked before: ${was.board_id} of ${was.server_id}`,
          `There now:      ${board_id} of ${server_id}`,
          `If you know that it was made anew: service audit verify --accept ${board_id}\n`,
        ].join('\n'),
      );
      const exported = await home().run(['audit', 'export', '-', '--verify']);
      expect([exported.code, exported.stdout]).to.deep.equal([3, '']);
      expect([pins(), boards()].map((path) => readFileSync(path, 'utf8'))).to.deep.equal(before);
      return `audit verify --accept ${board_id}`;
    }

    for (const [field, other] of [
      ['board_id', 'brd_01M81X6K8ETNDGDXTRJ4E5SERV'],
      ['server_id', 'srv_01M81X6K8ETNDGDXTRJ4E5SERV'],
    ] as const)
      it(`fails loudly where its ${field} is another, until a person accepts it`, async () => {
        const [entry] = Object.entries(known());
        const [name, was] = entry!;
        writeFileSync(boards(), JSON.stringify({ [name]: { ...was, [field]: other } }));
        const line = await refuses({ ...was, [field]: other });
        // Only what was shown is accepted.
        const wrong = await home().run(['audit', 'verify', '--accept', 'brd_01M81X6K8ETNDGDXTRJ4E5SERW']);
        expect(wrong.code).to.equal(3);
        expect(await home().json(line.split(' '))).to.include({ ok: true });
        expect(known()).to.deep.equal({ [name]: was });
        expect(await home().json(['audit', 'verify'])).to.deep.include({ pinned_board: { ...was, matches: true } });
      });

    it('is told for a server whose data was begun anew, and again when the old one is back', async () => {
      const [was] = Object.values(known());
      const [data, away] = [home().path('data'), home().path('data.away')];
      await home().run(['server', 'stop']);
      renameSync(data, away);
      await home().json(['login', 'local']);
      await home().json(['board', 'create', 'demo']);
      const line = await refuses(was!);
      expect((await home().run(line.split(' '))).code).to.equal(0);
      const [now] = Object.values(known());
      expect(now).to.not.deep.equal(was);
      await home().run(['server', 'stop']);
      rmSync(data, { recursive: true });
      renameSync(away, data);
      await home().json(['login', 'local']);
      await home().run((await refuses(now!)).split(' '));
      expect(await home().json(['audit', 'verify'])).to.deep.include({ pinned_board: { ...was, matches: true } });
    });
  });
});
