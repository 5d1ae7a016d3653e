/** The record on the page: its check in the browser, its plot, and the address of every event. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import type { Board } from '../../src/contract/types.ts';
import { countByDay } from '../../src/web/record/days.ts';
import { newAgent, newBoard, newBoardWith, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { fillBoard } from './support/long-board.ts';
import { startPageServer } from './support/server.ts';
import { streamed, streamsInPage } from './support/streams.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

/** Changes what an event says, behind the server's back. */
function tamper({ dataDir }: TestServer, { id }: Board, seq: number): void {
  const file = new Sqlite(join(dataDir, 'service.db'), { timeout: 5_000 });
  file.exec('DROP TRIGGER events_no_update');
  file.prepare("UPDATE events SET data = replace(data, 'two', 'too') WHERE board_id = ? AND seq = ?").run(id, seq);
  file.close();
}

describe('the record on the page', () => {
  let server: TestServer;
  let board: Board;
  before(async () => {
    server = await startPageServer();
    board = await newBoard(server.dana);
    const claude = await newAgent(server.dana, board.name, { name: 'claude' });
    for (const text of ['one', 'two', 'three']) await post(claude, board.name, text);
    await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'Find out' } });
    await put(claude, board.name, 'notes.md', 'one\n');
    await put(claude, board.name, 'notes.md', 'two\n', { base: 1 });
  });
  after(() => server.stop());

  it('verifies a good chain, goes on as events come, and shows each event at its address', async () => {
    const { head_seq: head } = await server.dana.ok('getBoard', { params: { board: board.name } });
    const { page, close } = await visit(server, server.dana, `/?board=${board.name}&tab=record`);
    await page.getByRole('heading', { name: `Verified, ${head} events` }).waitFor();
    const { events } = await server.dana.ok('listEvents', {
      params: { board: board.name },
      query: { newest: true, limit: 1 },
    });
    const hex = events[0]!.hash.slice('sha256:'.length);
    await page.getByText(`sha256:${hex.slice(0, 4)} ${hex.slice(4, 8)}`).waitFor();
    await post(server.dana, board.name, 'four');
    await page.getByRole('heading', { name: `Verified, ${head + 1} events` }).waitFor();
    await page.getByRole('row', { name: /“four”.*verified/ }).waitFor();
    await page.getByRole('row', { name: /added notes.md v1/ }).waitFor();
    await page.getByRole('row', { name: /changed notes.md v2/ }).waitFor();
    await page.getByRole('link', { name: `Event ${head + 1}`, exact: true }).click();
    expect(page.url()).to.match(new RegExp(`event=${head + 1}$`));
    await page.getByText('message.posted').waitFor();
    await page.reload();
    await page.getByText('message.posted').waitFor();
    await page.getByText(`since you last looked at #${head + 1}`).waitFor();
    await close();
  });

  it('says what was done in the past tense, and sets what else an event says apart', async () => {
    const { dana } = server;
    const { name } = await newBoard(dana, { visibility: 'private' });
    const params = { board: name };
    await dana.ok('createJoinCode', { params, body: { role: 'member' } });
    const { ref } = await dana.ok('createTask', { params, body: { title: 'Cap it' } });
    await dana.ok('updateTask', { params: { ...params, task: ref }, body: { about: 'Why' } });
    const claude = await newAgent(dana, name, { name: 'claude' });
    await dana.ok('startTask', { params: { ...params, task: ref } });
    await claude.ok('joinTask', { params: { ...params, task: ref } });
    const { id } = await put(claude, name, 'notes.md', 'one\n');
    await dana.ok('removeFile', { params: { ...params, file: id } });
    await dana.ok('setBoardVisibility', { params, body: { visibility: 'open' } });
    const { page, close } = await visit(server, dana, `/?board=${name}&tab=record`);
    await page.getByRole('heading', { name: /^Verified/ }).waitFor();
    const told = (await page.locator('td.wh').allTextContents())
      .map((text) => text.trim().replace(/\s+/g, ' '))
      .reverse();
    expect(told.filter((text) => !/^(joined$|set how|brought|started|opened \w+-1|added)/.test(text))).to.deep.equal([
      'made the board as a private one',
      'made a join line for the role member',
      `updated ${ref} (what it is about)`,
      `joined ${ref}`,
      'removed notes.md',
      'opened the board to everyone on the server (0 messages, 0 files)',
    ]);
    await close();
  });

  it('reads on once for all events that come while it is checked', async () => {
    const { name } = await newBoard(server.dana);
    const { page, close } = await visit(server, server.dana, '/');
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    // The check reads from the first event on.
    await page.route(/\/events\?after=\d+&limit=200$/, async (route) => {
      if (reads++ > 0) return route.continue();
      const response = await route.fetch();
      asked.resolve();
      await held.promise;
      return route.fulfill({ response });
    });
    await page.goto(`${server.url}/?board=${name}&tab=record`);
    await asked.promise;
    await page.getByRole('row', { name: /made the board/ }).waitFor();
    let seq = 0;
    for (let n = 1; n <= 8; n++) ({ seq } = await post(server.dana, name, `Event ${n}`));
    await page.getByRole('row', { name: /“Event 8”/ }).waitFor();
    held.resolve();
    await page.getByRole('heading', { name: `Verified, ${seq} events` }).waitFor();
    expect(reads).to.equal(2);
    await close();
  });

  it('reads on at most once a second while events keep coming', async () => {
    const { name } = await newBoard(server.dana);
    const { page, context, close } = await visit(server, server.dana, '/');
    await context.addInitScript(streamsInPage);
    await page.goto(`${server.url}/?board=${name}&tab=record`);
    await page.getByRole('heading', { name: /^Verified/ }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    let reads = 0;
    page.on('request', (request) => {
      if (/\/events\?after=\d+&limit=200$/.test(request.url())) reads++;
    });
    let seq = 0;
    for (let n = 1; n <= 8; n++) {
      ({ seq } = await post(server.dana, name, `Event ${n}`));
      await streamed(page, `Event ${n}`);
    }
    await page.clock.runFor(1_000);
    await page.getByRole('heading', { name: `Verified, ${seq} events` }).waitFor();
    expect(reads).to.equal(1);
    await close();
  });

  it('is checked on, and exported, once a server that takes no more requests for now takes them again', async () => {
    const { context, tab, close } = await visit(server, server.dana, '/');
    // What asks for less than the client waits for itself is left as it is.
    const hurry = `{
      const after = globalThis.setTimeout;
      globalThis.setTimeout = (run, ms) => after(run, ms > 30_000 && ms <= 60_000 ? 0 : ms);
    }`;
    await context.addInitScript(hurry);
    await context.route('**/assets/verify-worker-*.js', async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, body: `${hurry}\n${await response.text()}` });
    });
    const error = { code: 'rate_limited', message: 'Too many requests.', hint: '' };
    const refuseOnce = () =>
      context.route(
        /\/events\?.*limit=200$/,
        (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, json: { error } }),
        { times: 1 },
      );
    await refuseOnce();
    const page = await tab(`/?board=${board.name}&tab=record`);
    await page.getByRole('heading', { name: /^Verified/ }).waitFor();
    await refuseOnce();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await download;
    await close();
  });

  it('shows an event that comes while the list is read', async () => {
    const { name } = await newBoard(server.dana);
    const { page, close } = await visit(server, server.dana, '/');
    await page.route('**/events?newest=true*', async (route) => {
      const response = await route.fetch();
      const { seq } = await post(server.dana, name, 'meanwhile');
      await page.getByRole('heading', { name: `Verified, ${seq} events` }).waitFor();
      return route.fulfill({ response });
    });
    await page.goto(`${server.url}/?board=${name}&tab=record`);
    await page.getByRole('row', { name: /made the board/ }).waitFor();
    await page.getByRole('row', { name: /“meanwhile”/ }).waitFor();
    await close();
  });

  it('shows an event that comes just before older ones are asked for', async () => {
    const maya = await server.person('maya');
    const { name } = await newBoard(maya);
    await fillBoard(server, maya, 'maya', name, 60);
    const { page, tab, close } = await visit(server, maya, '/');
    await page.context().addInitScript(streamsInPage);
    const record = await tab(`/?board=${name}&tab=record`);
    const older = record.getByRole('button', { name: 'Older events' });
    await older.waitFor();
    await record.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await record.route(/\/events\?.*before=/, async (route) => {
      const response = await route.fetch();
      asked.resolve();
      await held.promise;
      return route.fulfill({ response });
    });
    await record.clock.install();
    await record.clock.pauseAt(Date.now() + 60_000);
    await post(maya, name, 'just before');
    // The event and its message.
    await until(
      () =>
        record.evaluate(() => {
          const { streamed = '' } = globalThis as { streamed?: string };
          return streamed.split('just before').length > 2;
        }),
      'what its stream says',
    );
    await older.click();
    await asked.promise;
    await record.clock.runFor(1_000);
    await record.getByRole('row', { name: /“just before”/ }).waitFor();
    held.resolve();
    await record.getByRole('row', { name: /made the board/ }).waitFor();
    expect(await record.getByRole('row', { name: /“just before”/ }).count()).to.equal(1);
    await close();
  });

  it('keeps the older events that were read when an event is closed', async () => {
    const nia = await server.person('nia');
    const { name } = await newBoard(nia);
    await fillBoard(server, nia, 'nia', name, 60);
    const { page, close } = await visit(server, nia, `/?board=${name}&tab=record`);
    await page.getByRole('heading', { name: /^Verified/ }).waitFor();
    await page.getByRole('button', { name: 'Older events' }).click();
    const first = page.getByRole('link', { name: 'Event 1', exact: true });
    await first.click();
    await page.waitForURL(/event=1$/);
    let reads = 0;
    await page.route('**/events?*', (route) => {
      reads++;
      return route.continue();
    });
    await page.keyboard.press('Escape');
    await page.waitForURL(/tab=record$/);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(reads).to.equal(0);
    await first.waitFor();
    await close();
  });

  it('is filtered by kind and by whom; the plot is a table too', async () => {
    const { page, close } = await visit(server, server.dana, `/?board=${board.name}&tab=record`);
    await page.getByRole('img', { name: /Events a day, 30 days/ }).waitFor();
    await page.getByLabel('Kind of event').selectOption('Tasks');
    const rows = page.locator('tr[data-seq]');
    await page.getByRole('row', { name: /“one”/ }).waitFor({ state: 'detached' });
    expect(await rows.count()).to.equal(1);
    await page.getByLabel('Kind of event').selectOption('Messages');
    await page.getByRole('row', { name: /“four”/ }).waitFor();
    await page.getByLabel('By whom').selectOption('claude');
    await page.getByRole('row', { name: /“four”/ }).waitFor({ state: 'detached' });
    expect(await rows.count()).to.equal(3);
    await page.getByRole('group', { name: 'Events of' }).getByRole('button', { name: 'claude' }).click();
    await page.getByRole('img', { name: /Events a day of claude, 30 days, 5 in all/ }).waitFor();
    await page.getByRole('button', { name: 'Show as a table' }).click();
    await page.getByRole('cell', { name: '5', exact: true }).first().waitFor();
    await close();
  });

  it('the plot shows the days before one that has no midnight', () => {
    const { TZ } = process.env;
    // There, clocks go from 0:00 to 1:00 on 24 April.
    process.env['TZ'] = 'Africa/Cairo';
    try {
      const starts = [20, 24, 28].map((day) => new Date(2026, 3, day).getTime());
      const counts = {
        actors: {},
        types: {},
        files: {},
        days: Object.fromEntries(starts.map((at) => [at, { dana: 1 }])),
      };
      const days = countByDay(counts, null, new Date(2026, 3, 30, 12).getTime());
      expect(days.filter(({ people }) => people === 1).map(({ at }) => at)).to.deep.equal(starts);
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  it('tells the server from an admin who is not on the board', async () => {
    const [lea, max] = [await server.person('lea'), await server.person('max')];
    const { name } = await newBoardWith(lea, ['max']);
    await server.dana.ok('removePerson', { params: { handle: 'lea' } });
    const { page, close } = await visit(server, max, `/?board=${name}&tab=record`);
    await page.getByRole('heading', { name: /^Verified/ }).waitFor();
    const by = page.getByLabel('By whom');
    const rows = page.locator('tr[data-seq]');
    for (const [who, what] of [
      [(await server.dana.ok('getMe')).name, 'removed lea'],
      ['the server', 'made max an owner'],
    ] as const) {
      await by.selectOption(who);
      await rows.nth(1).waitFor({ state: 'detached' });
      await rows.filter({ hasText: what }).waitFor();
    }
    await close();
  });

  it('is filtered by a kind of which there is nothing yet, also before it is checked', async () => {
    const { name } = await newBoard(server.dana);
    const { page, close } = await visit(server, server.dana, '/');
    // The check in the browser reads on from a number, and waits.
    const checking = Promise.withResolvers<void>();
    await page.context().route(/\/events\?after=/, async (route) => {
      await checking.promise;
      return route.continue();
    });
    await page.goto(`${server.url}/?board=${name}&tab=record`);
    const kind = page.getByLabel('Kind of event');
    await kind.selectOption('Files');
    await page.getByText('No event of this kind.').waitFor();
    checking.resolve();
    await page.getByRole('heading', { name: 'Verified' }).waitFor();
    await kind.selectOption('Tasks');
    await page.getByText('No event of this kind.').waitFor();
    await kind.selectOption('Files');
    expect(await page.getByRole('alert').count()).to.equal(0);
    await put(server.dana, name, 'notes.md', 'one\n');
    await page.getByRole('row', { name: /added notes.md v1/ }).waitFor();
    await close();
  });

  it('is filtered also while an event is open', async () => {
    const { page, close } = await visit(server, server.dana, `/?board=${board.name}&tab=record`);
    await page.getByRole('link', { name: 'Event 3', exact: true }).click();
    await page.waitForURL(/event=3$/);
    await page.getByLabel('Kind of event').selectOption('Tasks');
    await page.getByRole('row', { name: /“one”/ }).waitFor({ state: 'detached' });
    await close();
  });

  it('is filtered from the newest event on, however old the open one is', async () => {
    const { name } = await newBoard(server.dana);
    for (let n = 1; n <= 40; n++) await post(server.dana, name, `Message ${n}`);
    await server.dana.ok('createTask', { params: { board: name }, body: { title: 'Find out' } });
    const { page, close } = await visit(server, server.dana, `/?board=${name}&event=3`);
    await page.getByRole('heading', { name: /^Verified/ }).waitFor();
    await page.getByRole('row', { name: /“Message 1”/ }).waitFor();
    await page.getByLabel('Kind of event').selectOption('Tasks');
    await page.getByRole('row', { name: /Find out/ }).waitFor();
    await close();
  });

  it('says where an address names an event that there is not', async () => {
    const { page, close } = await visit(server, server.dana, `/?board=${board.name}&event=12345`);
    await page.getByText('There is no event #12\u202f345; these are the newest.').waitFor();
    await page.getByRole('link', { name: 'Event 1', exact: true }).click();
    await page.getByText('There is no event').waitFor({ state: 'detached' });
    await close();
  });

  it('names the first bad number of a tampered chain', async () => {
    const { events } = await server.dana.ok('listEvents', { params: { board: board.name }, query: { limit: 200 } });
    const { seq } = events.find(({ data }) => data?.['body'] === 'two')!;
    tamper(server, board, seq);
    const { page, close } = await visit(server, server.dana, `/?board=${board.name}&tab=record`);
    await page.getByRole('heading', { name: `The chain breaks at #${seq}` }).waitFor();
    await page.getByText('Its data is not what was recorded.').waitFor();
    await page.getByRole('row', { name: /broken/ }).waitFor();
    expect(await page.getByRole('row', { name: /broken/ }).getAttribute('data-seq')).to.equal(String(seq));
    await expectAccessible(page);
    await close();
  });
});
