/** What becomes of tasks, asks and files when a seat is taken away or the board is archived. */
import { expect } from 'chai';
import { lockMode } from '../../../src/server/seats/agents.store.ts';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bytesOf, put, tryPut } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard } from '../../support/state.ts';
import { until } from '../../support/until.ts';

forEachDatabase('work', (engine) => {
  let server: TestServer;
  let dana: Api;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
  });
  beforeEach(async () => {
    board = (await newBoard(dana)).name;
  });
  after(() => server.stop());

  const open = (title: string) => dana.ok('createTask', { params: { board }, body: { title } });

  it('of an agent that is removed is dropped with its seat, in one piece and in its remover’s name', async () => {
    const agent = await newAgent(dana, board);
    const [helped, owned] = [await open('helped'), await open('owned')];
    await agent.ok('startTask', { params: { board, task: owned.ref } });
    await agent.ok('joinTask', { params: { board, task: helped.ref } });
    await dana.ok('removeMember', { params: { board, member: agent.name } });
    const { events } = await dana.ok('listEvents', { params: { board }, query: { limit: 200 } });
    const [removed, ...dropped] = events.slice(-3);
    expect(removed?.type).to.equal('agent.removed');
    expect(
      dropped.map(({ type, data }) => [type, data?.['ref'], data?.['as'], data?.['by'], data?.['reason']]),
    ).to.deep.equal([
      ['task.dropped', helped.ref, 'helper', 'seat_ended', null],
      ['task.dropped', owned.ref, 'owner', 'seat_ended', null],
    ]);
    for (const event of dropped) {
      expect(event.actor).to.deep.equal(removed?.actor);
      expect(event.at).to.equal(removed?.at);
    }
    const left = await dana.ok('getTask', { params: { board, task: owned.ref } });
    expect([left.state, left.owner]).to.deep.equal(['open', null]);
    expect((await dana.ok('getTask', { params: { board, task: helped.ref } })).with).to.deep.equal([]);
  });

  it('stands still on an archived board: nothing is written but lines, everything is read', async () => {
    const agent = await newAgent(dana, board);
    const { ref } = await open('archived');
    await agent.ok('startTask', { params: { board, task: ref } });
    const ask = await agent.ok('postMessage', { params: { board }, body: { body: 'which?', ask: { options: ['a'] } } });
    await put(dana, board, 'a.md', 'kept');
    await changeBoard(server, board, { lifecycle: 'archived' });
    const { head_seq } = await dana.ok('getBoard', { params: { board } });

    const task = { board, task: ref };
    const file = { board, file: 'a.md' };
    for (const [name, params, body] of [
      ['createTask', { board }, { title: 'x' }],
      ['updateTask', task, { stands: 'x' }],
      ['startTask', task, undefined],
      ['joinTask', task, undefined],
      ['dropTask', task, {}],
      ['finishTask', task, { note: 'x' }],
      ['postMessage', { board }, { body: 'x', to: [`@${agent.name}`], ask: {} }],
      ['postMessage', { board }, { body: 'x', reply_to: ask.id, answer: { option: 1 } }],
      ['postMessage', { board }, { body: 'x', reply_to: ask.id, answer: { withdrawn: true } }],
      ['updateFile', file, { maintained: true }],
      ['removeFile', file, undefined],
      ['approveFile', file, { version: 1 }],
      ['unapproveFile', file, undefined],
    ] as const) {
      for (const by of name === 'approveFile' || name === 'unapproveFile' ? [dana] : [dana, agent])
        expect(await by.refused(name, { params, body }), name).to.equal('409 board_archived');
    }
    const upload = await tryPut(dana, board, 'b.md', 'x');
    expect([upload.status, upload.code]).to.deep.equal([409, 'board_archived']);

    expect((await agent.ok('getTask', { params: task })).state).to.equal('in_progress');
    expect((await bytesOf(agent, board, 'a.md')).toString()).to.equal('kept');
    const body = { kind: 'working', text: 'tidying up' } as const;
    expect((await agent.ok('setMyLine', { body })).line?.text).to.equal('tidying up');
    expect((await dana.ok('getBoard', { params: { board } })).head_seq).to.equal(head_seq);
  });

  // On SQLite one write runs at a time.
  if (engine === 'postgres') {
    it('of an agent that waits for the board is ended without holding the board from it', async () => {
      const agent = await newAgent(dana, board);
      const { id } = await dana.ok('getBoard', { params: { board } });
      const task = async (title: string) => {
        const { ref } = await open(title);
        const on = { params: { board, task: ref } };
        await agent.ok('startTask', on);
        return on.params;
      };
      const endings = [
        async (params: Awaited<ReturnType<typeof task>>) => dana.ok('finishTask', { params, body: { note: 'x' } }),
        async (params: Awaited<ReturnType<typeof task>>) =>
          dana.ok('dropTask', { params, body: { member: agent.name } }),
      ];
      for (const end of endings) {
        const params = await task('held');
        let ending: Promise<unknown> = Promise.resolve();
        // As a request of the agent does: its own row, then the board.
        const free = await server.db.write(async (tx) => {
          await lockMode(tx, agent.memberId);
          ending = end(params);
          await until(
            async () =>
              (await server.db.read((read) => read.query((db) => db('pg_locks').where('granted', false).select('pid'))))
                .length > 0,
            'it waits for the agent',
          );
          return tx.query((db) => db('boards').where({ id }).forUpdate().skipLocked().select('id'));
        });
        expect(free).to.have.length(1);
        await ending;
        const shown = await agent.ok('getMember', { params: { board, member: agent.name } });
        expect(shown.current_task).to.equal(null);
      }
    });

    it('is refused to a helper without waiting for the owner, whose request may wait for the helper', async () => {
      const [owner, helper] = [await newAgent(dana, board), await newAgent(dana, board)];
      const params = { board, task: (await open('shared')).ref };
      await owner.ok('startTask', { params });
      await helper.ok('joinTask', { params });
      const codes = await server.db.write(async (tx) => {
        await lockMode(tx, owner.memberId);
        return [
          (await helper.call('finishTask', { params, body: { note: 'x' } })).code,
          (await helper.call('dropTask', { params, body: { member: owner.name } })).code,
        ];
      });
      expect(codes).to.deep.equal(['not_on_task', 'not_on_task']);
      await helper.ok('dropTask', { params, body: { member: helper.name } });
      await owner.ok('finishTask', { params, body: { note: 'x' } });
    });
  }
});
