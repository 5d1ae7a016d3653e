/** Finding tasks and files: as they are now, by everybody on the board and by nobody else. */
import { expect } from 'chai';
import type { SearchResult, Task } from '../../../src/contract/types.ts';
import type { Allowed, WriteTx } from '../../../src/server/db/tx.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { damage, lose, put, tryPut } from '../../support/files.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard, setPolicy } from '../../support/state.ts';
import { until } from '../../support/until.ts';

forEachDatabase('search of tasks and files', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    // Searches wait for the texts of files, however busy the machine is.
    server.clock.holdBack(1_000);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board);
  });
  after(() => server.stop());

  type Query = Record<string, string | number | boolean>;
  const search = async (api: Api, q: string, more: Query = {}): Promise<SearchResult[]> =>
    (await api.ok('search', { query: { q, board, ...more } })).results;

  /** What was found: a task by its title, a file by its name, a message by its body. */
  const found = async (api: Api, q: string, more: Query = {}) =>
    (await search(api, q, more)).map(({ task, file, message }) => task?.title ?? file?.name ?? message?.body);

  const newTask = (title: string, more: Query = {}): Promise<Task> =>
    pam.ok('createTask', { params: { board }, body: { title, ...more } });
  const change = (task: Task, body: Record<string, string>): Promise<Task> =>
    pam.ok('updateTask', { params: { board, task: task.ref }, body });
  const rename = (name: string, to: string) =>
    pam.ok('updateFile', { params: { board, file: name }, body: { name: to } });

  it('finds a task by each of its texts, says by which, and shows it as a reference with its state', async () => {
    const task = await newTask('Cap the backoff', { about: 'Clients hammer\nthe gateway after an outage' });
    await change(task, { stands: 'the jitter is measured' });
    const [result] = await search(pam, 'gateway');
    expect(result).to.deep.equal({
      kind: 'task',
      board,
      at: (await pam.ok('getTask', { params: { board, task: task.ref } })).updated_at,
      score: 1,
      field: 'about',
      snippet: 'the gateway after an outage',
      matches: [[4, 11]],
      task: { id: task.id, ref: task.ref, title: 'Cap the backoff', state: 'open' },
    });
    const fieldOf = async (q: string) => (await search(pam, q)).map(({ field, task: one }) => [field, one?.state]);
    expect(await fieldOf(task.ref)).to.deep.equal([['ref', 'open']]);
    expect(await fieldOf('"the backoff"')).to.deep.equal([['title', 'open']]);
    expect(await fieldOf('jitter gateway')).to.deep.equal([['about', 'open']]);
    await pam.ok('startTask', { params: { board, task: task.ref } });
    expect(await fieldOf('jitter')).to.deep.equal([['stands', 'in_progress']]);
    await pam.ok('finishTask', {
      params: { board, task: task.ref },
      body: { note: 'capped at sixty', cancelled: true },
    });
    expect(await fieldOf('sixty')).to.deep.equal([['note', 'cancelled']]);
    expect(await fieldOf('"backoff clients"')).to.deep.equal([]);
  });

  it('finds a task by what it says now only', async () => {
    const task = await newTask('Rutabaga', { about: 'kohlrabi' });
    await change(task, { stands: 'parsnip' });
    expect(await found(pam, 'rutabaga kohlrabi parsnip')).to.deep.equal(['Rutabaga']);
    await change(task, { title: 'Celeriac', about: 'fennel', stands: 'chicory' });
    for (const old of ['rutabaga', 'kohlrabi', 'parsnip']) expect(await found(pam, old), old).to.deep.equal([]);
    expect(await found(pam, 'celeriac fennel chicory')).to.deep.equal(['Celeriac']);
    await change(task, { about: '' });
    expect(await found(pam, 'fennel')).to.deep.equal([]);
    expect(await found(pam, 'celeriac')).to.deep.equal(['Celeriac']);
  });

  it('puts a task where its last event is', async () => {
    const first = await newTask('walnut one');
    server.clock.advance(1_000);
    await newTask('walnut two');
    server.clock.advance(1_000);
    await post(pam, board, 'walnut three');
    expect(await found(pam, 'walnut')).to.deep.equal(['walnut three', 'walnut two', 'walnut one']);
    server.clock.advance(1_000);
    await pam.ok('joinTask', { params: { board, task: first.ref } });
    expect(await found(pam, 'walnut')).to.deep.equal(['walnut one', 'walnut three', 'walnut two']);
    const { at } = (await search(pam, 'walnut'))[0] as SearchResult;
    expect(await found(pam, 'walnut', { since: at })).to.deep.equal(['walnut one']);
    expect(await found(pam, 'walnut', { until: at })).to.deep.equal(['walnut three', 'walnut two']);
  });

  it('finds a file by its path and its text, the latest version only', async () => {
    const file = await put(pam, board, 'notes/retry-design.md', '# Design\n\nThe albatross flies\n');
    const [result] = await search(pam, 'albatross');
    expect(result).to.deep.equal({
      kind: 'file',
      board,
      at: file.latest.at,
      score: 1,
      field: 'text',
      snippet: 'The albatross flies',
      matches: [[4, 13]],
      file: { id: file.id, name: 'notes/retry-design.md', version: 1, media_type: 'text/markdown' },
    });
    expect((await search(pam, '"retry design" albatross'))[0]).to.include({ field: 'name', score: 2 });
    await put(pam, board, file.name, 'The cormorant dives', { base: 1 });
    expect(await found(pam, 'albatross')).to.deep.equal([]);
    expect((await search(pam, 'cormorant'))[0]?.file?.version).to.equal(2);
    await rename(file.name, 'notes/birds.md');
    expect(await found(pam, 'retry')).to.deep.equal([]);
    expect(await found(pam, 'cormorant birds')).to.deep.equal(['notes/birds.md']);
    await pam.ok('removeFile', { params: { board, file: 'notes/birds.md' } });
    for (const q of ['cormorant', 'birds']) expect(await found(pam, q), q).to.deep.equal([]);
    await put(pam, board, 'notes/birds.md', 'The pelican waits');
    expect(await found(pam, 'birds')).to.deep.equal(['notes/birds.md']);
    expect(await found(pam, 'cormorant')).to.deep.equal([]);
  });

  it('reads what is text, whatever it is called, up to its limit', async () => {
    const large = `${'x'.repeat(524_288 - 9)} quagga2`;
    const files: [string, Buffer | string, string[]][] = [
      ['a.bin', 'plain quagga', ['a.bin']],
      ['b.txt', Buffer.from('quagga\0quagga'), []],
      ['c.txt', Buffer.from('\ufeffutf sixteen quagga1', 'utf16le'), ['c.txt']],
      ['d.txt', `${large} `, ['d.txt']],
      ['e.txt', `${large}  `, []],
    ];
    for (const [name, bytes] of files) await put(pam, board, name, bytes);
    expect(await found(pam, 'quagga*')).to.have.members(files.flatMap(([, , names]) => names));
    for (const [name] of files) expect(await found(pam, `"${name}"`), name).to.deep.equal([name]);
  });

  it('finds the brief, and the words of files without the secrets they may hold', async () => {
    await put(pam, board, 'brief.md', 'The okapi is the goal', { brief: true });
    expect(await found(pam, 'okapi')).to.deep.equal(['brief.md']);
    const jwt = `eyJ${'hbGciOiJI'.repeat(2)}.eyJ${'zdWIiOiIx'.repeat(2)}.${'c2lnbmF0dXJl'.repeat(2)}`;
    await put(pam, board, 'token.md', `An example ${jwt} of one`);
    expect(await found(pam, `"${jwt}"`)).to.deep.equal([]);
    const [shown] = await search(pam, 'example one', { kind: 'file' });
    expect(shown?.snippet).to.equal('An example [redacted:jwt] of one');
    const secret = `ghp_${'A1b2'.repeat(9)}`;
    await newTask(`Rotate ${secret} soon`, { about: `was ${secret}` });
    expect(await found(pam, secret)).to.deep.equal([]);
    expect((await search(pam, 'rotate soon'))[0]?.snippet).to.equal('Rotate [redacted:github_token] soon');
  });

  it('shows tasks and files to all on the board, also where messages are for their recipients, and to nobody else', async () => {
    await setPolicy(server, board, { visibility: 'addressed' });
    await post(server.dana, board, 'marmot between us', { to: ['@pam'] });
    await newTask('marmot task');
    await put(pam, board, 'marmot.md', 'text');
    expect(await found(agent, 'marmot')).to.have.members(['marmot task', 'marmot.md']);
    expect(await found(pam, 'marmot')).to.have.length(3);
    const { next_after } = await agent.ok('search', { query: { q: 'marmot', limit: 2 } });
    expect(next_after).to.equal(null);
    const ron = await server.person('ron');
    expect((await ron.ok('search', { query: { q: 'marmot' } })).results).to.deep.equal([]);
    expect(await ron.refused('search', { query: { q: 'marmot', board } })).to.equal('403 not_on_board');
    const elsewhere = await newAgent(pam, (await newBoard(pam)).name);
    expect((await elsewhere.ok('search', { query: { q: 'marmot' } })).results).to.deep.equal([]);
    const everywhere = async () => (await pam.ok('search', { query: { q: 'marmot' } })).results.length;
    expect(await everywhere()).to.equal(3);
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await everywhere()).to.equal(3);
    await changeBoard(server, board, { lifecycle: 'deleted' });
    expect(await everywhere()).to.equal(0);
  });

  it('narrows by kind and task; only messages have a sender', async () => {
    const task = await newTask('lemur task');
    await newTask('other lemur');
    await put(pam, board, 'lemur.md', 'x', { about: task.ref });
    await put(pam, board, 'lemur2.md', 'x');
    await post(pam, board, 'lemur said', { about: [task.ref] });
    await post(server.dana, board, 'lemur elsewhere', { about: [] });
    expect(await found(pam, 'lemur*', { kind: 'task' })).to.have.members(['lemur task', 'other lemur']);
    expect(await found(pam, 'lemur*', { kind: 'file' })).to.have.members(['lemur.md', 'lemur2.md']);
    expect(await found(pam, 'lemur*', { kind: 'task,file' })).to.have.length(4);
    expect(await found(pam, 'lemur*', { task: task.ref })).to.have.members(['lemur task', 'lemur.md', 'lemur said']);
    expect(await found(pam, 'lemur*', { from: 'pam' })).to.deep.equal(['lemur said']);
    expect(await found(pam, 'lemur*', { from: 'pam', kind: 'task,file' })).to.deep.equal([]);
  });

  it('gives pages over all kinds, newest first, that neither miss nor repeat', async () => {
    for (const n of [1, 2, 3]) {
      await put(pam, board, `tapir-${n}.md`, 'x');
      await post(pam, board, `tapir ${n}`);
      await newTask(`Tapir ${n}`);
    }
    for (const sort of ['newest', 'relevance'] as const) {
      const seen: SearchResult[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const query: Query = { q: 'tapir', board, sort, limit: 2, ...(after === '' ? {} : { after }) };
        const page = await pam.ok('search', { query });
        seen.push(...page.results);
        after = page.next_after;
      }
      const ids = seen.map(({ task, file, message }) => (task ?? file ?? message)?.id);
      expect(new Set(ids).size, sort).to.equal(9);
      if (sort === 'relevance') continue;
      // Within one moment by kind.
      const keys = seen.map(({ at, kind }) => `${at} ${kind}`);
      expect(keys).to.deep.equal([...keys].sort().reverse());
    }
  });

  it('finds phrases in long texts too, however common their words are', async () => {
    const filler = Array.from({ length: 20_000 }, (_, n) => `the w${n}`).join(' ');
    await put(pam, board, 'long.txt', `${filler}\nthe very narwhal surfaces`);
    await put(pam, board, 'short.txt', 'the narwhal surfaces');
    expect(await found(pam, '"the very narwhal"')).to.deep.equal(['long.txt']);
    expect(await found(pam, '"the narwhal"')).to.deep.equal(['short.txt']);
    expect(await found(pam, 'narwhal -"very narwhal"')).to.deep.equal(['short.txt']);
    expect(await found(pam, 'narwhal -very')).to.deep.equal(['short.txt']);
    expect(await found(pam, 'very_narw*')).to.deep.equal(['long.txt']);
    expect(await found(pam, '"w19999 the very"')).to.deep.equal(['long.txt']);
    expect(await found(pam, '"the w19999" narw*')).to.deep.equal(['long.txt']);
    expect(await found(pam, 'narwhal', { sort: 'relevance' })).to.have.members(['long.txt', 'short.txt']);
  });

  it('finds other files beside texts that are longer, folded, than an engine takes', async () => {
    // Folded, each syllable becomes three letters of three bytes.
    const syllable = (n: number): string => String.fromCodePoint(0xac00 + 27 + (Math.floor(n) % 300) * 28);
    const wordOf = (n: number, length: number): string => syllable(n) + syllable(n / 300).repeat(length - 1);
    const wordsOf = (count: number, length: number): string =>
      Array.from({ length: count }, (_, n) => wordOf(n, length)).join(' ');
    await put(pam, board, 'long-words.txt', wordsOf(2_700, 60));
    await put(pam, board, 'many-words.txt', wordsOf(20_000, 8));
    await put(pam, board, 'other.txt', 'a potoroo hops');
    expect(await found(pam, 'potoroo')).to.deep.equal(['other.txt']);
    expect(await found(pam, wordOf(500, 60))).to.deep.equal(['long-words.txt']);
    expect(await found(pam, `"${wordOf(500, 8)} ${wordOf(501, 8)}"`)).to.deep.equal(['many-words.txt']);
  });

  it('goes on without a text whose bytes cannot be read, and has it once they can', async () => {
    const file = await put(pam, board, 'hurt.md', 'a wombat digs');
    await damage(server, file.latest.digest, 'a wombat dies');
    expect(await found(pam, 'hurt')).to.deep.equal(['hurt.md']);
    expect(await found(pam, 'wombat')).to.deep.equal([]);
    await lose(server, file.latest.digest);
    server.clock.advance(5_000);
    expect(await found(pam, 'wombat')).to.deep.equal([]);
    // The same bytes, put again, are there again.
    expect((await tryPut(pam, board, 'again.md', 'a wombat digs')).status).to.equal(201);
    // Each time it waits twice as long.
    server.clock.advance(10_000);
    expect(await found(pam, 'wombat')).to.have.members(['hurt.md', 'again.md']);
  });

  it('reads texts in quiet moments too, and has them after a restart and in another process', async () => {
    await put(pam, board, 'quiet.md', 'an axolotl sleeps');
    await until(async () => {
      server.clock.advance(500);
      const rows = await server.db.read((tx) =>
        tx.query<{ text: string | null }>((db) => db('search_texts').select('text')),
      );
      return rows.some(({ text }) => text === 'an axolotl sleeps');
    }, 'the text was read');
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const there = twin ? new (pam.constructor as typeof Api)(twin.url, pam.token) : pam;
    await put(pam, board, 'quiet.md', 'an axolotl wakes', { base: 1 });
    expect(await found(there, '"axolotl wakes"')).to.deep.equal(['quiet.md']);
    await twin?.close();
    await put(pam, board, 'late.md', 'an axolotl eats');
    await server.restart();
    expect(await found(pam, '"axolotl eats"')).to.deep.equal(['late.md']);
  });

  it('finds the text of a file that was put while another one is read', async () => {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const plain = server.db.write;
    server.db.write = async <T>(fn: (tx: WriteTx) => Promise<T>, allows?: Allowed): Promise<T> => {
      if (new Error().stack?.includes('file-texts.ts')) {
        Reflect.deleteProperty(server.db, 'write');
        begun.resolve();
        await held.promise;
      }
      return plain.call(server.db, fn, allows) as Promise<T>;
    };
    await put(pam, board, 'first.md', 'a numbat looks');
    const first = found(pam, 'numbat');
    await begun.promise;
    await put(pam, board, 'second.md', 'a quokka smiles');
    const second = found(pam, 'quokka');
    await until(() => server.clock.waiting(1_500) === 2, 'both searches wait');
    held.resolve();
    expect(await first).to.deep.equal(['first.md']);
    expect(await second).to.deep.equal(['second.md']);
  });

  it('can lose its index, and finds the same again', async () => {
    await newTask('gecko task');
    await put(pam, board, 'gecko.md', 'a gecko climbs');
    await post(pam, board, 'gecko said');
    const before = await search(pam, 'gecko');
    expect(before).to.have.length(3);
    const tables = ['search_docs', 'search_progress', 'search_texts', ...(engine === 'sqlite' ? ['search_words'] : [])];
    await server.db.write(async (tx) => {
      for (const table of tables) await tx.change((db) => db(table).delete());
    });
    expect(await search(pam, 'gecko')).to.deep.equal(before);
  });

  it('finds each once, however writes and searches meet', async () => {
    const rounds = Array.from({ length: 8 }, (_, n) => n);
    const tasks = await Promise.all(rounds.map((n) => newTask(`ibex ${n}`)));
    await Promise.all(
      rounds.flatMap((n) => [
        change(tasks[n] as Task, { title: `ibex again ${n}` }),
        put(pam, board, `ibex-${n}.md`, `ibex text ${n}`),
        found(n % 2 ? pam : agent, 'ibex'),
      ]),
    );
    const all = await found(pam, 'ibex', { limit: 50 });
    expect(all).to.have.members(rounds.flatMap((n) => [`ibex again ${n}`, `ibex-${n}.md`]));
  });

  it('looks through no more than a MiB of files for a page, and goes on behind it', async () => {
    const names = ['one.txt', 'two.txt', 'three.txt', 'four.txt', 'five.txt'];
    for (const name of names) await put(pam, board, name, `cormorant ${'x'.repeat(400_000)}`);
    await put(pam, board, 'cormorant.txt', 'short');
    let pages: string[][] = [];
    await until(async () => {
      pages = [];
      for (let after: string | null = ''; after !== null; ) {
        const query: Query = { q: 'cormorant', board, ...(after === '' ? {} : { after }) };
        const page = await pam.ok('search', { query });
        pages.push(page.results.map(({ file }) => file?.name ?? ''));
        after = page.next_after;
      }
      return pages.flat().length === 6;
    }, 'all are found');
    expect(pages.flat()).to.have.members([...names, 'cormorant.txt']);
    expect(pages.map(({ length }) => length)).to.deep.equal([3, 2, 1]);
  });

  it('shows on one page what it finds by the names of files whose bytes are not searched', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `gannet-${n}.bin`);
    // Three are too long, and three are no text.
    for (const [n, name] of names.entries())
      await put(pam, board, name, n < 3 ? Buffer.alloc(600_000, `x${n}`) : Buffer.alloc(400_000, `\0${n}`));
    const page = await pam.ok('search', { query: { q: 'gannet', board } });
    expect(page.results.map(({ file }) => file?.name)).to.have.members(names);
    expect(page.next_after).to.equal(null);
  });

  it('finds phrases in a text that repeats two words without end, and none across what it left out of it', async () => {
    await put(server.dana, board, 'long.txt', `start ${'a b '.repeat(60_000)}c ${'b '.repeat(12_000)}d`);
    expect(await found(pam, '"start a b a b"')).to.deep.equal(['long.txt']);
    expect(await found(pam, `"${'a b '.repeat(45)}"`)).to.deep.equal(['long.txt']);
    expect(await found(pam, 'c')).to.deep.equal(['long.txt']);
    expect(await found(pam, '"c d"')).to.deep.equal([]);
    expect(await found(pam, 'start -"c d"')).to.deep.equal(['long.txt']);
  });
});
