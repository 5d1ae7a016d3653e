/** What a reader of the screen hears while somebody is in a conversation. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { type Visit, visit } from './support/visit.ts';

before(browser);
after(closeBrowser);

const said = (page: Page) => page.getByTestId('said');
const atOnce = (page: Page) => page.getByTestId('said-at-once');

/** Collects every text that a live region gets from now on, also one that was there before. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(globalThis, { heard });
    new MutationObserver((changes) => {
      for (const node of changes.flatMap(({ addedNodes, target, type }) =>
        type === 'characterData' ? [target] : [...addedNodes],
      ))
        if ((node instanceof Element ? node : node.parentElement)?.closest('[aria-live], [role=status], [role=alert]'))
          heard.push(node.textContent ?? '');
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
}

describe('what is said to readers of the screen', () => {
  let server: TestServer;
  let dana: Api;
  let claude: Agent;
  let board: string;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana');
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoard(dana)).name;
    claude = await newAgent(dana, board, { name: 'claude' });
    await post(claude, board, 'The first message');
  });

  const open = async (): Promise<Visit> => {
    const visited = await visit(server, dana, `/?board=${board}`);
    await visited.page.getByRole('article').filter({ hasText: 'The first message' }).waitFor();
    await visited.page.getByRole('textbox', { name: 'Message' }).waitFor();
    return visited;
  };

  it('new messages: how many and whether one asks them, at most every five seconds; urgent ones at once', async () => {
    const { page, close } = await open();
    const heard = await listen(page);
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    // Timers that are due run; otherwise no time passes.
    const hears = (text: string, times: number) =>
      until(async () => {
        await page.clock.runFor(1);
        return (await heard()).filter((one) => one === text).length === times;
      }, `${text} is said`);
    await post(claude, board, 'One');
    await hears('1 new', 1);
    await post(claude, board, 'Two');
    await post(claude, board, 'How long?', { to: ['@dana'], ask: { options: ['30 s', '60 s'] } });
    await post(claude, board, 'It is **on fire**', { urgent: true });
    await atOnce(page).getByText('claude, urgent: It is on fire').waitFor();
    await page.clock.fastForward(4_000);
    expect(await heard()).to.deep.equal(['1 new', 'claude, urgent: It is on fire']);
    await page.clock.fastForward(1_500);
    await hears('2 new, one asks you', 1);
    // The same words again are said again.
    await page.clock.fastForward(6_000);
    await post(claude, board, 'Another');
    await hears('1 new', 2);
    await page.clock.fastForward(6_000);
    await post(claude, board, 'Yet another');
    await hears('1 new', 3);
    expect((await heard()).slice(2)).to.deep.equal(['2 new, one asks you', '1 new', '1 new']);
    await close();
  });

  it('new messages, also once the clock was set back', async () => {
    const { page, close } = await open();
    await page.clock.install();
    await post(claude, board, 'One');
    await said(page).getByText('1 new', { exact: true }).waitFor();
    await page.clock.setSystemTime(Date.now() - 3_600_000);
    await post(claude, board, 'Two');
    await page.getByRole('article').filter({ hasText: 'Two' }).waitFor();
    await post(claude, board, 'Three');
    await page.getByRole('article').filter({ hasText: 'Three' }).waitFor();
    await page.clock.runFor(6_000);
    await said(page).getByText('2 new', { exact: true }).waitFor();
    await close();
  });

  it('what they post: that it is posted, and why not', async () => {
    const { page, close } = await open();
    const heard = await listen(page);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Seen');
    await box.press('Control+Enter');
    await said(page).getByText('Posted', { exact: true }).waitFor();
    await box.press('Control+Enter');
    await page.getByRole('alert').getByText('Write something').waitFor();
    await page.route('**/messages', (route) => route.abort());
    await box.fill('Lost');
    await box.press('Control+Enter');
    await atOnce(page).getByText('Not posted.').waitFor();
    expect(await heard()).to.deep.equal([
      'Posted',
      'Write something first.',
      'Not posted. No connection to the server.',
    ]);
    await close();
  });

  it('that nobody answered what they post', async () => {
    const { page, context } = await open();
    await page.clock.install();
    let asked = 0;
    await page.route('**/messages', () => void asked++);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Into the tunnel');
    await box.press('Control+Enter');
    const told = atOnce(page).getByText('Not posted. The server did not answer in time.');
    while (!(await told.isVisible())) await page.clock.fastForward(5_000);
    expect(asked).to.equal(2);
    await context.close();
  });

  it('that the page reconnects, once, and that it is connected again', async () => {
    const { page, context, complaints } = await open();
    const heard = await listen(page);
    await page.clock.install();
    await server.close();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'reconnecting');
    // The clock of the computer may be set meanwhile.
    await page.clock.setSystemTime(Date.now() - 3_600_000);
    // A short break is not worth a line.
    await page.clock.fastForward(2_000);
    await page.getByText(/Next try in \d+.s/).waitFor();
    await server.restart();
    // It may have come back by itself.
    const again = page.getByRole('button', { name: 'Try now' }).click();
    await Promise.race([again.catch(() => {}), said(page).getByText('Connected again.').waitFor()]);
    await said(page).getByText('Connected again.').waitFor();
    expect(await heard()).to.deep.equal(['Reconnecting to the server.', 'Connected again.']);
    expect(complaints.filter((text) => !text.includes('ERR_'))).to.deep.equal([]);
    await context.close();
  });
});
