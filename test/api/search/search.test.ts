import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { indexBatch } from '../../../src/server/search/index.steps.ts';
import { addDocs, type Doc, dropDocs, type Kind, progressOf } from '../../../src/server/search/search.store.ts';
import { INDEXING, PATIENCE_MS, QUIET_MS } from '../../../src/server/upkeep/search-indexer.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { TestClock } from '../../support/clock.ts';
import { costOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { isoForms } from '../../support/iso-forms.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard, setPolicy } from '../../support/state.ts';
import { until } from '../../support/until.ts';

forEachDatabase('search', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board);
  });
  after(() => server.stop());

  type Query = Record<string, string | number | boolean>;
  const found = async (api: Api, q: string, more: Query = {}) =>
    (await api.ok('search', { query: { q, board, ...more } })).results.map((result) => result.message?.body);

  it('finds words, phrases and beginnings, together and without what is excluded', async () => {
    for (const body of [
      'the deploy of alpha failed',
      'deploy of beta: rolled back',
      'Rollback plan, no release',
      'retry_count is 3',
    ]) {
      await post(server.dana, board, body);
    }
    expect(await found(pam, 'deploy')).to.deep.equal(['deploy of beta: rolled back', 'the deploy of alpha failed']);
    expect(await found(pam, 'DEPLOY alpha')).to.deep.equal(['the deploy of alpha failed']);
    expect(await found(pam, '"of beta"')).to.deep.equal(['deploy of beta: rolled back']);
    expect(await found(pam, '"beta of"')).to.deep.equal([]);
    expect(await found(pam, 'roll*')).to.deep.equal(['Rollback plan, no release', 'deploy of beta: rolled back']);
    expect(await found(pam, 'roll* -deploy')).to.deep.equal(['Rollback plan, no release']);
    expect(await found(pam, 'retry_count')).to.deep.equal(['retry_count is 3']);
    expect(await found(pam, 'retry-c*')).to.deep.equal(['retry_count is 3']);
    expect(await found(pam, 'rolled release')).to.deep.equal([]);
  });

  it('takes a beginning of two letters or digits in all, wherever it splits', async () => {
    await post(server.dana, board, 'Ship v1.25 of file-alpha for COR-17');
    await post(server.dana, board, 'We don’t ship v1.3');
    const shipped = ['Ship v1.25 of file-alpha for COR-17'];
    for (const q of ['v1.2*', 'cor-1*', 'file-a*', 'ship -don’t*', 'ship -v1.3*'])
      expect(await found(pam, q), q).to.deep.equal(shipped);
    expect(await found(pam, 'don’t*')).to.deep.equal(['We don’t ship v1.3']);
    for (const q of ['s*', '.s*', 'ship -s*'])
      expect(await pam.refused('search', { query: { q, board } }), q).to.equal('400 invalid_request');
  });

  it('folds case and accents, and knows other scripts and mixed words', async () => {
    await post(server.dana, board, 'Café İstanbul 日本語 v2alpha 1e5 007 user@example.com');
    for (const q of ['cafe', 'CAFÉ', 'istanbul', '日本語', 'v2alpha', '1e5', '007', 'user@example.com', '日本*']) {
      expect(await found(pam, q), q).to.have.length(1);
    }
    expect(await found(pam, '7')).to.deep.equal([]);
  });

  it('shows the line of the first match with ranges, and the message as the caller reads it', async () => {
    const posted = await post(server.dana, board, 'one\ntwo needles and a Needle\nthree');
    const [result] = (await pam.ok('search', { query: { q: 'needle', board } })).results;
    expect(result).to.deep.include({
      kind: 'message',
      board,
      field: 'body',
      score: 1,
      snippet: 'two needles and a Needle',
      matches: [[18, 24]],
    });
    expect(result?.at).to.equal(posted.at);
    expect(result?.message).to.include({ id: posted.id, sender: 'other_person' });
  });

  it('finds a question by what it offers too, and says where', async () => {
    const ask = { options: ['repaint the fuselage', 'leave it'], going_with: 'leave it as it is' };
    await post(server.dana, board, 'What next?', { to: ['@pam'], ask });
    const asked = async (q: string) => {
      const { results } = await pam.ok('search', { query: { q, board } });
      return results.map(({ field, snippet, matches, score }) => ({ field, snippet, matches, score }));
    };
    expect(await asked('fuselage')).to.deep.equal([
      { field: 'ask', snippet: 'repaint the fuselage', matches: [[12, 20]], score: 1 },
    ]);
    expect((await asked('next leave')).map(({ field, score }) => [field, score])).to.deep.equal([['body', 3]]);
    expect(await asked('"fuselage leave"')).to.deep.equal([]);
  });

  it('finds at once what was written, through another process too', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = twin ? new (pam.constructor as typeof Api)(twin.url, pam.token) : pam;
    for (let n = 0; n < 5; n++) {
      await post(server.dana, board, `fresh word${n}`);
      expect(await found(there, `word${n}`)).to.deep.equal([`fresh word${n}`]);
    }
    await twin?.close();
  });

  it('never finds what its caller may not read, nor tells that there is more', async () => {
    await setPolicy(server, board, { visibility: 'addressed' });
    await post(server.dana, board, 'plutonium for pam', { to: ['@pam'] });
    await post(server.dana, board, 'plutonium for everybody');
    await post(server.dana, board, 'plutonium for the agent', { to: [`@${agent.name}`] });
    expect(await found(agent, 'plutonium')).to.deep.equal(['plutonium for the agent', 'plutonium for everybody']);
    expect(await found(pam, 'plutonium')).to.have.length(3);
    const { next_after } = await agent.ok('search', { query: { q: 'plutonium', limit: 2 } });
    expect(next_after).to.equal(null);
    for (const sort of ['newest', 'relevance']) {
      expect(await found(agent, 'plutonium "for pam"', { sort })).to.deep.equal([]);
    }
    await setPolicy(server, board, { visibility: 'open' });
    expect(await found(agent, 'plutonium')).to.have.length(3);
  });

  it('covers all boards a person is on, archived ones too, and only an agent’s own', async () => {
    const other = (await newBoard(server.dana)).name;
    const old = (await newBoard(server.dana)).name;
    const alien = (await newBoard(pam)).name;
    for (const name of [board, other, old]) await post(server.dana, name, 'zirconium');
    await post(pam, alien, 'zirconium');
    await changeBoard(server, old, { lifecycle: 'archived' });
    const boards = async (api: Api) =>
      (await api.ok('search', { query: { q: 'zirconium' } })).results.map((result) => result.board);
    expect(await boards(server.dana)).to.deep.equal([old, other, board]);
    expect(await boards(agent)).to.deep.equal([board]);
    expect(await boards(pam)).to.deep.equal([alien, board]);
    await changeBoard(server, old, { lifecycle: 'deleted' });
    expect(await boards(server.dana)).to.deep.equal([other, board]);
    expect(await pam.refused('search', { query: { q: 'x', board: 'never-there' } })).to.equal('404 board_not_found');
    expect(await pam.refused('search', { query: { q: 'x', board: other } })).to.equal('403 not_on_board');
    expect(await agent.refused('search', { query: { q: 'x', board: other } })).to.equal('404 board_not_found');
  });

  it('narrows by sender, time and kind', async () => {
    const { at } = await post(pam, board, 'cobalt by pam');
    server.clock.advance(60_000);
    const { at: later } = await post(server.dana, board, 'cobalt by dana');
    expect(await found(pam, 'cobalt', { from: 'pam' })).to.deep.equal(['cobalt by pam']);
    expect(await found(pam, 'cobalt', { since: later })).to.deep.equal(['cobalt by dana']);
    expect(await found(pam, 'cobalt', { since: at, until: later })).to.deep.equal(['cobalt by pam']);
    const second = Math.ceil(Date.parse(at) / 1000) * 1000;
    for (const form of isoForms(second)) {
      expect(await found(pam, 'cobalt', { since: form }), form).to.deep.equal(['cobalt by dana']);
      expect(await found(pam, 'cobalt', { until: form }), form).to.deep.equal(['cobalt by pam']);
    }
    expect(await found(pam, 'cobalt', { kind: 'message,task' })).to.have.length(2);
    expect(await found(pam, 'cobalt', { kind: 'task,file' })).to.deep.equal([]);
    expect(await pam.refused('search', { query: { q: 'x', from: 'pam' } })).to.equal('400 invalid_request');
    expect(await pam.refused('search', { query: { q: 'x', board, from: 'nobody-here' } })).to.equal(
      '404 member_not_found',
    );
    const malformed: Query[] = [
      { kind: 'board' },
      { since: 'yesterday' },
      { sort: 'oldest' },
      { limit: 51 },
      { q: '-only' },
    ];
    for (const bad of malformed) {
      expect(await pam.refused('search', { query: { q: 'x', ...bad } })).to.equal('400 invalid_request');
    }
    expect(await pam.refused('search', { query: { q: 'x'.repeat(201) } })).to.equal('400 invalid_request');
    expect(await pam.refused('search', {})).to.equal('400 invalid_request');
  });

  it('gives pages that neither miss nor repeat, and positions that hold for their search only', async () => {
    const bodies = Array.from({ length: 7 }, (_, n) => `page test ${n}`);
    for (const body of bodies) await post(server.dana, board, body);
    for (const sort of ['newest', 'relevance'] as const) {
      const seen: (string | undefined)[] = [];
      let after: string | null = null;
      do {
        const query: Query = { q: 'page test', board, sort, limit: 3, ...(after === null ? {} : { after }) };
        const page = await pam.ok('search', { query });
        seen.push(...page.results.map((result) => result.message?.body));
        after = page.next_after;
        if (after !== null) {
          expect(await pam.refused('search', { query: { ...query, q: 'test page', after } })).to.equal(
            '400 invalid_request',
          );
          expect(await server.dana.refused('search', { query: { ...query, after } })).to.equal('400 invalid_request');
        }
      } while (after !== null);
      expect(seen.length).to.equal(7);
      if (sort === 'newest') expect(seen).to.deep.equal([...bodies].reverse());
      else expect(seen).to.have.members(bodies);
    }
    expect(await pam.refused('search', { query: { q: 'x', after: 'damaged' } })).to.equal('400 invalid_request');
  });

  it('gives each of the best once, however much is posted or changed between two pages', async () => {
    const bodies = [1, 2, 3, 4, 5, 6].map((n) => `${'quokka '.repeat(n)}${'seen '.repeat(n * n)}`.trim());
    for (const body of bodies) await post(server.dana, board, body);
    const task = (title: string) => server.dana.ok('createTask', { params: { board }, body: { title } });
    const tasks = [await task('quokka quokka'), await task(`quokka ${'last '.repeat(20)}`)];
    const seen: (string | undefined)[] = [];
    let after: string | null = null;
    do {
      const query: Query = { q: 'quokka', board, sort: 'relevance', limit: 2, ...(after === null ? {} : { after }) };
      const page = await pam.ok('search', { query });
      seen.push(...page.results.map((result) => result.message?.body ?? result.task?.ref));
      after = page.next_after;
      server.clock.advance(1);
      for (const body of ['quokka', 'quokka quokka', `quokka ${'far '.repeat(300)}`])
        await post(server.dana, board, body);
      for (const { ref, title } of tasks)
        await server.dana.ok('updateTask', { params: { board, task: ref }, body: { title: `${title}${seen.length}` } });
    } while (after !== null);
    expect(seen).to.have.members([...bodies, ...tasks.map(({ ref }) => ref)]);
  });

  it('ends a page early at a MiB of long messages, and goes on behind it', async () => {
    const bodies = Array.from({ length: 10 }, (_, n) => `osprey ${n} ${'🎉'.repeat(32_000)}`);
    for (const body of bodies) await post(server.dana, board, body);
    for (const sort of ['newest', 'relevance'] as const) {
      const query: Query = { q: 'osprey', board, sort };
      const first = await pam.call('search', { query });
      expect(first.bytes.length).to.be.at.most(1_050_000);
      const second = await pam.ok('search', { query: { ...query, after: first.body.next_after ?? '' } });
      const seen = [...first.body.results, ...second.results].map((result) => result.message?.body);
      expect(seen).to.have.members(bodies);
      expect(second.next_after).to.equal(null);
    }
  });

  it('puts what fits best first when asked for relevance', async () => {
    await post(server.dana, board, 'tungsten tungsten tungsten');
    await post(server.dana, board, `a long story about many other things, ${'word '.repeat(60)} and tungsten`);
    expect((await found(pam, 'tungsten', { sort: 'relevance' }))[0]).to.equal('tungsten tungsten tungsten');
    expect((await found(pam, 'tungsten'))[1]).to.equal('tungsten tungsten tungsten');
  });

  it('puts the same first on either database where it is clear what fits best', async () => {
    const longer = (count: number) => `${Array.from({ length: count }, (_, n) => `word${n}`).join(' ')} osmium`;
    const bodies = ['osmium', ...[4, 40, 150, 600].map(longer)];
    bodies.splice(2, 0, `${longer(100)} osmium osmium osmium`);
    const pairs = ['rhodium and rhodium, iridium and more', 'rhodium and then a word, iridium and more words'];
    for (const body of [...bodies, ...pairs].reverse()) await post(server.dana, board, body);
    expect(await found(pam, 'osmium', { sort: 'relevance' })).to.deep.equal(bodies);
    expect(await found(pam, 'rhodium iridium', { sort: 'relevance' })).to.deep.equal(pairs);
  });

  it('cannot find a secret that was redacted', async () => {
    await post(server.dana, board, `the token is ghp_${'A1b2'.repeat(9)} indeed`);
    expect(await found(pam, `ghp_${'A1b2'.repeat(9)}`)).to.deep.equal([]);
    expect(await found(pam, 'token indeed')).to.have.length(1);
  });

  it('finds each message once, however posts, searches and the quiet moments between them meet', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = twin ? new (pam.constructor as typeof Api)(twin.url, pam.token) : pam;
    const rounds = Array.from({ length: 40 }, (_, n) => n);
    await Promise.all(
      rounds.flatMap((n) => [
        post(server.dana, board, `molybdenum ${n}`),
        found(n % 2 === 0 ? pam : there, 'molybdenum'),
      ]),
    );
    const bodies = await found(there, 'molybdenum', { limit: 50 });
    expect(bodies).to.have.members(rounds.map((n) => `molybdenum ${n}`));
    await twin?.close();
  });

  it('finds each message once also when the record grew while it was indexed', async () => {
    for (const n of [1, 2, 3]) await post(server.dana, board, `ruthenium ${n}`);
    const { id } = await pam.ok('getBoard', { params: { board } });
    // As if the head had been read before the posts.
    await server.db.write((tx) => indexBatch(tx, id, 2));
    await post(server.dana, board, 'ruthenium 4');
    expect(await found(pam, 'ruthenium')).to.deep.equal([4, 3, 2, 1].map((n) => `ruthenium ${n}`));
  });

  /** Holds all writes of the server until the returned function is called. */
  function holdWrites(): () => void {
    const { db } = server;
    const { write } = db;
    const { promise, resolve } = Promise.withResolvers<void>();
    db.write = (work) => promise.then(() => write.call(db, work as never)) as never;
    return () => {
      Object.assign(db, { write });
      resolve();
    };
  }

  it('does not wait for ever: where much is to be indexed it says so, and other boards are searched meanwhile', async () => {
    const other = (await newBoard(server.dana)).name;
    await putOnBoard(server, other, pam);
    await post(server.dana, other, 'niobium elsewhere');
    expect(await found(pam, 'niobium', { board: other })).to.deep.equal(['niobium elsewhere']);
    await post(server.dana, board, 'niobium here');
    const letWrite = holdWrites();
    try {
      const late = pam.call('search', { query: { q: 'niobium', board } });
      await until(() => server.clock.waiting(PATIENCE_MS) > 0, 'the search waits for the index');
      expect(await found(pam, 'niobium', { board: other })).to.deep.equal(['niobium elsewhere']);
      server.clock.advance(PATIENCE_MS);
      const { status, code, headers } = await late;
      expect([status, code, headers.get('retry-after')]).to.deep.equal([503, 'unavailable', '2']);
    } finally {
      letWrite();
    }
    expect(await found(pam, 'niobium')).to.deep.equal(['niobium here']);
  });

  it('finds what was just written also where the board is named by its id', async () => {
    const { id } = await pam.ok('getBoard', { params: { board } });
    await post(server.dana, board, 'tellurium just now');
    expect(await found(pam, 'tellurium', { board: id })).to.deep.equal(['tellurium just now']);
    await post(server.dana, board, 'tellurium again');
    expect(await found(agent, 'tellurium', { board: id })).to.have.length(2);
  });

  it('waits for no board that its caller is not on, which would tell that there is one', async () => {
    const hidden = await newBoard(server.dana, { visibility: 'private' });
    await post(server.dana, hidden.name, 'caesium');
    await found(pam, 'caesium');
    await found(agent, 'caesium');
    const letWrite = holdWrites();
    try {
      for (const from of [pam, agent]) {
        for (const name of ['no-such-board', hidden.name, hidden.id]) {
          const answer = from.call('search', { query: { q: 'caesium', board: name } }).then(({ code }) => code);
          expect(await Promise.race([answer, setTimeout(1_000, 'it waits')]), name).to.equal('board_not_found');
        }
      }
    } finally {
      letWrite();
    }
  });

  it('is left to another process while that one brings the index up to date', async () => {
    const { id } = await pam.ok('getBoard', { params: { board } });
    const progress = async () => Number(await server.db.read((tx) => progressOf(tx, id)));
    const free = await server.db.claim(INDEXING, 10_000);
    try {
      await post(server.dana, board, 'palladium');
      const before = await progress();
      for (let times = 0; times < 3; times++) {
        server.clock.advance(QUIET_MS);
        await until(() => server.clock.waiting(QUIET_MS) > 0, 'it is tried again later');
        await post(server.dana, board, 'palladium again');
      }
      expect(await progress()).to.equal(before);
    } finally {
      await free?.();
    }
    const { head_seq } = await pam.ok('getBoard', { params: { board } });
    server.clock.advance(QUIET_MS);
    await until(async () => (await progress()) === head_seq, 'the index is up to date');
  });

  it('keeps no server from stopping while it rests from building the index', async () => {
    const clock = new TestClock();
    clock.stop();
    const stopping = await startTestServer(engine, { clock });
    const { name } = await newBoard(stopping.dana);
    await Promise.all(Array.from({ length: 210 }, (_unused, n) => post(stopping.dana, name, `indium ${n}`)));
    clock.advance(QUIET_MS);
    await until(() => clock.waiting(0) > 0, 'it rests');
    await stopping.stop();
  });

  describe('numbers', () => {
    const numbersOf = async (refs: string): Promise<Map<string, number>> => {
      const rows = await server.db.read((tx) =>
        tx.query<{ id: number | string; ref_id: string }>((db) =>
          db('search_docs').where('ref_id', 'like', `${refs}-%`).select('id', 'ref_id'),
        ),
      );
      return new Map(rows.map((row) => [row.ref_id, Number(row.id)]));
    };
    const docAt = (kind: Kind, ref_id: string, at: number): Doc => ({
      kind,
      board_id: 'brd_x',
      ref_id,
      at,
      fields: [],
    });
    const add = (docs: Doc[]) => server.db.write((tx) => addDocs(tx, docs));
    const drop = async () => {
      const refs = [...(await numbersOf(board)).keys()];
      await server.db.write((tx) => dropDocs(tx, refs));
    };

    it('each of many messages of one millisecond on its own', async () => {
      const at = server.clock.now();
      const docs = (from: number) =>
        Array.from({ length: 60 }, (_, n) => docAt('message', `${board}-${from + n}`, n % 3 === 0 ? at : at + n));
      await add(docs(0));
      await add(docs(60));
      const numbers = await numbersOf(board);
      expect(new Set(numbers.values()).size).to.equal(120);
      const first = [...Array(40)].map((_, n) => `${board}-${n * 3}`).map((ref) => numbers.get(ref));
      expect(first).to.deep.equal([...first].sort((a, b) => Number(a) - Number(b)));
      await drop();
    });

    it('documents of many milliseconds with one question for all', async () => {
      const at = server.clock.now();
      const costOfDocs = async (kind: string, each: number): Promise<number> => {
        const docs = Array.from({ length: 30 }, (_, n) =>
          docAt('message', `${board}-${kind}${n}`, at + Math.floor(n / each)),
        );
        return (await costOf(server, () => add(docs))).writeStatements;
      };
      const alone = await costOfDocs('alone', 1);
      expect([await costOfDocs('pair', 2), await costOfDocs('again', 3)]).to.deep.equal([alone, alone]);
      await drop();
    });

    it('a document after all others where its millisecond is full', async () => {
      const at = server.clock.now();
      const many = (from: number, count: number) =>
        Array.from({ length: count }, (_, n) => docAt('file', `${board}-${from + n}`, at));
      await add([docAt('message', `${board}-first`, at), docAt('file', `${board}-next`, at + 1), ...many(0, 150)]);
      await add([...many(150, 60), docAt('file', `${board}-late`, at + 1)]);
      await add(many(210, 3));
      const numbers = await numbersOf(board);
      expect(new Set(numbers.values()).size).to.equal(216);
      const newest = [...numbers].sort(([, a], [, b]) => b - a).map(([ref]) => ref);
      expect(newest.slice(0, 3)).to.deep.equal([212, 211, 210].map((n) => `${board}-${n}`));
      await drop();
    });
  });

  it('finds what was written before the server stopped', async () => {
    await post(server.dana, board, 'written before the restart');
    await server.restart();
    expect(await found(pam, 'restart')).to.deep.equal(['written before the restart']);
  });
});
