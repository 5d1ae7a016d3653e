/**
 * One winner: many members do at once what only one of them can, through two processes of one Postgres (SQLite has one).
 * Exactly one succeeds, and every other is told who that is.
 *
 * The short form runs with all tests, SERVICE_TEST_LONG=1 starts 1,000 tasks and repeats the rest 200 times.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Answered } from '../support/api.ts';
import { Api, detailsOf } from '../support/api.ts';
import { type Agent, newAgent, post } from '../support/cast.ts';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { bytesOf, put, tryPut } from '../support/files.ts';
import { newFolder, newPlace, remove } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const MEMBERS = 32;
const TASKS = LONG ? 1_000 : 8;
const ROUNDS = LONG ? 200 : 2;

forEachDatabase('one winner', (engine: Engine) => {
  const folders: string[] = [];
  const children: Child[] = [];
  const urls: string[] = [];
  const board = 'race';
  let dana: Api;
  let agents: Agent[];

  before(async () => {
    const place = await newPlace(engine);
    folders.push(place.dataDir);
    const start = async (dataDir: string) => {
      const child = launchServer({ dataDir, ...(place.db ? { db: place.db } : {}) });
      children.push(child);
      urls.push(await child.ready);
    };
    await start(place.dataDir);
    if (place.db) {
      const other = newFolder('twin');
      folders.push(other);
      for (const file of ['server-secret', 'local-key']) copyFileSync(join(place.dataDir, file), join(other, file));
      await start(other);
    }
    dana = new Api(urls[0] as string, localKey(place.dataDir));
    await dana.ok('createBoard', { body: { name: board } });
    agents = [];
    for (let n = 0; n < MEMBERS; n++) agents.push(await newAgent(dana, board));
  });
  after(async () => {
    for (const child of children) await child.stop();
    folders.forEach(remove);
  });

  /** The same member at the process whose turn it is. */
  const at = (turn: number, { token }: Api): Api => new Api(urls[turn % urls.length] as string, token);

  /** What every member does at once; who succeeded. */
  async function race<T>(attempt: (api: Api, agent: Agent, n: number) => Promise<Answered<T>>) {
    const answers = await Promise.all(
      agents.map(async (agent, n) => ({ agent, answer: await attempt(at(n, agent), agent, n) })),
    );
    const won = answers.filter(({ answer }) => answer.status < 300);
    const lost = answers.filter(({ answer }) => answer.status >= 300).map(({ answer }) => answer);
    expect(won.length, lost.map(({ text }) => text).join('\n')).to.equal(1);
    expect(lost).to.have.length(MEMBERS - 1);
    return { winner: (won[0] as { agent: Agent }).agent, won: won[0]?.answer as Answered<T>, lost };
  }

  /** How often events of a type are on record, by what `key` makes of each. */
  async function recorded(
    type: string,
    key: (data: Record<string, unknown>) => unknown,
  ): Promise<Map<unknown, number>> {
    const counts = new Map<unknown, number>();
    for (let after = 0; ; ) {
      const page = await dana.ok('listEvents', { params: { board }, query: { after, limit: 200, type } });
      for (const { data = {} } of page.events) counts.set(key(data), (counts.get(key(data)) ?? 0) + 1);
      if (page.next_after === null) return counts;
      after = page.next_after;
    }
  }

  it('starts a task, and the others are told who owns it', async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    const processes = new Set<number>();
    for (let n = 0; n < TASKS; n++) {
      const { ref } = await dana.ok('createTask', { params: { board }, body: { title: `task ${n}` } });
      // Who comes first is left to chance.
      const { winner, won, lost } = await race((api) => api.call('startTask', { params: { board, task: ref } }));
      expect(won.body.owner?.id).to.equal(winner.memberId);
      for (const answer of lost) {
        expect([answer.status, answer.code]).to.deep.equal([409, 'task_taken']);
        expect(detailsOf(answer)).to.deep.include({ ref, owner: won.body.owner });
      }
      processes.add(agents.indexOf(winner) % urls.length);
    }
    const started = await recorded('task.started', (data) => data['task_id']);
    expect([started.size, new Set(started.values())]).to.deep.equal([TASKS, new Set([1])]);
    if (LONG) expect(processes.size, 'processes that won').to.equal(urls.length);
  });

  it('answers an ask: one plain reply is the answer, and of withdrawals one', async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    const asker = agents[0] as Agent;
    const ask = async (): Promise<{ id: string; seq: number }> =>
      post(asker, board, 'which?', { ask: { options: ['a', 'b'] }, about: [] });
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await ask();
      const reply = (body: object) => ({ params: { board }, body: { reply_to: id, ...body } });
      const replies = await Promise.all(
        agents.map((_, n) => at(n, dana).call('postMessage', reply({ body: `answer ${n}` }))),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal(Array(MEMBERS).fill(201));
      const answers = replies.map(({ body }) => body).filter(({ answer }) => answer?.ask_id === id);
      expect(answers).to.have.length(1);
      const { message } = await dana.ok('getMessage', { params: { message: id } });
      expect([message.ask?.state, message.ask?.answer_seq]).to.deep.equal(['answered', answers[0]?.seq]);

      const { id: second } = await ask();
      const ends = await Promise.all(
        agents.map((_, n) =>
          at(n, n < MEMBERS / 2 ? asker : dana).call('postMessage', {
            params: { board },
            body:
              n < MEMBERS / 2
                ? { body: 'never mind', reply_to: second, answer: { withdrawn: true } }
                : { body: 'b', reply_to: second, answer: { option: 2 } },
          }),
        ),
      );
      const withdrawn = ends.filter(({ body }) => body.answer?.withdrawn === true);
      expect(withdrawn).to.have.length(1);
      for (const { status, code, body } of ends) {
        // What was answered came before the withdrawal; what came after it is closed.
        if (status === 201) expect(body.seq).to.be.at.most(withdrawn[0]?.body.seq ?? 0);
        else expect([status, code]).to.deep.equal([409, 'ask_closed']);
      }
      expect((await dana.ok('getMessage', { params: { message: second } })).message.ask?.state).to.equal('withdrawn');
    }
  });

  it('writes the next version of a file, and the others are told by whom', async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    const file = await put(dana, board, 'notes/api.md', 'start');
    for (let base = 1; base <= ROUNDS; base++) {
      const { winner, won, lost } = await race((api, agent) =>
        tryPut(api, board, file.name, `v${base + 1} by ${agent.name}`, { base, file_id: file.id }),
      );
      expect([won.status, won.body.latest.version, won.body.latest.by.id]).to.deep.equal([
        201,
        base + 1,
        winner.memberId,
      ]);
      for (const answer of lost) {
        expect([answer.status, answer.code]).to.deep.equal([409, 'file_changed']);
        const { version, by, file_id } = detailsOf(answer) as Record<string, unknown>;
        expect([version, (by as { id: string }).id, file_id]).to.deep.equal([base + 1, winner.memberId, file.id]);
      }
      expect(String(await bytesOf(dana, board, file.name))).to.equal(`v${base + 1} by ${winner.name}`);
    }
    const added = await recorded('file.version_added', (data) => `${data['file_id']} ${data['version']}`);
    expect(new Set(added.values())).to.deep.equal(new Set([1]));
  });

  it('approves a version once, however often its person says so at once', async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    const file = await put(dana, board, 'notes/plan.md', 'start');
    for (let version = 1; version <= ROUNDS; version++) {
      if (version > 1) await put(dana, board, file.name, `v${version}`, { base: version - 1 });
      const call = { params: { board, file: file.id }, body: { version } };
      const answers = await Promise.all(agents.map((_, n) => at(n, dana).call('approveFile', call)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(MEMBERS).fill(200));
      for (const { body } of answers) expect(body.mine?.version).to.equal(version);
    }
    const approved = await recorded('file.approved', (data) => `${data['file_id']} ${data['version']}`);
    expect([approved.size, new Set(approved.values())]).to.deep.equal([ROUNDS, new Set([1])]);
  });

  it('creates the brief, in one of its formats', async function () {
    this.timeout(LONG ? 1_800_000 : 120_000);
    for (let round = 0; round < ROUNDS; round++) {
      const { winner, won, lost } = await race((api, agent, n) =>
        tryPut(api, board, n % 3 === 0 ? 'brief.html' : 'brief.md', `by ${agent.name}`, { brief: true }),
      );
      const { id, name } = won.body;
      for (const answer of lost) {
        expect(`${answer.status} ${answer.code}`).to.be.oneOf(['409 file_changed', '409 brief_exists']);
        const { version, by, file_id } = detailsOf(answer) as Record<string, unknown>;
        expect([version, (by as { id: string }).id, file_id]).to.deep.equal([1, winner.memberId, id]);
      }
      const { brief } = await dana.ok('getBoard', { params: { board } });
      expect([brief?.file_id, brief?.name, brief?.by.id]).to.deep.equal([id, name, winner.memberId]);
      await dana.ok('removeFile', { params: { board, file: id } });
    }
    const { files } = await dana.ok('listFiles', { params: { board } });
    expect(files.filter(({ name }) => name.startsWith('brief.'))).to.deep.equal([]);
  });
});
