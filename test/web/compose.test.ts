/** The message box: posting exactly once, drafts, whom a message reaches, questions, and files. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page, Route } from 'playwright-core';
import { MAX_FILE } from '../../src/contract/values.ts';
import type { Api } from '../support/api.ts';
import { type Agent, newAgent, newBoardWith, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

const boxOf = (page: Page) => page.getByRole('textbox', { name: 'Message' });

describe('the message box', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  let claude: Agent;
  let board: string;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana', 'admin');
    maya = await server.person('maya');
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoardWith(dana, ['maya'])).name;
    claude = await newAgent(dana, board, { name: 'claude' });
    await newAgent(maya, board, { name: 'fixer' });
  });

  const open = async (person: Api = dana) => {
    const visited = await visit(server, person, `/?board=${board}`);
    await boxOf(visited.page).waitFor();
    return visited;
  };
  const messages = async () => (await dana.ok('listMessages', { params: { board } })).messages;
  const posted = async (count: number) => {
    await until(async () => (await messages()).length >= count, `${count} messages`);
    const all = await messages();
    expect(all).to.have.lengthOf(count);
    return all.at(-1)!;
  };
  /** The keys with which messages were posted, one for each request. */
  const keysOf = (page: Page): string[] => {
    const keys: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/messages'))
        keys.push(request.headers()['idempotency-key'] ?? '');
    });
    return keys;
  };

  it('keeps what was posted while offline, and posts it exactly once when the browser is online again', async () => {
    const { page, context, close } = await open();
    const keys = keysOf(page);
    await context.setOffline(true);
    await boxOf(page).fill('60 s, please.');
    await page.keyboard.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.getByText('Not posted: no connection.').waitFor();
    expect(await boxOf(page).inputValue()).to.equal('');
    await context.setOffline(false);
    expect((await posted(1)).body).to.equal('60 s, please.');
    await failed.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Conversation' }).getByText('60 s, please.').waitFor();
    expect(await page.getByText('60 s, please.').count()).to.equal(1);
    expect(new Set(keys)).to.have.lengthOf(1);
    await close();
  });

  it('keeps what could not be posted over a reload, and posts it exactly once when tried again', async () => {
    const { page, close } = await open();
    const keys = keysOf(page);
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await boxOf(page).fill('60 s, please.');
    await page.keyboard.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.getByText('Not posted: no connection.').waitFor();
    await page.reload();
    await failed.waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await failed.getByRole('button', { name: 'Try again' }).click();
    await posted(1);
    await failed.waitFor({ state: 'detached' });
    expect(new Set(keys)).to.have.lengthOf(1);
    await close();
  });

  it('shows a message once whose answer was lost, and has nothing left to send', async () => {
    const { page, close } = await open();
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort();
    });
    await boxOf(page).fill('Lost on the way back');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Conversation' }).getByText('Lost on the way back').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('article', { name: /not posted|sending/ }).waitFor({ state: 'detached' });
    await posted(1);
    await close();
  });

  it('posts messages in the order they were written, however long the first one takes', async () => {
    const { page, close } = await open();
    let held: (() => void) | undefined;
    await page.route('**/messages', async (route) => {
      if (route.request().method() === 'POST' && !held) await new Promise<void>((go) => (held = go));
      await route.continue();
    });
    const lines = ['First', 'Second', 'Third'];
    for (const line of lines) {
      await boxOf(page).fill(line);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('article').getByText(line).first().waitFor();
    }
    await until(() => held !== undefined, 'the first one is on its way');
    held!();
    await posted(3);
    expect((await messages()).map(({ body }) => body)).to.deep.equal(lines);
    await close();
  });

  it('replies to the message that was chosen last in a thread, also by the keys', async () => {
    const root = await post(maya, board, 'Who takes it?');
    const { id } = await post(maya, board, 'Or both of us?', { reply_to: root.id, to: ['@dana'] });
    const { page, close } = await open();
    const choose = async (text: string) => {
      await page.getByRole('article').filter({ hasText: text }).last().hover();
      await page.getByRole('button', { name: 'Reply', exact: true }).click();
      await page.getByRole('form', { name: 'Reply' }).getByText(text).waitFor();
    };
    await choose('Who takes it?');
    await choose('Or both of us?');
    await boxOf(page).fill('Both');
    await page.keyboard.press('Control+Enter');
    expect(await posted(3)).to.include({ body: 'Both', reply_to: id });
    await close();
  });

  it('keeps the focus where a reply is sent, or becomes a message of its own', async () => {
    const root = await post(maya, board, 'Who takes it?');
    await post(claude, board, 'I asked.', { to: ['@dana'], ask: { options: ['Yes', 'No'] } });
    const { page, close } = await open();
    await page.getByRole('article').filter({ hasText: 'Who takes it?' }).first().focus();
    await page.keyboard.press('r');
    const reply = page.getByRole('form', { name: 'Reply' });
    await reply.waitFor();
    await page.keyboard.type('Me');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('form', { name: 'New message' }).waitFor();
    // What is typed on is no key that answers a question.
    await page.keyboard.type('2');
    expect(await boxOf(page).inputValue()).to.equal('2');
    expect(await posted(3)).to.include({ body: 'Me', reply_to: root.id });
    await page.getByRole('article').filter({ hasText: 'Who takes it?' }).first().hover();
    await page.getByRole('button', { name: 'Reply', exact: true }).first().click();
    await reply.getByRole('button', { name: 'Not a reply after all' }).click();
    await page.getByRole('form', { name: 'New message' }).waitFor();
    await page.keyboard.type('3');
    expect(await boxOf(page).inputValue()).to.equal('23');
    await close();
  });

  it('shows a message once whose answer was lost, also where one on another board had its number', async () => {
    const { page, close } = await open();
    await boxOf(page).fill('Here first');
    await page.keyboard.press('Control+Enter');
    const { seq } = await posted(1);
    const unsent = page.getByRole('article', { name: /not posted|sending/ });
    await unsent.waitFor({ state: 'detached' });
    board = (await newBoardWith(dana, ['maya'])).name;
    while ((await dana.ok('getBoard', { params: { board } })).head_seq < seq - 1) await post(maya, board, 'Before');
    await page.getByRole('link', { name: board }).first().click();
    await page.getByPlaceholder(`Write to ${board}`).waitFor();
    let lost = 0;
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort();
      lost++;
    });
    await boxOf(page).fill('Lost on the way back');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Conversation' }).getByText('Lost on the way back').waitFor();
    expect((await messages()).at(-1)!.seq).to.equal(seq);
    await until(() => lost === 2, 'it was tried twice');
    await unsent.waitFor({ state: 'detached' });
    await close();
  });

  it('shows a message once that was posted after its board was left, and whose answer came after the return', async () => {
    const other = (await newBoardWith(dana, ['maya'])).name;
    const { page, close } = await open();
    const [left, returned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await left.promise;
      const response = await route.fetch();
      await returned.promise;
      return route.fulfill({ response });
    });
    await boxOf(page).fill('On a slow line');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('link', { name: other }).first().click();
    await page.getByPlaceholder(`Write to ${other}`).waitFor();
    left.resolve();
    await posted(1);
    await page.getByRole('link', { name: board }).first().click();
    await page.getByRole('region', { name: 'Conversation' }).getByText('On a slow line').waitFor();
    const shown = page.getByRole('article').filter({ hasText: 'On a slow line' });
    await until(async () => (await shown.count()) === 1, 'it is shown once');
    returned.resolve();
    await page.getByTestId('said').getByText('Posted').waitFor({ state: 'attached' });
    await page.waitForFunction(() => document.querySelectorAll('.unsent article').length === 0);
    await close();
  });

  it('shows a message that is still being sent when its board is opened again, and shows it once', async () => {
    const other = (await newBoardWith(dana, ['maya'])).name;
    const { page, close } = await open();
    const held = Promise.withResolvers<void>();
    await page.route('**/messages', async (route) => {
      if (route.request().method() === 'POST') await held.promise;
      return route.continue();
    });
    await boxOf(page).fill('On a slow line');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('link', { name: other }).first().click();
    await page.getByPlaceholder(`Write to ${other}`).waitFor();
    await page.getByRole('link', { name: board }).first().click();
    const sending = page.getByRole('article', { name: 'dana, sending' });
    await sending.getByText('On a slow line').waitFor();
    held.resolve();
    await page.getByRole('region', { name: 'Conversation' }).getByText('On a slow line').waitFor();
    await sending.waitFor({ state: 'detached' });
    await posted(1);
    await close();
  });

  it('keeps what is unsent where two tabs show one board, and shows in both what either does with it', async () => {
    const { page, tab, close } = await open();
    const second = await tab();
    await boxOf(second).waitFor();
    const failed = (one: Page) => one.getByRole('article', { name: 'dana, not posted' });
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await boxOf(page).fill('Not lost');
    await page.keyboard.press('Control+Enter');
    await failed(page).getByText('Not lost').waitFor();
    await failed(second).getByText('Not lost').waitFor();
    await page.reload();
    await failed(page).getByText('Not lost').waitFor();
    await boxOf(page).fill('A draft');
    await second.waitForFunction(() => document.querySelector('textarea')?.value === 'A draft');
    await boxOf(second).focus();
    // What was written before goes before it.
    await second.keyboard.press('Control+Enter');
    expect((await posted(2)).body).to.equal('A draft');
    await page.waitForFunction(() => document.querySelector('textarea')?.value === '');
    await failed(page).waitFor({ state: 'detached' });
    await close();
  });

  it('posts a message that another tab sends only once that tab is closed', async () => {
    const { page, tab, close } = await open();
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST' ? new Promise<void>(() => {}) : route.continue(),
    );
    await boxOf(page).fill('Not lost');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'dana, sending' }).waitFor();
    const third = await tab();
    await boxOf(third).fill('From the other tab');
    await third.keyboard.press('Control+Enter');
    await posted(1);
    await third.getByRole('article').filter({ hasText: 'From the other tab' }).waitFor();
    expect(await third.getByRole('article').filter({ hasText: 'Not lost' }).count()).to.equal(0);
    await page.getByRole('article', { name: 'dana, sending' }).waitFor();
    await page.close();
    await posted(2);
    // The server may have what the closed tab sent before this one sends it again.
    await third.getByRole('region', { name: 'Conversation' }).getByText('Not lost').waitFor();
    await third.waitForFunction(() => document.querySelectorAll('.unsent article').length === 0);
    await close();
  });

  it('still shows what was being sent when its tab was loaded again, after another tab posted', async () => {
    const { page, tab, close } = await open();
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST' ? new Promise<void>(() => {}) : route.continue(),
    );
    await boxOf(page).fill('Not lost');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'dana, sending' }).waitFor();
    await page.reload();
    const again = page.getByRole('article', { name: 'dana, sending' }).getByText('Not lost');
    await again.waitFor();
    const second = await tab();
    await boxOf(second).fill('From the other tab');
    await second.keyboard.press('Control+Enter');
    await posted(1);
    await page.getByRole('article').filter({ hasText: 'From the other tab' }).waitFor();
    expect(await again.count()).to.equal(1);
    await close();
  });

  it('shows what is sent again after a reload also where its board is loaded only afterwards', async () => {
    const { page, close } = await open();
    const again = Promise.withResolvers<void>();
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST' ? new Promise<void>(() => {}) : route.continue(),
    );
    await boxOf(page).fill('Not lost');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'dana, sending' }).waitFor();
    await page.route(`**/v1/boards/${board}**`, async (route) => {
      if (route.request().method() !== 'GET') return route.fallback();
      await again.promise;
      return route.fallback();
    });
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/messages')) again.resolve();
    });
    await page.reload();
    await page.getByRole('article', { name: 'dana, sending' }).getByText('Not lost').waitFor();
    await close();
  });

  it('shows what is sent again once another tab lets go of it, where its board is loaded meanwhile', async () => {
    const { page, tab, close } = await open();
    const second = await tab();
    await boxOf(second).waitFor();
    const lost = (route: Route) => (route.request().method() === 'POST' ? route.abort() : route.fallback());
    await page.route('**/messages', lost);
    await boxOf(page).fill('Not lost');
    await page.keyboard.press('Control+Enter');
    await page.getByText('It is posted once there is a connection.').waitFor();
    await second.evaluate(async () => {
      const { held = [] } = await navigator.locks.query();
      const [list = '[]'] = Object.entries(localStorage).flatMap(([name, list]) =>
        name.startsWith('unsent:') ? [String(list)] : [],
      );
      const [{ id }] = JSON.parse(list) as [{ id: string }];
      if (held.some(({ name }) => name === id)) throw new Error('it is being sent');
      void navigator.locks.request(id, () => new Promise(() => {}));
    });
    const sending = Promise.withResolvers<void>();
    await page.route(`**/v1/boards/${board}**`, async (route) => {
      await sending.promise;
      return route.fallback();
    });
    await page.reload();
    await page.waitForFunction(() =>
      Object.entries(localStorage).some(
        ([name, list]) => name.startsWith('unsent:') && String(list).includes('"state":"sending"'),
      ),
    );
    sending.resolve();
    await page.getByRole('article', { name: 'dana, sending' }).getByText('Not lost').waitFor();
    await page.unroute('**/messages', lost);
    await second.close();
    await posted(1);
    await close();
  });

  it('ends the key with a definite refusal, says why, and lets it be edited', async () => {
    const { page, close } = await open();
    const keys = keysOf(page);
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST'
        ? route.continue({ postData: JSON.stringify({ body: 'Hello', to: ['@nobody'] }) })
        : route.continue(),
    );
    await boxOf(page).fill('Hello');
    await page.getByRole('button', { name: 'Post' }).click();
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.getByText(/Not posted\. .*nobody/).waitFor();
    await page.unrouteAll();
    await failed.getByRole('button', { name: 'Edit' }).click();
    await failed.waitFor({ state: 'detached' });
    await boxOf(page).press('End');
    await page.keyboard.type(' again');
    await page.keyboard.press('Control+Enter');
    expect((await posted(1)).body).to.equal('Hello again');
    expect(new Set(keys)).to.have.lengthOf(2);
    await close();
  });

  it('lets what was not posted be edited once the message box is empty', async () => {
    const { page, close } = await open();
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST'
        ? route.continue({ postData: JSON.stringify({ body: 'For everyone', to: ['@nobody'] }) })
        : route.continue(),
    );
    await boxOf(page).fill('For everyone');
    await page.keyboard.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.waitFor();
    await page.unrouteAll();
    await boxOf(page).fill('For maya');
    await page.getByRole('button', { name: 'To Everyone' }).click();
    await page.getByRole('checkbox', { name: 'maya', exact: true }).check();
    await page.keyboard.press('Escape');
    await failed.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('The message box is not empty. Post or clear what is in it first.').waitFor();
    expect(await boxOf(page).inputValue()).to.equal('For maya');
    await boxOf(page).press('Control+Enter');
    expect(await posted(1)).to.deep.include({ body: 'For maya', to: ['@maya'] });
    await failed.getByRole('button', { name: 'Edit' }).click();
    await failed.waitFor({ state: 'detached' });
    await boxOf(page).press('Control+Enter');
    expect(await posted(2)).to.deep.include({ body: 'For everyone', to: ['all'] });
    await close();
  });

  it('has a reply that could not be posted as one again when it is edited', async () => {
    const { id } = await post(claude, board, 'How long?');
    const { page, close } = await open();
    await page.getByRole('article').filter({ hasText: 'How long?' }).focus();
    await page.keyboard.press('r');
    await page.getByRole('form', { name: 'Reply' }).waitFor();
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST'
        ? route.continue({ postData: JSON.stringify({ body: '60 s', to: ['@nobody'] }) })
        : route.continue(),
    );
    await boxOf(page).fill('60 s');
    await page.keyboard.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.waitFor();
    await page.unrouteAll();
    await page.reload();
    await failed.getByRole('button', { name: 'Edit' }).click();
    await failed.waitFor({ state: 'detached' });
    await page.getByRole('form', { name: 'Reply' }).waitFor();
    expect(await boxOf(page).inputValue()).to.equal('60 s');
    await page.keyboard.press('Control+Enter');
    expect((await posted(2)).reply_to).to.equal(id);
    await close();
  });

  it('says where it could not post once the conversation was left', async () => {
    const { page, close } = await open();
    const held = await holdPosts(page, { to: ['@nobody'] });
    await boxOf(page).fill('On a slow line');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Tasks' }).click();
    await boxOf(page).waitFor({ state: 'detached' });
    held.resolve();
    await page
      .getByRole('alert')
      .filter({ hasText: `Not posted on ${board}. ` })
      .waitFor();
    await close();
  });

  it('gives back what it could not post on a board that the person was removed from', async () => {
    const hers = await visit(server, maya, `/?board=${board}`);
    const { page } = hers;
    await hers.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const held = await holdPosts(page, {});
    const toasts = page.getByRole('alert').filter({ hasText: `Not posted on ${board}. ` });
    const lost = ['Not lost', 'Nor is\nthis'];
    for (const text of lost) {
      await boxOf(page).fill(text);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('article', { name: 'maya, sending' }).nth(lost.indexOf(text)).waitFor();
    }
    await removeMaya(page);
    held.resolve();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    for (const text of lost) {
      const toast = toasts.filter({ hasText: text });
      await toast.getByRole('button', { name: 'Copy it' }).click();
      await toast.waitFor({ state: 'detached' });
      expect(await copied()).to.equal(text);
    }
    await hers.close();
  });

  it('shows what it could not post on a board that is gone until it is copied or closed', async () => {
    const hers = await visit(server, maya, `/?board=${board}`);
    const { page } = hers;
    await hers.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const held = await holdPosts(page, {});
    await boxOf(page).fill('Not\nlost');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'maya, sending' }).waitFor();
    await removeMaya(page);
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
    held.resolve();
    const toast = page.getByRole('alert').filter({ hasText: `Not posted on ${board}. ` });
    await toast.getByRole('button', { name: 'Copy it' }).click();
    await page.getByText('The browser did not let this page copy your message.').waitFor();
    expect(await toast.innerText()).to.include('Not\nlost');
    await toast.getByRole('button', { name: 'Close' }).click();
    await toast.waitFor({ state: 'detached' });
    await hers.close();
  });

  async function removeMaya(page: Page): Promise<void> {
    await dana.ok('setBoardVisibility', { params: { board }, body: { visibility: 'private' } });
    await dana.ok('removeMember', { params: { board, member: 'maya' } });
    await boxOf(page).waitFor({ state: 'detached' });
  }

  /** Holds what is posted, and then sends it with a change. */
  async function holdPosts(page: Page, change: object): Promise<PromiseWithResolvers<void>> {
    const held = Promise.withResolvers<void>();
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await held.promise;
      return route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), ...change }) });
    });
    return held;
  }

  for (const when of ['before', 'while'])
    it(`replies to a question that was withdrawn ${when} the reply was written`, async () => {
      const { id } = await post(claude, board, 'Which one?', { to: ['@dana'], ask: { options: ['a', 'b'] } });
      const withdraw = () => post(claude, board, 'Never mind', { reply_to: id, answer: { withdrawn: true } });
      if (when === 'before') await withdraw();
      const { page, close } = await open();
      await page.getByRole('article').filter({ hasText: 'Which one?' }).first().focus();
      await page.keyboard.press('r');
      await boxOf(page).fill('Good');
      const answers = page.getByRole('button', { name: /^Answers claude/ });
      if (when === 'while') {
        await answers.waitFor();
        await withdraw();
      }
      await answers.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+Enter');
      const { body, reply_to, answer } = await posted(3);
      expect([body, reply_to, answer]).to.deep.equal(['Good', id, undefined]);
      await close();
    });

  it('recovers from a wrong proof of its origin: the message and the file arrive once', async () => {
    const { page, close } = await open();
    const refused = new Set<string>();
    // Spoils the first request to each path. The route stays, because a request may hang while a route is removed.
    await page.route(/\/(messages|files\?.*)$/, (route) => {
      const request = route.request();
      const path = new URL(request.url()).pathname;
      if (request.method() !== 'POST' || refused.has(path)) return route.continue();
      refused.add(path);
      return route.continue({ headers: { ...request.headers(), 'x-service-csrf': 'wrong' } });
    });
    await page.locator('form input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: bytes });
    await page.getByRole('list', { name: 'Attached files' }).getByText('a.txt').waitFor();
    await boxOf(page).fill('With a file');
    await page.keyboard.press('Control+Enter');
    const { body, files } = await posted(1);
    expect([body, files.map(({ name, version }) => [name, version])]).to.deep.equal(['With a file', [['a.txt', 1]]]);
    expect(refused.size).to.equal(2);
    await close();
  });
  const bytes = Buffer.from('text');

  it('keeps a draft for each board and thread over a reload and the end of the session', async () => {
    const { id } = await post(maya, board, 'Who takes it?');
    const { page, close } = await open();
    await boxOf(page).fill('Not done yet');
    await page.getByRole('article', { name: /^maya/ }).hover();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await boxOf(page).fill('I do');
    await page.reload();
    await page.getByRole('form', { name: 'Reply' }).waitFor();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'I do');
    await dana.ok('endAllBrowserSessions');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const { code } = await dana.ok('createLoginCode');
    await page.goto(`${server.url}/#code=${code}`);
    await page.getByRole('button', { name: 'Sign in as dana' }).click();
    await page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    await page.goto(`${server.url}/?board=${board}`);
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'I do');
    // Whom it goes to is known once the thread and the members are read.
    await page.getByRole('form', { name: 'Reply' }).getByText('To maya').first().waitFor();
    await page.keyboard.press('m');
    await page.keyboard.press('Control+Enter');
    expect(await posted(2)).to.include({ body: 'I do', reply_to: id });
    await page.getByRole('form', { name: 'New message' }).waitFor();
    expect(await boxOf(page).inputValue()).to.equal('Not done yet');
    await close();
  });

  /** Opens the page again with a message chosen to be replied to, which is read only when the function is called. */
  const openAgain = async (page: Page, { id }: { id: string }, reply: string) => {
    await page.getByRole('article', { name: /^maya/ }).hover();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await boxOf(page).fill(reply);
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(`**/v1/messages/${id}`, async (route) => {
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    await page.reload();
    await asked.promise;
    await boxOf(page).waitFor();
    return async () => {
      const read = page.waitForResponse(`**/v1/messages/${id}`);
      held.resolve();
      await read;
      // By the answer to a later request the page has seen that of the former.
      await page.evaluate(() => fetch('/v1/info').then((response) => response.text()));
    };
  };

  it('leaves a new message alone that is begun before the reply of the last time is there again', async () => {
    const root = await post(maya, board, 'Who takes it?');
    const { page, close } = await open();
    const read = await openAgain(page, root, 'I do');
    await page.keyboard.press('m');
    await page.keyboard.type('Something ');
    await read();
    await page.keyboard.type('else');
    await page.keyboard.press('Control+Enter');
    expect(await posted(2)).to.include({ body: 'Something else', reply_to: null });
    // The reply is there the next time.
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'I do');
    const again = await openAgain(page, root, 'I do it');
    await boxOf(page).fill('One more');
    await boxOf(page).blur();
    await again();
    expect(await boxOf(page).inputValue()).to.equal('One more');
    await close();
  });

  it('forgets a reply without a text', async () => {
    const root = await post(maya, board, 'Who takes it?');
    const { page, close } = await open();
    const read = await openAgain(page, root, '');
    await read();
    expect(await page.getByRole('form', { name: 'Reply' }).count()).to.equal(0);
    await close();
  });

  it('replies also to who writes in the thread while it is read', async () => {
    const { id } = await post(maya, board, 'Who takes it?');
    const { page, close } = await open();
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(`**/v1/messages/${id}/replies*`, async (route) => {
      const response = await route.fetch();
      asked.resolve();
      await held.promise;
      return route.fulfill({ response });
    });
    await page.getByRole('article', { name: /^maya/ }).hover();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await asked.promise;
    await post(claude, board, 'I do', { reply_to: id });
    await page.getByRole('button', { name: 'To maya and claude' }).waitFor();
    const read = page.waitForResponse(`**/v1/messages/${id}/replies*`);
    held.resolve();
    await read;
    // By the answer to a later request the page has seen that of the former.
    await page.evaluate(() => fetch('/v1/info').then((response) => response.text()));
    await page.getByRole('textbox', { name: 'Message' }).fill('Thanks');
    await page.keyboard.press('Control+Enter');
    expect((await posted(3)).to).to.have.members(['@maya', '@claude']);
    await close();
  });

  it('says of a reply in a thread of nobody else that nobody gets it, and posts it to whom is chosen', async () => {
    await post(dana, board, 'To myself');
    const { page, close } = await open();
    await page.getByRole('article').filter({ hasText: 'To myself' }).focus();
    await page.keyboard.press('r');
    await page.getByRole('button', { name: 'To nobody: choose who gets it' }).waitFor();
    await boxOf(page).fill('And to maya');
    await page.keyboard.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.getByText('Not posted. Nobody else is in this thread.').waitFor();
    await failed.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'To nobody' }).click();
    await page.getByRole('checkbox', { name: 'maya', exact: true }).check();
    await boxOf(page).focus();
    await page.keyboard.press('Control+Enter');
    expect((await posted(2)).to).to.deep.equal(['@maya']);
    await close();
  });

  it('says who gets it and whom it wakes, from the members as they are', async () => {
    await claude.ok('setPresence', { body: { presence: 'idle' } });
    await post(claude, board, 'Found it.', { to: ['@dana'] });
    const { page, close } = await open();
    await page.getByText('Wakes claude; fixer later').waitFor();
    await page.getByRole('button', { name: 'To Everyone: maya and 2\u00a0agents' }).waitFor();
    await page.getByRole('article', { name: /^claude/ }).hover();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await page.getByRole('button', { name: 'To claude' }).click();
    await page.getByRole('checkbox', { name: /^fixer/ }).check();
    await page.getByRole('checkbox', { name: 'Urgent' }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'To claude and fixer' }).waitFor();
    await page.getByText('Urgent. Wakes claude; fixer later').waitFor();
    await boxOf(page).fill('Good');
    await page.keyboard.press('Control+Enter');
    const { to, urgent, reply_to_from } = await posted(2);
    expect({ to, urgent, reply_to_from }).to.deep.equal({
      to: ['@claude', '@fixer'],
      urgent: true,
      reply_to_from: 'claude',
    });
    await close();
  });

  it('names a recipient who left, and takes them out', async () => {
    const { page, close } = await open();
    await boxOf(page).fill('For both');
    await page.getByRole('button', { name: 'To Everyone' }).click();
    for (const name of ['claude', 'maya']) await page.getByRole('checkbox', { name: new RegExp(`^${name}`) }).check();
    await dana.ok('removeMember', { params: { board, member: 'claude' } });
    await page.getByRole('checkbox', { name: 'claude, no longer here', checked: true }).focus();
    await page.keyboard.press('Space');
    await page
      .getByRole('checkbox', { name: 'claude, no longer here', checked: false })
      .and(page.locator(':focus'))
      .waitFor();
    await page.getByRole('button', { name: 'To maya' }).waitFor();
    await boxOf(page).press('Control+Enter');
    expect((await posted(1)).to).to.deep.equal(['@maya']);
    await close();
  });

  it('names everyone on one line of the list of who can get it', async () => {
    const handle = 'maximilian-of-the-payments-team';
    await server.person(handle);
    await dana.ok('addBoardPerson', { params: { board }, body: { handle } });
    const { page, close } = await open();
    await page.getByRole('button', { name: 'To Everyone' }).click();
    const list = page.getByRole('group', { name: 'Who gets it' });
    const [everyone, name] = await Promise.all(
      ['Everyone', 'maya'].map((text) => list.getByText(text, { exact: true }).boundingBox()),
    );
    expect(everyone?.height).to.equal(name?.height);
    await close();
  });

  it('completes names by keyboard', async () => {
    const { page, close } = await open();
    await page.getByRole('region', { name: 'Conversation' }).waitFor();
    await page.keyboard.press('m');
    await page.keyboard.type('Look, @');
    const box = page.getByRole('combobox', { name: 'Message' });
    await box.waitFor();
    expect(await page.getByRole('option').allTextContents()).to.have.lengthOf(4);
    await expectAccessible(page, 'completion');
    await page.keyboard.type('f');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await boxOf(page).inputValue()).to.equal('Look, @fixer ');
    await page.keyboard.type('and @xyz');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.to.equal('TEXTAREA');
    await close();
  });

  it('asks a question with options, what happens without an answer, and its task', async () => {
    const { ref } = await claude.ok('createTask', { params: { board }, body: { title: 'Cap the backoff' } });
    const { page, close } = await open();
    await boxOf(page).fill('How long may one wait be?');
    await page.getByRole('button', { name: 'Ask a question with options' }).click();
    await page.getByLabel('Option 1').fill('30 s');
    await page.getByLabel('Option 2').fill('60 s');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Choose who is asked.' }).waitFor();
    await page.getByLabel('Ask', { exact: true }).selectOption('claude');
    await page.getByLabel('Task').selectOption(ref);
    await page.getByLabel('Until it is answered').selectOption('You go with 60 s');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expectAccessible(page, 'question');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'question, dark');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    const { to, ask } = await posted(1);
    expect(to).to.deep.equal(['@claude']);
    expect(ask).to.deep.include({ options: ['30 s', '60 s'], going_with: '60 s', blocking: false });
    expect(ask?.task?.ref).to.equal(ref);
    await close();
  });

  it('asks nothing whose option without an answer was emptied', async () => {
    const { page, close } = await open();
    await boxOf(page).fill('How long may one wait be?');
    await page.getByRole('button', { name: 'Ask a question with options' }).click();
    await page.getByLabel('Ask', { exact: true }).selectOption('claude');
    await page.getByLabel('Option 1').fill('30 s');
    await page.getByLabel('Option 2').fill('60 s');
    await page.getByLabel('Until it is answered').selectOption('You go with 60 s');
    await page.getByLabel('Option 2').fill('');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Write the option that you go with' }).waitFor();
    expect(await messages()).to.deep.equal([]);
    await close();
  });

  it('lets a question be urgent, or urgent no longer, also on a phone', async () => {
    const { page, close } = await open();
    await boxOf(page).fill('How long may one wait be?');
    const urgent = page.getByRole('button', { name: 'Urgent' });
    await urgent.click();
    await page.getByRole('button', { name: 'Ask a question with options' }).click();
    await page.getByLabel('Ask', { exact: true }).selectOption('claude');
    await page.setViewportSize({ width: 360, height: 740 });
    await urgent.and(page.locator('[aria-pressed=true]')).click();
    const ask = page.getByRole('button', { name: 'Ask', exact: true });
    const { x, width } = (await ask.boundingBox())!;
    expect(x + width).to.be.at.most(360);
    await ask.click();
    expect((await posted(1)).urgent).to.equal(false);
    await close();
  });

  it('on a phone, what was done is said above the message box, and above the bar of other screens', async () => {
    await post(claude, board, 'Ship it?', { to: ['@dana'], ask: { options: ['Yes', 'No'] } });
    const { page, close } = await open();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.clock.install();
    await boxOf(page).fill('one\ntwo\nthree');
    await page.getByRole('article').getByRole('button', { name: 'Yes' }).click();
    const said = page.getByText('Answered “Yes”.');
    await said.waitFor();
    const isAbove = async (part: Locator) => {
      const [top, bottom] = [(await said.boundingBox())!, (await part.boundingBox())!];
      expect(top.y + top.height).to.be.at.most(bottom.y);
    };
    await isAbove(page.locator('.box'));
    await page.getByRole('link', { name: 'All boards' }).click();
    await page.locator('.bot').waitFor();
    await isAbove(page.locator('.bot'));
    await close();
  });

  it('posts nothing when Enter is pressed among the recipients or in the fields of a question', async () => {
    const { page, close } = await open();
    const keys = keysOf(page);
    await boxOf(page).fill('How long may one wait be?');
    await page.getByRole('button', { name: 'To Everyone' }).click();
    await page.getByRole('checkbox', { name: /^claude/ }).focus();
    // Each further one is a repeat of a key that is held.
    for (const _ of ['down', 'repeat', 'repeat', 'repeat']) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.getByRole('checkbox', { name: /^claude/, checked: true }).waitFor();
    await page.getByRole('button', { name: 'To claude' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Ask a question with options' }).click();
    await page.getByLabel('Ask', { exact: true }).selectOption('claude');
    await page.getByLabel('Option 1').focus();
    await page.keyboard.type('30 s');
    await page.keyboard.press('Enter');
    await page.keyboard.type('60 s');
    await page.keyboard.press('Enter');
    await page.getByLabel('Until it is answered').press('Enter');
    await page.keyboard.press('Escape');
    expect(keys).to.be.empty;
    await page.getByLabel('Option 2').press('Control+Enter');
    expect((await posted(1)).ask?.options).to.deep.equal(['30 s', '60 s']);
    expect(keys).to.have.lengthOf(1);
    await close();
  });

  describe('with files', () => {
    let folder: string;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'board-service-upload-'));
    });
    after(() => rmSync(folder, { recursive: true }));
    const sized = (name: string, size: number): string => {
      const path = join(folder, name);
      writeFileSync(path, '');
      truncateSync(path, size);
      return path;
    };

    it('shows how far 40 MB are, stops when cancelled, and sends nothing of one byte too many', async () => {
      const { page, context, close } = await open();
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().includes('/files?')) sent.push(request.url());
      });
      const network = await context.newCDPSession(page);
      const limit = (uploadThroughput: number) =>
        network.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput,
        });
      await limit(20_000_000);
      const input = page.locator('form input[type=file]');
      await input.setInputFiles(sized('large.bin', 40_000_000));
      const bar = page.getByRole('progressbar', { name: 'Upload of large.bin' });
      await page.waitForFunction(() => {
        const percent = Number(document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow'));
        return percent > 0 && percent < 100;
      });
      await page.getByRole('button', { name: 'Cancel the upload of large.bin' }).click();
      await bar.waitFor({ state: 'detached' });
      expect((await dana.ok('listFiles', { params: { board } })).files).to.deep.equal([]);
      await limit(-1);
      await input.setInputFiles(sized('large.bin', 40_000_000));
      await page.getByRole('list', { name: 'Attached files' }).getByText('large.bin').waitFor();
      await input.setInputFiles(sized('too-large.bin', MAX_FILE + 1));
      await page.getByRole('alert').filter({ hasText: 'Nothing was sent.' }).waitFor();
      expect(sent.filter((url) => url.includes('too-large'))).to.deep.equal([]);
      await page.getByRole('button', { name: 'Cancel the upload of too-large.bin' }).click();
      await boxOf(page).fill('The trace');
      await page.keyboard.press('Control+Enter');
      expect((await posted(1)).files).to.have.lengthOf(1);
      await close();
    });

    it('attaches a file once that was stored while a proxy answered with a page of its own', async () => {
      const { page, close } = await open();
      let lost = false;
      await page.route('**/files?*', async (route) => {
        if (lost) return route.continue();
        lost = true;
        expect((await route.fetch({ postData: Buffer.alloc(1_000) })).status()).to.equal(201);
        await route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>504 Gateway Time-out</h1>' });
      });
      await page.locator('form input[type=file]').setInputFiles(sized('trace.bin', 1_000));
      await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('list', { name: 'Attached files' }).getByText('v1').waitFor();
      const { files } = await dana.ok('listFiles', { params: { board } });
      expect(files.map(({ name, latest }) => [name, latest.version])).to.deep.equal([['trace.bin', 1]]);
      await close();
    });

    it('uploads one file after the other, so that none waits for a connection', async () => {
      const { page, tab, close } = await visit(server, dana, '/');
      await page.context().addInitScript(countUploads);
      const here = await tab(`/?board=${board}`);
      const names = Array.from({ length: 5 }, (_, n) => `part-${n}.bin`);
      await here.locator('form input[type=file]').setInputFiles(names.map((name) => sized(name, 100_000)));
      const attached = here.getByRole('list', { name: 'Attached files' });
      await attached.getByText(names.at(-1)!).waitFor();
      expect(await attached.locator('.mono').allTextContents()).to.deep.equal(names);
      expect(await here.evaluate(() => (globalThis as { mostUploads?: number }).mostUploads)).to.equal(1);
      await close();
    });

    it('says how many files it leaves out of a message', async () => {
      const { page, close } = await open();
      const many = Array.from({ length: 10 }, (_, n) => ({
        name: `${n}.txt`,
        mimeType: 'text/plain',
        buffer: Buffer.from(`${n}`),
      }));
      await page.locator('form input[type=file]').setInputFiles(many);
      await page.getByText('A message carries 8 files: 2 were left out.').waitFor();
      await page.getByRole('list', { name: 'Attached files' }).getByText('7.txt').waitFor();
      await close();
    });

    it('asks what to do with a name that the board has, and takes dropped and pasted files', async () => {
      await put(maya, board, 'notes.txt', 'first');
      const { page, close } = await open();
      await page.evaluate(() => {
        const field = document.querySelector('textarea')!;
        const give = (name: string, type: string): DataTransfer => {
          const data = new DataTransfer();
          data.items.add(new File(['second'], name, { type }));
          return data;
        };
        field.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: give('notes.txt', 'text/plain') }));
        const clipboardData = give('image.png', 'image/png');
        field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }));
      });
      const attached = page.getByRole('list', { name: 'Attached files' });
      await attached.getByText(/^pasted-\d{8}-\d{6}\.png$/).waitFor();
      await page.getByRole('button', { name: 'Add as v2' }).click();
      await attached.getByText('v2').waitFor();
      await page.getByRole('button', { name: /^Do not attach pasted/ }).click();
      await expectAccessible(page, 'attached');
      await boxOf(page).fill('See the notes');
      await page.keyboard.press('Control+Enter');
      const { files } = await posted(1);
      expect(files.map(({ name, version }) => [name, version])).to.deep.equal([['notes.txt', 2]]);
      await close();
    });
  });

  it('gives way on an archived board to who can restore it', async () => {
    await dana.ok('archiveBoard', { params: { board } });
    const hers = await visit(server, maya, `/?board=${board}`);
    await hers.page.getByText('This board is archived. Reading works. dana can restore it.').waitFor();
    expect(await boxOf(hers.page).count()).to.equal(0);
    expect(await hers.page.getByRole('button', { name: 'Restore' }).count()).to.equal(0);
    await hers.close();
    const his = await visit(server, dana, `/?board=${board}`);
    await his.page.getByRole('button', { name: 'Restore' }).click();
    await boxOf(his.page).waitFor();
    await his.close();
  });

  it('keeps what was not posted, and what was begun, where the board is archived meanwhile', async () => {
    const { page, context, close } = await open();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.route('**/messages', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await boxOf(page).fill('Not lost');
    await page.keyboard.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'dana, not posted' });
    await failed.waitFor();
    await boxOf(page).fill('Nor this');
    await dana.ok('archiveBoard', { params: { board } });
    await page.getByText('This board is archived.').waitFor();
    await failed.getByText('Not lost').waitFor();
    await failed.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied your message').waitFor();
    expect(await copied()).to.equal('Not lost');
    expect(await failed.getByRole('button', { name: 'Edit' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Copy your draft' }).click();
    await page.getByText('Copied your draft').waitFor();
    expect(await copied()).to.equal('Nor this');
    await failed.getByRole('button', { name: 'Discard' }).click();
    await failed.waitFor({ state: 'detached' });
    await close();
  });

  it('offers a person who is not on an open board to join it', async () => {
    const ravi = await server.person(`ravi-${board}`);
    const { page, close } = await visit(server, ravi, `/?board=${board}`);
    await page.getByRole('button', { name: `Join ${board}` }).click();
    await boxOf(page).fill('Hello all');
    await page.keyboard.press('Control+Enter');
    expect((await posted(1)).from.name).to.equal(`ravi-${board}`);
    await close();
  });
});

/** Runs in the page before it: keeps in `mostUploads` how many uploads were on their way at a time at most. */
function countUploads(): void {
  const world = globalThis as typeof globalThis & { mostUploads?: number };
  let running = 0;
  const { send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.send = function (body) {
    running++;
    world.mostUploads = Math.max(world.mostUploads ?? 0, running);
    this.addEventListener('loadend', () => running--);
    send.call(this, body);
  };
}
