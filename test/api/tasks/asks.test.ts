import { expect } from 'chai';
import { type AskFilter, countOpenAsks, listAskRows } from '../../../src/server/asks/asks.store.ts';
import { inParts } from '../../../src/server/db/rows.ts';
import type { Params, Statement } from '../../../src/server/db/statement.ts';
import type { ReadTx } from '../../../src/server/db/tx.ts';
import { type MemberRow, memberById } from '../../../src/server/members/members.store.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { isoForms } from '../../support/iso-forms.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, setPolicy, setRoles } from '../../support/state.ts';

forEachDatabase('an ask', (engine) => {
  let server: TestServer;
  let board: string;
  let pam: Api;
  let dana: string;
  let a: Agent;
  let b: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    dana = (await server.dana.ok('getMe')).name;
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    a = await newAgent(server.dana, board, { name: 'a' });
    b = await newAgent(pam, board, { name: 'b' });
  });
  after(() => server.stop());

  const ask = (by: Api, more: Record<string, unknown> = {}, request: Record<string, unknown> = {}) =>
    post(by, board, 'Which one?', { ask: { options: ['left', 'right'], ...request }, ...more });
  const reply = (by: Api, to: { id: string }, more: Record<string, unknown> = {}) =>
    post(by, board, 'this', { reply_to: to.id, ...more });
  const refused = (by: Api, body: Record<string, unknown>) =>
    by.refused('postMessage', { params: { board }, body: { body: 'x', ...body } });
  const stateOf = async (reader: Api, { id }: { id: string }) =>
    (await reader.ok('getMessage', { params: { message: id } })).message.ask;
  const newTask = async () => server.dana.ok('createTask', { params: { board }, body: { title: 't' } });

  it('of an agent goes to its person alone, expects a reply and blocks its current task', async () => {
    const task = await newTask();
    await a.ok('startTask', { params: { board, task: task.ref } });
    const asked = await ask(a);
    expect(asked).to.deep.include({ to: [`@${dana}`], expects_reply: true });
    expect(asked.ask).to.deep.include({
      options: ['left', 'right'],
      blocking: true,
      going_with: null,
      going_at: null,
      state: 'open',
      answer_seq: null,
      can_answer: false,
      can_withdraw: true,
    });
    expect(asked.ask?.task?.ref).to.equal(task.ref);
    for (const reader of [pam, b, server.dana]) {
      const shown = await reader.ok('getTask', { params: { board, task: task.ref } });
      expect(shown).to.include({ blocked: true, blocked_count: 1, needs_you: reader === server.dana });
      expect(shown.blocked_on[0]).to.include({ ask_id: asked.id, ask_seq: asked.seq });
    }
    expect((await pam.ok('listTasks', { params: { board } })).counts.blocked).to.equal(1);
    expect((await pam.ok('listTasks', { params: { board }, query: { blocked: true } })).tasks).to.have.length(1);
  });

  it('is answered by who was asked, plainly or with an option, and by the person of an asking agent', async () => {
    const one = await ask(a, { to: ['@b'] });
    const answered = await reply(b, one);
    expect(answered.answer).to.deep.equal({
      ask_id: one.id,
      ask_seq: one.seq,
      option: null,
      option_text: null,
      withdrawn: false,
    });
    expect(await stateOf(pam, one)).to.include({ state: 'answered', answer_seq: answered.seq, answer_option: null });
    const two = await ask(a, { to: ['@b'] });
    const byOwner = await reply(server.dana, two, { answer: { option: 2 } });
    expect(byOwner.answer).to.include({ option: 2, option_text: 'right' });
    expect(byOwner.to).to.include('@a');
    const three = await ask(pam, { to: ['@a'] });
    expect((await reply(server.dana, three, { to: ['all'] })).answer).to.equal(undefined);
    expect((await stateOf(pam, three))?.state).to.equal('open');
  });

  it('keeps its task blocked until the last one is answered', async () => {
    const task = await newTask();
    const [one, two] = [await ask(a, { about: [task.ref] }), await ask(a, { about: [task.ref] })];
    const count = async () => (await pam.ok('getTask', { params: { board, task: task.ref } })).blocked_count;
    expect(await count()).to.equal(2);
    await reply(server.dana, one);
    expect(await count()).to.equal(1);
    await reply(server.dana, two, { answer: { option: 1 } });
    expect(await count()).to.equal(0);
    const named = await ask(a, {}, {});
    expect(named.ask?.task).to.equal(null);
    await ask(a, { about: [task.ref] });
    await pam.ok('finishTask', { params: { board, task: task.ref }, body: { note: 'x' } });
    expect(await count()).to.equal(0);
  });

  it('with a default goes with it when its time comes, without an event, and can be answered still', async () => {
    const at = new Date(server.clock.now() + 3_600_000).toISOString();
    const asked = await ask(a, {}, { going_with: 'left', going_at: at });
    expect(asked.ask).to.include({ blocking: false, going_with: 'left', going_at: at, state: 'open' });
    const now = await ask(a, {}, { going_with: 'left' });
    expect(now.ask?.state).to.equal('went_with');
    if (engine === 'sqlite') {
      server.clock.advance(3_600_000);
      expect((await stateOf(pam, asked))?.state).to.equal('went_with');
    }
    await reply(server.dana, now);
    expect((await stateOf(pam, now))?.state).to.equal('answered');
  });

  it('takes the time of its default in any form of ISO 8601; shown and recorded is one', async () => {
    const end = Math.ceil(server.clock.now() / 1000) * 1000 + 3_600_000;
    const at = new Date(end).toISOString();
    for (const going_at of isoForms(end)) {
      const asked = await ask(a, {}, { going_with: 'left', going_at });
      expect(asked.ask?.going_at, going_at).to.equal(at);
      const { events } = await server.dana.ok('listEvents', { params: { board }, query: { newest: true, limit: 1 } });
      expect(events[0]?.data, going_at).to.have.nested.property('ask.going_at', at);
    }
    const [row] = await server.db.read((tx) =>
      tx.query<{ n: number | string }>((db) => db('asks').where('going_at', end).count({ n: '*' })),
    );
    expect(Number(row?.n)).to.be.at.least(isoForms(end).length);
  });

  it('keeps its answer when the one asked goes on talking, and takes another when it is given as one', async () => {
    const asked = await ask(a, { to: ['@pam'] });
    const first = await reply(pam, asked, { answer: { option: 1 } });
    const talk = await reply(pam, asked);
    expect(talk.answer).to.equal(undefined);
    expect(await stateOf(a, asked)).to.include({ answer_seq: first.seq, answer_option: 1 });
    const second = await reply(pam, asked, { answer: { option: 2 } });
    expect(await stateOf(a, asked)).to.include({ answer_seq: second.seq, answer_option: 2, state: 'answered' });
  });

  it('is no business of others', async () => {
    const asked = await ask(a, { to: ['@pam'] });
    for (const answer of [{}, { option: 1 }, { withdrawn: true }]) {
      expect(await refused(b, { reply_to: asked.id, answer })).to.equal('403 not_asked');
    }
    expect((await reply(b, asked)).answer).to.equal(undefined);
    expect((await reply(b, asked, { answer: { comment: true } })).answer).to.equal(undefined);
    expect((await stateOf(pam, asked))?.state).to.equal('open');
    expect(await refused(a, { reply_to: asked.id, answer: {} })).to.equal('403 not_asked');
    const body = { body: 'never mind', reply_to: asked.id, answer: { withdrawn: true } };
    const { text } = await server.dana.call('postMessage', { params: { board }, body });
    expect(text).to.include('Only who asked a question can withdraw it.');
    expect(await refused(pam, { reply_to: asked.id, answer: { withdrawn: true } })).to.equal('403 not_asked');
    const deeper = await reply(b, asked);
    expect(await refused(pam, { reply_to: deeper.id, answer: {} })).to.equal('422 ask_invalid');
    const none = { body: 'x', reply_to: deeper.id, answer: { withdrawn: true } };
    const told = (await pam.call('postMessage', { params: { board }, body: none })).text;
    expect(told).to.include('That message is no ask.').and.to.include('service asks --from-me');
  });

  it('can be withdrawn by the asker, and then only talked about', async () => {
    const asked = await ask(a, { to: ['@pam'] });
    const back = await reply(a, asked, { answer: { withdrawn: true } });
    expect(back.answer).to.include({ withdrawn: true, option: null });
    expect(back.to).to.include('@pam');
    expect(await stateOf(pam, asked)).to.include({ state: 'withdrawn', can_answer: false, can_withdraw: false });
    expect(await refused(pam, { reply_to: asked.id })).to.equal('409 ask_closed');
    expect(await refused(pam, { reply_to: asked.id, answer: { option: 1 } })).to.equal('409 ask_closed');
    expect(await refused(a, { reply_to: asked.id, answer: { withdrawn: true } })).to.equal('409 ask_closed');
    const answered = await pam.call('postMessage', { params: { board }, body: { body: 'ok', reply_to: asked.id } });
    expect(answered.body).to.have.nested.property(
      'error.hint',
      `To say something all the same: service say --reply ${asked.seq} --comment "…".`,
    );
    expect((await reply(pam, asked, { answer: { comment: true } })).answer).to.equal(undefined);
  });

  it('of an ended seat can be withdrawn by its person or an owner, so that it blocks nobody', async () => {
    const asked = await ask(b, { to: ['@a'] });
    expect(await refused(pam, { reply_to: asked.id, answer: { withdrawn: true } })).to.equal('403 not_asked');
    await endMember(server, b.memberId);
    expect((await stateOf(pam, asked))?.can_withdraw).to.equal(true);
    expect((await stateOf(server.dana, asked))?.can_withdraw).to.equal(true);
    expect((await reply(pam, asked, { answer: { withdrawn: true } })).answer?.withdrawn).to.equal(true);
    const alone = await ask(a, { to: ['@pam'] });
    await endMember(server, a.memberId);
    expect((await reply(server.dana, alone, { to: ['@pam'], answer: { withdrawn: true } })).to).to.deep.equal(['@pam']);
  });

  it('always reaches the one who waits for the answer; if they have left, it has no recipient', async () => {
    const asked = await ask(a, { to: ['@pam'] });
    expect((await reply(pam, asked, { to: ['@b'] })).to).to.deep.equal(['@b', '@a']);
    const lonely = await ask(a, { to: ['@pam'] });
    await endMember(server, a.memberId);
    const answer = await reply(pam, lonely);
    expect([answer.to, answer.answer?.ask_id]).to.deep.equal([['@pam'], lonely.id]);
  });

  it('has two answers at once in order: the later is the answer, a plain one that lost is talk', async () => {
    const asked = await ask(a, { to: ['@pam'] });
    const answers = await Promise.all([
      reply(pam, asked, { answer: { option: 1 } }),
      reply(server.dana, asked, { answer: { option: 2 } }),
    ]);
    const later = answers.sort((x, y) => x.seq - y.seq)[1];
    expect(await stateOf(b, asked)).to.include({ answer_seq: later?.seq, answer_option: later?.answer?.option });
    const plain = await ask(a, { to: ['@pam'] });
    const both = await Promise.all([reply(pam, plain), reply(server.dana, plain)]);
    expect(both.filter((message) => message.answer)).to.have.length(1);
  });

  it('must be one question to one member', async () => {
    const bad: [Api, Record<string, unknown>][] = [
      [server.dana, { ask: {} }],
      [a, { ask: {}, to: ['all'] }],
      [a, { ask: {}, to: ['@pam', '@b'] }],
      [a, { ask: {}, to: ['role:member'] }],
      [a, { ask: {}, to: ['@a'] }],
      [a, { ask: { options: ['1', '2', '3', '4', '5'] } }],
      [a, { ask: { options: ['same', ' same '] } }],
      [a, { ask: { options: [' '] } }],
      [a, { ask: { options: ['x'.repeat(81)] } }],
      [a, { ask: { going_with: 'x'.repeat(121) } }],
      [a, { ask: { going_at: '2030-01-01T00:00:00.000Z' } }],
      [a, { ask: { going_with: 'x', going_at: '2099-01-01T00:00:00.000Z' } }],
      [a, { ask: { approval: true, options: ['ok'] } }],
      [a, { ask: {}, answer: {} }],
      [a, { answer: { option: 1 } }],
    ];
    for (const [by, body] of bad) expect(await refused(by, body), JSON.stringify(body)).to.equal('422 ask_invalid');
    const asked = await ask(a, { to: ['@pam'] });
    expect(await refused(a, { ask: {}, reply_to: asked.id })).to.equal('422 ask_invalid');
    for (const answer of [{ option: 3 }, { option: 1, comment: true }, { withdrawn: true, comment: true }]) {
      const body = { body: 'x', reply_to: asked.id, answer };
      expect(await refused(pam, body)).to.equal('422 ask_invalid');
      expect((await pam.call('postMessage', { params: { board }, body })).text).to.include('service answer');
    }
    expect(await refused(a, { ask: { going_with: 'x', going_at: '2026-13-45T00:00:00.000Z' } })).to.equal(
      '400 invalid_request',
    );
    expect(await refused(a, { ask: {}, to: ['@nobody'] })).to.equal('422 unknown_recipient');
    expect(await refused(pam, { reply_to: asked.id, answer: { option: 5 } })).to.equal('400 invalid_request');
  });

  it('hides with its message: outsiders see that a task is blocked, and nothing more', async () => {
    const task = await newTask();
    await setPolicy(server, board, { visibility: 'addressed' });
    const asked = await ask(a, { about: [task.ref] });
    const shown = await b.ok('getTask', { params: { board, task: task.ref } });
    expect(shown).to.deep.include({ blocked: true, blocked_count: 1, blocked_on: [] });
    expect(await refused(b, { reply_to: asked.id, answer: {} })).to.equal('404 message_not_found');
    expect((await b.ok('listAsks')).asks).to.deep.equal([]);
    const answered = await reply(server.dana, asked, { to: ['all'], answer: { option: 1 } });
    const seen = (await b.ok('getMessage', { params: { message: answered.id } })).message.answer;
    expect(seen).to.deep.include({ ask_id: asked.id, option: 1, option_text: null });
  });

  it('without secrets: options and default are redacted and counted', async () => {
    const secret = `ghp_${'A1b2'.repeat(9)}`;
    const asked = await ask(a, {}, { options: [`use ${secret}`, 'no'], going_with: secret });
    expect(JSON.stringify(asked)).not.to.include(secret);
    expect(asked.redactions).to.deep.equal([{ kind: 'github_token', count: 2 }]);
    expect(asked.ask?.options[0]).to.equal('use [redacted:github_token]');
  });

  it('may offer two secrets of one kind, but not one option twice', async () => {
    const secrets = ['A1b2', 'C3d4'].map((part) => `ghp_${part.repeat(9)}`);
    const asked = await ask(a, {}, { options: secrets });
    expect(asked.ask?.options).to.deep.equal(['[redacted:github_token]', '[redacted:github_token]']);
    expect(await refused(a, { ask: { options: [secrets[0], ` ${secrets[0]} `] } })).to.equal('422 ask_invalid');
  });

  it('counts what was sent: a text that its redaction makes longer than the limit is taken', async () => {
    const secret = 'postgres://app:hunter22@db ';
    const asked = await ask(a, {}, { options: [secret.padEnd(80, 'x'), 'no'], going_with: secret.padEnd(120, 'x') });
    expect(asked.ask?.options[0]).to.equal(
      `postgres://app:[redacted:url_password]@db ${'x'.repeat(80 - secret.length)}`,
    );
    expect([...(asked.ask?.going_with ?? '')].length).to.be.greaterThan(120);
    for (const body of [{ options: [secret.padEnd(81, 'x')] }, { going_with: secret.padEnd(121, 'x') }])
      expect(await refused(a, { ask: body }), JSON.stringify(body)).to.equal('422 ask_invalid');
  });

  it('is listed: to me, from me, by state and task, those that block first', async () => {
    const task = await newTask();
    const blocking = await ask(a, { about: [task.ref] });
    const soft = await ask(
      a,
      {},
      { going_with: 'x', going_at: new Date(server.clock.now() + 3_600_000).toISOString() },
    );
    const other = await ask(b, {});
    const ids = async (by: Api, query: Record<string, string | number | boolean> = {}) =>
      (await by.ok('listAsks', { query: { board, ...query } })).asks.map((message) => message.id);
    expect(await ids(server.dana)).to.deep.equal([other.id, soft.id, blocking.id]);
    expect(await ids(server.dana, { to_me: true })).to.deep.equal([blocking.id, soft.id]);
    expect(await ids(a, { from_me: true })).to.deep.equal([soft.id, blocking.id]);
    expect(await ids(server.dana, { task: task.ref })).to.deep.equal([blocking.id]);
    expect(await ids(pam, { can_answer: true })).to.deep.equal([other.id]);
    await reply(server.dana, blocking);
    expect(await ids(server.dana, { state: 'answered' })).to.deep.equal([blocking.id]);
    expect(await ids(server.dana, { to_me: true })).to.deep.equal([soft.id]);
    expect(await ids(server.dana, { state: 'all', limit: 200 })).to.have.length(3);
    const pages: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: { asks: { id: string }[]; next_after: string | null } = await server.dana.ok('listAsks', {
        query: { board, state: 'all', limit: 1, ...(after === '' ? {} : { after }) },
      });
      pages.push(...page.asks.map((message) => message.id));
      after = page.next_after;
    }
    expect(pages).to.deep.equal([other.id, soft.id, blocking.id]);
    expect(await pam.refused('listAsks', { query: { task: '1' } })).to.equal('400 invalid_request');
    expect(await pam.refused('listAsks', { query: { board, task: 'ZZZ-9' } })).to.equal('404 task_not_found');
    expect((await pam.ok('listAsks', { query: { task: 'ZZZ-9' } })).asks).to.deep.equal([]);
    const { messages } = await pam.ok('listMessages', { params: { board }, query: { has: 'ask' } });
    expect(messages).to.have.length(3);
    expect((await pam.ok('listMessages', { params: { board }, query: { has: 'answer' } })).messages).to.have.length(1);
  });

  it('is found for who may answer it by its asker, not among all seats of their person', async () => {
    const plan = await server.db.write(async (tx) => {
      const seat = (await memberById(tx, a.memberId)) as MemberRow;
      const ended = { ...seat, status: 'left' as const, token_digest: null, session_digest: null };
      const rows = Array.from({ length: 2_000 }, (_, n) => ({ ...ended, id: newId('mem', n), name: `ended-${n}` }));
      await inParts(rows, (part) => tx.change((db) => db('members').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE members'));
      const explain = engine === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
      const query: ReadTx['query'] = (build) => tx.query((db) => db.raw(`${explain} ${build(db)}`));
      const filter: AskFilter = {
        boardIds: [seat.board_id],
        answererIds: [seat.id],
        reader: { memberId: seat.id, readsAll: true },
        state: 'open',
        blockingFirst: false,
      };
      return JSON.stringify(await listAskRows({ now: tx.now, query } as ReadTx, filter, null, 50));
    });
    expect(plan).not.to.match(/members_by_person|members__board_id__name/);
  });

  it('is counted among the open ones of its members, not among all that they ever asked or were asked', async () => {
    const plan: object[] = [];
    await server.db.read(async (tx) => {
      const all = async (statement: Statement<Params, unknown>, params: Params) => {
        const { sql, bind } = statement.for(engine);
        const values = bind(params).values();
        const filled = sql.replaceAll(/\+\?|\$\d+/g, () => `'${values.next().value}'`);
        const explain = engine === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
        plan.push(...(await tx.query<object>((db) => db.raw(`${explain} ${filled}`))));
        return [];
      };
      await countOpenAsks({ now: tx.now, all } as unknown as ReadTx, [a.memberId]);
    });
    for (const index of ['asks_open_to', 'asks_open_from']) expect(JSON.stringify(plan)).to.include(index);
  });

  it('is listed on pages of at most a MiB of long messages', async () => {
    const bodies = Array.from({ length: 10 }, (_, n) => `${n} ${'🎉'.repeat(32_000)}`);
    for (const body of bodies) await post(server.dana, board, body, { to: ['@b'], ask: {} });
    const query = { board, to_me: true } as const;
    const first = await b.call('listAsks', { query });
    expect(first.bytes.length).to.be.at.most(1_050_000);
    const second = await b.ok('listAsks', { query: { ...query, after: first.body.next_after ?? '' } });
    const seen = [...first.body.asks, ...second.asks].map(({ body }) => body);
    expect(seen).to.deep.equal(bodies.toReversed());
    expect(second.next_after).to.equal(null);
  });

  it('is listed from no position that no database has', async () => {
    for (let n = 0; n < 3; n++) await ask(a);
    const query = { board, to_me: true, limit: 1 };
    const first = await server.dana.ok('listAsks', { query });
    const second = await server.dana.ok('listAsks', { query: { ...query, after: first.next_after ?? '' } });
    expect([first.asks.length, second.asks.length]).to.deep.equal([1, 1]);
    const [bound, ...position] = JSON.parse(Buffer.from(first.next_after ?? '', 'base64url').toString());
    const [blocking, at, id] = position.flat();
    for (const bad of [
      [blocking, at + 0.5, id],
      [blocking, at, `${id}\0`],
      [blocking, at, '\ud800'],
      [blocking, at],
    ]) {
      const after = Buffer.from(JSON.stringify([bound, ...bad])).toString('base64url');
      expect(await server.dana.refused('listAsks', { query: { ...query, after } })).to.equal('400 invalid_request');
    }
  });

  it('is listed as one that the reader can answer only where its record says so', async () => {
    const [kept, withdrawn] = [await ask(pam, { to: ['@a'] }), await ask(pam, { to: ['@a'] })];
    await reply(pam, withdrawn, { answer: { withdrawn: true } });
    const answerable = async () => {
      const list = async (query: { can_answer?: boolean }) =>
        (await a.ok('listAsks', { query: { board, state: 'all', ...query } })).asks;
      const ids = (await list({ can_answer: true })).map(({ id }) => id);
      expect(ids).to.deep.equal((await list({})).flatMap(({ id, ask }) => (ask?.can_answer ? [id] : [])));
      return ids;
    };
    expect(await answerable()).to.deep.equal([kept.id]);
    await setRoles(server, board, { member: { can: [] } });
    expect(await answerable()).to.deep.equal([]);
    await setRoles(server, board, { member: { can: ['post'] } });
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await answerable()).to.deep.equal([]);
  });

  it('on an archived board is listed where the board is named, to its agents as to its people', async () => {
    const { id } = await ask(a);
    await changeBoard(server, board, { lifecycle: 'archived' });
    for (const reader of [a, server.dana]) {
      const listed = async (query: { board?: string }) =>
        (await reader.ok('listAsks', { query: { ...query, limit: 200 } })).asks.filter((each) => each.id === id).length;
      expect([await listed({}), await listed({ board })]).to.deep.equal([0, 1]);
    }
  });

  it('is owed as long as it is open, whatever else its addressee says about it, and no more once it is withdrawn', async () => {
    const owed = async () => {
      const { needs_reply, asks_to_me } = await server.dana.ok('getBoard', { params: { board } });
      return [needs_reply, asks_to_me];
    };
    const first = await ask(a);
    const other = await post(a, board, 'And this?', { to: [`@${dana}`], expects_reply: true });
    expect(await owed()).to.deep.equal([2, { blocking: 1, going_with: 0 }]);
    await reply(server.dana, first, { answer: { comment: true } });
    expect(await owed(), 'a comment is no answer').to.deep.equal([2, { blocking: 1, going_with: 0 }]);
    await reply(server.dana, other);
    expect(await owed()).to.deep.equal([1, { blocking: 1, going_with: 0 }]);
    await reply(server.dana, first, { answer: { option: 1 } });
    expect(await owed()).to.deep.equal([0, { blocking: 0, going_with: 0 }]);
    const second = await ask(a);
    expect(await owed()).to.deep.equal([1, { blocking: 1, going_with: 0 }]);
    await reply(a, second, { answer: { withdrawn: true } });
    expect(await owed(), 'nothing more can be said to it').to.deep.equal([0, { blocking: 0, going_with: 0 }]);
  });

  it('is owed no more once the person of the asking agent answered it', async () => {
    const owed = async () => (await pam.ok('getBoard', { params: { board } })).needs_reply;
    const asked = await ask(a, { to: ['@pam'] });
    await reply(b, asked);
    await reply(server.dana, asked, { answer: { comment: true } });
    expect(await owed()).to.equal(1);
    await reply(server.dana, asked, { answer: { option: 1 } });
    expect(await owed()).to.equal(0);
  });

  it('that went with its default is owed until it is answered all the same', async () => {
    const asked = await ask(a, { to: ['@pam'] }, { going_with: 'left' });
    expect(asked.ask?.state).to.equal('went_with');
    const owed = async () => (await pam.ok('getBoard', { params: { board } })).needs_reply;
    expect(await owed()).to.equal(1);
    await reply(pam, asked, { answer: { comment: true } });
    expect(await owed(), 'a comment is no answer').to.equal(1);
    await reply(server.dana, asked);
    expect(await owed()).to.equal(0);
  });

  it('counts on the board of a person it is addressed to, and as a reply they owe', async () => {
    const asked = await ask(a);
    await ask(a, {}, { going_with: 'x', going_at: new Date(server.clock.now() + 3_600_000).toISOString() });
    const shown = async () => server.dana.ok('getBoard', { params: { board } });
    expect(await shown()).to.deep.include({
      asks_to_me: { blocking: 1, going_with: 1 },
      needs_reply: 2,
      tasks_open: 0,
    });
    await reply(server.dana, asked);
    expect(await shown()).to.deep.include({ asks_to_me: { blocking: 0, going_with: 1 }, needs_reply: 1 });
    expect(await a.ok('getBoard', { params: { board } })).not.to.have.property('asks_to_me');
    await newTask();
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await shown()).to.deep.include({ asks_to_me: { blocking: 0, going_with: 0 }, tasks_open: 1 });
    expect(
      (await server.dana.ok('listAsks', { query: { state: 'all', limit: 200 } })).asks.map((m) => m.board),
    ).not.to.include(board);
    const [named] = (await server.dana.ok('listAsks', { query: { board, state: 'all' } })).asks;
    expect(named?.ask).to.include({ can_answer: false, can_withdraw: false });
  });
});
