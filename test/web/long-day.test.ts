/** The page while much happens: what it does for each message, and what it keeps, do not grow with the day. Counted, never timed. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import { newBoard, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { closeBrowser } from './support/browser.ts';
import { fillBoard } from './support/long-board.ts';
import { startPageServer } from './support/server.ts';
import { streamsInPage } from './support/streams.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

const said = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });

describe('the page on a long day', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  let board: string;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana');
    maya = await server.person('maya');
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoard(dana)).name;
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'maya' } });
  });

  it('renders only what a new message changes', async () => {
    await fillBoard(server, dana, 'dana', board, 60);
    const { page, tab, close } = await visit(server, maya, '/');
    await page.context().addInitScript(countTimes);
    const open = await tab(`/?board=${board}`);
    await said(open, 'Message 60').waitFor();
    await open.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await open.getByRole('textbox', { name: 'Message' }).waitFor();
    await open.evaluate(() => Object.assign(globalThis, { times: 0 }));
    for (const text of ['News one', 'News two', 'News three']) {
      await post(dana, board, text);
      await said(open, text).waitFor();
    }
    // Every rendered message formats its time at least once: three messages, and what stands beside them.
    expect(await open.evaluate(() => (globalThis as { times?: number }).times)).to.be.within(3, 40);
    await close();
  });

  for (const [where, pathOf, asked] of [
    ['what needs the person', () => `/?board=${board}`, '/v1/asks?can_answer'],
    ['the events of all boards', () => '/everything', '/events?after='],
  ] as const)
    it(`reads ${where} at most once a second while messages keep coming`, async () => {
      const { page, tab, close } = await visit(server, maya, '/');
      await page.context().addInitScript(streamsInPage);
      const open = await tab(pathOf());
      await open.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
      await open.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
      await open.clock.install();
      await open.clock.pauseAt(Date.now() + 60_000);
      await open.clock.runFor(2_000);
      let count = 0;
      open.on('request', (request) => {
        if (request.url().includes(asked)) count++;
      });
      let before = 0;
      for (let n = 1; n <= 15; n++) {
        before = count;
        const { seq } = await post(dana, board, `News ${n}`);
        const hint = `"seq":${seq}`;
        await until(
          () => open.evaluate((text) => !!(globalThis as { streamed?: string }).streamed?.includes(text), hint),
          `the hint of ${seq}`,
        );
        await open.clock.runFor(200);
      }
      expect(count).to.be.at.most(5);
      await open.clock.runFor(1_000);
      await until(() => count > before, 'what changed last is read');
      await close();
    });

  it('has a bounded number of messages in the document, and what is read in its place, while threads begin', async () => {
    await fillBoard(server, dana, 'dana', board, 30);
    const { page, close } = await visit(server, maya, `/?board=${board}`);
    await said(page, 'Message 30').waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await page.keyboard.press('End');
    const last = await fillBoard(server, dana, 'dana', board, 365);
    await said(page, 'Message 365').waitFor();
    const replyTo = async (seqs: number[]) => {
      for (const seq of seqs) {
        const { message } = await dana.ok('getMessageBySeq', { params: { board, seq } });
        await post(dana, board, `Reply to ${seq}`, { reply_to: message.id, to: ['all'] });
      }
      // Messages are dropped last once the replies of those that are left are there.
      await page.waitForFunction((roots) => {
        const isThere = (selector: string): boolean => document.querySelector(selector) !== null;
        const { length } = document.querySelectorAll('.tl article');
        const isRead = roots.every((seq) => !isThere(`#m${seq}`) || isThere(`#t${seq} article`));
        return isRead && length > 300 && length <= 400;
      }, seqs);
    };
    await replyTo(Array.from({ length: 20 }, (_, n) => last - n));
    // In the middle, it is the farther end that goes.
    const read = said(page, 'Message 200').first();
    await read.evaluate((element) => element.scrollIntoView());
    await page.getByRole('button', { name: /Newest| new$/ }).waitFor();
    const top = async () => Math.round((await read.boundingBox())!.y);
    const before = await top();
    await replyTo(Array.from({ length: 40 }, (_, n) => last - 300 + n));
    // The browser rounds where it scrolls to.
    expect(await top()).to.be.closeTo(before, 1);
    await close();
  });

  it('shows a bounded part of the record while events keep coming', async () => {
    const { page, close } = await visit(server, maya, `/?board=${board}&tab=record`);
    const rows = page.locator('table.log tbody tr');
    await rows.first().waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const last = await fillBoard(server, dana, 'dana', board, 300);
    await page.locator(`[data-seq="${last}"]`).waitFor();
    expect(await rows.count()).to.be.at.most(200);
    await close();
  });
});

/** Runs in the page before it: counts in `times` how often a time is formatted. */
function countTimes(): void {
  const world = globalThis as typeof globalThis & { times?: number };
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format')!;
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    ...format,
    get() {
      world.times = (world.times ?? 0) + 1;
      return format.get!.call(this);
    },
  });
}
