import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { setPolicy } from '../../support/state.ts';

forEachDatabase('files that messages cite', (engine) => {
  let server: TestServer;
  let dana: Api;
  let me: string;
  let pam: Api;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
    me = (await dana.ok('getMe')).name;
    pam = await server.person('pam');
  });
  after(() => server.stop());

  const stage = async () => {
    const board = (await newBoard(dana)).name;
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    return board;
  };
  const fileOf = (api: Api, board: string, file: string) => api.ok('getFile', { params: { board, file } });
  const eventsOf = async (board: string) =>
    (await dana.ok('listEvents', { params: { board }, query: { limit: 200 } })).events;

  it('are pinned by id, version and digest, and keep the name they had', async () => {
    const board = await stage();
    const one = await put(dana, board, 'notes/a.md', 'one');
    const said = await post(dana, board, 'see this', { files: [{ file: 'notes/a.md' }, { file: one.id, version: 1 }] });
    const pinned = [{ id: one.id, name: 'notes/a.md', version: 1, digest: one.latest.digest }];
    expect(said.files).to.deep.equal(pinned);
    await put(dana, board, 'notes/a.md', 'two', { base: 1 });
    const both = await post(dana, board, 'and this', {
      files: [{ file: one.id, version: 1 }, { file: one.id }],
      reply_to: said.id,
      to: ['all'],
    });
    expect(both.files.map((file) => file.version)).to.deep.equal([1, 2]);
    await dana.ok('updateFile', { params: { board, file: one.id }, body: { name: 'notes/b.md' } });
    const { messages } = await dana.ok('listMessages', { params: { board }, query: { has: 'files' } });
    expect(messages.map((message) => message.files.length)).to.deep.equal([1, 2]);
    expect(messages[0]?.files).to.deep.equal(pinned);
    const { posted_in, posted_in_more } = await fileOf(dana, board, one.id);
    expect(posted_in).to.deep.equal([
      { message_id: said.id, seq: said.seq, version: 1, thread_root_seq: null },
      { message_id: both.id, seq: both.seq, version: 1, thread_root_seq: said.seq },
      { message_id: both.id, seq: both.seq, version: 2, thread_root_seq: said.seq },
    ]);
    expect(posted_in_more).to.equal(false);
    const posted = (await eventsOf(board)).filter((event) => event.type === 'message.posted');
    expect(posted[0]?.data?.['files']).to.deep.equal(pinned);
  });

  it('have to be there, and live', async () => {
    const board = await stage();
    const file = await put(dana, board, 'a.md', 'x');
    const trying = async (files: unknown) => {
      const { status, code } = await dana.call('postMessage', { params: { board }, body: { body: 'x', files } });
      return `${status} ${code}`;
    };
    expect(await trying([{ file: 'b.md' }])).to.equal('404 file_not_found');
    expect(await trying([{ file: 'a.md', version: 2 }])).to.equal('404 version_not_found');
    expect(await trying(Array(9).fill({ file: 'a.md' }))).to.equal('400 invalid_request');
    expect(await trying([{ file: 'a.md', version: 0 }])).to.equal('400 invalid_request');
    await dana.ok('removeFile', { params: { board, file: 'a.md' } });
    expect(await trying([{ file: file.id }])).to.equal('404 file_not_found');
  });

  it('are listed page by page, a message never parted', async () => {
    const board = await stage();
    const file = await put(dana, board, 'a.md', '1');
    await put(dana, board, 'a.md', '2', { base: 1 });
    const both = [
      { file: 'a.md', version: 1 },
      { file: 'a.md', version: 2 },
    ];
    for (let n = 0; n < 3; n++) await post(dana, board, `${n}`, { files: both });
    const params = { board, file: file.id };
    const first = await dana.ok('listFilePosts', { params, query: { limit: 1 } });
    expect(first.posted_in.map((entry) => entry.version)).to.deep.equal([1, 2]);
    const rest = await dana.ok('listFilePosts', { params, query: { limit: 4, after: first.next_after ?? 0 } });
    expect([rest.posted_in.length, rest.next_after]).to.deep.equal([4, null]);
  });

  it('are shown only where the message may be read', async () => {
    const board = await stage();
    await setPolicy(server, board, { visibility: 'addressed' });
    const agent = await newAgent(dana, board);
    await put(dana, board, 'a.md', 'x');
    await post(dana, board, 'for pam', { to: ['@pam'], files: [{ file: 'a.md' }] });
    const own = await post(dana, board, 'for you', { to: [`@${agent.name}`], files: [{ file: 'a.md' }] });
    await post(pam, board, 'between us', { to: [`@${me}`] });
    const seen = await fileOf(agent, board, 'a.md');
    expect(seen.posted_in.map((entry) => entry.seq)).to.deep.equal([own.seq]);
    expect(seen.freshness).to.deep.equal({ messages_since: 1, tasks_done_since: 0, answers_since: 0 });
    expect((await fileOf(dana, board, 'a.md')).freshness.messages_since).to.equal(3);
  });

  it('grow stale by messages, done tasks and answers, not by what was cancelled or withdrawn', async () => {
    const board = await stage();
    const agent = await newAgent(dana, board);
    await post(dana, board, 'before');
    await put(dana, board, 'a.md', 'x');
    const tasks: { ref: string }[] = [];
    for (const title of ['one', 'two']) tasks.push(await dana.ok('createTask', { params: { board }, body: { title } }));
    const finish = (n: number, cancelled: boolean) =>
      dana.ok('finishTask', { params: { board, task: tasks[n]?.ref ?? '' }, body: { note: 'so', cancelled } });
    await finish(0, false);
    await finish(1, true);
    const ask = await post(agent, board, 'which?', { ask: { options: ['a', 'b'] } });
    await post(dana, board, 'a', { reply_to: ask.id, answer: { option: 1 } });
    const other = await post(agent, board, 'and this?', { ask: {} });
    await post(agent, board, 'never mind', { reply_to: other.id, answer: { withdrawn: true } });
    const expected = { messages_since: 4, tasks_done_since: 1, answers_since: 1 };
    expect((await fileOf(dana, board, 'a.md')).freshness).to.deep.equal(expected);
    await setPolicy(server, board, { visibility: 'addressed' });
    expect((await fileOf(agent, board, 'a.md')).freshness).to.deep.equal(expected);
    const fresh = await put(dana, board, 'a.md', 'y', { base: 1 });
    expect(fresh.freshness).to.deep.equal({ messages_since: 0, tasks_done_since: 0, answers_since: 0 });
  });

  const approvalAsk = (agent: Agent, board: string, files: unknown[], to = me) =>
    post(agent, board, 'ready?', { to: [`@${to}`], files, ask: { options: ['yes', 'no'], approval: true } });

  it('are approved by the one who was asked, as they were cited', async () => {
    const board = await stage();
    const agent = await newAgent(dana, board);
    const file = await put(agent, board, 'plan.md', 'one');
    const other = await put(agent, board, 'other.md', 'x');
    const ask = await approvalAsk(agent, board, [{ file: 'plan.md', version: 1 }, { file: 'other.md' }]);
    await put(agent, board, 'plan.md', 'two', { base: 1 });
    await dana.ok('removeFile', { params: { board, file: 'other.md' } });
    const answer = await post(dana, board, 'yes', { reply_to: ask.id, answer: { option: 1 } });
    const { approvals, mine } = await fileOf(dana, board, 'plan.md');
    expect(approvals).to.have.length(1);
    expect(mine).to.include({ version: 1, digest: file.latest.digest, changes_since: 1 });
    expect((await fileOf(dana, board, other.id)).mine?.version).to.equal(1);
    const after = (await eventsOf(board)).filter((event) => event.seq >= answer.seq);
    expect(after.map((event) => event.type)).to.deep.equal(['message.posted', 'file.approved', 'file.approved']);
    expect(after[1]?.data).to.deep.equal({ file_id: file.id, version: 1, digest: file.latest.digest });
    expect(after.map((event) => event.actor.name)).to.deep.equal([me, me, me]);
    // Said again it changes nothing, and another option takes nothing back.
    await post(dana, board, 'yes', { reply_to: ask.id, answer: { option: 1 } });
    await post(dana, board, 'no', { reply_to: ask.id, answer: { option: 2 } });
    expect((await fileOf(dana, board, 'plan.md')).mine?.version).to.equal(1);
    expect((await eventsOf(board)).filter((event) => event.type === 'file.approved')).to.have.length(2);
  });

  it('are approved in one piece with the answer, however many post meanwhile', async () => {
    const board = await stage();
    const agent = await newAgent(dana, board);
    const files = [{ file: 'plan.md' }, { file: 'other.md' }];
    for (const { file } of files) await put(agent, board, file, 'one');
    const ask = await approvalAsk(agent, board, files);
    const others = Array.from({ length: 30 }, (_, n) => post(n % 2 ? pam : agent, board, `meanwhile ${n}`));
    const answering = post(dana, board, 'yes', { reply_to: ask.id, answer: { option: 1 } });
    // Whoever reads the record meanwhile finds the answer with both approvals or not at all.
    const seen: { type: string; seq: number }[][] = [];
    let done = false;
    const reading = (async () => {
      while (!done) seen.push(await eventsOf(board));
    })();
    const answer = await answering;
    await Promise.all(others);
    done = true;
    await reading;
    for (const events of [...seen, await eventsOf(board)]) {
      const after = events.filter(({ seq }) => seq >= answer.seq && seq <= answer.seq + 2).map(({ type }) => type);
      expect(after, 'one commit').to.have.length(events.some(({ seq }) => seq === answer.seq) ? 3 : 0);
      if (after.length > 0) expect(after).to.deep.equal(['message.posted', 'file.approved', 'file.approved']);
    }
  });

  it('are not approved by another option, nor by the person of the agent that asked', async () => {
    const board = await stage();
    const agent = await newAgent(dana, board);
    await put(agent, board, 'plan.md', 'one');
    const asked = await approvalAsk(agent, board, [{ file: 'plan.md' }], 'pam');
    await post(dana, board, 'yes', { reply_to: asked.id, answer: { option: 1 } });
    await post(pam, board, 'no', { reply_to: asked.id, answer: { option: 2 } });
    expect((await fileOf(dana, board, 'plan.md')).approvals).to.deep.equal([]);
    const none = await agent.call('postMessage', {
      params: { board },
      body: { body: 'ready?', to: [`@${me}`], ask: { options: ['yes'], approval: true } },
    });
    expect(none.code).to.equal('ask_invalid');
  });
});
