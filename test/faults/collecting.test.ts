/**
 * Collecting bytes that nobody names, raced with uploads of the very same bytes and with kills: what a version names is
 * there, whole, whatever happens; and what nobody names is gone in the end.
 *
 * The short form runs with all tests, SERVICE_TEST_LONG=1 plays 60 rounds on each database.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import type { Answer } from '../../src/contract/types.ts';
import { checkStorage } from '../../src/server/blobs/check.ts';
import { Api } from '../support/api.ts';
import { forEachDatabase } from '../support/databases.ts';
import { bytesOf, tryPut } from '../support/files.ts';
import { newPlace, remove } from './databases.ts';
import { type Child, launchScript, localKey, serverModule } from './launch.ts';
import { chance } from './random.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const ROUNDS = LONG ? 60 : 3;
/** Uploads at once: one credential may have no more under way. */
const AT_ONCE = 7;
/** Enough that collecting them takes as long as sending them again. */
const BATCHES = 6;
const HOUR = 3_600_000;
/** Older than bytes are kept that nobody names, and past the next collection. */
const OLD = 31 * HOUR;

forEachDatabase('collecting unused bytes', (engine) => {
  it('never takes what a version names, raced with uploads of the same bytes and with kills', async function () {
    this.timeout(LONG ? 900_000 : 120_000);
    const place = await newPlace(engine);
    const files = place.db ? 'db:' : undefined;
    const options = {
      dataDir: place.dataDir,
      db: place.db,
      files,
      host: '127.0.0.1',
      port: 0,
      portFixed: true,
      logLevel: 'error',
    };
    let passed = 0;
    const start = async (): Promise<{ child: Child; dana: Api }> => {
      const words = [serverModule(), JSON.stringify(options), String(passed)];
      const child = launchScript(fileURLToPath(new URL('aging-server.ts', import.meta.url)), words);
      const url = await child.ready;
      return { child, dana: new Api(url, localKey(place.dataDir)) };
    };
    let { child, dana } = await start();
    const advance = (ms: number): void => {
      passed += ms;
      child.process.send({ advance: ms });
    };
    const board = 'collected';
    await dana.ok('createBoard', { body: { name: board } });
    const luck = chance();
    /** What was answered for. */
    const named = new Map<string, string>();
    let unnamed = 0;
    let kills = 0;

    for (let round = 0; round < ROUNDS; round++) {
      const batches = Array.from({ length: BATCHES }, (_, b) =>
        Array.from({ length: AT_ONCE }, (_unused, n) => `round ${round}, text ${b} ${n} ${'x'.repeat(n * 5_000)}`),
      );
      // Of many that come for one path only one is named; the bytes of the others lie there unnamed.
      for (const [b, texts] of batches.entries()) {
        const one = `r${round}/one-${b}.txt`;
        const first = await Promise.all(texts.map((text) => tryPut(dana, board, one, text)));
        expect(first.filter(({ status }) => status === 201)).to.have.length(1);
        for (const [n, { status }] of first.entries()) {
          if (status === 201) named.set(one, texts[n] as string);
          else unnamed++;
        }
      }
      advance(OLD);
      const again = async (text: string, name: string): Promise<void> => {
        const answer = await tryPut(dana, board, name, text, {}, { key: name }).catch(() => null);
        if (answer?.status === 201) named.set(name, text);
        else if (answer) expect(answer.status, answer.text).to.be.oneOf([408, 503]);
      };
      // Against the order in which they are collected, so that both meet somewhere.
      const all = batches.flat().sort((x, y) => (digestOf(x) < digestOf(y) ? 1 : -1));
      const going = Array.from({ length: AT_ONCE }, async (_, lane) => {
        for (let n = lane; n < all.length; n += AT_ONCE) await again(all[n] as string, `r${round}/again-${n}.txt`);
      });
      const dies = round % 2 === 1;
      if (dies) {
        await new Promise((resolve) => setTimeout(resolve, luck.between(0, 120)));
        await child.kill();
        kills++;
      }
      await Promise.all(going);
      if (dies) ({ child, dana } = await start());
      for (const [name, text] of named)
        if (name.startsWith(`r${round}/`)) expect(String(await bytesOf(dana, board, name)), name).to.equal(text);
    }

    // Every file, those of earlier rounds too, which several collections have passed over.
    for (const [name, text] of named) expect(String(await bytesOf(dana, board, name)) === text, name).to.equal(true);
    const { bad, checked } = await checkStorage({ ...place, files });
    expect([bad, checked >= named.size]).to.deep.equal([[], true]);
    expect([unnamed > 0, kills > 0, named.size > ROUNDS * 2]).to.deep.equal([true, true, true]);

    // Two steps: bytes that are on the disk without a row are as old as the disk says, which is not moved on.
    // Some were named whose answer was lost in a kill.
    const used = (await digestsOf(dana, board)).size;
    expect(used).to.be.at.least(new Set(named.values()).size);
    advance(OLD);
    const end = Date.now() + 60_000;
    while ((await stored(place)) > used) {
      expect(Date.now(), 'what nobody names is gone in time').to.be.below(end);
      advance(6 * HOUR);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (const [name, text] of named) expect(String(await bytesOf(dana, board, name)) === text, name).to.equal(true);
    await child.stop();
    remove(place.dataDir);
  });
});

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What the board's files name. */
async function digestsOf(api: Api, board: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (let after: string | null = ''; after !== null; ) {
    const query: Record<string, string | number> = { limit: 200, ...(after === '' ? {} : { after }) };
    const page: Answer<'listFiles'> = await api.ok('listFiles', { params: { board }, query });
    for (const { latest } of page.files) found.add(latest.digest);
    after = page.next_after;
  }
  return found;
}

/** How many different bytes are in the store. */
async function stored({ dataDir, db }: { dataDir: string; db: string | undefined }): Promise<number> {
  if (db === undefined) {
    const all = readdirSync(join(dataDir, 'files', 'sha256'), { recursive: true, encoding: 'utf8' });
    return all.filter((name) => name.length > 60).length;
  }
  const client = new pg.Client({ connectionString: db });
  await client.connect();
  const { rows } = await client.query<{ count: string }>('SELECT count(DISTINCT digest) FROM blob_chunks');
  await client.end();
  return Number(rows[0]?.count);
}
