/** Where a conversation is read stays in view when the window changes, and comes back with the browser's history. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Board } from '../../src/contract/types.ts';
import type { Api } from '../support/api.ts';
import { newBoardWith, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

before(browser);
after(closeBrowser);

/** A window as wide as the side column needs, and a phone held upright and sideways. */
const WIDE = { width: 1280, height: 800 };
const UPRIGHT = { width: 360, height: 740 };
const SIDEWAYS = { width: 740, height: 360 };

const conversation = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });
const article = (page: Page, n: number): Locator => conversation(page).locator('article', { hasText: `Message ${n}.` });
/** How far an article begins below the top of the conversation's view, and how high it is, in pixels. */
const placeOf = (locator: Locator): Promise<{ top: number; height: number }> =>
  locator.evaluate((element) => {
    const { top, height } = element.getBoundingClientRect();
    return { top: top - element.closest('.tl')!.getBoundingClientRect().top, height };
  });
const leftBelow = (page: Page): Promise<number> =>
  conversation(page).evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);

/** Gives the window another size, and waits until the page has that. */
async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate(async ({ width, height }) => {
    while (innerWidth !== width || innerHeight !== height) await new Promise(requestAnimationFrame);
    // What watches the size is told of it within the frame.
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  }, size);
}

describe('the place at which a conversation is read', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  let board: Board;
  let last: number;
  before(async () => {
    server = await startPageServer();
    [dana, maya] = [await server.person('dana'), await server.person('maya')];
    board = await newBoardWith(dana, ['maya']);
    for (let n = 1; n <= 45; n++)
      last = (await post(maya, board.name, `Message ${n}. ${'The wind turns the mill. '.repeat((n * 7) % 23)}`)).seq;
    await dana.ok('ackBoard', { params: { board: board.name }, body: { up_to: last } });
  });
  after(() => server.stop());

  async function open(size: { width: number; height: number }, at = '') {
    const visited = await visit(server, dana, `/?board=${board.name}${at}`, { viewport: size });
    await article(visited.page, 45).waitFor();
    await visited.page.getByRole('textbox', { name: 'Message' }).waitFor();
    if (at !== '') return visited;
    await until(async () => (await leftBelow(visited.page)) < 2, 'it shows the end');
    return visited;
  }
  /** Scrolls so that an article begins that far below the top of the view. */
  async function scrollTo(page: Page, n: number, below: number): Promise<void> {
    await article(page, n).evaluate((element, by) => {
      const view = element.closest('.tl')!;
      view.scrollTop += element.getBoundingClientRect().top - view.getBoundingClientRect().top - by;
    }, below);
    await page.getByRole('button', { name: 'Newest' }).waitFor({ state: 'attached' });
  }

  for (const [from, to, what] of [
    [WIDE, UPRIGHT, 'a wide window becomes narrow'],
    [UPRIGHT, WIDE, 'a narrow window becomes wide'],
    [UPRIGHT, SIDEWAYS, 'a phone is turned'],
  ] as const) {
    it(`stays where ${what}, and where it is as before`, async () => {
      const { page, close } = await open(from);
      await scrollTo(page, 20, 3);
      const before = await placeOf(article(page, 20));
      for (const size of [to, from, to, from]) {
        await resize(page, size);
        const now = await placeOf(article(page, 20));
        expect(now.top, `at ${size.width}`).to.be.closeTo(before.top, 1.5);
      }
      await close();
    });

    it(`stays at the end where ${what}, and where it is as before`, async () => {
      const { page, close } = await open(from);
      for (const size of [to, from]) {
        await resize(page, size);
        expect(await leftBelow(page), `at ${size.width}`).to.be.below(2);
      }
      await close();
    });
  }

  it('stays within a message that is longer than the window', async () => {
    const { page, close } = await open(UPRIGHT);
    // 22 sentences.
    const { height } = await placeOf(article(page, 13));
    await scrollTo(page, 13, -height / 2);
    for (const size of [WIDE, UPRIGHT]) {
      await resize(page, size);
      const now = await placeOf(article(page, 13));
      expect(-now.top / now.height, `at ${size.width}`).to.be.closeTo(0.5, 0.02);
    }
    await close();
  });

  it('stays where the page opened', async () => {
    const { page, close } = await open(WIDE, `&message=${last - 25}`);
    const before = await placeOf(article(page, 20));
    expect(before.top).to.be.within(0, 200);
    await resize(page, UPRIGHT);
    await resize(page, WIDE);
    expect((await placeOf(article(page, 20))).top).to.be.closeTo(before.top, 1.5);
    await close();
  });

  it('comes back from a wide window that shows the end with it', async () => {
    const { page, close } = await open(UPRIGHT);
    await scrollTo(page, 42, 0);
    const before = await placeOf(article(page, 42));
    await resize(page, WIDE);
    expect(await leftBelow(page)).to.be.below(2);
    await resize(page, UPRIGHT);
    expect((await placeOf(article(page, 42))).top).to.be.closeTo(before.top, 1.5);
    await close();
  });

  /** Waits until an article begins where it did. */
  const isAgainAt = (page: Page, n: number, top: number): Promise<void> =>
    until(async () => {
      const all = await article(page, n).all();
      return all[0] !== undefined && Math.abs((await placeOf(all[0])).top - top) < 1.5;
    }, 'it is where it was');

  /** Follows a link to a message, as other messages and search results have them. */
  const follow = (page: Page, n: number): Promise<void> =>
    page.evaluate(
      (href) => {
        const link = Object.assign(document.createElement('a'), { href });
        document.body.append(link);
        link.click();
        link.remove();
      },
      `/?board=${board.name}&message=${last - 45 + n}`,
    );

  it('comes back where the browser goes back from another message of the board, and forward to it', async () => {
    const { page, close } = await open(WIDE);
    await scrollTo(page, 20, 10);
    await follow(page, 30);
    await isAgainAt(page, 30, 96);
    await scrollTo(page, 5, 30);
    await page.goBack();
    await isAgainAt(page, 20, 10);
    await page.goForward();
    await isAgainAt(page, 5, 30);
    await close();
  });

  it('comes back at the end where the browser goes back from a message above it', async () => {
    const { page, close } = await open(WIDE);
    await follow(page, 20);
    await isAgainAt(page, 20, 96);
    await page.goBack();
    await until(async () => (await leftBelow(page)) < 2, 'it shows the end');
    await close();
  });

  it('comes back at the end, which was left, not at the message that the address names', async () => {
    const { page, close } = await open(WIDE, `&message=${last - 25}`);
    await isAgainAt(page, 20, 96);
    await page.keyboard.press('End');
    await until(async () => (await leftBelow(page)) < 2, 'it shows the end');
    await page.getByRole('link', { name: 'All boards' }).first().click();
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    await page.goBack();
    await article(page, 45).waitFor();
    await until(async () => (await leftBelow(page)) < 2, 'it shows the end again');
    await close();
  });

  it('is the message that the address names where the conversation was left before it opened', async () => {
    const { page, close } = await visit(server, dana, '/', { viewport: WIDE });
    const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(
      '**/messages?*',
      async (route) => {
        asked.resolve();
        await left.promise;
        return route.continue();
      },
      { times: 2 },
    );
    await follow(page, 20);
    await asked.promise;
    await page.goBack();
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    left.resolve();
    await page.goForward();
    await isAgainAt(page, 20, 96);
    await close();
  });

  it('comes back where the browser leaves and comes to a board by its history only', async () => {
    const { page, close } = await open(WIDE);
    await page.getByRole('link', { name: 'All boards' }).first().click();
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    await page.goBack();
    await article(page, 45).waitFor();
    await scrollTo(page, 20, 10);
    await page.goForward();
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    await page.goBack();
    await isAgainAt(page, 20, 10);
    await close();
  });
});
