import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { bytesOf, put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, setRoles } from '../../support/state.ts';

forEachDatabase('files of a board', (engine) => {
  let server: TestServer;
  let dana: Api;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
  });
  after(() => server.stop());

  const types = async (board: string) => {
    const { events } = await dana.ok('listEvents', { params: { board }, query: { limit: 200 } });
    return events.filter((event) => event.type.startsWith('file.') && event.type !== 'file.version_added');
  };

  it('are listed kept-current ones first, then by their newest version, page by page', async () => {
    const board = (await newBoard(dana)).name;
    const agent = await newAgent(dana, board);
    const task = await dana.ok('createTask', { params: { board }, body: { title: 'One' } });
    await put(dana, board, 'a.md', 'x', { about: [task.ref] });
    server.clock.advance(1000);
    await put(agent, board, 'b.md', 'x', { maintained: true });
    server.clock.advance(1000);
    await put(agent, board, 'c.md', 'x');
    server.clock.advance(1000);
    await put(dana, board, 'd.md', 'x', { maintained: true });
    server.clock.advance(1000);
    await put(dana, board, 'gone.md', 'x');
    await dana.ok('removeFile', { params: { board, file: 'gone.md' } });
    const names = async (query: Record<string, string | number | boolean>, api: Api = dana) =>
      (await api.ok('listFiles', { params: { board }, query })).files.map((file) => file.name);
    expect(await names({})).to.deep.equal(['d.md', 'b.md', 'c.md', 'a.md']);
    expect(await names({ task: task.ref.toLowerCase() })).to.deep.equal(['a.md']);
    expect(await names({ mine: true }, agent)).to.deep.equal(['b.md', 'c.md']);
    expect(await names({ maintained: true })).to.deep.equal(['d.md', 'b.md']);
    expect(await names({ maintained: false })).to.deep.equal(['c.md', 'a.md']);
    const paged: string[] = [];
    let after: string | null = null;
    do {
      const query: Record<string, string | number> = after === null ? { limit: 1 } : { limit: 1, after };
      const page = await dana.ok('listFiles', { params: { board }, query });
      paged.push(...page.files.map((file) => file.name));
      after = page.next_after;
    } while (after !== null);
    expect(paged).to.deep.equal(['d.md', 'b.md', 'c.md', 'a.md']);
    const { next_after } = await dana.ok('listFiles', { params: { board }, query: { limit: 1 } });
    const foreign = { params: { board }, query: { maintained: true, after: next_after ?? '' } };
    expect(await dana.refused('listFiles', foreign)).to.equal('400 invalid_request');
    for (const bad of ['x', Buffer.from('[1,[1]]').toString('base64url')]) {
      expect(await dana.refused('listFiles', { params: { board }, query: { after: bad } })).to.equal(
        '400 invalid_request',
      );
    }
    expect(await dana.refused('listFiles', { params: { board }, query: { task: '99' } })).to.equal(
      '404 task_not_found',
    );
  });

  it('have their versions listed newest first', async () => {
    const board = (await newBoard(dana)).name;
    const file = await put(dana, board, 'a.md', '1');
    for (const base of [1, 2]) await put(dana, board, 'a.md', `${base + 1}`, { base });
    const params = { board, file: file.id };
    const first = await dana.ok('listFileVersions', { params, query: { limit: 2 } });
    expect(first.versions.map((version) => [version.version, version.base])).to.deep.equal([
      [3, 2],
      [2, 1],
    ]);
    const rest = await dana.ok('listFileVersions', { params, query: { limit: 2, after: first.next_after ?? '' } });
    expect([rest.versions.length, rest.next_after]).to.deep.equal([1, null]);
    const other = await put(dana, board, 'b.md', '1');
    const foreign = { params: { board, file: other.id }, query: { after: first.next_after ?? '' } };
    expect(await dana.refused('listFileVersions', foreign)).to.equal('400 invalid_request');
  });

  it('are renamed and said to be for something, one event for each kind of change', async () => {
    const board = (await newBoard(dana)).name;
    const task = await dana.ok('createTask', { params: { board }, body: { title: 'One' } });
    const file = await put(dana, board, 'a.md', 'x');
    await put(dana, board, 'taken.md', 'x');
    const change = (body: Record<string, unknown>, of = 'a.md') =>
      dana.ok('updateFile', { params: { board, file: of }, body });
    const changed = await change({ name: 'b.md', maintained: true, about: [task.ref, task.id] });
    expect(changed).to.deep.include({
      name: 'b.md',
      maintained: true,
      about: [{ id: task.id, ref: task.ref, title: 'One' }],
    });
    await change({ name: 'b.md', maintained: true, about: [task.ref] }, 'b.md');
    await change({ about: [] }, 'b.md');
    expect((await types(board)).map((event) => [event.type, event.data])).to.deep.equal([
      ['file.renamed', { file_id: file.id, before: 'a.md', after: 'b.md' }],
      ['file.updated', { file_id: file.id, maintained: true, about: [task.id] }],
      ['file.updated', { file_id: file.id, about: [] }],
    ]);
    const trying = (body: Record<string, unknown>, of = 'b.md') =>
      dana.refused('updateFile', { params: { board, file: of }, body });
    expect(await trying({ name: 'taken.md' })).to.equal('409 file_name_taken');
    expect(await trying({ name: 'brief.html' })).to.equal('409 brief_path_reserved');
    expect(await trying({ about: ['77'] })).to.equal('404 task_not_found');
    expect(await trying({})).to.equal('400 invalid_request');
    expect(await trying({ name: 'x y' })).to.equal('400 invalid_request');
    expect(await trying({ maintained: true }, 'a.md')).to.equal('404 file_not_found');
    expect((await dana.ok('getFile', { params: { board, file: 'b.md' } })).latest.version).to.equal(1);
  });

  it('go and leave everything that was of them readable by id', async () => {
    const board = (await newBoard(dana)).name;
    const file = await put(dana, board, 'a/b.md', 'kept');
    const params = { board, file: file.id };
    await dana.ok('approveFile', { params, body: { version: 1 } });
    for (const version of [1_000_000_000, Number.MAX_SAFE_INTEGER])
      expect(await dana.refused('approveFile', { params, body: { version } })).to.equal('404 version_not_found');
    const remove = { params: { board, file: 'a/b.md' }, query: { base: 2 } };
    const stale = await dana.call('removeFile', remove);
    expect([stale.status, stale.code]).to.deep.equal([409, 'file_changed']);
    expect(stale.text).to.include('a/b.md is at version 1 now, so it was not removed.');
    expect(stale.text).to.include('Look at it, then remove it again: service file show a/b.md.');
    const removed = await dana.ok('removeFile', { params: { board, file: 'a/b.md' }, query: { base: 1 } });
    expect(removed.removed_at).to.match(/Z$/);
    expect(await dana.refused('getFile', { params: { board, file: 'a/b.md' } })).to.equal('404 file_not_found');
    expect((await dana.ok('getFile', { params })).mine?.version).to.equal(1);
    expect((await bytesOf(dana, board, file.id)).toString()).to.equal('kept');
    for (const [name, call] of [
      ['updateFile', { params, body: { maintained: true } }],
      ['removeFile', { params }],
    ] as const) {
      expect(await dana.refused(name, call), name).to.equal('404 file_not_found');
    }
    // Approvals of what is off the board can still be given and taken back.
    expect((await dana.ok('unapproveFile', { params })).mine).to.equal(null);
    expect((await dana.ok('approveFile', { params, body: { version: 1 } })).mine?.version).to.equal(1);
  });

  it('are approved by people, a version each', async () => {
    const board = (await newBoard(dana)).name;
    const pam = await server.person(`pam-${board}`);
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: `pam-${board}` } });
    const agent = await newAgent(dana, board);
    const file = await put(agent, board, 'a.md', '1');
    await put(agent, board, 'a.md', '2', { base: 1 });
    const params = { board, file: 'a.md' };
    const approve = (api: Api, version: number) => api.ok('approveFile', { params, body: { version } });
    expect((await approve(dana, 1)).mine).to.include({ version: 1, changes_since: 1, digest: file.latest.digest });
    await approve(dana, 1);
    await approve(pam, 2);
    const both = await approve(dana, 2);
    expect(both.approvals.map((each) => [each.version, each.changes_since])).to.deep.equal([
      [2, 0],
      [2, 0],
    ]);
    await put(agent, board, 'a.md', '3', { base: 2 });
    await pam.ok('leaveBoard', { params: { board } });
    const seen = await agent.ok('getFile', { params });
    expect(seen.approvals.map((each) => each.changes_since)).to.deep.equal([1, 1]);
    expect(seen.mine).to.equal(null);
    await dana.ok('unapproveFile', { params });
    await dana.ok('unapproveFile', { params });
    expect((await types(board)).map((event) => [event.type, event.data?.['version']])).to.deep.equal([
      ['file.approved', 1],
      ['file.approved', 2],
      ['file.approved', 2],
      ['file.approval_removed', 2],
    ]);
    expect(await dana.refused('approveFile', { params, body: { version: 9 } })).to.equal('404 version_not_found');
    expect(await agent.refused('approveFile', { params, body: { version: 1 } })).to.equal('403 human_token_required');
  });

  it('are written by agents with the permission, and by nobody once the board is archived', async () => {
    const board = (await newBoard(dana)).name;
    const agent = await newAgent(dana, board);
    await put(agent, board, 'a.md', '1');
    await setRoles(server, board, { member: { can: ['post'] } });
    const params = { board, file: 'a.md' };
    const rename = { params, body: { name: 'b.md' }, key: 'again' };
    expect(await agent.refused('updateFile', rename)).to.equal('403 forbidden');
    expect(await agent.refused('removeFile', { params })).to.equal('403 forbidden');
    await setRoles(server, board, { member: { can: ['upload_files'] } });
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await agent.refused('updateFile', rename)).to.equal('409 board_archived');
    for (const name of ['approveFile', 'unapproveFile', 'removeFile'] as const) {
      const body = name === 'approveFile' ? { version: 1 } : undefined;
      expect(await dana.refused(name, { params, body }), name).to.equal('409 board_archived');
    }
    await changeBoard(server, board, { lifecycle: 'active' });
    // What the gate refused is not kept under the key.
    expect((await agent.ok('updateFile', rename)).name).to.equal('b.md');
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect((await agent.call('updateFile', rename)).replayed).to.equal(true);
  });

  it('count among what opening a board reveals', async () => {
    const board = (await newBoard(dana, { visibility: 'private' })).name;
    await put(dana, board, 'a.md', '1');
    await put(dana, board, 'b.md', '1');
    await dana.ok('removeFile', { params: { board, file: 'b.md' } });
    const body = { visibility: 'open', dry_run: true };
    const { reveals } = await dana.ok('setBoardVisibility', { params: { board }, body });
    expect(reveals).to.deep.equal({ messages: 0, files: 1 });
  });
});
