/** Writes of the page that are tried again although they may be done: each is done once, or the person is asked to look. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { type Fault, FaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

describe('writes of the page that are tried again', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let dana: Api;
  let board: string;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana');
  });
  after(() => server.stop());
  beforeEach(async () => {
    proxy = await new FaultProxy(server.url).listen();
    board = (await newBoard(dana)).name;
  });
  afterEach(() => proxy.down());

  const open = (path: string) => visit(proxy, new Api(proxy.url, dana.token), path);
  const titles = async () => (await dana.ok('listTasks', { params: { board } })).tasks.map(({ title }) => title);
  const notKnown = (page: Page) => page.getByRole('alert').getByText('It is not known whether this was done');

  /** Breaks the first request of a write, and ends the session before the write is repeated. */
  async function loseSession(page: Page, path: string, fault: Fault, write: () => Promise<void>): Promise<void> {
    proxy.fail(path, fault, 1);
    proxy.fail(path, 'hold', 1);
    await write();
    await until(() => proxy.held === 1, 'the write is repeated');
    await dana.ok('endAllBrowserSessions');
    proxy.heal();
    await signIn(page);
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('Access key').fill(dana.token!);
    await page.getByLabel('Access key').press('Enter');
    await page.getByLabel('Access key').waitFor({ state: 'detached' });
  }

  const create = (page: Page) => page.getByRole('button', { name: 'Open the task' }).click();
  async function fillTask(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Title').fill('Mend the tap');
  }

  it('opens a task once although a refusal for coming too fast follows a lost answer', async () => {
    const { page, close } = await open(`/?board=${board}&tab=tasks`);
    await fillTask(page);
    proxy.fail(`POST /v1/boards/${board}/tasks`, 'cut', 1);
    proxy.fail(`POST /v1/boards/${board}/tasks`, { status: 429, code: 'rate_limited', retryAfter: 100 }, 2);
    const refused = page.getByRole('dialog').getByText('The proxy says so.');
    await create(page);
    await refused.waitFor();
    await create(page);
    await until(() => proxy.count(`POST /v1/boards/${board}/tasks`) === 3, 'the second try');
    await refused.waitFor();
    await create(page);
    await page.getByRole('dialog', { name: 'New task' }).waitFor({ state: 'detached' });
    expect(await titles()).to.deep.equal(['Mend the tap']);
    await close();
  });

  /** Fails a write that the server does: its answer is lost, and the repeat is refused. */
  function loseAnswer(path: string): void {
    proxy.fail(path, 'cut', 1);
    proxy.fail(path, { status: 429, code: 'rate_limited', retryAfter: 100 }, 1);
  }

  it('opens each of two tasks once where the first was opened with a lost answer, and is opened again last', async () => {
    const { page, close } = await open(`/?board=${board}&tab=tasks`);
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await fillTask(page);
    loseAnswer(`POST /v1/boards/${board}/tasks`);
    await create(page);
    await dialog.getByText('The proxy says so.').waitFor();
    await page.getByLabel('Title').fill('Mend the roof');
    await create(page);
    await dialog.waitFor({ state: 'detached' });
    expect(await titles()).to.have.members(['Mend the tap', 'Mend the roof']);
    await fillTask(page);
    await create(page);
    await dialog.waitFor({ state: 'detached' });
    expect(await titles()).to.have.members(['Mend the tap', 'Mend the roof']);
    await close();
  });

  it('opens a task once over a reload of the page, after a lost answer or in the middle', async () => {
    const { page, close } = await open(`/?board=${board}&tab=tasks`);
    const path = `POST /v1/boards/${board}/tasks`;
    await fillTask(page);
    loseAnswer(path);
    await create(page);
    await page.getByRole('dialog').getByText('The proxy says so.').waitFor();
    await page.reload();
    await fillTask(page);
    await create(page);
    await page.getByRole('dialog', { name: 'New task' }).waitFor({ state: 'detached' });
    expect(await titles()).to.deep.equal(['Mend the tap']);
    const done = Promise.withResolvers<void>();
    await page.route('**/tasks', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      done.resolve();
    });
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Title').fill('Mend the roof');
    await create(page);
    await done.promise;
    await page.reload();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Title').fill('Mend the roof');
    await create(page);
    await page.getByRole('dialog', { name: 'New task' }).waitFor({ state: 'detached' });
    expect(await titles()).to.have.members(['Mend the tap', 'Mend the roof']);
    await close();
  });

  it('posts each of two messages about a task once where the answer to the first was lost', async () => {
    const { ref } = await dana.ok('createTask', { params: { board }, body: { title: 'Mend the tap' } });
    const { page, close } = await open(`/?board=${board}&tab=tasks&task=${ref}`);
    const field = page.getByLabel(`Write to everyone about ${ref}`);
    const say = async (text: string) => {
      await field.fill(text);
      await field.press('Control+Enter');
    };
    const bodies = async () => (await dana.ok('listMessages', { params: { board } })).messages.map(({ body }) => body);
    loseAnswer(`POST /v1/boards/${board}/messages`);
    await say('On it');
    await page.getByRole('alert').getByText('The proxy says so.').waitFor();
    for (const text of ['Nearly done', 'On it']) {
      await say(text);
      await until(async () => (await field.inputValue()) === '', 'it is posted');
    }
    expect((await bodies()).filter((body) => !body.includes('opened'))).to.have.members(['On it', 'Nearly done']);
    await close();
  });

  it('asks to look for a task that may have been opened in the session before', async () => {
    const { page, close } = await open(`/?board=${board}&tab=tasks`);
    await fillTask(page);
    await loseSession(page, `POST /v1/boards/${board}/tasks`, 'cut', () => create(page));
    await fillTask(page);
    await create(page);
    await notKnown(page).waitFor();
    expect(await titles()).to.deep.equal(['Mend the tap']);
    await create(page);
    await page.getByRole('dialog', { name: 'New task' }).waitFor({ state: 'detached' });
    expect(await titles()).to.deep.equal(['Mend the tap', 'Mend the tap']);
    await close();
  });

  it('asks to look for a task whose answer never came before its session ended', async () => {
    const { page, close } = await open(`/?board=${board}&tab=tasks`);
    await fillTask(page);
    const done = Promise.withResolvers<void>();
    let lost = false;
    await page.route('**/tasks', async (route) => {
      if (lost || route.request().method() !== 'POST') return route.continue();
      lost = true;
      await route.fetch();
      done.resolve();
    });
    await create(page);
    await done.promise;
    await dana.ok('endAllBrowserSessions');
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await signIn(page);
    await fillTask(page);
    await create(page);
    await notKnown(page).waitFor();
    expect(await titles()).to.deep.equal(['Mend the tap']);
    await close();
  });

  it('does not answer again what may have been answered in the session before', async () => {
    const ask = { options: ['Yes', 'No'] };
    await post(await newAgent(dana, board, { name: 'claude' }), board, 'Shall I?', { ask });
    const { page, close } = await open('/inbox');
    const yes = page.getByRole('group', { name: 'Shall I?' }).getByRole('button', { name: 'Yes' });
    const path = `POST /v1/boards/${board}/messages`;
    // The server never has it, which the page cannot know.
    await loseSession(page, path, { status: 502, body: 'Bad gateway' }, () => yes.click());
    await yes.click();
    await notKnown(page).waitFor();
    const answers = async () =>
      (await dana.ok('listMessages', { params: { board } })).messages.filter(({ answer }) => answer);
    expect(await answers()).to.have.length(0);
    await yes.click();
    await page.getByRole('button', { name: 'Yes', pressed: true }).waitFor();
    expect(await answers()).to.have.length(1);
    await close();
  });

  it('does not upload again what may have been uploaded in the session before', async () => {
    const { page, close } = await open(`/?board=${board}`);
    proxy.fail(`POST /v1/boards/${board}/files`, 'cut', 1);
    const trace = { name: 'trace.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_000) };
    await page.locator('form input[type=file]').setInputFiles(trace);
    const tryAgain = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await tryAgain.waitFor();
    await dana.ok('endAllBrowserSessions');
    await signIn(page);
    await tryAgain.click();
    await notKnown(page).waitFor();
    expect(proxy.count(`POST /v1/boards/${board}/files`)).to.equal(1);
    await close();
  });
});
