/** The tasks of a board on the page. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { DAY } from '../../src/contract/durations.ts';
import type { Api } from '../support/api.ts';
import { newAgent, newBoardWith, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './support/axe.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { streamsInPage } from './support/streams.ts';
import { signInAgain, visit } from './support/visit.ts';

// Starting the browser is not part of any test.
before(browser);
after(closeBrowser);

const column = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^(\\d+ )?${name}`) });

/** Presses Tab until the focus is on the control of this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  const wanted = page.getByRole('button', { name, exact: true });
  for (let presses = 0; presses < 60; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the focus never came to ${name}`);
}

describe('tasks on the page', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana');
    maya = await server.person('maya');
  });
  after(() => server.stop());

  /** A board of dana and maya with an agent of dana that has a task. */
  async function scene() {
    const { name: board } = await newBoardWith(dana, ['maya']);
    const params = { board };
    const claude = await newAgent(dana, board, { name: 'claude' });
    const task = await claude.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    return { board, params, claude, task, path: `/?board=${board}&tab=tasks` };
  }

  it('a blocking ask moves its task to Blocked; the answer moves it back, live', async () => {
    const { board, claude, task, path } = await scene();
    const danas = await visit(server, dana, path);
    await column(danas.page, 'In progress')
      .getByRole('link', { name: /Cap the backoff/ })
      .waitFor();
    await danas.page.clock.install();
    await post(claude, board, 'How long at most?', {
      to: ['@maya'],
      about: [task.ref],
      ask: { options: ['30 s', '60 s'] },
    });
    const blocked = column(danas.page, 'Blocked').getByRole('link', { name: /Cap the backoff/ });
    await blocked.filter({ hasText: 'waits on maya' }).waitFor();
    await danas.page.locator('.tc.fresh').waitFor();
    await danas.page.clock.fastForward(3_000);
    await danas.page.locator('.tc.fresh').waitFor({ state: 'detached' });

    const mayas = await visit(server, maya, path);
    await column(mayas.page, 'Needs you')
      .getByRole('link', { name: /How long at most/ })
      .click();
    await mayas.page.getByRole('group', { name: 'How long at most?' }).waitFor();
    await mayas.page.keyboard.press('2');
    await column(mayas.page, 'In progress')
      .getByRole('link', { name: /Cap the backoff/ })
      .waitFor();
    await column(danas.page, 'In progress')
      .getByRole('link', { name: /Cap the backoff/ })
      .waitFor();
    const { asks } = await claude.ok('listAsks', { query: { from_me: true, state: 'answered' } });
    expect(asks.map(({ ask }) => ask?.answer_option)).to.deep.equal([2]);
    await danas.close();
    await mayas.close();
  });

  it('a task is opened, started and finished by keyboard alone, and its card keeps the focus', async () => {
    const { params, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('link', { name: /Cap the backoff/ }).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'New task' }).waitFor();
    await page.keyboard.type('Write the release note');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Write the release note' }).waitFor();
    expect(page.url()).to.match(/task=[A-Z0-9]+-2$/);
    await tabTo(page, 'Start');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Give it up' }).waitFor();
    await tabTo(page, 'Done');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
    await page.keyboard.type('It is in the file.');
    await tabTo(page, 'Finish it');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'How it ended' }).getByText('It is in the file.').waitFor();
    await page.keyboard.press('Escape');
    const card = column(page, 'Done').getByRole('link', { name: /Write the release note/ });
    await card.waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Write the release note'));
    const { tasks } = await dana.ok('listTasks', { params, query: { state: 'done' } });
    expect(tasks.map(({ closed_note }) => closed_note)).to.deep.equal(['It is in the file.']);
    await close();
  });

  it('has the focus in its panel before the person can move it elsewhere', async () => {
    const { path } = await scene();
    const { page, close } = await visit(server, dana, path);
    const card = page.getByRole('link', { name: /Cap the backoff/ });
    const focused = await card.evaluate(async (link: HTMLElement) => {
      link.click();
      // No key comes between, and nothing is painted.
      for (let turns = 0; turns < 100; turns++) await null;
      return document.activeElement?.getAttribute('aria-label');
    });
    expect(focused).to.match(/Cap the backoff$/);
    await close();
  });

  it('stays started where the list was read before it was, and comes after it', async () => {
    const { board, params, path } = await scene();
    const task = await dana.ok('createTask', { params, body: { title: 'Write the release note' } });
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    await column(page, 'Open')
      .getByRole('link', { name: /Write the release note/ })
      .waitFor();
    const lists = Array.from({ length: 2 }, () => ({
      asked: Promise.withResolvers<void>(),
      held: Promise.withResolvers<void>(),
    }));
    let reads = 0;
    await page.route(`**/v1/boards/${board}/tasks?limit=200`, async (route) => {
      const response = await route.fetch();
      const list = lists[reads++];
      list?.asked.resolve();
      await list?.held.promise;
      return route.fulfill({ response });
    });
    await dana.ok('createTask', { params, body: { title: 'Something else' } });
    await lists[0]?.asked.promise;
    await page.getByRole('button', { name: 'Start' }).click();
    const givesUp = page.getByRole('button', { name: 'Give it up' });
    await givesUp.waitFor();
    lists[0]?.held.resolve();
    // The list is read again once the first answer has been taken.
    await lists[1]?.asked.promise;
    expect(await givesUp.count()).to.equal(1);
    lists[1]?.held.resolve();
    await page.getByRole('link', { name: /Something else/ }).waitFor();
    await close();
  });

  it('keeps the focus in a task that is opened by its card, started and finished there', async () => {
    const { params, path } = await scene();
    await dana.ok('createTask', { params, body: { title: 'Write the release note' } });
    const { page, close } = await visit(server, dana, path);
    await column(page, 'Open')
      .getByRole('link', { name: /Write the release note/ })
      .press('Enter');
    const panel = page.getByRole('complementary', { name: /Write the release note/ });
    const hasFocus = () =>
      until(() => panel.evaluate((element) => element.contains(document.activeElement)), 'it has the focus');
    await panel.getByRole('button', { name: 'Start' }).press('Enter');
    await panel.getByRole('button', { name: 'Give it up' }).waitFor();
    await hasFocus();
    await panel.getByRole('button', { name: 'Done' }).press('Enter');
    await page.getByRole('textbox', { name: 'What was done' }).fill('It is in the file.');
    await page.getByRole('button', { name: 'Finish it' }).press('Enter');
    await panel.getByRole('region', { name: 'How it ended' }).waitFor();
    await hasFocus();
    await close();
  });

  it('one joins, takes another off it, gives it a title and cancels it', async () => {
    const { task, path } = await scene();
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    await page.getByRole('button', { name: 'Join' }).click();
    const panel = page.getByRole('complementary', { name: /Cap the backoff/ });
    await panel.getByText('dana (you) help').waitFor();
    const more = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'More to do with the task' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await more('Drop claude');
    await panel.getByText('nobody has it yet').waitFor();
    await more('New title');
    await page.getByRole('textbox', { name: 'Title' }).fill('Cap every wait');
    // A slip keeps the title that was typed.
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await more('New title');
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).to.equal('Cap every wait');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Cap every wait' }).waitFor();
    await more('Cancel the task');
    await page.getByRole('textbox', { name: 'Why' }).fill('Not needed');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the task' }).click();
    await column(page, 'Done').getByText('cancelled').waitFor();
    const ended = page.getByRole('complementary');
    await ended.getByText(/took claude off it/).waitFor();
    // Its actions are gone, and the focus goes on from the top of its panel.
    await ended.and(page.locator(':focus')).waitFor();
    expect(await page.getByText(/^nobody/).count()).to.equal(0);
    await close();
  });

  it('one gives up the own task on a board where the handle is the name of another', async () => {
    const { board, params } = await scene();
    const handle = `pam-${board}`.slice(0, 30);
    const pam = await server.person(handle);
    await newAgent(dana, board, { name: handle });
    await dana.ok('addBoardPerson', { params, body: { handle } });
    const { ref } = await pam.ok('createTask', { params, body: { title: 'Write it down', start: true } });
    const { page, close } = await visit(server, pam, `/?board=${board}&tab=tasks&task=${ref}`);
    const panel = page.getByRole('complementary', { name: /Write it down/ });
    await panel.getByText(`${handle}-2 (you) have it`).waitFor();
    await page.getByRole('button', { name: 'Give it up' }).click();
    await panel.getByText('nobody has it yet').waitFor();
    await close();
  });

  it('one is known on the board by another name than the handle where the session is read last', async () => {
    const { board, params } = await scene();
    const handle = `pat-${board}`.slice(0, 30);
    const pat = await server.person(handle);
    await newAgent(dana, board, { name: handle });
    await dana.ok('addBoardPerson', { params, body: { handle } });
    const { ref } = await pat.ok('createTask', { params, body: { title: 'Write it down', start: true } });
    const { page, close } = await visit(server, pat, '/');
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    await page.route('**/v1/me/browser-session', async (route) => {
      await held;
      await route.continue();
    });
    const read = Promise.all(
      [board, `${board}/members`, `${board}/people`, `${board}/tasks`].map((path) =>
        page.waitForResponse((answer) => new URL(answer.url()).pathname === `/v1/boards/${path}`),
      ),
    );
    await page.goto(`${server.url}/?board=${board}&tab=tasks&task=${ref}`);
    await read;
    letGo();
    await page.getByText(`${handle}-2 (you) have it`).waitFor();
    await close();
  });

  it('one takes over the task of an own agent at any time', async () => {
    const { task, path } = await scene();
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByRole('complementary').getByText('dana (you) have it').waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'History' }).getByText('dana took it over from claude').waitFor();
    await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Talk' }).click();
    await page.getByText(/dana took over/).waitFor();
    await close();
  });

  it('an owner of the board takes over any task but an own one, a member only once they are made an owner', async () => {
    const { task, path, params } = await scene();
    const notes = await maya.ok('createTask', { params, body: { title: 'Write the notes', start: true } });
    const danas = await visit(server, dana, `${path}&task=${notes.ref}`);
    const mayas = await visit(server, maya, `${path}&task=${task.ref}`);
    const takeOver = (page: Page) => page.getByRole('button', { name: 'Take over' });
    await takeOver(danas.page).click();
    await danas.page.getByRole('complementary').getByText('dana (you) have it').waitFor();
    await takeOver(danas.page).waitFor({ state: 'detached' });
    await mayas.page.getByRole('complementary').getByText('claude owns it').waitFor();
    expect(await takeOver(mayas.page).count()).to.equal(0);
    await dana.ok('makeBoardOwner', { params, body: { handle: 'maya' } });
    await takeOver(mayas.page).waitFor();
    await danas.close();
    await mayas.close();
  });

  it('one takes over the task of an own agent also after getting another handle', async () => {
    const pia = await server.person('pia');
    const { name: board } = await newBoardWith(pia, []);
    const params = { board };
    const claude = await newAgent(pia, board, { name: 'claude' });
    const { ref } = await claude.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    const { page, close } = await visit(server, pia, `/?board=${board}&tab=tasks&task=${ref}`);
    const takeOver = page.getByRole('button', { name: 'Take over' });
    await takeOver.waitFor();
    await pia.ok('renamePerson', { params: { handle: 'pia' }, body: { handle: 'pia-new' } });
    await claude.ok('updateTask', { params: { board, task: ref }, body: { stands: 'Begun.' } });
    await page.getByText('Begun.').waitFor();
    await takeOver.click();
    await page.getByRole('complementary').getByText('pia-new (you) have it').waitFor();
    const people = page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: /People/ });
    await people.click();
    await page.getByRole('heading', { name: 'pia-new you' }).waitFor();
    await close();
  });

  it('where it stands is never written over unseen, and its earlier texts stay readable', async () => {
    const { claude, params, task, path } = await scene();
    const at = { params: { ...params, task: task.ref } };
    await claude.ok('updateTask', { ...at, body: { stands: 'Begun.' } });
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    const section = page.getByRole('region', { name: 'Where it stands' });
    await section.getByText('Begun.').waitFor();
    await section.getByRole('button', { name: /Edit/ }).click();
    await section.getByRole('textbox').fill('Waits for the number.');
    await claude.ok('updateTask', { ...at, body: { stands: 'Half done.' } });
    await section.getByText('claude wrote v2 meanwhile').waitFor();
    expect(await section.getByRole('button', { name: 'Save' }).isDisabled()).to.equal(true);
    await section.getByRole('button', { name: 'Write over it' }).click();
    await section.getByRole('button', { name: 'Save' }).click();
    await section.getByText('Waits for the number.').waitFor();
    await section.getByRole('button', { name: /v3/ }).click();
    await section.getByText('Half done.').waitFor();
    await section.getByText('Begun.').waitFor();
    await close();
  });

  it('a text of a task outlives the session that ends while it is written, with the version it began from', async () => {
    const { claude, params, task, path } = await scene();
    const at = { params: { ...params, task: task.ref } };
    await claude.ok('updateTask', { ...at, body: { stands: 'Begun.' } });
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    const section = page.getByRole('region', { name: 'Where it stands' });
    await section.getByRole('button', { name: /Edit/ }).click();
    await section.getByRole('textbox').fill('Waits for the number.');
    await dana.ok('endAllBrowserSessions');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await claude.ok('updateTask', { ...at, body: { stands: 'Half done.' } });
    const { code } = await dana.ok('createLoginCode');
    await page.goto(`${server.url}${path}&task=${task.ref}#code=${code}`);
    await page.getByRole('button', { name: 'Sign in as dana' }).click();
    await section.getByText('claude wrote v2 meanwhile').waitFor();
    expect(await section.getByRole('textbox').inputValue()).to.equal('Waits for the number.');
    await section.getByRole('button', { name: 'Cancel' }).click();
    await section.getByRole('button', { name: /Edit/ }).click();
    expect(await section.getByRole('textbox').inputValue()).to.equal('Half done.');
    await close();
  });

  it('a new task, and how a task ended, outlive the session that ends while they are written', async () => {
    const { params, task, path } = await scene();
    const address = `${server.url}${path}&task=${task.ref}`;
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    const field = (name: string) => page.getByRole('dialog').getByRole('textbox', { name });
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await field('What was done').fill('Capped at 60 s.');
    await signInAgain(page, dana, address);
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    expect(await field('What was done').inputValue()).to.equal('Capped at 60 s.');
    await page.getByRole('button', { name: 'Finish it' }).click();
    await page.getByRole('region', { name: 'How it ended' }).waitFor();

    await page.getByRole('button', { name: 'New task' }).click();
    await field('Title').fill('Tell the customers');
    await field('What and why').fill('They wait.');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await signInAgain(page, dana, address);
    await page.getByRole('button', { name: 'New task' }).click();
    expect(await field('Title').inputValue()).to.equal('Tell the customers');
    await page.getByRole('button', { name: 'Open the task' }).click();
    await page.getByRole('heading', { name: 'Tell the customers' }).waitFor();
    const made = await dana.ok('getTask', { params: { ...params, task: '2' } });
    expect(made.about?.text).to.equal('They wait.');
    await page.getByRole('button', { name: 'New task' }).click();
    expect(await field('Title').inputValue()).to.equal('');
    await close();
  });

  it('shows the messages, files and history of a task, and posts about it once', async () => {
    const { claude, board, params, task, path } = await scene();
    await post(claude, board, 'It needs a **cap**.', { about: [task.ref] });
    await claude.ok('uploadFile', { params, query: { name: 'retry.ts', about: task.ref }, bytes: 'export {}' });
    const { page, close } = await visit(server, dana, `${path}&task=${task.ref}`);
    const messages = page.getByRole('region', { name: /Messages about it/ });
    await messages.getByText('It needs a cap.').waitFor();
    await page
      .getByRole('region', { name: 'Files' })
      .getByRole('link', { name: /retry.ts/ })
      .waitFor();
    await page.getByRole('region', { name: 'History' }).getByText('claude started it').waitFor();
    await messages.getByRole('textbox').fill('Take 60 s.');
    await page.keyboard.press('Control+Enter');
    await messages.getByRole('listitem').filter({ hasText: 'Take 60 s.' }).waitFor();
    const page2 = await dana.ok('listMessages', { params, query: { task: task.ref } });
    expect(page2.messages.filter(({ body }) => body === 'Take 60 s.').length).to.equal(1);
    await close();
  });

  it('tells what happened to a task once, where its history is read before the stream tells it', async () => {
    const { claude, board, params, task } = await scene();
    const { page, tab, close } = await visit(server, dana, '/');
    await page.context().addInitScript(streamsInPage);
    const late = await tab(`/?board=${board}`);
    await late.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const hold = (held: boolean) => late.evaluate((value) => Object.assign(globalThis, { held: value }), held);
    await hold(true);
    await claude.ok('updateTask', { params: { ...params, task: task.id }, body: { title: 'Another title' } });
    await late.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Tasks' }).click();
    await late.getByRole('link', { name: /Another title/ }).click();
    const lines = late.getByRole('region', { name: 'History' }).getByText('claude gave it a new title');
    await lines.first().waitFor();
    await hold(false);
    // Its turn comes after what was held.
    await claude.ok('updateTask', { params: { ...params, task: task.id }, body: { stands: 'Begun.', stands_base: 0 } });
    await late.getByRole('region', { name: 'History' }).getByText('claude wrote where it stands').waitFor();
    expect(await lines.count()).to.equal(1);
    await close();
  });

  it('shows what was finished last first, however long ago it was opened', async () => {
    const { params, task, path } = await scene();
    for (let n = 1; n <= 51; n++) {
      const { ref } = await dana.ok('createTask', { params, body: { title: `Old ${n}` } });
      await dana.ok('finishTask', { params: { ...params, task: ref }, body: { note: 'Done' } });
    }
    await dana.ok('finishTask', { params: { ...params, task: task.ref }, body: { note: 'All green' } });
    const { page, close } = await visit(server, dana, '/');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(server.url + path);
    const done = column(page, 'Done').getByRole('link');
    await done.nth(2).waitFor();
    expect(asked.filter((address) => /\/tasks\/\w+$/.test(address))).to.have.length(3);
    const names = async () => (await done.locator('.tt').allTextContents()).map((text) => text.trim());
    expect(await names()).to.deep.equal(['Cap the backoff', 'Old 51', 'Old 50']);
    for (const left of [49, 29, 9]) await page.getByRole('button', { name: `${left} older` }).click();
    await done.nth(51).waitFor();
    const old = Array.from({ length: 51 }, (_, n) => `Old ${51 - n}`);
    expect(await names()).to.deep.equal(['Cap the backoff', ...old]);
    await close();
  });

  it('shows tasks that ended also where they are read at the second try', async () => {
    const { params, task, path } = await scene();
    await dana.ok('finishTask', { params: { ...params, task: task.ref }, body: { note: 'All green' } });
    const { page, close } = await visit(server, dana, '/');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/events?*type=task.done&*', (route) => route.fulfill({ status: 400, json: { error } }));
    await page.goto(server.url + path);
    await page.getByText('Not now.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await column(page, 'Done')
      .getByRole('link', { name: /Cap the backoff/ })
      .waitFor();
    await close();
  });

  it('shows a task as it is that changes while older ones are read', async () => {
    const { claude, params, task, path } = await scene();
    for (let n = 1; n <= 51; n++) {
      const { ref } = await dana.ok('createTask', { params, body: { title: `Old ${n}` } });
      await dana.ok('finishTask', { params: { ...params, task: ref }, body: { note: 'Done' } });
    }
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: '48 older' }).click();
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/events?*type=task.done&*', async (route) => {
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    await page.getByRole('button', { name: '28 older' }).click();
    await asked.promise;
    await claude.ok('updateTask', { params: { ...params, task: task.ref }, body: { title: 'Cap every wait' } });
    const renamed = column(page, 'In progress').getByRole('link', { name: /Cap every wait/ });
    await renamed.waitFor();
    held.resolve();
    await column(page, 'Done').getByRole('link').nth(42).waitFor();
    expect(await renamed.count()).to.equal(1);
    await close();
  });

  it('shows all messages about a task where more came than are read at once', async () => {
    const { claude, board, task } = await scene();
    const { page, tab, close } = await visit(server, dana, '/');
    await page.context().addInitScript(streamsInPage);
    const late = await tab(`/?board=${board}&task=${task.ref}`);
    await late.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    // A first read that ends later would be followed by one in the middle of the messages that are held back.
    await late.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /\/messages\?(.*&)?task=/.test(name)),
    );
    const messages = late.getByRole('region', { name: /Messages about it/ });
    await post(claude, board, 'Message 0', { about: [task.ref] });
    await messages.getByText('Message 0', { exact: true }).waitFor();
    const hold = (held: boolean) => late.evaluate((value) => Object.assign(globalThis, { held: value }), held);
    await hold(true);
    for (let n = 1; n <= 25; n++) await post(claude, board, `Message ${n}`, { about: [task.ref] });
    await hold(false);
    await messages.getByText('Message 25', { exact: true }).waitFor();
    await messages.getByRole('button', { name: 'Earlier messages' }).click();
    await messages.getByText('Message 1', { exact: true }).waitFor();
    const texts = await messages.locator('.x').allTextContents();
    expect(texts.map((text) => text.trim())).to.deep.equal(Array.from({ length: 26 }, (_, n) => `Message ${n}`));
    await close();
  });

  it('keeps what is typed for a new task where the mouse that selects it is let go beside the form', async () => {
    const { path } = await scene();
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'New task' }).click();
    const title = page.getByRole('dialog').getByRole('textbox', { name: 'Title' });
    await title.fill('Write the release note');
    await title.hover();
    await page.mouse.down();
    await page.mouse.move(5, 5);
    await page.mouse.up();
    expect(await title.inputValue()).to.equal('Write the release note');
    await page.mouse.click(5, 5);
    await title.waitFor({ state: 'detached' });
    await close();
  });

  it('groups them by agent, and shows the last 30 days as a plot and as a table', async () => {
    const { claude, params, task, path } = await scene();
    await dana.ok('createTask', { params, body: { title: 'Nobody has this' } });
    await claude.ok('finishTask', { params: { ...params, task: task.ref }, body: { note: 'All green' } });
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('img', { name: /1 done in that time; today 0 blocked, 0 in progress, 1 open/ }).waitFor();
    await page.getByRole('button', { name: 'As a table' }).click();
    const rows = page.getByRole('table', { name: 'Tasks by day' }).getByRole('row');
    expect(await rows.count()).to.equal(31);
    expect(await rows.nth(1).textContent()).to.equal('today1001');
    await page.getByRole('button', { name: 'By agent' }).click();
    await page
      .getByRole('region', { name: 'Nobody yet' })
      .getByRole('link', { name: /Nobody has this/ })
      .waitFor();
    await page
      .getByRole('region', { name: /claude/ })
      .getByText('no task')
      .waitFor();
    await close();
  });

  it('plots a task as blocked until its question was answered first, not until it was answered anew', async () => {
    const later = await startPageServer();
    const { clock } = later;
    const asked = await later.person('dana');
    const { name: board } = await newBoardWith(asked, []);
    const params = { board };
    const claude = await newAgent(asked, board, { name: 'claude' });
    const { ref } = await claude.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    // At noon, so that the first answer comes on the day of the question.
    clock.advance(1.5 * DAY - (clock.now() % DAY));
    const ask = { to: ['@dana'], about: [ref], ask: { options: ['30 s', '60 s'] } };
    const { id } = await post(claude, board, 'How long?', ask);
    await post(asked, board, '30 s', { reply_to: id, answer: { option: 1 } });
    clock.advance(2 * DAY);
    await post(asked, board, '60 s', { reply_to: id, answer: { option: 2 } });
    const { page, close } = await visit(later, asked, '/');
    await page.clock.install({ time: clock.now() });
    const answers = page.waitForResponse('**/messages?*has=answer*');
    const asks = page.waitForResponse('**/v1/asks?*state=all*');
    await page.goto(`${later.url}/?board=${board}&tab=tasks`);
    await Promise.all([answers, asks]);
    await page.getByRole('button', { name: 'As a table' }).click();
    const rows = page.getByRole('table', { name: 'Tasks by day' }).getByRole('row');
    const texts = (await rows.allTextContents()).slice(1, 4).map((text) => text.slice(-4));
    expect(texts).to.deep.equal(['0100', '0100', '0100']);
    await close();
    await later.stop();
  });

  it('plots no task as blocked whose question was answered first before the days that are plotted', async () => {
    const later = await startPageServer();
    const { clock } = later;
    const asked = await later.person('dana');
    const { name: board } = await newBoardWith(asked, []);
    const claude = await newAgent(asked, board, { name: 'claude' });
    const { ref } = await claude.ok('createTask', { params: { board }, body: { title: 'Cap it', start: true } });
    const ask = { to: ['@dana'], about: [ref], ask: { options: ['30 s', '60 s'] } };
    const { id } = await post(claude, board, 'How long?', ask);
    const { id: other } = await post(claude, board, 'How often?', { to: ['@dana'], ask: { options: ['3', '4'] } });
    for (const [reply_to, days] of [
      [id, 1],
      [other, 40],
      [id, 2],
    ] as const) {
      await post(asked, board, 'The first', { reply_to, answer: { option: 1 } });
      clock.advance(days * DAY);
    }
    const { page, close } = await visit(later, asked, '/');
    await page.clock.install({ time: clock.now() });
    // As where there are more answers than come in a page.
    await page.route('**/messages?*has=answer*', (route) =>
      route.continue({ url: route.request().url().replace('limit=200', 'limit=1') }),
    );
    const last = page.waitForResponse((response) => /has=answer.*before=/.test(response.url()));
    await page.goto(`${later.url}/?board=${board}&tab=tasks`);
    await last;
    await page.getByRole('button', { name: 'As a table' }).click();
    const rows = page.getByRole('table', { name: 'Tasks by day' }).getByRole('row');
    await until(async () => (await rows.nth(5).textContent())?.endsWith('0100') === true, 'no day has it blocked');
    await close();
    await later.stop();
  });

  it('on a phone a task is a dialog: the focus stays in it, and Escape gives it back to the card', async () => {
    const { path } = await scene();
    const { page, close } = await visit(server, dana, path, { viewport: { width: 390, height: 844 } });
    const card = page.getByRole('link', { name: /Cap the backoff/ });
    await card.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /Cap the backoff/ });
    await dialog.getByRole('button', { name: 'Close the task' }).waitFor();
    await expectAccessible(page);
    const inside = () => dialog.evaluate((element) => element.contains(document.activeElement));
    expect(await inside()).to.equal(true);
    const stops = new Set<string>();
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => document.activeElement!.outerHTML.slice(0, 150));
      stops.add(stop);
      // After the last one comes the browser itself.
      if (!stop.startsWith('<body')) expect(await inside(), stop).to.equal(true);
    }
    expect(stops.size).to.be.above(5);
    await page.getByRole('button', { name: 'Close the task' }).focus();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await card.evaluate((element) => element === document.activeElement)).to.equal(true);
    await page.getByRole('link', { name: 'All boards' }).click();
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    await close();
  });

  it('an archived board offers nothing to write; everybody can use the rest, in light, dark and on a phone', async () => {
    const { claude, board, params, task, path } = await scene();
    await post(claude, board, 'Which one?', { about: [task.ref], ask: { options: ['This', 'That'] } });
    const { page, close } = await visit(server, dana, path);
    await column(page, 'Needs you').getByRole('link').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expectAccessible(page, `tasks ${colorScheme}`);
    }
    await page.keyboard.press('c');
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page, 'new task');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 360, height: 740 });
    await column(page, 'Needs you').getByRole('link').click();
    await page.getByRole('group', { name: 'Which one?' }).waitFor();
    await expectAccessible(page, 'a task on a phone');
    expect(await page.evaluate(() => document.scrollingElement!.scrollWidth)).to.equal(360);
    await dana.ok('archiveBoard', { params });
    await page.getByRole('button', { name: 'Done', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Close the task' }).click();
    await column(page, 'Blocked')
      .or(column(page, 'Needs you'))
      .getByRole('link', { name: /Cap the backoff/ })
      .waitFor();
    expect(await page.getByRole('button', { name: 'New task' }).count()).to.equal(0);
    await close();
  });

  // It moves the server's time ahead of the browser's, so it comes last.
  it('a task whose agent is gone is shown as left, and another person takes it over', async () => {
    const { task, path, params } = await scene();
    const { page, close } = await visit(server, maya, `${path}&task=${task.ref}`);
    const panel = page.getByRole('complementary', { name: /Cap the backoff/ });
    await panel.getByText('claude owns it').waitFor();
    expect(await panel.getByRole('button', { name: 'Take over' }).count()).to.equal(0);
    server.clock.advance(31 * 60_000);
    // As when a tab is looked at again: the page's minute passes.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await column(page, 'In progress')
      .getByRole('link', { name: /Cap the backoff/ })
      .filter({ hasText: 'claude left it' })
      .waitFor();
    await panel.getByText('but is gone: the task may be taken over').waitFor();
    await expectAccessible(page, 'a task that was left');
    await panel.getByRole('button', { name: 'Take over' }).click();
    await panel.getByText('maya (you) have it').waitFor();
    await panel.getByText('claude helps').waitFor();
    await panel.getByText(/took it over from claude/).waitFor();
    await panel.getByRole('button', { name: 'Take over' }).waitFor({ state: 'detached' });
    expect((await dana.ok('getTask', { params: { ...params, task: task.ref } })).owner?.name).to.equal('maya');
    await close();
  });
});
