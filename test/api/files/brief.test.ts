import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bytesOf, put, refusedPut, tryPut } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newDelegation } from '../../support/state.ts';

type Query = Record<string, string | number | boolean>;

forEachDatabase('the brief', (engine) => {
  let server: TestServer;
  let dana: Api;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
  });
  after(() => server.stop());

  const briefOf = async (api: Api, board: string) => (await api.ok('getBoard', { params: { board } })).brief;
  const putBrief = (board: string, name: string, text: string, query: Record<string, string | number | boolean> = {}) =>
    put(dana, board, name, text, { brief: true, ...query });
  const code = async (board: string, name: string, query: Record<string, string | number | boolean>) =>
    (await refusedPut(dana, board, name, 'x', query)).code;
  const nobody = 'fil_01K5A0000000000000000000F1';

  it('is the file at one of two paths, told with its board', async () => {
    const board = (await newBoard(dana)).name;
    expect(await briefOf(dana, board)).to.equal(null);
    expect(await code(board, 'brief.md', {})).to.equal('brief_path_reserved');
    expect(await code(board, 'brief.html', { base: 1 })).to.equal('brief_path_reserved');
    const file = await putBrief(board, 'brief.md', '# Now', { maintained: false });
    expect(file.maintained).to.equal(true);
    await post(dana, board, 'since then');
    const brief = await briefOf(dana, board);
    expect(brief).to.deep.include({
      name: 'brief.md',
      file_id: file.id,
      version: 1,
      size: 5,
      digest: file.latest.digest,
    });
    expect(brief?.freshness).to.deep.equal({ messages_since: 1, tasks_done_since: 0, answers_since: 0 });
    expect((await bytesOf(dana, board, brief?.file_id ?? '', 1)).toString()).to.equal('# Now');
    await put(dana, board, 'notes/brief.md', 'an ordinary file');
    const { boards } = await dana.ok('listBoards');
    expect(boards.find((each) => each.name === board)?.brief?.version).to.equal(1);
    const agent = await newAgent(dana, board);
    expect((await briefOf(agent, board))?.file_id).to.equal(file.id);
  });

  it('is told to nobody off the board and to no delegation', async () => {
    const board = (await newBoard(dana)).name;
    await putBrief(board, 'brief.md', 'x');
    const eve = await server.person('eve');
    expect(await eve.ok('getBoard', { params: { board } })).not.to.have.property('brief');
    const { boards } = await (await newDelegation(server, dana)).ok('listBoards');
    expect(boards.find((each) => each.name === board)).not.to.have.property('brief');
  });

  it('is replaced only by a write that names its identity and version', async () => {
    const board = (await newBoard(dana)).name;
    expect(await code(board, 'brief.md', { brief: true, base: 1 })).to.equal('file_changed');
    expect(await code(board, 'brief.md', { brief: true, file_id: nobody })).to.equal('file_changed');
    const file = await putBrief(board, 'brief.md', 'one');
    const changed: Query[] = [
      {},
      { base: 1 },
      { file_id: file.id },
      { base: 2, file_id: file.id },
      { base: 1, file_id: nobody },
    ];
    for (const query of changed) {
      const refused = await refusedPut(dana, board, 'brief.md', 'x', { brief: true, ...query });
      expect(refused.code, JSON.stringify(query)).to.equal('file_changed');
      expect(refused.details).to.include({ version: 1, file_id: file.id, name: 'brief.md' });
    }
    const two = await putBrief(board, 'brief.md', 'two', { base: 1, file_id: file.id, replace_format: true });
    expect([two.id, two.latest.version]).to.deep.equal([file.id, 2]);
  });

  it('changes its format only where that is asked, and then as one', async () => {
    const board = (await newBoard(dana)).name;
    const old = await putBrief(board, 'brief.md', 'one');
    await putBrief(board, 'brief.md', 'two', { base: 1, file_id: old.id });
    await dana.ok('approveFile', { params: { board, file: 'brief.md' }, body: { version: 2 } });
    const right = { brief: true, base: 2, file_id: old.id };
    expect((await refusedPut(dana, board, 'brief.html', 'x', right)).code).to.equal('brief_exists');
    const wrong: Query[] = [{ base: 1, file_id: old.id }, { base: 2 }, { base: 2, file_id: nobody }, {}];
    for (const query of wrong) {
      const refused = await refusedPut(dana, board, 'brief.html', 'x', { brief: true, replace_format: true, ...query });
      expect(refused.code, JSON.stringify(query)).to.equal('file_changed');
    }
    expect((await briefOf(dana, board))?.name).to.equal('brief.md');
    const fresh = await putBrief(board, 'brief.html', '<p>', { ...right, replace_format: true });
    expect([fresh.latest.version, fresh.latest.base, fresh.approvals]).to.deep.equal([1, 0, []]);
    expect(await briefOf(dana, board)).to.include({ name: 'brief.html', file_id: fresh.id, version: 1 });
    const { events } = await dana.ok('listEvents', { params: { board }, query: { limit: 200 } });
    expect(events.slice(-2).map((event) => [event.type, event.data?.['file_id']])).to.deep.equal([
      ['file.removed', old.id],
      ['file.version_added', fresh.id],
    ]);
    const gone = await dana.ok('getFile', { params: { board, file: old.id } });
    expect([gone.removed_at === null, gone.mine?.version]).to.deep.equal([false, 2]);
  });

  it('has one first writer', async () => {
    const board = (await newBoard(dana)).name;
    const answers = await Promise.all(
      ['brief.md', 'brief.html', 'brief.md', 'brief.html'].map((name) =>
        tryPut(dana, board, name, name, { brief: true }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 201)).to.have.length(1);
    for (const answer of answers) {
      if (answer.status !== 201) expect(['file_changed', 'brief_exists']).to.include(answer.code);
    }
  });

  it('ends as the brief under another path, and stays kept current until somebody says otherwise', async () => {
    const board = (await newBoard(dana)).name;
    const file = await putBrief(board, 'brief.md', 'one');
    const params = { board, file: file.id };
    const kept = await dana.ok('updateFile', { params, body: { maintained: false } });
    expect(kept.maintained).to.equal(true);
    const moved = await dana.ok('updateFile', { params, body: { name: 'old/brief.md' } });
    expect([moved.maintained, await briefOf(dana, board)]).to.deep.equal([true, null]);
    expect((await dana.ok('updateFile', { params, body: { maintained: false } })).maintained).to.equal(false);
    expect(await dana.refused('updateFile', { params, body: { name: 'brief.md' } })).to.equal(
      '409 brief_path_reserved',
    );
    await putBrief(board, 'brief.html', 'new');
    await dana.ok('removeFile', { params: { board, file: 'brief.html' } });
    expect(await briefOf(dana, board)).to.equal(null);
  });
});
