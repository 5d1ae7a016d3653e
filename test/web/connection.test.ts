/** The page on a network that is dead or silent for a while: what was asked and written meanwhile is done once it is back. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { Api } from '../support/api.ts';
import { newAgent, newBoard, newBoardWith, post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { closeBrowser } from './support/browser.ts';
import { fillBoard } from './support/long-board.ts';
import { startPageServer } from './support/server.ts';
import { type Visit, visit } from './support/visit.ts';

after(closeBrowser);

const boxOf = (page: Page) => page.getByRole('textbox', { name: 'Message' });
/** Answers that a file of the page is missing until the page is loaded again; the browser may ask for it several times. */
async function missingUntilReload(context: BrowserContext, file: string): Promise<void> {
  let pages = 0;
  context.on('request', (request) => {
    if (request.isNavigationRequest()) pages++;
  });
  await context.route(`**/assets/${file}`, (route) => (pages > 1 ? route.continue() : route.fulfill({ status: 404 })));
}
const notPosted = (page: Page) => page.getByRole('article', { name: 'dana, not posted' });

describe('the page on a bad network', () => {
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

  /** Opens an address through the proxy, with live streams, and a clock that can be moved. */
  async function open(path = `/?board=${board}`): Promise<Visit> {
    const visited = await visit(proxy, new Api(proxy.url, dana.token), path);
    await visited.page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await visited.page.clock.install();
    return visited;
  }
  const messages = async () => (await dana.ok('listMessages', { params: { board } })).messages.map(({ body }) => body);
  const posted = (count: number) => until(async () => (await messages()).length >= count, `${count} messages`);
  const posts = () => `POST /v1/boards/${board}/messages`;

  async function write(page: Page, lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      await boxOf(page).fill(line);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('article').getByText(line).first().waitFor();
    }
  }

  /** Lets both requests of the first of these messages go unanswered until the page gives them up. */
  async function loseFirstOf(page: Page, lines: readonly string[]): Promise<void> {
    proxy.fail(posts(), 'hold', 2);
    await page.clock.pauseAt(Date.now() + 60_000);
    await write(page, lines);
    await until(() => proxy.held === 1, 'the first request');
    await page.clock.fastForward(16_000);
    await until(async () => {
      if (proxy.held < 2) await page.clock.runFor(100);
      return proxy.held === 2;
    }, 'the second request');
    await page.clock.fastForward(16_000);
    await notPosted(page)
      .nth(lines.length - 1)
      .waitFor();
    expect(proxy.count(posts())).to.equal(2);
  }

  /** Cuts the streams, and loses the answers to posts until the function that it returns is called. */
  async function loseAnswers(page: Page): Promise<() => void> {
    let losing = true;
    proxy.fail('GET /v1/stream', 'reset');
    proxy.fail(({ method, path }) => losing && `${method} ${path}` === posts(), 'drop_answer');
    proxy.cutStreams();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'reconnecting');
    return () => {
      losing = false;
    };
  }

  it('reads again what hangs when the connection is back', async () => {
    await put(dana, board, 'wait.ts', 'export {};\n');
    const { page, close } = await open(`/?board=${board}&tab=people`);
    proxy.fail(`GET /v1/boards/${board}/files`, 'hold', 1);
    await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Files' }).click();
    await until(() => proxy.held === 1, 'a read that hangs');
    proxy.cutStreams();
    await page.getByRole('link', { name: /wait\.ts/ }).waitFor();
    await close();
  });

  for (const missing of ['index-*.js', 'page-*.js', 'index-*.css'])
    it(`comes up by itself where a server that was being replaced did not have its ${missing}`, async () => {
      const { context, tab, close } = await visit(server, dana);
      await missingUntilReload(context, missing);
      const page = await tab(`/?board=${board}`);
      await page.waitForFunction(() => performance.getEntriesByType('navigation')[0]?.toJSON().type === 'reload');
      await boxOf(page).waitFor();
      await close();
    });

  it('is loaded again for a file that was missing only once the server answers', async () => {
    proxy.fail('GET /assets/index-', { status: 404 }, 2);
    proxy.fail(({ path }) => proxy.broken > 1 && /^\/(\?|$)/.test(path), 'reset');
    const { page, close } = await visit(proxy, new Api(proxy.url, dana.token), `/?board=${board}`);
    await until(() => proxy.count('HEAD /') > 1, 'it has asked for the server twice');
    proxy.heal();
    await boxOf(page).waitFor();
    await close();
  });

  for (const missing of ['index-*.css', 'sign-in-*.js'])
    it(`keeps the code of a sign-in link where a server did not have its ${missing}`, async () => {
      const { code } = await dana.ok('createLoginCode');
      const { context, tab, close } = await visit(server, null);
      await missingUntilReload(context, missing);
      const page = await tab(`/?board=${board}#code=${code}`);
      await page.waitForFunction(() => performance.getEntriesByType('navigation')[0]?.toJSON().type === 'reload');
      await page.getByRole('button', { name: 'Sign in as dana' }).click();
      await boxOf(page).waitFor();
      expect(page.url()).to.equal(`${server.url}/?board=${board}`);
      await close();
    });

  it('is live where the server did not have the code that tabs share', async () => {
    proxy.fail('GET /assets/worker-', { status: 404 });
    const { close } = await open();
    expect(proxy.broken).to.equal(1);
    await close();
  });

  it('says of what time presence is, and decides nothing by a key, without a connection', async () => {
    const claude = await newAgent(dana, board);
    await claude.ok('setPresence', { body: { presence: 'working' } });
    await put(dana, board, 'plan.md', '1\n');
    const { page, close } = await open();
    const side = page.getByRole('complementary', { name: 'Around the conversation' });
    await side.getByText('working').waitFor();
    const hint = page.getByRole('form', { name: 'New message' }).locator('.hint');
    await hint.getByText(`Wakes ${claude.name}`).waitFor();
    const lose = async (): Promise<void> => {
      proxy.fail('GET /v1/stream', 'reset');
      proxy.cutStreams();
      await page.waitForFunction(() => document.documentElement.dataset['link'] === 'reconnecting');
      await page.clock.fastForward(2_000);
    };
    await lose();
    await side.getByText(/^In the room at \d\d:\d\d/).waitFor();
    await boxOf(page).fill('In the middle of');
    await hint.getByText('Draft kept', { exact: true }).waitFor();
    const tabs = page.getByRole('navigation', { name: 'Board', exact: true });
    await tabs.getByRole('link', { name: 'People' }).click();
    await page.getByText(/^1 person and 1 agent at \d\d:\d\d\. /).waitFor();
    await tabs.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('link', { name: /plan\.md/ }).click();
    await page.getByRole('button', { name: 'Approve v1' }).waitFor();
    await page.keyboard.press('a');
    await page.evaluate(() => fetch('/v1/me'));
    expect(proxy.seen.filter(({ method, path }) => method === 'PUT' && path.endsWith('/approval'))).to.deep.equal([]);
    proxy.heal();
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await page.keyboard.press('a');
    await page.getByText('You approved v1.').waitFor();
    await tabs.getByRole('link', { name: 'Talk' }).click();
    await side.getByText(/^In the room\d* with you$/).waitFor();
    await hint.getByText(`Wakes ${claude.name}`).waitFor();
    await close();
  });

  it('says what was read once more when the connection is back', async () => {
    const claude = await newAgent(dana, board);
    const { page, close } = await open();
    const acks = `POST /v1/boards/${board}/ack`;
    proxy.fail(acks, { status: 503 }, 5);
    await post(claude, board, 'Read in the tunnel');
    await page.getByRole('article').getByText('Read in the tunnel').waitFor();
    await until(async () => {
      await page.clock.runFor(1_000);
      return proxy.count(acks) === 5;
    }, 'the page gives it up');
    expect((await dana.ok('getBoard', { params: { board } })).unread).to.equal(1);
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await until(async () => (await dana.ok('getBoard', { params: { board } })).unread === 0, 'it is read');
    await close();
  });

  it('says what was read just before its page was left, also where no connection was free', async () => {
    const claude = await newAgent(dana, board);
    const { page, close } = await open();
    await page.clock.pauseAt(Date.now() + 60_000);
    await post(claude, board, 'Seen and gone');
    await page.getByRole('article').getByText('Seen and gone').waitFor();
    await page.getByRole('button', { name: 'View of the conversation' }).click();
    proxy.fail('GET /v1/info', 'hold');
    // A browser has six, of which the streams take two.
    await page.evaluate(() => {
      for (let n = 0; n < 6; n++) void fetch('/v1/info', { cache: 'no-store' }).catch(() => {});
    });
    await until(() => proxy.held === 4, 'no connection is free');
    const seen = page.getByRole('menuitem', { name: 'Mark all as read', disabled: true });
    await until(async () => {
      await page.clock.runFor(100);
      return (await seen.count()) > 0;
    }, 'it is seen');
    await page.goto('about:blank');
    await until(async () => (await dana.ok('getBoard', { params: { board } })).unread === 0, 'it is read');
    await close();
  });

  it('reads a proposal, the allowance and the news again when the connection is back', async () => {
    const maya = await server.person(`maya-${board}`);
    const shared = await newBoardWith(maya, ['dana']);
    const agent = await newAgent(maya, shared.name);
    const { id } = await maya.ok('createPairingRequest', {
      body: { board_id: shared.id, recipient_id: dana.personId, initiating_agent_id: agent.memberId, work: 'Help' },
    });
    const { page: proposal, tab, close } = await open(`/inbox/pairings/${id}`);
    await proposal.getByRole('button', { name: 'Decline' }).waitFor();
    const [allowance, home] = [await tab('/settings/allowance'), await tab('/')];
    await allowance.getByText('It was never changed').waitFor();
    await home.getByText(`Added you to ${shared.name}`).waitFor();
    proxy.fail('GET /v1/stream', 'reset');
    proxy.cutStreams();
    for (const page of [proposal, allowance, home])
      await page.waitForFunction(() => document.documentElement.dataset['link'] === 'reconnecting');
    await maya.ok('cancelPairing', { params: { pairing: id } });
    await dana.ok('setAllowance', { body: { categories: ['add_people'] } });
    const later = await newBoardWith(maya, ['dana']);
    proxy.heal();
    await proposal.getByText('Cancelled.').waitFor();
    await allowance.getByRole('checkbox', { name: /Add people/, checked: true }).waitFor();
    await home.getByText(`Added you to ${later.name}`).waitFor();
    await close();
  });

  it('searches again for what could not be found when the connection is back', async () => {
    await post(dana, board, 'A lone dotterel');
    proxy.fail('GET /v1/search', { status: 400, code: 'invalid_request' }, 1);
    const { page, close } = await open('/search?q=dotterel');
    await page.getByRole('alert').getByText('The proxy says so.').waitFor();
    proxy.cutStreams();
    await page.getByRole('list', { name: 'Results' }).getByText('A lone').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    await close();
  });

  it('says of all posts behind a lost one that there is no connection, and posts them in order once there is one', async () => {
    const { page, close } = await open();
    const lines = ['First', 'Second', 'Third'];
    await loseFirstOf(page, lines);
    await page.getByText('It is posted once there is a connection.').nth(2).waitFor();
    proxy.cutStreams();
    await posted(3);
    await notPosted(page).first().waitFor({ state: 'detached' });
    expect(await messages()).to.deep.equal(lines);
    await close();
  });

  it('does not post a message that another tab failed to post meanwhile', async () => {
    const { page, close } = await open();
    proxy.fail(posts(), { status: 403, code: 'forbidden' }, 1);
    await write(page, ['Once']);
    await notPosted(page).waitFor();
    // What another tab does: it holds the lock of the message, and stores that its own try failed.
    await page.evaluate(async () => {
      const [name, list] = Object.entries(localStorage).find(([each]) => each.startsWith('unsent:')) as [
        string,
        string,
      ];
      const [item] = JSON.parse(list);
      const failed = {
        ...item,
        waits: false,
        unclear: true,
        problem: { code: 'x', message: 'Tried elsewhere.', hint: '' },
      };
      const { promise, resolve } = Promise.withResolvers<void>();
      await new Promise<void>((held) => {
        void navigator.locks.request(item.id, () => {
          held();
          return promise;
        });
      });
      addEventListener('failed-elsewhere', () => {
        localStorage.setItem(name, JSON.stringify([failed]));
        resolve();
      });
    });
    await notPosted(page).getByRole('button', { name: 'Try again' }).click();
    await notPosted(page).waitFor({ state: 'detached' });
    await page.evaluate(() => dispatchEvent(new Event('failed-elsewhere')));
    await notPosted(page).getByText('Tried elsewhere.').waitFor();
    expect(proxy.count(posts())).to.equal(1);
    await close();
  });

  it('posts what waits for a connection before what is written next', async () => {
    const { page, close } = await open();
    await loseFirstOf(page, ['First', 'Second']);
    await write(page, ['Third']);
    await posted(3);
    expect(await messages()).to.deep.equal(['First', 'Second', 'Third']);
    await close();
  });

  it('posts what waits for a connection also where its streams outlived the loss, but not what was discarded', async () => {
    const { page, close } = await open();
    await loseFirstOf(page, ['First', 'Second']);
    await notPosted(page).filter({ hasText: 'Second' }).getByRole('button', { name: 'Discard' }).click();
    await page.clock.fastForward(16_000);
    await posted(1);
    await notPosted(page).first().waitFor({ state: 'detached' });
    expect(await messages()).to.deep.equal(['First']);
    await close();
  });

  it('posts once what hangs when the connection is back', async () => {
    const { page, close } = await open();
    proxy.fail(posts(), 'hold', 1);
    await write(page, ['Only one']);
    await until(() => proxy.held === 1, 'a post that hangs');
    proxy.cutStreams();
    await posted(1);
    await page.getByRole('article', { name: 'dana, sending' }).waitFor({ state: 'detached' });
    expect(await messages()).to.deep.equal(['Only one']);
    await close();
  });

  it('posts once what a tab was sending as it was closed, from another that was open before', async () => {
    const { page, tab, close } = await open();
    const other = await tab();
    await boxOf(other).waitFor();
    proxy.fail(posts(), 'hold', 1);
    await write(page, ['Only one']);
    await until(() => proxy.held === 1, 'a post that hangs');
    expect(await other.getByText('Only one').count()).to.equal(0);
    await page.close();
    await other.getByRole('region', { name: 'Conversation' }).getByText('Only one').waitFor();
    await other.waitForFunction(() => document.querySelectorAll('.unsent article').length === 0);
    expect(await messages()).to.deep.equal(['Only one']);
    await close();
  });

  it('posts what waited without moving what the person reads meanwhile', async () => {
    await fillBoard(server, dana, 'dana', board, 60);
    const { page, close } = await open();
    const old = page.getByRole('article').filter({ hasText: 'Message 7' });
    // A read that is still on its way would be given up as the clock moves.
    await old.waitFor();
    await loseFirstOf(page, ['First']);
    await page.clock.resume();
    await old.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    const top = async () => Math.round((await old.boundingBox())?.y ?? Number.NaN);
    const before = await top();
    proxy.cutStreams();
    await notPosted(page).first().waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'dana, sending' }).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Conversation' }).getByText('First', { exact: true }).waitFor();
    expect(await top()).to.be.closeTo(before, 2);
    await close();
  });

  it('posts what waited once the person has signed in again, but for what may have been posted in the session before', async () => {
    const { page, close } = await open();
    await loseAnswers(page);
    await write(page, ['First']);
    await notPosted(page).waitFor();
    await write(page, ['Second']);
    await dana.ok('endAllBrowserSessions');
    proxy.heal();
    await page.getByLabel('Access key').waitFor();
    await page.getByLabel('Access key').fill(dana.token!);
    await page.getByLabel('Access key').press('Enter');
    await notPosted(page).filter({ hasText: 'Second' }).waitFor({ state: 'detached' });
    await posted(2);
    await notPosted(page).getByText('It is not known whether this was posted.').waitFor();
    expect(await messages()).to.deep.equal(['First', 'Second']);
    await close();
  });

  it('posts once what was posted and, tried again, refused for coming too fast', async () => {
    const { page, close } = await open();
    const heal = await loseAnswers(page);
    await write(page, ['First']);
    await notPosted(page).waitFor();
    heal();
    proxy.fail(posts(), { status: 429, code: 'rate_limited', retryAfter: 100 }, 1);
    const tryAgain = notPosted(page).getByRole('button', { name: 'Try again' });
    await tryAgain.click();
    await notPosted(page).getByText('The proxy says so.').waitFor();
    await tryAgain.click();
    await notPosted(page).first().waitFor({ state: 'detached' });
    expect(await messages()).to.deep.equal(['First']);
    await close();
  });

  it('says of what waited for a day that it may have been posted, and leaves it', async () => {
    const { page, close } = await open();
    await loseFirstOf(page, ['First']);
    await page.clock.fastForward('24:00:00');
    await page.getByText('It is not known whether this was posted.').waitFor();
    expect(await page.getByText('It is posted once there is a connection.').count()).to.equal(0);
    await close();
  });

  it('posts once what was posted, edited and then waited behind another message', async () => {
    const { page, close } = await open();
    const heal = await loseAnswers(page);
    await write(page, ['First']);
    await notPosted(page).first().waitFor();
    await write(page, ['Second']);
    await notPosted(page).filter({ hasText: 'First' }).getByRole('button', { name: 'Edit' }).click();
    await page.keyboard.press('Control+Enter');
    await notPosted(page).nth(1).waitFor();
    heal();
    await page.reload();
    await posted(2);
    await notPosted(page).first().waitFor({ state: 'detached' });
    expect(await messages()).to.deep.equal(['First', 'Second']);
    await close();
  });

  it('posts once what was posted, edited and then refused', async () => {
    const { page, close } = await open();
    const heal = await loseAnswers(page);
    await write(page, ['First']);
    await notPosted(page).getByRole('button', { name: 'Edit' }).click();
    heal();
    proxy.fail(posts(), { status: 403, code: 'forbidden' }, 1);
    await page.keyboard.press('Control+Enter');
    await notPosted(page).getByText('The proxy says so.').waitFor();
    await notPosted(page).getByRole('button', { name: 'Try again' }).click();
    await notPosted(page).first().waitFor({ state: 'detached' });
    expect(await messages()).to.deep.equal(['First']);
    await close();
  });

  it('does not post what was edited and may have been posted in the session before', async () => {
    const { page, close } = await open();
    await loseAnswers(page);
    await write(page, ['First']);
    await notPosted(page).getByRole('button', { name: 'Edit' }).click();
    await dana.ok('endAllBrowserSessions');
    proxy.heal();
    await page.getByLabel('Access key').fill(dana.token!);
    await page.getByLabel('Access key').press('Enter');
    await boxOf(page).press('Control+Enter');
    await notPosted(page).getByText('It is not known whether this was posted.').waitFor();
    expect(await messages()).to.deep.equal(['First']);
    await notPosted(page).getByRole('button', { name: 'Edit' }).click();
    await page.keyboard.press('Control+Enter');
    await posted(2);
    await close();
  });

  it('posts what waits for a connection after a reload, in order, whatever is open', async () => {
    const { page, close } = await open();
    proxy.fail(posts(), { status: 503, body: 'No server' });
    const lines = ['First', 'Second'];
    await write(page, lines);
    await notPosted(page).nth(1).getByText('It is posted once there is a connection.').waitFor();
    await page.goto(`${proxy.url}/inbox`);
    await page.getByRole('heading', { name: 'Needs you', exact: true }).first().waitFor();
    proxy.heal();
    await page.reload();
    await posted(2);
    expect(await messages()).to.deep.equal(lines);
    await close();
  });

  for (const status of [502, 503, 504])
    it(`posts what a gateway answered with ${status} once it has a connection again`, async () => {
      const { page, close } = await open();
      proxy.fail(posts(), { status, body: 'No server' });
      await page.clock.pauseAt(Date.now() + 60_000);
      await write(page, ['First']);
      const waits = notPosted(page).getByText('It is posted once there is a connection.');
      await until(async () => {
        await page.clock.runFor(1_000);
        return (await waits.count()) > 0;
      }, 'it waits');
      proxy.heal();
      await page.clock.fastForward(16_000);
      await posted(1);
      await notPosted(page).waitFor({ state: 'detached' });
      expect(await messages()).to.deep.equal(['First']);
      await close();
    });

  it('leaves what waited for a day before a reload to the person', async () => {
    const { page, close } = await open();
    proxy.fail(posts(), 'reset');
    await write(page, ['First', 'Second']);
    await notPosted(page).nth(1).getByText('It is posted once there is a connection.').waitFor();
    await page.evaluate(() => {
      for (const [name, list] of Object.entries(localStorage))
        if (name.startsWith('unsent:'))
          localStorage.setItem(name, String(list).replaceAll(/"at":"[^"]+"/g, '"at":"2020-01-01T00:00:00.000Z"'));
    });
    await page.reload();
    const second = notPosted(page).filter({ hasText: 'Second' });
    const tryAgain = second.getByRole('button', { name: 'Try again' });
    await notPosted(page).filter({ hasText: 'First' }).getByText('It is not known whether this was posted.').waitFor();
    await tryAgain.click();
    // What was never sent has a new key, which the server knows for a day.
    await second.getByText('It is posted once there is a connection.').waitFor();
    proxy.heal();
    await tryAgain.click();
    await second.waitFor({ state: 'detached' });
    // While it is sent it is not called unposted either.
    await posted(1);
    expect(await messages()).to.deep.equal(['Second']);
    await close();
  });

  /** Asks a question that goes with an option in 15 minutes. */
  async function ask(page: Page): Promise<void> {
    await boxOf(page).fill('How long?');
    await page.getByRole('button', { name: 'Ask a question with options' }).click();
    await page.getByLabel('Ask', { exact: true }).selectOption('claude');
    await page.getByLabel('Option 1').fill('30 s');
    await page.getByLabel('Until it is answered').selectOption('You go with 30 s');
    await page.getByLabel('When').selectOption('in 15 min');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await notPosted(page).getByText('It is posted once there is a connection.').waitFor();
  }

  /** Changes what the browser keeps of messages that are not posted. */
  const changeKept = (page: Page, before: RegExp, after: string) =>
    page.evaluate(
      ([pattern, text]) => {
        for (const [name, list] of Object.entries(localStorage))
          if (name.startsWith('unsent:')) localStorage.setItem(name, String(list).replace(new RegExp(pattern), text));
      },
      [before.source, after] as const,
    );
  const questions = async () =>
    (await dana.ok('listMessages', { params: { board } })).messages.flatMap((message) => message.ask ?? []);

  it('gives who is asked the chosen time, however long the question waited for a connection', async () => {
    await newAgent(dana, board, { name: 'claude' });
    const { page, close } = await open();
    proxy.fail(posts(), 'reset');
    await ask(page);
    await changeKept(page, /"going_at":"[^"]+"/, '"going_at":"2020-01-01T00:00:00.000Z"');
    proxy.heal();
    await page.reload();
    await posted(1);
    const [question] = await questions();
    expect(question?.state).to.equal('open');
    const left = Date.parse(question?.going_at ?? '') - Date.now();
    expect(left / 60_000).to.be.within(13, 15.5);
    await close();
  });

  it('asks once what it asked with an answer that was lost and half of its time ago, also twice', async () => {
    await newAgent(dana, board, { name: 'claude' });
    const { page, close } = await open();
    await loseAnswers(page);
    await ask(page);
    const asked = await questions();
    await changeKept(page, /"minutes":15/, '"minutes":60');
    proxy.heal();
    let lost = 0;
    proxy.fail(({ method, path }) => `${method} ${path}` === posts() && ++lost > 0, 'reset');
    await page.reload();
    await until(() => lost > 0, 'the second question');
    await page.waitForFunction(() => JSON.stringify(localStorage).includes('\\"state\\":\\"failed\\"'));
    await changeKept(page, /"minutes":60/, '"minutes":240');
    proxy.heal();
    await page.reload();
    await notPosted(page).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Conversation' }).getByText('How long?').waitFor();
    await page.getByRole('article', { name: /sending|not posted/ }).waitFor({ state: 'detached' });
    expect(await questions()).to.deep.equal(asked);
    await close();
  });

  it('shows once what was posted while another screen was open', async () => {
    const { page, close } = await open();
    proxy.fail(posts(), 'hold', 1);
    await write(page, ['On its way']);
    await until(() => proxy.held === 1, 'a post that hangs');
    await page
      .getByRole('link', { name: /^Needs you/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
    proxy.release();
    await posted(1);
    await page.goBack();
    await page.getByRole('region', { name: 'Conversation' }).getByText('On its way').waitFor();
    await until(
      async () => (await page.getByRole('article').filter({ hasText: 'On its way' }).count()) === 1,
      'it is shown once',
    );
    await close();
  });

  const trace = { name: 'trace.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_000_000) };

  it('gives what was uploaded more than a minute to arrive and be stored', async () => {
    const { page, close } = await open();
    proxy.fail(`POST /v1/boards/${board}/files`, 'hold', 1);
    await page.locator('form input[type=file]').setInputFiles(trace);
    await page.getByText('being stored').waitFor();
    await until(() => proxy.held === 1, 'an upload that nobody takes');
    await page.clock.fastForward(70_000);
    proxy.release();
    await page.getByRole('list', { name: 'Attached files' }).getByText('v1').waitFor();
    await close();
  });

  it('ends an upload of which nothing moves any more, and sends it again', async () => {
    const { page, close } = await open();
    proxy.fail(`POST /v1/boards/${board}/files`, 'hold', 1);
    await page.locator('form input[type=file]').setInputFiles(trace);
    await until(() => proxy.held === 1, 'an upload that nobody takes');
    const ended = page.getByRole('alert').getByText('No connection to the server.');
    await until(async () => {
      await page.clock.fastForward(60_000);
      return (await ended.count()) > 0;
    }, 'the end of the upload');
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('list', { name: 'Attached files' }).getByText('v1').waitFor();
    const { files } = await dana.ok('listFiles', { params: { board } });
    expect(files.map(({ name, latest }) => [name, latest.version])).to.deep.equal([['trace.bin', 1]]);
    await close();
  });
});
