/** Listing one's boards on a server with many: `service board list` with 2,000 boards, 500 people and 5,000 seats, against 20 boards. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { type Figure, median, round } from './measure.ts';
import { benchDir, type Product, startProduct } from './world.ts';

const OWN = 20;
const BOARDS = 2_000;
const PEOPLE = 500;
const SEATS = 5_000;
const RUNS = 15;
const TARGET = 3;
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

type Row = Record<string, string | number | Buffer | null>;

export async function boards(): Promise<Figure[]> {
  if (!existsSync(bundle)) {
    process.stdout.write('boards: skipped, because there is no dist/; run `npm run build` first\n');
    return [];
  }
  mkdirSync(benchDir, { recursive: true });
  const homes = { few: mkdtempSync(join(benchDir, 'home-')), many: mkdtempSync(join(benchDir, 'home-')) };
  const products: Product[] = [];
  try {
    for (const [name, home] of Object.entries(homes)) {
      const dataDir = join(home, 'data');
      const first = await startProduct({ dataDir });
      for (let n = 0; n < OWN; n++) await first.call('POST', '/v1/boards', { name: `own-${n}` });
      await first.end();
      if (name === 'many') crowd(join(dataDir, 'service.db'));
      products.push(await startProduct({ dataDir }));
    }
    const times = { few: [] as number[], many: [] as number[] };
    for (let n = 0; n < RUNS; n++) {
      for (const name of ['few', 'many'] as const) times[name].push(await list(homes[name]));
    }
    const ratio = median(times.many) / median(times.few);
    return [
      { name: `board list of ${OWN}, ${OWN} on the server`, value: `${round(median(times.few), 0)} ms` },
      { name: `board list of ${OWN}, ${BOARDS} on the server`, value: `${round(median(times.many), 0)} ms` },
      { name: 'boards: many to few', value: round(ratio), ratio, target: { op: '<=', value: TARGET } },
    ];
  } finally {
    for (const product of products) await product.end();
    for (const home of Object.values(homes)) rmSync(home, { recursive: true, force: true });
  }
}

/** Everybody else: people, their boards and their agents, copied inside the database. */
function crowd(file: string): void {
  const db = new Sqlite(file);
  const one = (table: string, where: string): Row =>
    db.prepare(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`).get() as Row;
  const board = one('boards', "name = 'own-0'");
  const member = one('members', `id = '${board['creator_member_id']}'`);
  const person = one('people', `id = '${board['creator_person_id']}'`);
  const insert = (table: string, row: Row): void => {
    const names = Object.keys(row);
    db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`).run(
      row,
    );
  };
  db.transaction(() => {
    for (let n = 0; n < PEOPLE; n++)
      insert('people', { ...person, id: id('hum', n), handle: `person-${n}`, server_role: 'member' });
    for (let n = 0; n < BOARDS - OWN; n++) {
      const owner = id('hum', n % PEOPLE);
      insert('boards', {
        ...board,
        id: id('brd', n),
        name: `other-${n}`,
        creator_person_id: owner,
        creator_member_id: id('mem', n),
      });
      insert('members', {
        ...member,
        id: id('mem', n),
        board_id: id('brd', n),
        person_id: owner,
        name: `person-${n % PEOPLE}`,
      });
    }
    for (let n = 0; n < SEATS; n++) {
      const on = n % BOARDS < OWN ? (board['id'] as string) : id('brd', n % (BOARDS - OWN));
      insert('members', {
        ...member,
        id: id('mem', 100_000 + n),
        board_id: on,
        person_id: id('hum', n % PEOPLE),
        name: `agent-${n}`,
        kind: 'agent',
        role: 'member',
        access: null,
        delivery_mode: 'focused',
      });
    }
  })();
  db.close();
}

const id = (prefix: string, n: number): string => `${prefix}_01K5B${String(n).padStart(21, '0')}`;

function list(home: string): Promise<number> {
  const env = { ...process.env, SERVICE_HOME: home, SERVICE_KEYSTORE: 'file', SERVICE_NO_AUTOSTART: '1' };
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, [program, 'board', 'list'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && shown.includes(`own-${OWN - 1}`)) resolve(performance.now() - start);
      else reject(new Error(`board list ended with ${code}: ${shown}`));
    });
  });
}
