/** Files on the page: versions, what changed, approvals, and files that mean harm. */
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import type { Board, FileDetail } from '../../src/contract/types.ts';
import type { Api } from '../support/api.ts';
import { newBoardWith, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { streamed, streamsInPage } from './support/streams.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

const FIRST = 'export function wait(n) {\n  return 2 ** n\n}\n';
const SECOND = 'export function wait(n) {\n  return 3 ** n\n}\n';
const THIRD = 'const most = 60\nexport function wait(n) {\n  return 3 ** n\n}\n';

describe('files on the page', () => {
  let server: TestServer;
  let board: Board;
  let maya: Api;
  before(async () => {
    server = await startPageServer();
    const { dana } = server;
    maya = await server.person('maya');
    board = await newBoardWith(dana, ['maya']);
    const params = { board: board.name, file: 'src/wait.ts' };
    await put(dana, board.name, 'src/wait.ts', FIRST);
    await dana.ok('approveFile', { params, body: { version: 1 } });
    await put(maya, board.name, 'src/wait.ts', SECOND, { base: 1 });
    await put(maya, board.name, 'src/wait.ts', THIRD, { base: 2 });
    await post(dana, board.name, 'Look at the third one', { files: [{ file: 'src/wait.ts' }] });
  });
  after(() => server.stop());

  const at = (query: string): string => `/?board=${board.name}&${query}`;
  /** Changes what the server answers for a file, as it does where there is more than it sends at once. */
  const change = (page: Page, id: string, changed: (file: FileDetail) => Partial<FileDetail>) =>
    page.route(`**/files/${id}`, async (route) => {
      const response = await route.fetch();
      const file = (await response.json()) as FileDetail;
      return route.fulfill({ response, json: { ...file, ...changed(file) } });
    });
  const cutPosts = (page: Page, id: string, count: number) =>
    change(page, id, ({ posted_in }) => ({ posted_in: posted_in.slice(0, count), posted_in_more: true }));
  const refuse = (route: Route) =>
    route.fulfill({ status: 400, json: { error: { code: 'invalid_request', message: 'Not now.', hint: '' } } });

  it('the list says version, size, freshness and whose approval is how old', async () => {
    const { page, close } = await visit(server, maya, at('tab=files'));
    const row = page.getByRole('link', { name: /src\/wait\.ts/ });
    await row.waitFor();
    const text = await row.innerText();
    expect(text).to.match(/v3 by maya/);
    expect(text).to.include('approved v1, 2 changes since');
    expect(text).to.include('1 message since');
    expect(text).to.match(/\d+\sbytes/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'src/wait.ts' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.closest('main') !== null);
    await close();
  });

  it('the list counts messages as they come, and is read for them once in a while', async () => {
    const { name } = await newBoardWith(server.dana, ['maya']);
    await put(maya, name, 'plan.md', 'The plan\n');
    const { page, context, close } = await visit(server, maya, '/');
    await context.addInitScript(streamsInPage);
    await page.goto(`${server.url}/?board=${name}&tab=files`);
    const row = page.getByRole('link', { name: /plan\.md/ });
    await row.getByText('up to date').waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await page.clock.install();
    let reads = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/files')) reads++;
    });
    await post(maya, name, 'Good');
    await row.getByText('1 message since').waitFor();
    for (const text of ['One more', 'Two more', 'Three more']) {
      await post(maya, name, text);
      await streamed(page, text);
      await page.clock.fastForward(1_000);
    }
    await page.clock.fastForward(30_000);
    await row.getByText('4 messages since').waitFor();
    // Twice for the list, and twice for the number of files in the header.
    expect(reads).to.equal(4);
    await put(maya, name, 'notes.md', 'Notes\n');
    await page.getByRole('link', { name: /notes\.md/ }).waitFor();
    await close();
  });

  it('a file that is let go where nothing takes it does not replace the page', async () => {
    const { page, close } = await visit(server, maya, at('tab=files'));
    await page.getByRole('link', { name: /src\/wait\.ts/ }).waitFor();
    const kept = await page.locator('#main').evaluate((main) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], 'notes.html'));
      return ['dragover', 'drop'].map(
        (type) => !main.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })),
      );
    });
    expect(kept).to.deep.equal([true, true]);
    await close();
  });

  it('shows a log of 5 MB part by part', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `${index + 1} ${'x'.repeat(94)}`);
    await put(maya, board.name, 'app.log', lines.join('\n'));
    const { page, close } = await visit(server, maya, at('file=app.log'));
    const row = (line: number) => page.getByRole('row', { name: `${line} ${line} x` });
    await row(1).waitFor();
    await page.getByRole('button', { name: 'Later' }).click();
    await row(1_001).waitFor();
    expect(await row(1_000).count()).to.equal(0);
    await page.getByRole('button', { name: 'Last part' }).click();
    await row(50_000).waitFor();
    await page.getByText(/^Part 50 of 50, from line 49\s001$/).waitFor();
    await close();
  });

  it('shows text in UTF-16, also part by part, and beside the one that is to replace it', async () => {
    const le = Buffer.from('\ufeffĀ first\n', 'utf16le');
    const be = Buffer.from('\ufeffĀ second\n', 'utf16le').swap16();
    await put(maya, board.name, 'export.csv', le);
    await put(maya, board.name, 'export.csv', be, { base: 1 });
    await put(maya, board.name, 'long.csv', Buffer.from(`\ufeffĀ third\n${'x\n'.repeat(150_000)}`, 'utf16le'));
    const { page, close } = await visit(server, maya, at('file=long.csv'));
    await page.getByText('Ā third').waitFor();
    await page.goto(server.url + at('file=export.csv&version=2&against=1'));
    const table = page.getByRole('table', { name: /Changes from v1/ });
    await table.getByRole('cell', { name: /removed.*Ā.*first/ }).waitFor();
    await table.getByRole('cell', { name: /added.*Ā.*second/ }).waitFor();
    const chooser = page.waitForEvent('filechooser');
    await page.getByText('New version').click();
    await put(maya, board.name, 'export.csv', 'other\n', { base: 2 });
    await (await chooser).setFiles({ name: 'export.csv', mimeType: 'text/csv', buffer: le });
    await page
      .getByRole('dialog')
      .getByRole('cell', { name: /added.*Ā.*first/ })
      .waitFor();
    await close();
  });

  it('keeps the focus on a version that is chosen below the text on a small window', async () => {
    const { page, close } = await visit(server, maya, at('file=src%2Fwait.ts&version=3'), {
      viewport: { width: 740, height: 800 },
    });
    await page.getByRole('table', { name: 'src/wait.ts' }).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route('**/versions/1', async (route) => {
      await held.promise;
      await route.continue();
    });
    const version = page.getByRole('link', { name: 'v1', exact: true });
    await version.focus();
    await page.keyboard.press('Enter');
    await page.locator('.fp [aria-busy="true"]').waitFor({ state: 'attached' });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(await version.evaluate((link) => document.activeElement === link)).to.equal(true);
    held.resolve();
    await page.getByText('return 2 ** n').waitFor();
    await close();
  });

  it('quotes the beginning of a message that the file was in, and says that it goes on', async () => {
    const body = `**Long**: ${'word '.repeat(30)}`;
    await post(maya, board.name, body, { files: [{ file: 'src/wait.ts' }] });
    const { page, close } = await visit(server, maya, at('file=src%2Fwait.ts'));
    await page.getByRole('link', { name: /^“Long: (word )+(wo?r?d?)…”/ }).waitFor();
    await close();
  });

  it('shows the latest messages that it was in, each once, however many there are', async () => {
    const { id } = await put(maya, board.name, 'often.md', 'one\n');
    await put(maya, board.name, 'often.md', 'two\n', { base: 1 });
    for (let n = 1; n <= 7; n++) await post(maya, board.name, `Post ${n}`, { files: [{ file: id }] });
    const both = [1, 2].map((version) => ({ file: id, version }));
    await post(maya, board.name, 'Post 8', { files: both });
    const { page, close } = await visit(server, maya, '/');
    await cutPosts(page, id, 6);
    await page.goto(server.url + at(`file=${id}`));
    const posts = page.getByRole('complementary', { name: 'About this file' }).getByRole('link', { name: /^“/ });
    await posts.nth(4).waitFor();
    const told = await posts.allInnerTexts();
    expect(told.map((text) => /Post \d/.exec(text)?.[0])).to.deep.equal([8, 7, 6, 5, 4].map((n) => `Post ${n}`));
    expect(told[0]).to.match(/v1, v2$/);
    const asked: string[] = [];
    await page.route('**/posts?*', (route) => {
      asked.push(route.request().url());
      return asked.length > 1 ? route.continue() : refuse(route);
    });
    const { seq } = await post(maya, board.name, 'Post 9', { files: [{ file: id }] });
    await until(() => asked.length === 1, 'it asks for those that came since');
    await page.getByText('Not now.').waitFor();
    await post(maya, board.name, 'Post 10', { files: [{ file: id }] });
    await posts.filter({ hasText: 'Post 10' }).waitFor();
    expect(asked.map((url) => new URL(url).searchParams.get('after'))).to.deep.equal([`${seq - 1}`, `${seq - 1}`]);
    expect((await posts.allInnerTexts()).map((text) => /Post \d+/.exec(text)?.[0])).to.include.members([
      'Post 9',
      'Post 8',
    ]);
    expect(await page.getByText('Not now.').count()).to.equal(0);
    await close();
  });

  it('says that not all messages that it was in could be read, and reads them once there is a connection', async () => {
    const { id } = await put(maya, board.name, 'seldom.md', 'one\n');
    for (let n = 1; n <= 3; n++) await post(maya, board.name, `Post ${n}`, { files: [{ file: id }] });
    const { page, context, close } = await visit(server, maya, '/');
    await cutPosts(page, id, 1);
    await page.route('**/posts?*', refuse, { times: 2 });
    await page.goto(server.url + at(`file=${id}`));
    const posts = page.getByRole('complementary', { name: 'About this file' }).getByRole('link', { name: /^“/ });
    const told = async () => (await posts.allInnerTexts()).map((text) => /Post \d/.exec(text)?.[0]);
    const about = page.getByRole('complementary', { name: 'About this file' });
    const problem = about.getByRole('alert').filter({ hasText: 'Not now.' });
    await problem.waitFor();
    await about.getByText('Not all messages that it was in could be read.').waitFor();
    await posts.first().waitFor();
    expect(await told()).to.deep.equal(['Post 1']);
    const again = page.waitForResponse('**/posts?*');
    await problem.getByRole('button', { name: 'Try again' }).click();
    await again;
    await problem.waitFor();
    await context.setOffline(true);
    await context.setOffline(false);
    await posts.filter({ hasText: 'Post 3' }).waitFor();
    expect(await told()).to.deep.equal(['Post 3', 'Post 2', 'Post 1']);
    expect(await problem.count()).to.equal(0);
    await close();
  });

  it('says that a message that it was in could not be read, and reads it once there is a connection', async () => {
    const { id } = await put(maya, board.name, 'quoted.md', 'one\n');
    for (let n = 1; n <= 2; n++) await post(maya, board.name, `Post ${n}`, { files: [{ file: id }] });
    const { page, context, close } = await visit(server, maya, '/');
    await page.route('**/messages/*', refuse, { times: 1 });
    await page.goto(server.url + at(`file=${id}`));
    const about = page.getByRole('complementary', { name: 'About this file' });
    const problem = about.getByRole('alert').filter({ hasText: 'Not now.' });
    await problem.waitFor();
    await context.setOffline(true);
    await context.setOffline(false);
    const posts = about.getByRole('link', { name: /^“/ });
    await posts.nth(1).waitFor();
    expect(await problem.count()).to.equal(0);
    await close();
  });

  it('shows no text of another version under the one that is chosen', async () => {
    await put(maya, board.name, 'two.md', 'The first text\n');
    await put(maya, board.name, 'two.md', '<p>The second text</p>\n', { base: 1 });
    const { page, close } = await visit(server, maya, at('file=two.md&version=1'));
    await page.getByText('The first text').waitFor();
    await page.evaluate(() => {
      const seen: boolean[] = [];
      Object.assign(globalThis, { seen });
      // What is there whenever the page changes, before it is painted.
      new MutationObserver(() => {
        const text = document.querySelector('#main')!.textContent;
        seen.push(text.includes('v2 by maya') && text.includes('The first text'));
      }).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await page.getByLabel('Version', { exact: true }).selectOption('2');
    await page.getByText('The second text').waitFor();
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: boolean[] }).seen);
    expect(seen).to.include(false).and.not.include(true);
    await close();
  });

  it('names who wrote older versions as they are called now', async () => {
    const nora = await server.person('nora');
    const shared = await newBoardWith(server.dana, ['nora']);
    const { id } = await put(nora, shared.name, 'named.md', '1\n');
    for (let base = 1; base <= 3; base++) await put(nora, shared.name, 'named.md', `${base + 1}\n`, { base });
    const { page, close } = await visit(server, server.dana, '/');
    await change(page, id, ({ versions }) => ({ versions: versions.slice(0, 2), versions_more: true }));
    await page.goto(`${server.url}/?board=${shared.name}&file=${id}`);
    const list = page.getByRole('complementary', { name: 'About this file' }).locator('.vers');
    await list.getByText('nora').nth(3).waitFor();
    await nora.ok('renamePerson', { params: { handle: 'nora' }, body: { handle: 'nadja' } });
    await list.getByText('nadja').nth(3).waitFor();
    expect(await list.getByText('nora').count()).to.equal(0);
    await close();
  });

  it('reads older versions than come with it once', async () => {
    const { id } = await put(maya, board.name, 'versions.md', '1\n');
    for (let base = 1; base <= 3; base++) await put(maya, board.name, 'versions.md', `${base + 1}\n`, { base });
    const { page, close } = await visit(server, maya, '/');
    await change(page, id, ({ versions }) => ({ versions: versions.slice(0, 2), versions_more: true }));
    let reads = 0;
    await page.route('**/versions?*', (route) => {
      reads++;
      return route.continue();
    });
    await page.goto(server.url + at(`file=${id}`));
    const versions = page.getByRole('complementary', { name: 'About this file' }).getByRole('link', { name: /^v\d$/ });
    await versions.filter({ hasText: 'v1' }).waitFor();
    await put(maya, board.name, 'versions.md', '5\n', { base: 4 });
    await versions.filter({ hasText: 'v5' }).waitFor();
    expect(await versions.allInnerTexts()).to.deep.equal(['v5', 'v4', 'v3', 'v2', 'v1']);
    expect(reads).to.equal(1);
    await close();
  });

  it('a comparison of two versions marks changed lines and words; an approval of version 1 reads "2 changes since"', async () => {
    const { page, close } = await visit(server, server.dana, at('file=src%2Fwait.ts'));
    const table = page.getByRole('table', { name: /Changes from v1/ });
    await table.waitFor();
    await page.getByText('approved v1, 2 changes since').waitFor();
    const removed = await table.locator('td.del').allInnerTexts();
    const added = await table.locator('td.add').allInnerTexts();
    expect(removed.map((text) => text.replaceAll(/\s+/g, ' ').replace(/ ([+−]) ?/, ' $1 '))).to.deep.equal([
      'removed − return 2 ** n',
    ]);
    expect(added.map((text) => text.replaceAll(/\s+/g, ' ').replace(/ ([+−]) ?/, ' $1 '))).to.deep.equal([
      'added + const most = 60',
      'added + return 3 ** n',
    ]);
    expect(await table.locator('td.del .w').allInnerTexts()).to.deep.equal(['2']);
    expect(await table.locator('td.add .w').allInnerTexts()).to.deep.equal(['3']);
    await page.getByLabel('Compare from').selectOption('2');
    await page.getByRole('table', { name: /Changes from v2/ }).waitFor();
    expect(await page.locator('td.del').count()).to.equal(0);
    await page.setViewportSize({ width: 740, height: 800 });
    await page.locator('table.unified').waitFor();
    expect(await page.locator('table.unified td.add').count()).to.equal(1);
    await close();
  });

  it('two versions are compared once to be shown', async () => {
    const { context, tab, close } = await visit(server, server.dana, '/');
    await context.addInitScript((text) => {
      const { split } = String.prototype;
      // A comparison begins with cutting both texts into lines by a pattern.
      const counting = function (this: string, ...by: unknown[]): string[] {
        const seen = globalThis as { cuts?: number };
        if (String(this) === text && by[0] instanceof RegExp) seen.cuts = (seen.cuts ?? 0) + 1;
        return Reflect.apply(split, this, by) as string[];
      };
      Object.defineProperty(String.prototype, 'split', { value: counting });
    }, FIRST);
    const page = await tab(at('file=src%2Fwait.ts&version=3&against=1'));
    await page.getByRole('table', { name: /Changes from v1/ }).waitFor();
    expect(await page.evaluate(() => (globalThis as { cuts?: number }).cuts)).to.equal(1);
    await close();
  });

  it('is approved by a key, and the approval is taken back', async () => {
    await put(server.dana, board.name, 'plan.md', '# Plan\n\nOne **step**.\n');
    const { page, close } = await visit(server, maya, at('file=plan.md'));
    await page.getByRole('heading', { name: 'Plan', exact: true }).waitFor();
    await page.keyboard.press('a');
    await page.getByText('You approved v1.').waitFor();
    const read = () => server.dana.ok('getFile', { params: { board: board.name, file: 'plan.md' } });
    expect((await read()).approvals.map(({ version }) => version)).to.deep.equal([1]);
    await page.getByRole('button', { name: 'Take approval back' }).press('Enter');
    await page.getByText('Nobody has approved v1.').waitFor();
    expect((await read()).approvals).to.deep.equal([]);
    await page.getByRole('button', { name: 'Approve v1' }).and(page.locator(':focus')).waitFor();
    await close();
  });

  it('that changes while it is read stays as it was, and that version is approved', async () => {
    await put(server.dana, board.name, 'terms.md', 'The first terms\n');
    const { page, close } = await visit(server, maya, at('file=terms.md'));
    await page.getByText('The first terms').waitFor();
    await put(server.dana, board.name, 'terms.md', 'Other terms\n', { base: 1 });
    const newer = page.getByRole('status').getByRole('link', { name: 'v2' });
    await newer.waitFor();
    await page.getByText('The first terms').waitFor();
    await page.keyboard.press('a');
    await page.getByText('You approved v1.').waitFor();
    const file = await maya.ok('getFile', { params: { board: board.name, file: 'terms.md' } });
    expect(file.mine?.version).to.equal(1);
    await newer.click();
    await page.getByText('Other terms').waitFor();
    await newer.waitFor({ state: 'detached' });
    await close();
  });

  it('a new version goes over the one that was shown; when somebody was faster, the person chooses', async () => {
    await put(server.dana, board.name, 'notes.txt', 'one\n');
    const { page, close } = await visit(server, maya, at('file=notes.txt'));
    const choose = async (text: string): Promise<void> => {
      const chooser = page.waitForEvent('filechooser');
      await page.getByText('New version').click();
      const file = { name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from(text) };
      const chosen = await chooser;
      await put(server.dana, board.name, 'notes.txt', 'theirs\n', { base: 1 });
      await chosen.setFiles(file);
    };
    await choose('mine\n');
    const dialog = page.getByRole('dialog', { name: 'The file changed meanwhile' });
    await dialog.waitFor();
    await dialog.getByRole('cell', { name: /added.*mine/ }).waitFor();
    await dialog.getByRole('button', { name: 'Add mine as v3' }).click();
    await page.getByRole('table', { name: /Changes from v2/ }).waitFor();
    const { latest, versions } = await maya.ok('getFile', { params: { board: board.name, file: 'notes.txt' } });
    expect([latest.version, latest.base, versions.length]).to.deep.equal([3, 2, 3]);
    await close();
  });

  it('a new version does not go over one that came while another was shown by its address', async () => {
    await put(server.dana, board.name, 'steps.txt', 'one\n');
    const { page, close } = await visit(server, maya, at('file=steps.txt&version=1'));
    await page.getByText('one', { exact: true }).waitFor();
    await put(server.dana, board.name, 'steps.txt', 'theirs\n', { base: 1 });
    await page.getByRole('status').getByRole('link', { name: 'v2' }).waitFor();
    const file = { name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('mine\n') };
    const chooser = page.waitForEvent('filechooser');
    await page.getByText('New version').click();
    await (await chooser).setFiles(file);
    await page.getByRole('dialog', { name: 'The file changed meanwhile' }).waitFor();
    await close();
  });

  it('is added while the person does something else, which goes on', async () => {
    const { page, close } = await visit(server, maya, at('tab=files'));
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/files?name=later.md*', async (route) => {
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    const file = { name: 'later.md', mimeType: 'text/markdown', buffer: Buffer.from('Later') };
    await page.getByLabel('Add a file').setInputFiles(file);
    await asked.promise;
    await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Talk' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('In the middle of');
    held.resolve();
    await page.getByText('Added later.md', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).to.equal('In the middle of');
    await close();
  });

  it('that could not be added says so also when the person does something else', async () => {
    const { page, close } = await visit(server, maya, at('tab=files'));
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/files?name=lost.md*', async (route) => {
      asked.resolve();
      await held.promise;
      const error = { code: 'board_storage_full', message: 'The board is full.', hint: '' };
      return route.fulfill({ status: 413, json: { error } });
    });
    const file = { name: 'lost.md', mimeType: 'text/markdown', buffer: Buffer.from('Lost') };
    await page.getByLabel('Add a file').setInputFiles(file);
    await asked.promise;
    await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Talk' }).click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.clock.install();
    held.resolve();
    // Screen readers say it at once.
    const failure = page.getByRole('alert').getByText('lost.md was not added. The board is full.');
    await failure.waitFor();
    // It stays until the person has seen it.
    await page.clock.fastForward('02:00:00');
    await page.clock.runFor(10_000);
    expect(await failure.count()).to.equal(1);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await failure.waitFor({ state: 'detached' });
    await close();
  });

  it('that was added says so for six seconds on the screen, also where the page stood still meanwhile', async () => {
    const { page, close } = await visit(server, maya, at('tab=files'));
    await page.clock.install();
    const added = page.getByText('Added seen.md');
    await page.getByLabel('Add a file').waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    const file = { name: 'seen.md', mimeType: 'text/markdown', buffer: Buffer.from('Seen') };
    await page.getByLabel('Add a file').setInputFiles(file);
    await added.waitFor();
    await page.clock.fastForward(10_000);
    expect(await added.count()).to.equal(1);
    await page.clock.runFor(7_000);
    await added.waitFor({ state: 'detached' });
    await close();
  });

  it('keeps the kind of a file whose name the server does not take', async () => {
    const { page, close } = await visit(server, maya, at('tab=files'));
    const file = { name: 'Отчёт.md', mimeType: 'text/markdown', buffer: Buffer.from('# One') };
    await page.getByLabel('Add a file').setInputFiles(file);
    await page.getByRole('heading', { name: 'file.md' }).waitFor();
    await close();
  });

  it('the list that could not be read without a connection is read once there is one', async () => {
    const { page, context, close } = await visit(server, maya, '/');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.goto(server.url + at('tab=files'));
    const row = page.getByRole('link', { name: /src\/wait\.ts/ });
    await row.waitFor();
    const tabs = page.getByRole('navigation', { name: 'Board', exact: true });
    await tabs.getByRole('link', { name: 'People' }).click();
    await page.getByRole('heading', { name: 'Roles of agents' }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await context.setOffline(true);
    await tabs.getByRole('link', { name: 'Files' }).click();
    await page.getByText('No connection to the server.').waitFor();
    await context.setOffline(false);
    await row.waitFor();
    expect(await page.getByText('No connection to the server.').count()).to.equal(0);
    await close();
  });

  it('is opened where a message, a question or the record cites it, whatever has its name now', async () => {
    const { dana } = server;
    await put(dana, board.name, 'report.md', 'What was asked about\n');
    const body = 'May this go out?';
    const ask = { to: ['@maya'], files: [{ file: 'report.md' }], ask: { options: ['Yes'], approval: true } };
    const { seq, id } = await post(dana, board.name, body, ask);
    await dana.ok('updateFile', { params: { board: board.name, file: 'report.md' }, body: { name: 'sent.md' } });
    await put(dana, board.name, 'report.md', 'Another one\n');
    const { page, close } = await visit(server, maya, at(`message=${seq}`));
    const cited = page.getByText('What was asked about');
    await page.getByRole('article').filter({ hasText: body }).getByRole('link', { name: 'report.md' }).click();
    await cited.waitFor();
    await page.goto(server.url + at(`message=${seq}`));
    await page
      .getByText(/added report\.md v1/)
      .first()
      .getByRole('link')
      .click();
    await cited.waitFor();
    await page.goto(`${server.url}/inbox/asks/${id}`);
    await page.getByRole('link', { name: 'report.md' }).click();
    await cited.waitFor();
    await close();
  });

  it('is renamed and removed, and stays readable where it is cited', async () => {
    const { id } = await put(server.dana, board.name, 'old.txt', 'still here\n');
    const { page, close } = await visit(server, maya, at('file=old.txt'));
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('new.txt');
    // A slip keeps the name that was typed.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    expect(await page.getByLabel('New name').inputValue()).to.equal('new.txt');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'new.txt', exact: true }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove v1' }).click();
    await page.getByRole('heading', { name: 'Files' }).waitFor();
    await page.goto(`${server.url}${at(`file=${id}`)}`);
    await page.getByText('It was removed from the board.').waitFor();
    await page.getByText('still here').waitFor();
    await close();
  });

  it('a PDF is shown by the viewer of the browser, or it says that there is none', async () => {
    const pdf =
      '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF\n';
    await put(server.dana, board.name, 'plan.pdf', pdf);
    const { context, tab, close } = await visit(server, maya, '/');
    const show = async (viewer: boolean) => {
      await context.addInitScript((enabled) => {
        Object.defineProperty(Navigator.prototype, 'pdfViewerEnabled', { configurable: true, get: () => enabled });
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob: Blob) => {
          const url = make(blob);
          // The page's icon with the number of unread messages is made so too.
          if (blob.type === 'application/pdf') Object.assign(globalThis, { made: { url, blob } });
          return url;
        };
      }, viewer);
      return tab(at('file=plan.pdf'));
    };
    const withViewer = await show(true);
    const frame = withViewer.getByTitle('plan.pdf v1');
    await frame.waitFor();
    const given = await withViewer.evaluate(async () => {
      const { url, blob } = (globalThis as unknown as { made: { url: string; blob: Blob } }).made;
      return { url, type: blob.type, text: await blob.text() };
    });
    expect(given).to.deep.equal({ url: await frame.getAttribute('src'), type: 'application/pdf', text: pdf });
    await (await show(false)).getByText('This browser shows no PDF in a page. Get it to open it.').waitFor();
    await close();
  });

  it('files that mean harm run nothing and request nothing', async () => {
    const evil = 'https://evil.example';
    const script = `<script>parent.harmed = 1</script><img src="${evil}/a.png" onerror="parent.harmed = 1">`;
    const files: [string, string][] = [
      ['evil.md', `# Evil\n\n${script}\n\n![x](${evil}/b.png) [link](javascript:harmed=1)\n`],
      [
        'evil.html',
        `<h1>Evil</h1>${script}<meta http-equiv="refresh" content="0;url=${evil}"><form action="${evil}"><a target="_top" href="${evil}">go</a>`,
      ],
      [
        'evil.svg',
        `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="parent.harmed = 1"><script>parent.harmed = 1</script><image href="${evil}/c.png" width="9" height="9"/></svg>`,
      ],
      ['evil.ts', `const a = '${script}' // </span><img src=${evil}>\n`],
    ];
    for (const [name, text] of files) await put(server.dana, board.name, name, text);
    const { page, close } = await visit(server, maya, at('tab=files'));
    for (const [name] of files) {
      await page.goto(`${server.url}${at(`file=${name}`)}`);
      await page.locator('[class~=pmd], [class~=pimg], table.code-lines, iframe').first().waitFor();
      await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
      expect(await page.evaluate(() => (globalThis as { harmed?: number }).harmed), name).to.equal(undefined);
      expect(await page.locator('main script, main form, main img[src^="http"]').count(), name).to.equal(0);
    }
    // What was asked of other hosts, and every break of the policy, fails here.
    await close();
  });
});
