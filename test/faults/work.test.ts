/**
 * A server killed while members work: tasks are opened, taken, written and closed, asks asked and answered, files put,
 * approved and taken off. What was answered stands, a repeat under the same key changes nothing twice, and the tables
 * are what the record says.
 *
 * The short form runs with all tests, SERVICE_TEST_LONG=1 kills 60 times on each database.
 */
import { expect } from 'chai';
import type { OperationName } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/server/db/clock.ts';
import { openDatabase } from '../../src/server/db/open.ts';
import { Api, type Call } from '../support/api.ts';
import { newAgent } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { recordedFrom } from '../support/replay.ts';
import { FileReplay } from '../support/replay-files.ts';
import { WorkReplay } from '../support/replay-work.ts';
import { until } from '../support/until.ts';
import { newPlace, remove } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Chance, chance } from './random.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const KILLS = LONG ? 60 : 3;
const MEMBERS = 6;
const board = 'killed';

type Row = Record<string, unknown>;

/** A write under a key of its own, and what it was answered with. */
interface Attempt {
  by: number;
  name: OperationName;
  call: Call;
  answer: { status: number; text: string } | null;
}

forEachDatabase('a server killed while members work', (engine) => {
  it('stands by what it answered, and its tables are what its record says', async function () {
    this.timeout(LONG ? 900_000 : 120_000);
    const place = await newPlace(engine);
    const luck = chance();
    const tokens: string[] = [];
    const attempts: Attempt[] = [];
    let child: Child;
    let url = '';
    const start = async (): Promise<void> => {
      child = launchServer(place);
      url = await child.ready;
    };
    const member = (n: number): Api => new Api(url, tokens[n % tokens.length]);
    const send = async (attempt: Attempt): Promise<void> => {
      const answer = await member(attempt.by)
        .call(attempt.name, attempt.call)
        .catch(() => null);
      if (answer && answer.status < 500) attempt.answer = { status: answer.status, text: answer.text };
    };

    await start();
    const dana = new Api(url, localKey(place.dataDir));
    await dana.ok('createBoard', { body: { name: board } });
    tokens.push(dana.token ?? '');
    for (let n = 1; n < MEMBERS; n++) tokens.push((await newAgent(dana, board)).token ?? '');

    for (let round = 0; round < KILLS; round++) {
      let open = true;
      let answered = 0;
      const lanes = tokens.map(async (_, by) => {
        for (let n = 0; open; n++) {
          const attempt = { by, ...wish(luck, attempts, `${round} ${by} ${n}`), answer: null };
          attempts.push(attempt);
          await send(attempt);
          answered++;
        }
      });
      // Something has to be there first, however slow the machine is.
      await until(() => answered >= 30, 'members work');
      await new Promise((resolve) => setTimeout(resolve, luck.between(0, 150)));
      open = false;
      await child!.kill();
      await Promise.all(lanes);
      await start();
      // Whoever heard nothing asks again.
      for (const attempt of attempts) if (!attempt.answer) await send(attempt);
    }

    const done = attempts.filter(({ answer }) => (answer?.status ?? 500) < 300);
    expect(done.length).to.be.greaterThan(KILLS * 10);
    expect(new Set(done.map(({ name }) => name)).size, 'kinds of writes that succeeded').to.be.at.least(6);
    for (const { by, name, call, answer } of done.slice(-150)) {
      const again = await member(by).call(name, call);
      expect([again.status, again.replayed, again.text], name).to.deep.equal([answer?.status, true, answer?.text]);
    }
    expect(await child!.stop()).to.equal(0);
    await compareWithRecord(place.db ?? `sqlite://${place.dataDir}/service.db`);
    remove(place.dataDir);
  });
});

/** What a member does next, drawn by chance from what is there. */
function wish(luck: Chance, attempts: readonly Attempt[], key: string): { name: OperationName; call: Call } {
  const params = { board };
  const task = luck.between(1, 12);
  const file = `notes/f${luck.between(0, 4)}.md`;
  const asks = attempts.filter(({ call, answer }) => (call.body as { ask?: unknown })?.ask && answer?.status === 201);
  const asked = asks.length > 0 ? (JSON.parse(luck.pick(asks).answer?.text ?? '{}') as { id: string }).id : undefined;
  const post = (body: object) => ({ name: 'postMessage' as const, call: { params, body, key } });
  const ways: (() => { name: OperationName; call: Call })[] = [
    () => ({ name: 'createTask', call: { params, body: { title: `task ${key}`, about: 'why' }, key } }),
    () => ({ name: 'startTask', call: { params: { board, task }, key } }),
    () => ({ name: 'joinTask', call: { params: { board, task }, key } }),
    () => ({ name: 'updateTask', call: { params: { board, task }, body: { stands: `at ${key}` }, key } }),
    () => ({ name: 'dropTask', call: { params: { board, task }, body: {}, key } }),
    () => ({ name: 'finishTask', call: { params: { board, task }, body: { note: 'done' }, key } }),
    () => post({ body: 'which?', to: ['@member'], ask: { options: ['a', 'b'] } }),
    () => post({ body: 'which?', ask: { options: ['a', 'b'] } }),
    () => post({ body: 'so', reply_to: asked, answer: { option: 1 } }),
    () => post({ body: 'look', files: [{ file }] }),
    () => ({ name: 'uploadFile', call: { params, query: { name: file }, bytes: `text ${key}`, key } }),
    () => ({
      name: 'uploadFile',
      call: { params, query: { name: `own/${key.replaceAll(' ', '-')}` }, bytes: key, key },
    }),
    () => ({ name: 'updateFile', call: { params: { board, file }, body: { maintained: true }, key } }),
    () => ({ name: 'removeFile', call: { params: { board, file }, key } }),
    () => ({ name: 'approveFile', call: { params: { board, file }, body: { version: 1 }, key } }),
  ];
  return luck.pick(ways)();
}

/** Everything that the record alone says of tasks, asks and files, against the tables. */
async function compareWithRecord(url: string): Promise<void> {
  const db = await openDatabase({ url, clock: systemClock, migrate: false });
  const rows = (table: string): Promise<Row[]> => db.read((tx) => tx.query<Row>((knex) => knex(table).select('*')));
  const like = (row: Row, rebuilt: object | undefined): Row =>
    Object.fromEntries(Object.keys(rebuilt ?? {}).map((column) => [column, row[column]]));
  const byId = (all: Row[], rebuilt: Map<string, Row>, id: string) =>
    all.map((row) => like(row, rebuilt.get(String(row[id]))));
  try {
    const events = recordedFrom(await rows('events'));
    const work = new WorkReplay(events);
    const files = new FileReplay(events);
    expect(byId(await rows('tasks'), work.tasks, 'id')).to.have.deep.members([...work.tasks.values()]);
    expect(await rows('task_helpers')).to.have.deep.members([...work.helpers.values()]);
    expect(await rows('task_texts')).to.have.deep.members(work.texts);
    expect(byId(await rows('asks'), work.asks, 'message_id')).to.have.deep.members([...work.asks.values()]);
    for (const member of await rows('members'))
      expect(member['current_task_id']).to.equal(work.current.get(String(member['id'])) ?? null);
    expect(byId(await rows('files'), files.files, 'id')).to.have.deep.members([...files.files.values()]);
    expect(await rows('file_versions')).to.have.deep.members(files.versions);
    expect(await rows('file_approvals')).to.have.deep.members([...files.approvals.values()]);
    expect(await rows('message_files')).to.have.deep.members(files.citations);
  } finally {
    await db.close();
  }
}
