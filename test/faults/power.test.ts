/**
 * Power cuts on SQLite: a server runs on a disk whose journal is kept, and for moments drawn by chance another server is
 * started on what a power cut would have left there. Nothing that was acknowledged before that moment may be missing.
 *
 * Needs Linux and a C compiler. The short form looks at a few moments, SERVICE_TEST_LONG=1 at 200.
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import type { Message } from '../../src/contract/types.ts';
import { startServer } from '../../src/server/serve.ts';
import { Api } from '../support/api.ts';
import { bytesOf, tryPut } from '../support/files.ts';
import { until } from '../support/until.ts';
import { newFolder, remove } from './databases.ts';
import { describeWithDisk } from './disk-library.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Change, changesOf, Disk } from './lost-power.ts';
import { type Chance, chance } from './random.ts';
import { Reading } from './record.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const MOMENTS = LONG ? 200 : 4;
const WRITERS = 8;
const board = 'powered';

/** Something that was answered for, and when its client knew. */
interface Kept {
  at: bigint;
  /** A message's text or a file's name. */
  post?: { body: string; key: string; answer: string };
  file?: { name: string; bytes: string };
}

describeWithDisk('a power cut', (library) => {
  const folder = newFolder('power');
  after(() => remove(folder));

  it(`takes nothing that was acknowledged, at ${MOMENTS} moments`, async function () {
    this.timeout(120_000 + MOMENTS * 3_000);
    const luck = chance();
    console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
    const life = await lived(library, join(folder, 'right'));
    const { missing, kept } = await cutAt(life, luck, MOMENTS);
    console.log(`        ${life.changes.length} changes of the disk, ${life.kept.length} answers; ${kept} looked for`);
    expect(missing).to.deep.equal([]);
  });

  it('is noticed where a server does not wait for the disk', async () => {
    const life = await lived(library, join(folder, 'wrong'), 'no_sync');
    const luck = chance(1);
    let missing: string[] = [];
    // One cut may fall where the disk happened to have all.
    for (let cuts = 0; cuts < 10 && missing.length === 0; cuts++) ({ missing } = await cutAt(life, luck, 1));
    expect(missing.join('\n')).to.match(/is gone|not a database|malformed|does not start/);
  });
});

interface Life {
  dataDir: string;
  token: string;
  changes: Change[];
  kept: Kept[];
}

/** A server's life with two starts, a quiet moment in which its log is emptied, an end in order and one without warning. */
async function lived(library: string, folder: string, bug?: string): Promise<Life> {
  const dataDir = join(folder, 'data');
  const journal = join(folder, 'journal');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const env = { LD_PRELOAD: library, DISK_FOLDER: dataDir, DISK_JOURNAL: journal };
  const kept: Kept[] = [];
  const start = async (): Promise<[Child, Api]> => {
    const child = launchServer({ dataDir, env, bug });
    return [child, new Api(await child.ready, localKey(dataDir))];
  };
  let [child, dana] = await start();
  const { token = '' } = dana;
  await dana.ok('createBoard', { body: { name: board } });
  await work(dana, kept, 'first');
  if (bug !== undefined) {
    await child.kill();
    return { dataDir, token, changes: changesOf(readFileSync(journal)), kept };
  }
  await until(() => statSync(join(dataDir, 'service.db-wal')).size === 0, 'the server has emptied its log');
  await work(dana, kept, 'second');
  expect(await child.stop()).to.equal(0);
  [child, dana] = await start();
  await work(dana, kept, 'third');
  await child.kill();
  return { dataDir, token, changes: changesOf(readFileSync(journal)), kept };
}

/** Posts and puts files, some at once. */
async function work(dana: Api, kept: Kept[], name: string): Promise<void> {
  const lanes = Array.from({ length: WRITERS }, async (_, lane) => {
    for (let n = 0; n < 6; n++) {
      const text = `${name} ${lane} ${n} ${'lorem ipsum '.repeat(lane * 40)}`;
      if (lane === 0) {
        const file = { name: `${name}/${n}.txt`, bytes: text.repeat(n * 100) || text };
        expect((await tryPut(dana, board, file.name, file.bytes)).status).to.equal(201);
        kept.push({ at: process.hrtime.bigint(), file });
        continue;
      }
      const body = text.trim();
      const key = `${name} ${lane} ${n}`;
      const { status, text: answer } = await dana.call('postMessage', { params: { board }, body: { body }, key });
      expect(status).to.equal(201);
      kept.push({ at: process.hrtime.bigint(), post: { body, key, answer } });
    }
  });
  await Promise.all(lanes);
}

/** Starts a server on what each of so many moments leaves; answers what is missing, and how much was looked for. */
async function cutAt(life: Life, luck: Chance, moments: number): Promise<{ missing: string[]; kept: number }> {
  const missing: string[] = [];
  const { changes } = life;
  const at = Array.from({ length: moments }, () => luck.between(0, changes.length)).sort((a, b) => a - b);
  const disk = new Disk(life.dataDir);
  let kept = 0;
  let played = 0;
  for (const moment of at) {
    for (; played < moment; played++) disk.run(changes[played] as Change);
    const dataDir = newFolder('cut');
    disk.cut(dataDir, luck);
    // What was known before the next change began was known before the power was gone.
    const due = life.kept.filter((one) => one.at < (changes[moment]?.at ?? one.at + 1n));
    kept += due.length;
    const wrongs = await examine(dataDir, life.token, due).catch((error: Error) => [
      `does not start: ${error.message}`,
    ]);
    missing.push(...wrongs.map((wrong) => `change ${moment}: ${wrong}`));
    remove(dataDir);
  }
  return { missing, kept };
}

/** What is missing of all that was acknowledged. */
async function examine(dataDir: string, token: string, due: readonly Kept[]): Promise<string[]> {
  const server = await startServer({ dataDir, host: '127.0.0.1', port: 0, portFixed: true, logLevel: 'error' });
  const missing: string[] = [];
  try {
    const dana = new Api(server.url, token);
    if (due.length > 0) {
      const { id } = await dana.ok('getBoard', { params: { board } });
      const reading = new Reading(id);
      await reading.catchUp({ url: server.url, token, board: { id, name: board } });
      // Every message, and some of the files.
      for (const { post, file } of due.filter((one, n) => one.post || n % 2 === due.length % 2)) {
        if (post) {
          const told = JSON.parse(post.answer) as Message;
          if (reading.timeline.get(post.body)?.seq !== told.seq) missing.push(`message ${post.key} is gone`);
        }
        if (file) {
          const bytes = await bytesOf(dana, board, file.name).catch(() => null);
          if (String(bytes) !== file.bytes) missing.push(`file ${file.name} is gone`);
        }
      }
      const last = due.findLast(({ post }) => post)?.post;
      if (last) {
        const call = { params: { board }, body: { body: last.body }, key: last.key };
        const again = await dana.call('postMessage', call);
        if (again.text !== last.answer) missing.push(`the answer to ${last.key} is gone: ${again.text}`);
      }
    }
    // It goes on, whatever it was left with.
    const own = new Api(server.url, localKey(dataDir));
    await own.ok('createBoard', { body: { name: 'afterwards' } });
  } finally {
    await server.close();
  }
  const db = new Sqlite(join(dataDir, 'service.db'), { readonly: true });
  const sound = db.pragma('integrity_check', { simple: true });
  db.close();
  return sound === 'ok' ? missing : [...missing, `the database is malformed: ${sound}`];
}
