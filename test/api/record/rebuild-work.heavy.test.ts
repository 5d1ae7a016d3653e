import { expect } from 'chai';
import fc from 'fast-check';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { recordedFrom } from '../../support/replay.ts';
import { WorkReplay } from '../../support/replay-work.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { endMember } from '../../support/state.ts';

type Row = Record<string, unknown>;

const verbs = [
  'create',
  'createStarted',
  'start',
  'join',
  'drop',
  'finish',
  'update',
  'say',
  'reply',
  'ask',
  'answer',
  'withdraw',
] as const;
const step = fc.record({ verb: fc.constantFrom(...verbs), by: fc.nat(3), n: fc.nat(20), flag: fc.boolean() });

forEachDatabase('tasks and asks beside the record', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const rows = (table: string, where: Row): Promise<Row[]> =>
    server.db.read((tx) => tx.query<Row>((db) => db(table).where(where).select('*')));
  const like = (row: Row, rebuilt: object | undefined): Row =>
    Object.fromEntries(Object.keys(rebuilt ?? {}).map((column) => [column, row[column]]));

  it('are what the record says, after any story', async () => {
    const pam = await server.person('pam');
    let answered = 0;
    for (const [round, story] of fc
      .sample(fc.array(step, { minLength: 60, maxLength: 90, size: 'max' }), { numRuns: 3, seed: 17 })
      .entries()) {
      const { name: board, id } = await newBoard(server.dana);
      await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
      const agents = [await newAgent(server.dana, board), await newAgent(pam, board)];
      const everybody: Api[] = [server.dana, pam, ...agents];
      const names = (await pam.ok('listMembers', { params: { board } })).members.map((member) => member.name);
      const asks: string[] = [];
      for (const one of story) await take(board, everybody, names, asks, one);
      if (round > 0) await endMember(server, agents[1]?.memberId ?? '');
      const events = recordedFrom(await rows('events', { board_id: id }));
      const replay = new WorkReplay(events);

      const tasks = await rows('tasks', { board_id: id });
      expect(tasks.length).to.be.greaterThan(5);
      expect(tasks).to.have.length(replay.tasks.size);
      for (const task of tasks) {
        const rebuilt = replay.tasks.get(String(task['id']));
        expect(like(task, rebuilt)).to.deep.equal(rebuilt);
      }
      const mine = (row: Row) => replay.tasks.has(String(row['task_id']));
      expect((await rows('task_helpers', {})).filter(mine)).to.have.deep.members([...replay.helpers.values()]);
      expect((await rows('task_texts', {})).filter(mine)).to.have.deep.members(replay.texts);
      const tags = (await rows('message_tasks', { board_id: id })).map((row) => like(row, replay.tags[0]));
      expect(tags).to.have.deep.members(replay.tags);
      const kept = (await rows('asks', { board_id: id })).map((row) => like(row, [...replay.asks.values()][0]));
      expect(kept).to.have.deep.members([...replay.asks.values()]);
      answered += kept.filter((ask) => ask['answer_seq'] !== null).length;
      for (const member of await rows('members', { board_id: id })) {
        expect(member['current_task_id']).to.equal(replay.current.get(String(member['id'])) ?? null);
      }
    }
    expect(answered).to.be.greaterThan(0);
  });

  /** One step; what the rules refuse is refused, and leaves nothing. */
  async function take(
    board: string,
    everybody: Api[],
    names: string[],
    asks: string[],
    { verb, by, n, flag }: { verb: (typeof verbs)[number]; by: number; n: number; flag: boolean },
  ): Promise<void> {
    const api = everybody[by] as Api;
    const task = (n % 8) + 1;
    const params = { board, task };
    const say = (body: object) => api.call('postMessage', { params: { board }, body });
    const asked = asks.length > 0 ? asks[n % asks.length] : undefined;
    switch (verb) {
      case 'create':
      case 'createStarted':
        await api.call('createTask', {
          params: { board },
          body: { title: `task ${n}`, start: verb === 'createStarted', ...(flag ? { about: 'why' } : {}) },
        });
        return;
      case 'start':
        await api.call('startTask', { params, body: { take_over: flag } });
        return;
      case 'join':
        await api.call('joinTask', { params });
        return;
      case 'drop':
        await api.call('dropTask', { params, body: flag ? { reason: 'x' } : {} });
        return;
      case 'finish':
        if (n % 3 === 0) await api.call('finishTask', { params, body: { note: 'x', cancelled: flag } });
        return;
      case 'update':
        await api.call('updateTask', {
          params,
          body: flag ? { stands: `at ${n}` } : { title: `t ${n}`, about: `a ${n}` },
        });
        return;
      case 'say':
        await say({ body: 'well', ...(flag ? { about: [String(task)] } : {}) });
        return;
      case 'reply':
        if (asked) await say({ body: 'hm', reply_to: asked, to: ['all'], answer: { comment: true } });
        return;
      case 'ask': {
        const { body } = await say({
          body: 'which?',
          to: [`@${names[n % names.length]}`],
          ask: { options: ['a', 'b'], ...(flag ? { going_with: 'a' } : {}) },
        });
        if (body.id) asks.push(body.id);
        return;
      }
      case 'answer':
        if (asked) await say({ body: 'so', reply_to: asked, answer: flag ? { option: 1 } : {} });
        return;
      case 'withdraw':
        if (asked && n % 2 === 0) await say({ body: 'never mind', reply_to: asked, answer: { withdrawn: true } });
        return;
    }
  }
});
