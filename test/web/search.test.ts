/** Search, and the stream over all boards. */
import { expect } from 'chai';
import type { Board } from '../../src/contract/types.ts';
import { type Agent, newAgent, newBoard, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { fillBoard } from './support/long-board.ts';
import { startPageServer } from './support/server.ts';
import { streamed, streamsInPage } from './support/streams.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

describe('search and everything on the page', () => {
  let server: TestServer;
  let here: Board;
  let there: Board;
  let claude: Agent;
  before(async () => {
    server = await startPageServer();
    const { dana } = server;
    here = await newBoard(dana);
    there = await newBoard(dana);
    claude = await newAgent(dana, here.name, { name: 'claude' });
    await post(claude, here.name, 'Full jitter <b>makes</b> the retry calm');
    await post(dana, there.name, 'The poller has no jitter');
    await dana.ok('createTask', { params: { board: here.name }, body: { title: 'Explain jitter', start: true } });
    await put(dana, here.name, 'jitter.md', '# jitter\n');
  });
  after(() => server.stop());

  it('a search finds messages, tasks and files of all boards, marks the words, and opens each in its place', async () => {
    const { page, close } = await visit(server, server.dana, '/search');
    await page.getByRole('searchbox', { name: 'Search' }).fill('jitter');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    await results.nth(3).waitFor();
    expect(await results.count()).to.equal(4);
    expect([...new Set(await page.locator('mark').allInnerTexts())]).to.deep.equal(['jitter']);
    await page.getByText('<b>makes</b>').waitFor();
    await page.getByLabel('Board', { exact: true }).selectOption(there.name);
    await results.nth(1).waitFor({ state: 'detached' });
    expect(page.url()).to.equal(`${server.url}/search?q=jitter&board=${there.name}`);
    await page.getByLabel('Board', { exact: true }).selectOption('');
    await results.nth(1).waitFor();
    await page.getByRole('button', { name: 'Files' }).click();
    await results.nth(1).waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Search' }).press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'jitter.md' }).waitFor();
    await page.goBack();
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing-like-this');
    await page.getByText('Nothing has all of these words').waitFor();
    await close();
  });

  it('a search looks the same after the page of an agent was shown', async () => {
    const { page, close } = await visit(server, server.dana, '/search?q=calm');
    const facts = page.getByRole('list', { name: 'Results' }).locator('.facts');
    const look = () =>
      facts.evaluate((element) => {
        const { borderBottomWidth, marginTop } = getComputedStyle(element);
        return { borderBottomWidth, marginTop };
      });
    await facts.waitFor();
    const before = await look();
    await page.getByRole('link', { name: 'Your agents' }).click();
    await page
      .getByRole('main')
      .getByRole('link', { name: /claude/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'claude' }).waitFor();
    await page.goBack();
    await page.goBack();
    await facts.waitFor();
    expect(await look()).to.deep.equal(before);
    await close();
  });

  it('a search shows Markdown without its markup, but for an address that has a match', async () => {
    await post(claude, here.name, '**The osprey** waits in `osprey(2 ** n)`, as [the notes](https://a.example/x) say');
    await post(claude, here.name, 'A bird, see [the notes](https://osprey.example/x)');
    await post(claude, here.name, 'A sign \u0001 before the osprey');
    const { page, close } = await visit(server, server.dana, '/search?q=osprey');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    await results.nth(2).waitFor();
    expect(await page.locator('mark').allInnerTexts()).to.deep.equal(['osprey', 'osprey', 'osprey', 'osprey']);
    expect(await results.nth(2).locator('.sn').innerText()).to.equal(
      'The osprey waits in osprey(2 ** n), as the notes say',
    );
    expect(await results.nth(1).locator('.sn').innerText()).to.equal(
      'A bird, see [the notes](https://osprey.example/x)',
    );
    await close();
  });

  it('a search takes what was typed while its code was still loaded, and so does the palette', async () => {
    const { page, close } = await visit(server, server.dana, '/');
    await page.getByRole('link', { name: here.name }).first().waitFor();
    for (const part of ['search', 'palette']) {
      const asked = Promise.withResolvers<void>();
      const loaded = Promise.withResolvers<void>();
      await page.route(`**/assets/${part}-*.js`, async (route) => {
        asked.resolve();
        await loaded.promise;
        return route.continue();
      });
      await page.keyboard.press(part === 'search' ? '/' : 'Control+k');
      await asked.promise;
      await page.keyboard.type('jotter', { delay: 1 });
      for (let n = 0; n < 5; n++) await page.keyboard.press('Backspace');
      await page.keyboard.type('itt');
      loaded.resolve();
      const field = page.getByRole(part === 'search' ? 'searchbox' : 'combobox', { name: /^(Search|Go to or do)$/ });
      await field.and(page.locator(':focus')).waitFor();
      await page.keyboard.type('er');
      expect(await field.inputValue(), part).to.equal('jitter');
    }
    await close();
  });

  it('a search is tried again after a refusal, and so are its next results', async () => {
    for (let n = 1; n <= 21; n++) await post(claude, here.name, `Grebe number ${n}`);
    const { page, close } = await visit(server, server.dana, '/search');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    const refuse = () => page.route('**/v1/search?*', (route) => route.fulfill({ status: 400, json: { error } }));
    const tryAgain = async (): Promise<void> => {
      await page.getByText('Not now.').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await page.getByRole('button', { name: 'Try again' }).click();
    };
    await refuse();
    await page.getByRole('searchbox', { name: 'Search' }).fill('grebe');
    await tryAgain();
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    await results.nth(19).waitFor();
    await refuse();
    await page.getByRole('button', { name: 'Older results' }).click();
    await tryAgain();
    await results.nth(20).waitFor();
    await page.getByText('Not now.').waitFor({ state: 'detached' });
    await close();
  });

  it('a search that was refused is tried again also where its results are still shown from before', async () => {
    await post(claude, here.name, 'A lone bittern');
    const { page, close } = await visit(server, server.dana, '/search?q=bittern');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    await results.first().waitFor();
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/v1/search?*', (route) => route.fulfill({ status: 400, json: { error } }));
    await page.getByRole('button', { name: 'Tasks' }).click();
    await page.getByText('Not now.').waitFor();
    const refused = page.waitForResponse((response) => response.status() === 400);
    await page.getByRole('button', { name: 'Everything' }).click();
    await refused;
    await page.getByText('Not now.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Not now.').waitFor({ state: 'detached' });
    await close();
  });

  it('one stream shows all boards, live, and by agent, task, kind and what needs the person', async () => {
    const { page, close } = await visit(server, server.dana, '/everything');
    await page.getByText('The poller has no jitter').waitFor();
    await page.getByText('Full jitter').waitFor();
    await post(claude, here.name, 'Is 60 s fine?', {
      to: [`@${here.created_by.name}`],
      ask: { options: ['60 s', '90 s'] },
    });
    await page.getByText('Is 60 s fine?').waitFor();
    await page.getByLabel('Agent').selectOption({ label: `claude, ${here.created_by.name}’s` });
    await page.getByText('The poller has no jitter').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Needs you 1 question', exact: true }).click();
    await page.getByText('Full jitter').waitFor({ state: 'detached' });
    await page.getByText('Is 60 s fine?').waitFor();
    await page.getByRole('button', { name: /^Needs you/ }).click();
    await page.getByLabel('Agent').selectOption('');
    await page.getByLabel('Kind').selectOption('Tasks');
    await page.getByText('Is 60 s fine?').waitFor({ state: 'detached' });
    await page.getByText('Explain jitter').waitFor();
    await close();
  });

  it('the stream names files and members of which its events have only the ids', async () => {
    const nils = await server.person('nils');
    const { name } = await newBoard(nils);
    const params = { board: name };
    const fixer = await newAgent(nils, name, { name: 'fixer' });
    const files = [await put(nils, name, 'plan.md', '1\n'), await put(nils, name, 'draft.md', '1\n')];
    const { id: task, ref } = await nils.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    await fixer.ok('joinTask', { params: { ...params, task } });
    await fillBoard(server, nils, 'nils', name, 60);
    await nils.ok('dropTask', { params: { ...params, task }, body: { member: 'fixer' } });
    for (const { id } of files) await nils.ok('approveFile', { params: { ...params, file: id }, body: { version: 1 } });
    const body = { name: 'final.md' };
    await nils.ok('updateFile', { params: { ...params, file: files[1]!.id }, body });
    const { page, close } = await visit(server, nils, '/everything');
    await page.getByText('approved plan.md v1').waitFor();
    await page.getByText('approved final.md v1').waitFor();
    await page.getByText(`took fixer off ${ref}`).waitFor();
    await close();
  });

  it('the stream calls a person who left and came back by the name of now', async () => {
    const olaf = await server.person('olaf');
    const zoe = await server.person('zoe');
    const { name } = await newBoard(olaf);
    const params = { board: name };
    const { id: task, ref } = await olaf.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    await olaf.ok('addBoardPerson', { params, body: { handle: 'zoe' } });
    await zoe.ok('joinTask', { params: { ...params, task } });
    await olaf.ok('dropTask', { params: { ...params, task }, body: { member: 'zoe' } });
    await zoe.ok('leaveBoard', { params });
    await server.dana.ok('renamePerson', { params: { handle: 'zoe' }, body: { handle: 'zora' } });
    await olaf.ok('addBoardPerson', { params, body: { handle: 'zora' } });
    const { page, close } = await visit(server, olaf, '/everything');
    await page.getByText(`took zora off ${ref}`).waitFor();
    await server.dana.ok('renamePerson', { params: { handle: 'zora' }, body: { handle: 'zuri' } });
    await page.getByText(`took zuri off ${ref}`).waitFor();
    await close();
  });

  it('the stream looks back for what a filter leaves only so far by itself', async () => {
    const lea = await server.person('lea');
    const { name } = await newBoard(lea);
    await lea.ok('createTask', { params: { board: name }, body: { title: 'Explain herons' } });
    await fillBoard(server, lea, 'lea', name, 600);
    const { page, close } = await visit(server, lea, '/everything');
    await page.getByText('Message 600').waitFor();
    let asked = 0;
    await page.route('**/events?*', (route) => {
      asked++;
      return route.continue();
    });
    await page.getByLabel('Kind').selectOption('Tasks');
    await page.getByText('Nothing of this kind so far.').waitFor();
    expect(asked).to.equal(10);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('Explain herons').waitFor();
    await close();
  });

  it('the stream is read when it is tried again after a refusal', async () => {
    const { page, close } = await visit(server, server.dana, '/');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/events?*', (route) => route.fulfill({ status: 400, json: { error } }));
    await page.getByRole('link', { name: 'Everything' }).first().click();
    await page.getByText('Not now.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The poller has no jitter').waitFor();
    await close();
  });

  it('the stream shows no refusal any more once all boards are read', async () => {
    const { page, close } = await visit(server, server.dana, '/');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route(`**/boards/${there.name}/events?*`, (route) => route.fulfill({ status: 400, json: { error } }));
    await page.getByRole('link', { name: 'Everything' }).first().click();
    await page.getByText('Not now.').waitFor();
    await post(claude, here.name, 'On the other board');
    await page.getByText('On the other board').waitFor();
    expect(await page.getByText('Not now.').count()).to.equal(1);
    await page.unrouteAll({ behavior: 'wait' });
    await post(server.dana, there.name, 'On the board that was refused');
    await page.getByText('On the board that was refused').waitFor();
    await page.getByText('Not now.').waitFor({ state: 'detached' });
    await close();
  });

  it('the stream shows what happens on a board while it is read', async () => {
    const { page, context, close } = await visit(server, server.dana, '/');
    await context.addInitScript(streamsInPage);
    await page.goto(`${server.url}/everything`);
    await page.getByText('The poller has no jitter').waitFor();
    let held = false;
    await page.route('**/events?*', async (route) => {
      const response = await route.fetch();
      if (!held) {
        held = true;
        const { seq } = await post(claude, here.name, 'The second of two');
        await streamed(page, `"seq":${seq}`);
      }
      return route.fulfill({ response });
    });
    await post(claude, here.name, 'The first of two');
    await page.getByText('The first of two').waitFor();
    await page.getByText('The second of two').waitFor();
    await close();
  });

  it('a search shows no refusal of older results of the one before it, and asks for none', async () => {
    for (let n = 1; n <= 21; n++) await post(claude, here.name, `Curlew number ${n}`);
    await post(claude, here.name, 'A dunlin');
    const { page, close } = await visit(server, server.dana, '/search?q=curlew');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    await results.nth(19).waitFor();
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const older: string[] = [];
    await page.route('**/search?*after=*', async (route) => {
      older.push(new URL(route.request().url()).searchParams.get('q') ?? '');
      asked.resolve();
      await held.promise;
      const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
      return route.fulfill({ status: 400, json: { error } });
    });
    const [searched, found] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/search?q=dunlin*', async (route) => {
      searched.resolve();
      await found.promise;
      return route.fallback();
    });
    await page.getByRole('button', { name: 'Older results' }).click();
    await asked.promise;
    await page.getByRole('searchbox', { name: 'Search' }).fill('dunlin');
    await searched.promise;
    const answered = page.waitForResponse('**/search?*after=*');
    held.resolve();
    await answered;
    // The results of the first search are still shown.
    await page.getByRole('button', { name: 'Older results' }).click({ force: true });
    found.resolve();
    await results.filter({ hasText: 'dunlin' }).waitFor();
    expect(await page.getByText('Not now.').count()).to.equal(0);
    expect(older).to.deep.equal(['curlew']);
    await close();
  });

  // It fills a board, which leaves less of the others in the stream, so it comes last.
  it('a search shows no older results of the one before it, and its selects are set by the arrow keys', async () => {
    for (let n = 1; n <= 60; n++) await post(claude, here.name, `Heron number ${n}`);
    await post(claude, here.name, 'A pelican');
    const { page, close } = await visit(server, server.dana, '/search?q=heron');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/search?*after=*', async (route) => {
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    await page.getByRole('button', { name: 'Older results' }).click();
    await asked.promise;
    await page.getByRole('searchbox', { name: 'Search' }).fill('pelican');
    await results.filter({ hasText: 'pelican' }).waitFor();
    const answered = page.waitForResponse('**/search?*after=*');
    held.resolve();
    await answered;
    await page.getByRole('button', { name: 'Older results', disabled: true }).waitFor({ state: 'detached' });
    expect(await results.count()).to.equal(1);
    const order = page.getByLabel('Order');
    await order.focus();
    await page.keyboard.press('ArrowDown');
    expect(await order.inputValue()).to.equal('relevance');
    await close();
  });
});
