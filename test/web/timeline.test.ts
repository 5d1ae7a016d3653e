/** The conversation of a board in a browser. */
import { expect } from 'chai';
import type { Locator, Page, Route } from 'playwright-core';
import { DAY, HOUR } from '../../src/contract/durations.ts';
import type { Board } from '../../src/contract/types.ts';
import type { Api } from '../support/api.ts';
import { newAgent, newBoardWith, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './support/axe.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { fillBoard } from './support/long-board.ts';
import { startPageServer } from './support/server.ts';
import { streamed, streamsInPage } from './support/streams.ts';
import { type Visit, visit } from './support/visit.ts';

before(browser);
after(closeBrowser);

const conversation = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });
const article = (page: Page, text: string): Locator =>
  conversation(page).getByRole('article').filter({ hasText: text });
const topOf = async (locator: Locator): Promise<number> => Math.round((await locator.boundingBox())?.y ?? Number.NaN);
/** Waits for it to be within the window. */
const expectSeen = (locator: Locator): Promise<void> =>
  until(
    () => locator.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight),
    'it can be seen without scrolling',
  );
/** Whether it is within the view of the conversation. */
const inView = (locator: Locator): Promise<boolean> =>
  locator.evaluate((element) => {
    const view = element.closest('.tl')!.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    return box.bottom > view.top && box.top < view.bottom;
  });

describe('the conversation', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  let board: Board;
  before(async () => {
    server = await startPageServer();
    [dana, maya] = [await server.person('dana'), await server.person('maya')];
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = await newBoardWith(dana, ['maya']);
  });

  const say = (from: Api, text: string, more: Record<string, unknown> = {}) => post(from, board.name, text, more);
  const fill = (count: number) => fillBoard(server, maya, 'maya', board.name, count);
  const read = (person: Api, upTo: number) =>
    person.ok('ackBoard', { params: { board: board.name }, body: { up_to: upTo } });
  const positionOf = async (person: Api): Promise<number> =>
    (await person.ok('getBoard', { params: { board: board.name } })).read_up_to ?? 0;
  const open = (person: Api, more = ''): Promise<Visit> => visit(server, person, `/?board=${board.name}${more}`);

  /** A tab without an address yet, of which requests can be held, and what its streams say is heard. */
  async function openSlow() {
    const { page, context, close } = await visit(server, dana, '/');
    await context.addInitScript(streamsInPage);
    return { slow: page, close };
  }

  it('shows a message posted in one browser in another within 300 ms, and what is read stays where it is', async () => {
    await fill(40);
    const [here, there] = [await open(dana), await open(maya)];
    await article(here.page, 'Message 40').waitFor();
    await article(there.page, 'Message 40').waitFor();
    const box = here.page.getByLabel('Message', { exact: true });
    await box.fill('Seen at once');
    // However long a busy machine takes, no timer of the page is waited for, and none of the server beyond this.
    await there.page.clock.install();
    await there.page.clock.pauseAt(Date.now() + 60_000);
    await server.clock.within(300, async () => {
      await box.press('Control+Enter');
      await article(there.page, 'Seen at once').waitFor();
    });
    await there.page.clock.resume();
    // It is at its end, and goes on with it; away from the end nothing moves.
    const old = article(there.page, 'Message 7');
    await old.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    const before = await topOf(old);
    await say(dana, 'Further down');
    await there.page.getByRole('button', { name: / new$/ }).waitFor();
    expect(await topOf(old)).to.equal(before);
    await here.close();
    await there.close();
  });

  it('keeps what is read in its place where a question comes above it, and goes', async () => {
    const claude = await newAgent(dana, board.name, { name: `claude-${board.name}` });
    await fill(80);
    const { page, close } = await open(dana);
    const old = article(page, 'Message 20');
    await page.waitForFunction(() => document.querySelector('.tl')?.ariaBusy === 'false');
    await old.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    const before = await topOf(old);
    const strip = page.getByRole('region', { name: 'Needs you' });
    const { id } = await say(claude, 'How long?', { to: ['@dana'], ask: { options: ['30 s', '60 s'] } });
    await strip.waitFor();
    expect(await topOf(old), 'it came').to.equal(before);
    await say(dana, '60 s', { reply_to: id, answer: { option: 2 } });
    await strip.waitFor({ state: 'hidden' });
    expect(await topOf(old), 'it went').to.equal(before);
    await close();
  });

  it('keeps what is read in its place where a question comes above it because it is scrolled out of view', async () => {
    const claude = await newAgent(dana, board.name, { name: `claude-${board.name}` });
    await fill(80);
    const { id, seq } = await say(claude, 'How long?', { to: ['@dana'], ask: { options: ['30 s', '60 s'] } });
    await read(dana, seq);
    const { page, close } = await open(dana);
    await article(page, 'How long?').waitFor();
    const moved = await article(page, 'Message 80').evaluate(async (element) => {
      const view = element.closest('.tl')!;
      const { top } = element.getBoundingClientRect();
      for (let n = 0; n < 60; n++) {
        view.scrollTop -= 5;
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      }
      return Math.round(element.getBoundingClientRect().top - top);
    });
    await page.getByRole('region', { name: 'Needs you' }).waitFor();
    expect(moved).to.equal(300);
    await say(dana, '60 s', { reply_to: id, answer: { option: 2 } });
    await close();
  });

  it('keeps what is read in its place near the end where a question above it goes', async () => {
    const claude = await newAgent(dana, board.name, { name: `claude-${board.name}` });
    const { id } = await say(claude, 'How long?', { to: ['@dana'], ask: { options: ['30 s', '60 s'] } });
    await read(dana, await fill(80));
    const { page, close } = await open(dana);
    const strip = page.getByRole('region', { name: 'Needs you' });
    await strip.waitFor();
    const old = article(page, 'Message 75');
    await old.evaluate((element) => {
      const view = element.closest('.tl')!;
      view.scrollTop = view.scrollHeight - view.clientHeight - 60;
    });
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    const before = await topOf(old);
    await say(dana, '60 s', { reply_to: id, answer: { option: 2 } });
    await strip.waitFor({ state: 'hidden' });
    await until(async () => (await topOf(old)) === before, 'it is where it was');
    await close();
  });

  it('keeps what is read in its place on a low window that was scrolled', async () => {
    const last = await fill(80);
    const { message } = await dana.ok('getMessageBySeq', { params: { board: board.name, seq: last - 20 } });
    await read(dana, last);
    const { page, close } = await open(dana);
    await page.setViewportSize({ width: 740, height: 360 });
    const old = article(page, 'Message 60');
    await old.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    await page.getByRole('button', { name: 'Newest' }).waitFor({ state: 'attached' });
    const scrolled = await page.locator('main').evaluate(async (main) => {
      const { scrollTop } = main;
      main.scrollTop = 0;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return scrollTop;
    });
    expect(scrolled).to.be.above(20);
    const before = await topOf(old);
    await maya.ok('addReaction', { params: { message: message.id, reaction: 'heart' } });
    await old.getByRole('button', { name: '1 heart, maya' }).waitFor({ state: 'attached' });
    expect(await topOf(old)).to.equal(before);
    await close();
  });

  it('runs nothing and requests nothing for a Markdown message with script, handlers, javascript: and a remote image', async () => {
    await say(
      maya,
      [
        '<script>window.ran = 1</script> <img src=x onerror="window.ran = 2"> <form action="https://example.com">',
        '[press](javascript:window.ran=3) ![picture](https://example.com/pixel.png) <style>body{display:none}</style>',
        '<a href="https://example.com" onclick="window.ran = 4">there</a> [data](data:text/html,<script>window.ran=5</script>)',
        '**the end**',
      ].join('\n\n'),
    );
    const { page, close } = await open(dana);
    const message = article(page, 'the end');
    await message.waitFor();
    expect(
      await message.locator('.x :is(script, img, form, style, iframe, [onclick], [onerror], [style])').count(),
    ).to.equal(0);
    const links = await message
      .locator('.x a[href]')
      .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
    expect(links).to.deep.include(['https://example.com/pixel.png', 'noopener noreferrer']);
    expect(links.filter(([href]) => !/^https?:/.test(href ?? ''))).to.deep.equal([]);
    expect(await page.evaluate(() => (globalThis as { ran?: number }).ran ?? null)).to.equal(null);
    await close();
  });

  it('opens at the first unread, and moves the read position only over what was shown', async () => {
    await fill(30);
    const { seq } = await say(maya, 'The last one seen');
    await read(dana, seq);
    const first = await say(maya, 'The first new one');
    await fill(60);
    const last = await say(maya, 'The very last');
    const { page, close } = await open(dana);
    const opened = article(page, 'The first new one');
    await opened.waitFor();
    expect(await inView(opened)).to.equal(true);
    await conversation(page).getByText('New since you last looked').waitFor();
    await until(async () => (await positionOf(dana)) >= first.seq, 'it was acknowledged');
    expect(await positionOf(dana)).to.be.below(last.seq - 20);
    await page.keyboard.press('End');
    await article(page, 'The very last').waitFor();
    // What was jumped over was not shown.
    expect(await positionOf(dana)).to.be.below(last.seq - 20);
    await page.getByRole('button', { name: / new$/ }).waitFor();
    await close();
  });

  it('keeps replies inline under the first message, marks the new ones and remembers what was closed', async () => {
    const root = await say(maya, 'Who takes it?');
    const answer = await say(dana, 'I do', { reply_to: root.id });
    await say(maya, 'Something else');
    await read(dana, answer.seq + 1);
    await say(maya, 'Thank you @dana', { reply_to: root.id });
    const { page, close } = await open(dana);
    const replies = page.getByRole('group', { name: 'Replies' });
    await replies.getByRole('article').filter({ hasText: 'Thank you' }).waitFor();
    const button = page.getByRole('button', { name: /2 replies 1 new/ });
    expect(await button.getAttribute('aria-expanded')).to.equal('true');
    await replies.locator('.me', { hasText: '@dana' }).waitFor();
    await say(maya, 'And another', { reply_to: root.id });
    await replies.getByRole('article').filter({ hasText: 'And another' }).waitFor();
    await page.getByRole('button', { name: /^3 replies/ }).click();
    await replies.waitFor({ state: 'detached' });
    await page.reload();
    await article(page, 'Something else').waitFor();
    expect(await page.getByRole('button', { name: /^3 replies/ }).getAttribute('aria-expanded')).to.equal('false');
    await close();
  });

  it('opens while the replies of a long open thread are still being loaded, and shows what came to them meanwhile', async () => {
    const { id } = await say(maya, 'Who takes it?', { to: ['all'] });
    const said = [];
    for (let n = 1; n <= 201; n++) said.push(await say(maya, `Reply ${n}`, { reply_to: id, to: ['all'] }));
    await read(dana, said[200]!.seq);
    const { page, close } = await visit(server, dana);
    await page.evaluate((root) => localStorage.setItem('threads', JSON.stringify([[root, true]])), id);
    const opened = Promise.withResolvers<void>();
    await page.route('**/replies?*after=*', async (route) => {
      await opened.promise;
      return route.continue();
    });
    await page.goto(`${server.url}/?board=${board.name}`);
    await page.waitForFunction(() => document.querySelector('.tl')?.ariaBusy === 'false');
    await page.getByRole('button', { name: /^201 replies/ }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    // It is among those that were read before.
    await maya.ok('addReaction', { params: { message: said[198]!.id, reaction: 'tada' } });
    await say(maya, 'Done');
    await article(page, 'Done').waitFor();
    opened.resolve();
    await article(page, 'Reply 201').last().waitFor();
    await article(page, 'Reply 199')
      .last()
      .getByRole('button', { name: /^1 .*, maya$/ })
      .waitFor();
    await close();
  });

  it('remembers the threads that were opened in each of two tabs', async () => {
    const [one, two] = [await say(maya, 'Who takes it?'), await say(maya, 'How long?')];
    await say(maya, 'Not me', { reply_to: one.id, to: ['all'] });
    await read(dana, (await say(maya, '60 s', { reply_to: two.id, to: ['all'] })).seq);
    const { page, tab, close } = await open(dana);
    const threads = [page, await tab()].map((each) => each.getByRole('button', { name: /^1 reply/ }));
    for (const thread of threads) await thread.nth(1).waitFor();
    await threads[0]!.nth(0).click();
    await threads[1]!.nth(1).click();
    await article(page, 'Not me').last().waitFor();
    await threads[1]!.nth(1).and(threads[1]!.page().locator('[aria-expanded=true]')).waitFor();
    await page.reload();
    await threads[0]!.nth(1).waitFor();
    expect(await threads[0]!.evaluateAll((all) => all.map((each) => each.ariaExpanded))).to.deep.equal([
      'true',
      'true',
    ]);
    await close();
  });

  it('lists what is in progress beside more open tasks than are read at once', async () => {
    const params = { board: board.name };
    for (let n = 1; n <= 200; n++) await maya.ok('createTask', { params, body: { title: `Open ${n}` } });
    await maya.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    const { page, close } = await open(dana);
    const side = page.getByRole('complementary', { name: 'Around the conversation' });
    await side.getByRole('link', { name: /Cap the backoff/ }).waitFor();
    await side.getByRole('link', { name: 'all 201' }).waitFor();
    await close();
  });

  it('draws no state of a task that is not loaded', async () => {
    const { ref } = await maya.ok('createTask', { params: { board: board.name }, body: { title: 'Cap the backoff' } });
    await say(maya, 'It is capped', { about: [ref] });
    const { page, close } = await visit(server, dana);
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/tasks?state=all*', (route) => route.fulfill({ status: 400, json: { error } }));
    const refused = page.waitForResponse('**/tasks?state=all*');
    await page.goto(`${server.url}/?board=${board.name}`);
    await refused;
    const chip = article(page, 'It is capped').getByRole('link', { name: ref });
    await chip.waitFor();
    expect(await chip.locator('svg').count()).to.equal(0);
    await close();
  });

  it('counts each of two replies of one moment in a closed thread', async () => {
    const { id: reply_to } = await say(maya, 'Who takes it?');
    const { seq } = await say(maya, 'Not me', { reply_to, to: ['all'] });
    await read(dana, seq);
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: /^1 reply/ }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const letRun = server.clock.stop();
    for (const text of ['Nor me', 'I do']) await say(maya, text, { reply_to, to: ['all'] });
    letRun();
    await page.getByRole('button', { name: /^3 replies/ }).waitFor();
    await close();
  });

  it('counts replies, and says that a thread is held, where the clock of the server was set back', async () => {
    const policy = { agent_run: { notice: 1, hold: 11 } };
    await dana.ok('updateBoard', { params: { board: board.name }, body: { policy } });
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    const { id: reply_to } = await say(dana, 'Who takes it?');
    const reply = (text: string) => say(claude, text, { reply_to, to: ['all'] });
    for (let n = 1; n < 10; n++) await reply('Not me');
    const { seq, at } = await reply('Nor me');
    await read(dana, seq);
    server.clock.advance(-600_000);
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: /^10 replies/ }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    for (const text of ['Who else?', 'I do']) expect((await reply(text)).at, 'one time for all').to.equal(at);
    await page.getByRole('button', { name: /^12 replies.* in a row, held/ }).waitFor();
    server.clock.advance(600_000);
    await close();
  });

  it('counts a reply whose count could not be read with the next one', async () => {
    const { id: reply_to } = await say(maya, 'Who takes it?', { to: ['all'] });
    const reply = (text: string) => say(maya, text, { reply_to, to: ['all'] });
    const letRun = server.clock.stop();
    await reply('Not me');
    await read(dana, (await reply('Nor me')).seq);
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: /^2 replies/ }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const refused = Promise.withResolvers<void>();
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route(
      '**/replies?*',
      async (route) => {
        await route.fulfill({ status: 400, json: { error } });
        refused.resolve();
      },
      { times: 1 },
    );
    await reply('Who else?');
    await refused.promise;
    letRun();
    server.clock.advance(1_000);
    await reply('I do');
    await page.getByRole('button', { name: /^4 replies/ }).waitFor();
    await close();
  });

  for (const [when, requests, between] of [
    ['that come at one moment while the conversation opens', '**/messages?*roots=true*', 0],
    ['while older messages are read', '**/messages?*before=*', 1_000],
  ] as const)
    it(`counts each of two replies in a closed thread once ${when}`, async () => {
      await fill(60);
      const { id: reply_to } = await say(maya, 'Who takes it?', { to: ['all'] });
      await read(dana, (await say(maya, 'Not me', { reply_to, to: ['all'] })).seq);
      const { slow, close } = await openSlow();
      // In a hidden tab, nothing is seen.
      await slow.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true }));
      await slow.addInitScript((id) => localStorage.setItem('threads', JSON.stringify([[id, false]])), reply_to);
      const replyTwice = async (route: Route): Promise<void> => {
        // The stream of the board is open: one that opens later does not tell of them.
        await streamed(slow, 'head_seq');
        const letRun = server.clock.stop();
        for (const text of ['Nor me', 'I do']) {
          await say(maya, text, { reply_to, to: ['all'] });
          server.clock.advance(between);
        }
        letRun();
        await streamed(slow, 'I do');
        await route.continue();
      };
      await slow.route(requests, replyTwice, { times: 1 });
      await slow.goto(`${server.url}/?board=${board.name}`);
      await article(slow, 'Who takes it?').waitFor();
      await conversation(slow).evaluate((element) => {
        element.scrollTop = 0;
      });
      await article(slow, 'Message 2').first().waitFor();
      const thread = slow.getByRole('button', { name: /^\d repl.* 2 new/ });
      await thread.waitFor();
      expect(await thread.innerText()).to.match(/^3 replies/);
      await close();
    });

  it('opens at the address of a reply, in its thread, and marks it', async () => {
    const root = await say(maya, 'A question');
    const reply = await say(dana, 'Far away', { reply_to: root.id });
    await read(dana, await fill(120));
    const { page, close } = await open(dana, `&message=${reply.seq}`);
    const found = conversation(page).locator(`#m${reply.seq}`);
    await found.waitFor();
    expect(await inView(found)).to.equal(true);
    expect(await found.getAttribute('class')).to.include('aimed');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal(`m${reply.seq}`);
    await close();
  });

  it('shows what is posted while the thread of the address is loaded', async () => {
    const root = await say(maya, 'A question');
    const reply = await say(dana, 'Far away', { reply_to: root.id });
    await read(dana, await fill(3));
    const { slow, close } = await openSlow();
    await slow.route('**/replies?*', async (route) => {
      await say(maya, 'Meanwhile');
      await streamed(slow, 'Meanwhile');
      return route.continue();
    });
    await slow.goto(`${server.url}/?board=${board.name}&message=${reply.seq}`);
    await article(slow, 'Far away').last().waitFor();
    await article(slow, 'Meanwhile').waitFor();
    await close();
  });

  it('loses no messages where it jumps to the newest while older ones are loaded', async () => {
    await fill(400);
    await read(dana, (await say(maya, 'The very last')).seq);
    const { page, close } = await open(dana, '&message=200');
    await conversation(page).locator('#m200').waitFor();
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(/\/messages\?.*before=/, async (route) => {
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    await conversation(page).evaluate((list) => list.scrollTo({ top: 0 }));
    await asked.promise;
    await page.getByRole('button', { name: 'Newest' }).click();
    await article(page, 'The very last').waitFor();
    held.resolve();
    await page.getByText('Loading older messages').waitFor({ state: 'detached' });
    const seqs = await conversation(page)
      .getByRole('article')
      .evaluateAll((all) => all.map((element) => Number((element as HTMLElement).dataset['seq'])));
    for (const [index, seq] of seqs.entries()) if (index > 0) expect(seq).to.equal(seqs[index - 1]! + 1);
    await close();
  });

  it('says where the conversation could not be read on, and tries again by a click and with the connection', async () => {
    await fill(400);
    await read(dana, (await say(maya, 'The very last')).seq);
    const { page, context, close } = await open(dana, '&message=200');
    await conversation(page).locator('#m200').waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    const refuse = () => page.route('**/messages?*', (route) => route.fulfill({ status: 400, json: { error } }));
    const refusal = page.getByRole('alert').filter({ hasText: 'Not now.' });
    await refuse();
    await page.getByRole('button', { name: 'Newest' }).click();
    await expectSeen(refusal);
    await page.unrouteAll({ behavior: 'wait' });
    await refusal.getByRole('button', { name: 'Try again' }).click();
    await article(page, 'The very last').waitFor();
    await refusal.waitFor({ state: 'detached' });
    await refuse();
    await conversation(page).evaluate((list) => list.scrollTo({ top: 0 }));
    await expectSeen(refusal);
    // It covers none of the messages.
    const [line, list] = [await refusal.boundingBox(), await conversation(page).boundingBox()];
    expect(line!.y + line!.height).to.be.at.most(list!.y);
    await page.unrouteAll({ behavior: 'wait' });
    await context.setOffline(true);
    await context.setOffline(false);
    await refusal.waitFor({ state: 'detached' });
    await close();
  });

  it('reads on where an address named a message that there is not', async () => {
    await fill(400);
    const { page, close } = await open(dana, '&message=200');
    await conversation(page).locator('#m200').waitFor();
    await conversation(page).and(page.locator('[aria-busy=false]')).waitFor();
    await page.evaluate(() => {
      history.pushState(null, '', `${location.href}000`);
      dispatchEvent(new PopStateEvent('popstate'));
    });
    await page.getByRole('alert').waitFor();
    await conversation(page).evaluate((list) => list.scrollTo({ top: 0 }));
    await conversation(page).locator('#m110').waitFor({ state: 'attached' });
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await close();
  });

  it('goes to a message whose link is followed while the conversation is still opening', async () => {
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    const body = 'Is [this](https://example.com) how long?';
    const { id, seq } = await say(claude, body, { to: ['@dana'], ask: { options: ['30 s', '60 s'] } });
    await read(dana, await fill(120));
    const { page, close } = await visit(server, dana);
    const held = Promise.withResolvers<void>();
    await page.route('**/messages?*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${server.url}/?board=${board.name}`);
    await page.getByRole('region', { name: 'Needs you' }).getByRole('link', { name: 'Look at it' }).click();
    await page.waitForURL(`**/*message=${seq}`);
    held.resolve();
    const found = conversation(page).locator(`#m${seq}.aimed`);
    await found.waitFor();
    await until(() => inView(found), 'it is in view');
    await say(dana, '60 s', { reply_to: id, answer: { option: 2 } });
    await close();
  });

  it('goes to a message whose link is followed before the address turns out to name none', async () => {
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    const { id, seq } = await say(claude, 'How [long](https://example.com)?', {
      to: ['@dana'],
      ask: { options: ['30 s', '60 s'] },
    });
    const { page, close } = await visit(server, dana);
    const held = Promise.withResolvers<void>();
    await page.route('**/messages/9999', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${server.url}/?board=${board.name}&message=9999`);
    await page.getByRole('region', { name: 'Needs you' }).getByRole('link', { name: 'Look at it' }).click();
    await page.waitForURL(`**/*message=${seq}`);
    held.resolve();
    await conversation(page).locator(`#m${seq}.aimed`).waitFor();
    await say(dana, '60 s', { reply_to: id, answer: { option: 2 } });
    await close();
  });

  it('opens by its tab after an address named a message that there is not', async () => {
    await say(maya, 'The first');
    const { page, close } = await open(dana, '&message=9999');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).to.equal(0);
    await page.getByRole('link', { name: 'Talk' }).click();
    await article(page, 'The first').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await close();
  });

  it('opens by trying again also where the person wrote before it could be read', async () => {
    await read(dana, (await say(maya, 'Before')).seq);
    const { slow, close } = await openSlow();
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await slow.route('**/messages?*', (route) => route.fulfill({ status: 400, json: { error } }));
    await slow
      .getByRole('link', { name: new RegExp(`^${board.name}`) })
      .first()
      .click();
    const refusal = slow.getByRole('alert').filter({ hasText: 'Not now.' });
    await refusal.waitFor();
    await slow.unrouteAll({ behavior: 'wait' });
    await slow.getByRole('textbox', { name: 'Message' }).fill('My own');
    await slow.keyboard.press('Control+Enter');
    await slow.getByRole('textbox', { name: 'Message' }).and(slow.locator(':placeholder-shown')).waitFor();
    await say(maya, 'A later one');
    await slow.getByRole('button', { name: 'Try again' }).click();
    await article(slow, 'A later one').waitFor();
    await conversation(slow).and(slow.locator('[aria-busy=false]')).waitFor();
    await refusal.waitFor({ state: 'detached' });
    await close();
  });

  it('opens without taking the focus from what is being written', async () => {
    await say(maya, 'Not read yet');
    const { page, close } = await visit(server, dana);
    const held = Promise.withResolvers<void>();
    await page.route('**/messages?*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${server.url}/?board=${board.name}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    await page.keyboard.type('I was ');
    held.resolve();
    await article(page, 'Not read yet').waitFor();
    await conversation(page).and(page.locator('[aria-busy=false]')).waitFor();
    await page.keyboard.type('here');
    expect(await box.inputValue()).to.equal('I was here');
    await close();
  });

  it('gives the focus to the line that was made, but not from what is being written', async () => {
    const { page, close } = await open(dana);
    const make = page.getByRole('button', { name: 'Make a join line' });
    const copy = page.getByRole('button', { name: 'Copy' });
    await make.press('Enter');
    await copy.and(page.locator(':focus')).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route('**/join-codes', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.reload();
    await make.click();
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    held.resolve();
    await copy.waitFor();
    await page.keyboard.type('here');
    expect(await box.inputValue()).to.equal('here');
    await close();
  });

  it('keeps the line that was made below the first messages until an agent joins', async () => {
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: 'Make a join line' }).click();
    const line = conversation(page).locator('code');
    const made = await line.innerText();
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Hello');
    await box.press('Control+Enter');
    await article(page, 'Hello').waitFor();
    await page.getByRole('heading', { name: 'A board is a room.' }).waitFor({ state: 'detached' });
    expect(await line.innerText()).to.equal(made);
    await newAgent(dana, board.name, { name: 'claude' });
    await line.waitFor({ state: 'detached' });
    await close();
  });

  it('says who gave a task up, who was taken off it and whose part ended with the seat', async () => {
    const params = { board: board.name };
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    const gemini = await newAgent(dana, board.name, { name: 'gemini' });
    const { id: task, ref } = await claude.ok('createTask', {
      params,
      body: { title: 'Cap the backoff', start: true },
    });
    const one = { params: { ...params, task } };
    await maya.ok('joinTask', one);
    await maya.ok('dropTask', one);
    await dana.ok('dropTask', { ...one, body: { member: 'claude', reason: 'It is stuck' } });
    await gemini.ok('startTask', one);
    await gemini.ok('dropTask', one);
    await claude.ok('startTask', one);
    await gemini.ok('joinTask', one);
    await dana.ok('removeMember', { params: { ...params, member: 'claude' } });
    await gemini.ok('leaveSeat', {});
    const { page, close } = await open(dana);
    const lines = conversation(page).locator('.ev .tx').filter({ hasText: 'Cap the backoff' });
    await lines.filter({ hasText: 'gemini stopped' }).waitFor();
    const texts = await lines.evaluateAll((all) =>
      all.map((line) => (line as HTMLElement).innerText.replace(/ ?(now|\d+ (s|min))$/, '')),
    );
    expect(texts.slice(2).map((text) => text.replace(`${ref} `, ''))).to.deep.equal([
      'maya stopped helping with Cap the backoff',
      'dana took claude off Cap the backoff It is stuck',
      'gemini started Cap the backoff',
      'gemini gave up Cap the backoff',
      'claude started Cap the backoff',
      'gemini joined Cap the backoff',
      'dana ended the part of claude in Cap the backoff',
      'gemini stopped helping with Cap the backoff',
    ]);
    await lines.first().getByRole('link').click();
    const history = page.getByRole('region', { name: 'History' });
    for (const text of ['gemini gave it up', 'dana ended the part of claude in it'])
      await history.getByText(text, { exact: true }).waitFor();
    await page.goto(`${server.url}/?board=${board.name}&tab=record`);
    await page.getByRole('row', { name: `took claude off ${ref} “It is stuck”` }).waitFor();
    await close();
  });

  it('names who left the board in what became of their part', async () => {
    const params = { board: board.name };
    const { ref } = await maya.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    const claude = await newAgent(maya, board.name, { name: 'claude' });
    await claude.ok('joinTask', { params: { ...params, task: ref } });
    const { page, close } = await visit(server, dana);
    const asked: string[] = [];
    const seen = Promise.withResolvers<void>();
    // The agent cannot be read at first.
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/members/mem_*', async (route) => {
      asked.push(route.request().url());
      if (asked.length === 1) return route.fulfill({ status: 400, json: { error } });
      await seen.promise;
      return route.continue();
    });
    await dana.ok('removeMember', { params: { ...params, member: 'maya' } });
    await page.goto(`${server.url}/?board=${board.name}`);
    const ended = conversation(page).locator('.ev .tx').filter({ hasText: 'ended the part of' });
    await ended.filter({ hasText: 'dana ended the part of maya in' }).waitFor();
    await ended.filter({ hasText: 'dana ended the part of somebody in' }).waitFor();
    seen.resolve();
    await ended.first().getByRole('link').click();
    const history = page.getByRole('region', { name: 'History' });
    for (const name of ['maya', 'claude']) await history.getByText(`dana ended the part of ${name} in it`).waitFor();
    await page.reload();
    await history.getByText('dana ended the part of maya in it').waitFor();
    expect(asked.filter((url) => !url.endsWith(claude.memberId))).to.deep.equal([]);
    await close();
  });

  it('names who left the board long after, by the last name they had there', async () => {
    const params = { board: board.name };
    const zoe = await server.person('zoe');
    const { id: task, ref } = await dana.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    const comesAndIsTakenOff = async (handle: string) => {
      await dana.ok('addBoardPerson', { params, body: { handle } });
      await zoe.ok('joinTask', { params: { ...params, task } });
      await dana.ok('dropTask', { params: { ...params, task }, body: { member: handle } });
    };
    const leaves = () => zoe.ok('leaveBoard', { params });
    // More events than the conversation reads at once.
    const manyEvents = async (count = 51) => {
      for (let n = 0; n < count; n++) await dana.ok('createTask', { params, body: { title: `Task ${n}` } });
    };
    await comesAndIsTakenOff('zoe');
    const first = await say(maya, 'Before zoe leaves');
    await manyEvents();
    await zoe.ok('joinTask', { params: { ...params, task } });
    await dana.ok('dropTask', { params: { ...params, task }, body: { member: 'zoe' } });
    await leaves();
    const second = await say(maya, 'After zoe left');
    await manyEvents(201);
    await server.dana.ok('renamePerson', { params: { handle: 'zoe' }, body: { handle: 'zora' } });
    await comesAndIsTakenOff('zora');
    await leaves();
    const { page, close } = await open(dana, `&message=${first.seq}`);
    const takenOff = (name: string) => conversation(page).getByText(`took ${name} off ${ref}`);
    await takenOff('zora').first().waitFor();
    await page.goto(`${server.url}/?board=${board.name}&message=${second.seq}`);
    await article(page, 'After zoe left').waitFor();
    await takenOff('zora').first().waitFor();
    expect(await takenOff('zoe').count()).to.equal(0);
    await page.keyboard.press('End');
    await takenOff('zora').first().waitFor();
    await close();
  });

  it('says that a thread was closed for agents, and that they may go on in it', async () => {
    const claude = await newAgent(maya, board.name, { name: 'claude' });
    const { id: message } = await say(claude, 'Who takes it?');
    await maya.ok('setThreadRun', { params: { message }, body: { action: 'stop' } });
    const { page, close } = await open(dana);
    await conversation(page)
      .getByText(/^maya closed a thread for agents/)
      .waitFor();
    await maya.ok('setThreadRun', { params: { message }, body: { action: 'continue' } });
    await conversation(page)
      .getByText(/^maya let agents go on in a thread/)
      .waitFor();
    await close();
  });

  it('shows why a question was withdrawn, and no words where no reason was given', async () => {
    const ask = { to: ['@dana'], ask: { options: ['30 s', '60 s'] } };
    for (const [question, body] of [
      ['How long?', 'Found it in the **notes**'],
      ['How often?', 'Withdrawn.'],
      ['How many?', 'Withdrawn'],
    ] as const) {
      const { id } = await say(maya, question, ask);
      await say(maya, body, { reply_to: id, to: ['all'], answer: { withdrawn: true } });
    }
    const { page, close } = await open(dana);
    await conversation(page).getByText('withdrew the question').nth(2).waitFor();
    const texts = await conversation(page).locator('.answers ~ .x').allTextContents();
    expect(texts.map((text) => text.trim())).to.deep.equal(['Found it in the notes']);
    await close();
  });

  it('links what names a task of the board, in any case, and nothing that only looks like it', async () => {
    const { ref } = await maya.ok('createTask', { params: { board: board.name }, body: { title: 'Cap the backoff' } });
    const low = ref.toLowerCase();
    await say(
      maya,
      `${ref}, (${low}) and ${ref}: not ${ref}-x, v1.${ref}, é${ref}, ${ref}_a, src/${ref}, @${ref}, the end`,
    );
    const { page, close } = await open(dana);
    const links = article(page, 'the end').locator('.x a');
    await links.first().waitFor();
    expect(await links.allTextContents()).to.deep.equal([ref, low, ref]);
    expect(await links.nth(1).getAttribute('href')).to.match(new RegExp(`task=${ref}$`));
    await close();
  });

  it('tells what was written from right to left without moving the words around it', async () => {
    const params = { board: board.name };
    const { id } = await maya.ok('createTask', { params, body: { title: 'שלום 1', start: true } });
    await maya.ok('finishTask', { params: { ...params, task: id }, body: { note: '\u202e2 done' } });
    const { page, close } = await open(dana);
    const line = conversation(page).getByText(/^maya finished/);
    await line.waitFor();
    const lefts = await line
      .locator('.ref, .q, time')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().left));
    expect(lefts).to.have.length(3);
    expect(lefts).to.deep.equal(lefts.toSorted((a, b) => a - b));
    await close();
  });

  it('sets each paragraph, question and option in the direction of its own words', async () => {
    const question = 'מי לוקח את PAY-1?';
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    const body = `Two of them:\n\nהקוד ב-retry.ts נכשל!\n\n- שלום, dana!\n\n${question}`;
    await post(claude, board.name, '- הרץ `--now!`:\n\n  ```\n  retry();\n  ```');
    await post(claude, board.name, body, { to: ['@dana'], ask: { options: ['כן, Node 24!', 'No'] } });
    const { page, close } = await open(dana);
    /** Whether the last character of a text stands left of the first, as it does from right to left. */
    const fromRight = (text: Locator): Promise<boolean> =>
      text.first().evaluate((element) => {
        const node = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode() as Text;
        const leftOf = (at: number): number => {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          return range.getBoundingClientRect().left;
        };
        return leftOf(node.length - 1) < leftOf(0);
      });
    const message = conversation(page).getByRole('article').filter({ hasText: 'Two of them' });
    for (const text of ['Two of them', '--now!', 'retry();'])
      expect(await fromRight(conversation(page).getByText(text)), text).to.equal(false);
    for (const text of ['נכשל!', 'dana!', '24!']) expect(await fromRight(message.getByText(text)), text).to.equal(true);
    await page.goto(`${server.url}/inbox`);
    for (const title of [page.getByRole('heading', { name: question }), page.locator('.qq')])
      expect(await fromRight(title)).to.equal(true);
    await close();
  });

  it('shows a message that came between the reads of messages and of events', async () => {
    await read(dana, (await say(maya, 'Before')).seq);
    const { slow, close } = await openSlow();
    const posted = Promise.withResolvers<void>();
    await slow.route('**/messages?*roots=true*', async (route) => {
      const response = await route.fetch();
      await say(maya, 'In between');
      await maya.ok('createTask', { params: { board: board.name }, body: { title: 'After it' } });
      posted.resolve();
      return route.fulfill({ response });
    });
    await slow.route('**/events?*type=*', async (route) => {
      await posted.promise;
      return route.continue();
    });
    await slow.goto(`${server.url}/?board=${board.name}`);
    await conversation(slow)
      .getByText(/^maya opened/)
      .waitFor();
    await article(slow, 'In between').waitFor();
    const texts = await conversation(slow).locator('[data-seq]').allTextContents();
    expect(texts.at(-3)).to.include('In between');
    await close();
  });

  it('counts a message as new that comes while the unread ones are read', async () => {
    await read(dana, (await say(maya, 'Known')).seq);
    await fill(40);
    const { slow, close } = await openSlow();
    // In a hidden tab, nothing is seen.
    await slow.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true }));
    const meanwhile = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      // The stream of the board is open: one that opens later does not tell of it.
      await streamed(slow, 'head_seq');
      await say(maya, 'Meanwhile');
      await streamed(slow, 'Meanwhile');
      await route.fulfill({ response });
    };
    await slow.route('**/messages?after=*&limit=200', meanwhile, { times: 1 });
    await slow.goto(`${server.url}/?board=${board.name}`);
    await article(slow, 'Meanwhile').waitFor();
    await slow.getByRole('button', { name: '41 new' }).waitFor();
    await close();
  });

  it('shows a reply that comes while its thread is opened, also after as many as are shown at once', async () => {
    const root = await say(maya, 'Who takes it?');
    for (let n = 1; n <= 60; n++) await say(maya, `Not ${n}`, { reply_to: root.id, to: ['all'] });
    await read(dana, await fill(1));
    const { slow, close } = await openSlow();
    await slow.goto(`${server.url}/?board=${board.name}`);
    await article(slow, 'Message 1').waitFor();
    await slow.route('**/replies?*', async (route) => {
      const response = await route.fetch();
      await say(maya, 'I do', { reply_to: root.id, to: ['all'] });
      await streamed(slow, 'I do');
      return route.fulfill({ response });
    });
    await slow.getByRole('button', { name: /^60 replies/ }).click();
    await slow.getByRole('group', { name: 'Replies' }).getByText('Not 59').waitFor();
    await slow.getByRole('group', { name: 'Replies' }).getByText('I do').waitFor();
    await close();
  });

  it('knows what was read and what is new when it is shown again after another tab of the board', async () => {
    await read(dana, (await say(maya, 'Long known')).seq);
    const { seq } = await say(maya, 'New at first');
    const { page, close } = await open(dana);
    await conversation(page).getByText('New since you last looked').waitFor();
    await until(async () => (await positionOf(dana)) >= seq, 'it was acknowledged');
    const tabs = page.getByRole('navigation', { name: 'Board', exact: true });
    await tabs.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor({ state: 'attached' });
    await tabs.getByRole('link', { name: 'Talk' }).click();
    await article(page, 'New at first').waitFor();
    await page.waitForFunction(() => document.querySelector('.tl')?.ariaBusy === 'false');
    expect(await conversation(page).getByText('New since you last looked').count()).to.equal(0);
    await tabs.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor({ state: 'attached' });
    await say(maya, 'New while away');
    await page.getByRole('link', { name: `${board.name} 1 unread` }).waitFor();
    await tabs.getByRole('link', { name: 'Talk' }).click();
    await article(page, 'New while away').waitFor();
    await conversation(page).getByText('New since you last looked').waitFor();
    await close();
  });

  it('is where it was read when the person comes back from an attachment, and not after that', async () => {
    await fill(60);
    await put(maya, board.name, 'plan.md', '# Plan');
    await say(maya, 'See the plan', { files: [{ file: 'plan.md' }] });
    await read(dana, await fill(60));
    const { page, close } = await open(dana);
    const message = article(page, 'See the plan');
    await article(page, 'Message 60').last().waitFor();
    await message.scrollIntoViewIfNeeded();
    const { y } = (await message.boundingBox())!;
    await message.getByRole('link', { name: /plan\.md/ }).click();
    await page.getByRole('heading', { name: 'Plan', exact: true }).waitFor();
    await page.goBack();
    await until(async () => Math.abs(((await message.boundingBox())?.y ?? 0) - y) < 2, 'it is where it was');
    await message.and(page.locator(':focus')).waitFor();
    await page.reload();
    await until(() => inView(article(page, 'Message 60').last()), 'it opens at the end');
    await close();
  });

  it('shows attached images, each of which opens its file as its chip does', async () => {
    const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64');
    const { id } = await put(maya, board.name, 'shots/before.gif', pixel);
    await put(maya, board.name, 'shots/before.gif', pixel.toString('base64'), { base: 1 });
    const files = [{ file: id, version: 1 }, { file: (await put(maya, board.name, 'plan.md', '# Plan')).id }];
    await say(maya, 'It looks so', { files });
    const { page, close } = await open(dana);
    const images = article(page, 'It looks so').getByRole('img');
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('article img')?.naturalWidth === 1);
    expect(await images.count()).to.equal(1);
    expect(await images.getAttribute('alt')).to.equal('shots/before.gif');
    await images.click();
    await page
      .getByText('v1 of 2')
      .or(page.getByRole('heading', { name: 'before.gif' }))
      .first()
      .waitFor();
    expect(new URL(page.url()).searchParams.get('version')).to.equal('1');
    await close();
  });

  it('counts the messages since a file as they come, and reads the files for that once in a while', async () => {
    await put(dana, board.name, 'plan.md', 'The plan\n');
    await say(maya, 'See this', { files: [{ file: 'plan.md' }] });
    const { page, close } = await open(dana);
    const chip = article(page, 'See this').getByRole('link', { name: /plan\.md/ });
    await chip.getByText('1 message since').waitFor();
    await page.clock.install();
    let reads = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/files')) reads++;
    });
    await say(maya, 'Good');
    await chip.getByText('2 messages since').waitFor();
    for (const text of ['One', 'Two', 'Three']) {
      await say(maya, `${text} more`);
      await article(page, `${text} more`).waitFor();
    }
    await page.clock.fastForward(30_000);
    await chip.getByText('5 messages since').waitFor();
    expect(reads).to.equal(2);
    await close();
  });

  it('counts nothing as new that the person read in another tab', async () => {
    await read(dana, (await say(maya, 'Known')).seq);
    await fill(60);
    const { page, tab, close } = await open(dana);
    await page.getByRole('button', { name: / new$/ }).waitFor();
    const other = await tab();
    await other.getByRole('button', { name: / new$/ }).waitFor();
    await other.keyboard.press('Shift+E');
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    await say(maya, 'After that');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await close();
  });

  it('marks all as read also where more is unread than it loaded', async () => {
    await read(dana, (await say(maya, 'Known')).seq);
    const last = await fill(1_300);
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: /\+ new$/ }).waitFor();
    await page.keyboard.press('Shift+E');
    await until(async () => (await positionOf(dana)) >= last, 'all of it was acknowledged');
    await close();
  });

  it('acknowledges what comes after more than it loaded was read elsewhere', async () => {
    await read(dana, (await say(maya, 'Known')).seq);
    const last = await fill(6_500);
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: /\+ new$/ }).waitFor();
    await read(dana, last);
    await page.getByRole('button', { name: 'Newest' }).click();
    await article(page, 'Message 6500').waitFor();
    const { seq } = await say(maya, 'After that');
    await article(page, 'After that').waitFor();
    await until(async () => (await positionOf(dana)) >= seq, 'it was acknowledged');
    await close();
  });

  it('goes on to the unread messages that it did not load while others come', async () => {
    await read(dana, (await say(maya, 'Known')).seq);
    const last = await fill(1_100);
    const { page, close } = await open(dana);
    await page.getByRole('button', { name: /^9\d\d\+ new$/ }).waitFor();
    await say(maya, 'Meanwhile');
    // Two of the thousand are left, and the one that came.
    await read(dana, last - 102);
    await page.getByRole('button', { name: '3+ new', exact: true }).click();
    await article(page, 'Message 1000').waitFor();
    await until(async () => (await positionOf(dana)) > last - 100, 'what comes after the thousand was acknowledged');
    await page.getByRole('button', { name: /\d new$/ }).waitFor();
    await close();
  });

  it('keeps a thousand unread messages as they come, and reads the others once those were seen', async () => {
    await read(dana, (await say(maya, 'Known')).seq);
    const before = await fill(990);
    const { page, context, close } = await visit(server, dana);
    await context.addInitScript(() =>
      Object.defineProperty(document, 'hidden', { value: true, configurable: true, writable: true }),
    );
    await page.goto(`${server.url}/?board=${board.name}`);
    await page.getByRole('button', { name: '990 new', exact: true }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await fill(60);
    await page.getByRole('button', { name: /^1\s000\+ new$/ }).waitFor();
    await read(dana, before + 8);
    const jump = page.getByRole('button', { name: '2+ new', exact: true });
    await jump.waitFor();
    await page.evaluate(() => Object.assign(document, { hidden: false }));
    await jump.click();
    await until(async () => (await positionOf(dana)) > before + 10, 'what comes after the thousand was acknowledged');
    await page.getByRole('button', { name: /\d new$/ }).waitFor();
    await close();
  });

  it('keeps what is read in its place where the person posts from elsewhere', async () => {
    await fill(60);
    await read(dana, await fill(1));
    const { page, close } = await open(dana);
    const old = article(page, 'Message 40');
    await old.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    const before = await topOf(old);
    await say(dana, 'By the command line');
    await article(page, 'By the command line').waitFor({ state: 'attached' });
    await say(maya, 'After it');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await topOf(old)).to.equal(before);
    const box = page.getByLabel('Message', { exact: true });
    // A message that holds a secret is posted without it.
    for (const [text, shown] of [
      ['By this page', 'By this page'],
      ['It is glpat-abcdefghij0123456789', 'It is'],
    ] as const) {
      await old.evaluate((element) => element.scrollIntoView({ block: 'start' }));
      await page.getByRole('button', { name: /^(1 new|Newest)$/ }).waitFor();
      await box.fill(text);
      await page.keyboard.press('Control+Enter');
      await expectSeen(article(page, shown));
    }
    await close();
  });

  it('keeps the focus at a message, and the Tab key’s way to it, where the pointer takes its actions away', async () => {
    await say(maya, 'The first');
    await read(dana, (await say(maya, 'The second')).seq);
    const { page, close } = await open(dana);
    const first = article(page, 'The first');
    await first.hover();
    await first.getByRole('button', { name: 'Copy link' }).click();
    await article(page, 'The second').hover();
    await until(() => first.evaluate((element) => element === document.activeElement), 'the message has the focus');
    expect(await conversation(page).locator('article[tabindex="0"]').count()).to.equal(1);
    await close();
  });

  it('follows the end where more is added before the browser tells of its last move there', async () => {
    await read(dana, await fill(60));
    const { page, close } = await open(dana);
    await article(page, 'Message 60').waitFor();
    const left = (): Promise<number> =>
      conversation(page).evaluate(
        ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight,
      );
    await until(async () => (await left()) < 2, 'it shows the end');
    await article(page, 'Message 60').evaluate((element) => {
      element.style.paddingBottom = '300px';
      element.closest('.tl')!.dispatchEvent(new Event('scroll'));
    });
    await until(async () => (await left()) < 2, 'it shows the end again');
    // The time beside a message of a run stays in one line.
    expect(await page.locator('.hov').last().textContent()).to.match(/^\d\d:\d\d$/);
    // It is the conversation that scrolls, never the window.
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).to.equal(0);
    await close();
  });

  it('points up to what is new above the end', async () => {
    const last = await fill(80);
    await read(dana, last - 70);
    const { page, close } = await open(dana);
    const jump = page.getByRole('button', { name: /new$/ });
    await jump.locator('use[href="#i-down"]').waitFor({ state: 'attached' });
    await page.keyboard.press('End');
    await article(page, 'Message 80').waitFor();
    await jump.locator('use[href="#i-up"]').waitFor({ state: 'attached' });
    await close();
  });

  it('points up to a new reply in a closed thread above the end', async () => {
    const root = await say(dana, 'Who takes it?');
    await say(maya, 'I do', { reply_to: root.id });
    await read(dana, await fill(60));
    const { page, context, close } = await open(dana);
    await context.addInitScript((id) => localStorage.setItem('threads', JSON.stringify([[id, false]])), root.id);
    await page.reload();
    await article(page, 'Message 60').waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await say(maya, 'Done', { reply_to: root.id });
    const jump = page.getByRole('button', { name: /^1 new$/ });
    await jump.locator('use[href="#i-up"]').waitFor({ state: 'attached' });
    await close();
  });

  it('counts what is new in a thread also after the conversation was loaded again', async () => {
    const root = await say(dana, 'Who takes it?');
    await read(dana, root.seq);
    const { seq } = await say(maya, 'I do', { reply_to: root.id });
    const { page, close } = await open(dana);
    const thread = article(page, 'Who takes it?').getByRole('button', { name: /^1 reply/ });
    await thread.getByText('1 new').waitFor();
    await until(async () => (await positionOf(dana)) >= seq, 'the reply was seen');
    const line = conversation(page).locator('.ev').first();
    await page.keyboard.press('h');
    await line.waitFor({ state: 'detached' });
    await page.keyboard.press('h');
    await line.waitFor();
    await thread.and(page.locator('[aria-expanded="false"]')).waitFor();
    await thread.getByText('1 new').waitFor({ state: 'detached' });
    await close();
  });

  it('shows an ask with its options, takes the answer by its key and then shows it', async () => {
    const claude = await newAgent(dana, board.name, { name: `claude-${board.name}` });
    await say(claude, 'How long?', { to: ['@dana'], ask: { options: ['30 s', '60 s', '120 s'] } });
    const { page, close } = await open(dana);
    const ask = article(page, 'How long?').first();
    await ask.getByText('Needs you').waitFor();
    await ask.focus();
    await page.keyboard.press('2');
    await ask.getByRole('button', { name: '60 s', pressed: true }).waitFor();
    await ask.getByText('Answered').first().waitFor();
    await ask.getByText(/^by you, \d\d:\d\d$/).waitFor();
    const shade = (name: string): Promise<string> =>
      ask.getByRole('button', { name }).evaluate((element) => getComputedStyle(element).opacity);
    expect([await shade('60 s'), await shade('30 s')]).to.deep.equal(['1', '1']);
    const { asks } = await dana.ok('listAsks', { query: { board: board.name, state: 'answered' } });
    expect(asks[0]?.ask?.answer_option).to.equal(2);
    await close();
  });

  it('tells events in plain words, which can be hidden, and remembers that', async () => {
    await maya.ok('createTask', { params: { board: board.name }, body: { title: 'Cap the backoff', start: true } });
    await say(maya, 'On it');
    const { page, close } = await open(dana);
    const line = conversation(page).getByText(/^maya opened and started/);
    await line.waitFor();
    expect(await line.textContent()).to.match(/^maya opened and started \w+-1 Cap the backoff/);
    const { ref } = await maya.ok('createTask', { params: { board: board.name }, body: { title: 'Later' } });
    server.clock.advance(1_000);
    await maya.ok('startTask', { params: { board: board.name, task: ref } });
    await conversation(page)
      .getByText(/^maya started \w+-2 Later/)
      .waitFor();
    await conversation(page)
      .getByText(/^maya opened \w+-2 Later/)
      .waitFor();
    await page.keyboard.press('h');
    await line.waitFor({ state: 'detached' });
    await page.reload();
    await article(page, 'On it').waitFor();
    expect(await line.count()).to.equal(0);
    await page.getByRole('button', { name: 'View of the conversation' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Board events', checked: false }).click();
    await line.waitFor();
    await close();
  });

  it('knows who gets another handle by it also in questions and reactions that are there', async () => {
    const pia = await server.person('pia');
    await dana.ok('addBoardPerson', { params: { board: board.name }, body: { handle: 'pia' } });
    const agent = await newAgent(dana, board.name, { name: 'claude' });
    const { id } = await say(agent, 'Which one?', { to: ['@pia'], ask: {} });
    const heart = { message: id, reaction: 'heart' };
    await pia.ok('addReaction', { params: heart });
    const { page, close } = await open(pia);
    const question = article(page, 'Which one?');
    await question.getByText('Needs you').waitFor();
    await question.getByRole('button', { name: 'heart, you' }).waitFor();
    await pia.ok('renamePerson', { params: { handle: 'pia' }, body: { handle: 'pia-new' } });
    await say(pia, 'It is me');
    await article(page, 'It is me').getByText('pia-new').first().waitFor();
    await question.getByText('Needs you').waitFor();
    await pia.ok('removeReaction', { params: heart });
    await question.getByRole('button', { name: /heart/ }).waitFor({ state: 'detached' });
    await close();
  });

  it('adds and takes back a reaction, and says who got a message', async () => {
    const fixer = await newAgent(maya, board.name, { name: `fixer-${board.name}` });
    await say(dana, 'For one', { to: [`@${fixer.name}`, '@maya'] });
    const [here, there] = [await open(dana), await open(maya)];
    const message = article(here.page, 'For one');
    await message.focus();
    await here.page.keyboard.press('e');
    await here.page.getByRole('menuitemcheckbox', { name: 'heart' }).click();
    await message.getByRole('button', { name: 'heart, you' }).waitFor();
    await article(there.page, 'For one').getByRole('button', { name: 'heart, dana' }).waitFor();
    await message.getByRole('button', { name: 'heart, you' }).click();
    await article(there.page, 'For one').getByRole('button', { name: /heart/ }).waitFor({ state: 'detached' });
    await message.hover();
    await message.getByRole('button', { name: 'More' }).click();
    await here.page.getByRole('menuitem', { name: 'Who got it' }).click();
    await message.getByText(`${fixer.name} gets it when it is back`).waitFor();
    await here.close();
    await there.close();
  });

  it('says who got a message as they get it, and tries again what could not be read', async () => {
    const fixer = await newAgent(maya, board.name, { name: `fixer-${board.name}` });
    const claude = await newAgent(dana, board.name, { name: `claude-${board.name}` });
    for (const agent of [fixer, claude]) await agent.ok('setPresence', { body: { presence: 'idle' } });
    const { seq } = await say(dana, 'For both', { to: [`@${fixer.name}`, `@${claude.name}`] });
    const { page, close } = await open(dana);
    const message = article(page, 'For both');
    await page.route('**/receipts', (route) => route.fulfill({ status: 500, body: '{}' }));
    await message.hover();
    await message.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Who got it' }).click();
    const again = message.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await again.click();
    await message.getByText(`waiting for ${fixer.name} and ${claude.name}`).waitFor();
    await claude.ok('ackInbox', { body: { up_to: seq } });
    await message.getByText(`received by ${claude.name} · waiting for ${fixer.name}`).waitFor();
    await fixer.ok('ackInbox', { body: { up_to: seq } });
    await say(fixer, 'I have it');
    await message.getByText(`received by ${fixer.name} and ${claude.name}`).waitFor();
    await close();
  });

  it('shows beside many people the agents too, those at work first', async () => {
    for (let n = 1; n <= 9; n++) {
      const handle = `of-many-${n}`;
      await server.person(handle);
      await dana.ok('addBoardPerson', { params: { board: board.name }, body: { handle } });
    }
    const busy = await newAgent(dana, board.name, { name: 'zebra' });
    await busy.ok('setPresence', { body: { presence: 'working' } });
    const { page, close } = await open(dana);
    const side = page.getByRole('complementary', { name: 'Around the conversation' });
    await side.getByText('of-many-1').waitFor();
    await side.getByText('zebra').waitFor();
    await close();
  });

  it('knows a person whose handle another member has as a name', async () => {
    const pam = await server.person('pam');
    await newAgent(dana, board.name, { name: 'pam' });
    await dana.ok('addBoardPerson', { params: { board: board.name }, body: { handle: 'pam' } });
    await say(dana, 'For @pam-2', { to: ['@pam-2'] });
    const { page, close } = await open(pam);
    await article(page, 'For @pam-2').locator('.me').waitFor();
    const message = article(page, 'For @pam-2');
    await message.hover();
    await message.getByRole('button', { name: 'React' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'heart' }).click();
    await message.getByRole('button', { name: '1 heart, you', exact: true }).click();
    await message.getByRole('button', { name: /heart/ }).waitFor({ state: 'detached' });
    const names = await page.getByRole('complementary', { name: 'Around' }).getByRole('listitem').allTextContents();
    expect(names.join()).to.include('pam').and.not.include('pam-2');
    await close();
  });

  it('is read on an archived board, which offers nothing that would be refused', async () => {
    await say(maya, 'Old words');
    await dana.ok('archiveBoard', { params: { board: board.name } });
    const { page, close } = await open(dana);
    const message = article(page, 'Old words');
    await message.hover();
    await page.getByRole('toolbar', { name: 'Message actions' }).waitFor();
    expect(await page.getByRole('button', { name: /^(React|Reply)/ }).count()).to.equal(0);
    await page.getByText('This board is archived.').waitFor();
    await close();
  });

  it('scrolls a board of 10,000 messages to its top by pages, with few in the document, and jumps to the newest', async () => {
    const last = await fill(10_000);
    const unread = await open(dana);
    await unread.page.getByRole('button', { name: /^1\s000\+ new$/ }).waitFor();
    await unread.page.getByRole('link', { name: /10\s000 unread/ }).waitFor();
    await unread.close();
    await read(dana, last);
    const { page, close } = await open(dana);
    await article(page, 'Message 10000').waitFor();
    const most = { articles: 0 };
    const list = conversation(page);
    for (let pages = 0; pages < 8; pages++) {
      const oldest = await list.getByRole('article').first().getAttribute('id');
      await list.evaluate((element) => {
        element.scrollTop = 0;
      });
      await until(async () => (await list.getByRole('article').first().getAttribute('id')) !== oldest, 'an older page');
      most.articles = Math.max(most.articles, await list.getByRole('article').count());
    }
    expect(most.articles).to.be.within(200, 400);
    await page.keyboard.press('End');
    await article(page, 'Message 10000').waitFor();
    expect(await inView(article(page, 'Message 10000'))).to.equal(true);
    await page.goto(`${server.url}/?board=${board.name}&message=${last - 9_999}`);
    await article(page, 'Message 1').first().waitFor();
    await close();
  });

  it('can be used by everybody, in light and dark, with every kind of entry', async () => {
    const claude = await newAgent(dana, board.name, { name: `claude-${board.name}` });
    const root = await say(maya, 'Look at `this`, @dana:\n\n```ts\nconst a = 1; // one\n```', { urgent: true });
    await say(claude, 'Seen', { reply_to: root.id });
    await say(claude, 'Which one?', { to: ['@dana'], ask: { options: ['This', 'That'], going_with: 'This' } });
    await say(claude, 'My token is ghp_abcdefghijklmnopqrstuvwxyz0123456789');
    await maya.ok('addReaction', { params: { message: root.id, reaction: 'tada' } });
    const { page, close } = await open(dana);
    await page.getByRole('group', { name: 'Replies' }).getByText('Seen').waitFor();
    await page.getByText('1 github token was removed').waitFor();
    await article(page, 'Which one?').hover();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expectAccessible(page, colorScheme);
    }
    await close();
  });

  it('breaks no words in the head of a held thread on a phone', async () => {
    const [claude, codex] = [await newAgent(dana, board.name, { name: 'claude' }), await newAgent(dana, board.name)];
    const policy = { agent_run: { notice: 12, hold: 13 } };
    await dana.ok('updateBoard', { params: { board: board.name }, body: { policy } });
    const root = await say(dana, 'Talk it over');
    for (let said = 0; said < 14; said++) await say(said % 2 ? claude : codex, 'A word', { reply_to: root.id });
    const { page, close } = await open(dana, `&message=${root.seq}`);
    await page.setViewportSize({ width: 360, height: 780 });
    const head = page.getByRole('button', { name: /14 replies/ });
    await head.getByText(/by agents in a row, held/).waitFor();
    const broken = await head.evaluate((element) => {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(text);
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (tops.size > 1) found.push(text.textContent!);
      }
      return found;
    });
    expect(broken).to.deep.equal([]);
    await close();
  });

  it('cuts neither the title of a board nor the way to search before the facts beside them', async () => {
    const params = { board: board.name };
    await dana.ok('updateBoard', { params, body: { title: 'Payments of the shop' } });
    for (const presence of ['working', 'idle', 'no_session'] as const) {
      const agent = await newAgent(dana, board.name);
      await agent.ok('createTask', { params, body: { title: 'Cap the backoff', start: presence === 'idle' } });
      await agent.ok('setPresence', { body: { presence } });
    }
    const { page, close } = await open(dana);
    const header = page.locator('.hd');
    await header.getByText('1 in progress').waitFor();
    for (const width of [1_000, 900]) {
      await page.setViewportSize({ width, height: 700 });
      const title = header.getByRole('heading', { name: 'Payments of the shop' });
      expect(await title.evaluate((element) => element.scrollWidth - element.clientWidth), `${width}`).to.equal(0);
      const search = header.getByText('Search or go to');
      expect((await search.boundingBox())!.height, `${width}`).to.be.at.most(24);
      expect(await header.getByText('1 in progress').isVisible(), `${width}`).to.equal(true);
    }
    await close();
  });

  it('says since which day an agent is gone', async () => {
    const agent = await newAgent(dana, board.name, { name: 'claude' });
    await agent.ok('setPresence', { body: { presence: 'idle' } });
    await agent.ok('setPresence', { body: { presence: 'no_session' } });
    const { page, close } = await visit(server, dana, '/');
    await page.clock.install({ time: Date.now() + 24 * 3_600_000 });
    await page.goto(`${server.url}/?board=${board.name}`);
    await page.getByText(/^gone since yesterday, \d\d:\d\d$/).waitFor();
    await close();
  });

  it('says how long ago something was by the clock of the server', async () => {
    await say(maya, 'Just posted');
    const { page, close } = await visit(server, dana, '/');
    await page.clock.install({ time: Date.now() + 10 * 60_000 });
    await page.goto(`${server.url}/?board=${board.name}`);
    await article(page, 'Just posted').getByText('now', { exact: true }).waitFor();
    await close();
  });

  it('says the day of what is not of the day it stands under', async () => {
    const later = await startPageServer();
    const { clock } = later;
    clock.advance(-3 * DAY - 2 * HOUR);
    const person = await later.person('dana');
    const { name } = await newBoardWith(person, []);
    const agent = await newAgent(person, name, { name: 'claude' });
    const ask = (ms: number) => ({
      options: ['60 s', '90 s'],
      going_with: '60 s',
      going_at: new Date(clock.now() + ms).toISOString(),
    });
    const { id: first } = await post(agent, name, 'Who takes it?');
    const { id: second } = await post(agent, name, 'How long?', { ask: ask(HOUR) });
    await post(agent, name, 'How often?', { ask: ask(HOUR) });
    clock.advance(3 * DAY);
    await post(person, name, 'I do', { reply_to: first });
    await post(person, name, 'Two minutes', { reply_to: second, answer: {} });
    clock.advance(2 * HOUR);
    await post(agent, name, 'How far?', { ask: ask(5 * DAY) });
    const { page, close } = await visit(later, person, `/?board=${name}`);
    for (const text of ['Who takes it?', 'How long?'])
      await article(page, text)
        .getByRole('button', { name: /^1 reply (today|yesterday), \d\d:\d\d$/ })
        .click();
    await article(page, 'I do')
      .last()
      .getByText(/^(today|yesterday), \d\d:\d\d$/)
      .waitFor();
    await article(page, 'Who takes it?')
      .getByText(/^\d\d:\d\d$/)
      .waitFor();
    await article(page, 'How long?')
      .getByText(/^by you, (today|yesterday), \d\d:\d\d$/)
      .waitFor();
    const day = '(\\w+, \\w+ \\d+|\\w+ \\d+, \\d{4}), \\d\\d:\\d\\d';
    await article(page, 'How often?')
      .getByText(new RegExp(`^went with 60 s, ${day}; you`))
      .waitFor();
    await article(page, 'How far?')
      .getByText(new RegExp(`^claude goes with 60 s, ${day}, unless you`))
      .waitFor();
    await close();
    await later.stop();
  });

  it('no longer marks messages as held that another policy or a person lets go', async () => {
    const params = { board: board.name };
    const limit = (hold: number) =>
      dana.ok('updateBoard', { params, body: { policy: { agent_run: { notice: 1, hold } } } });
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    const codex = await newAgent(dana, board.name, { name: 'codex' });
    await limit(2);
    const root = await say(dana, 'Talk it over');
    for (const [index, agent] of [claude, codex, claude, codex, claude].entries())
      await say(agent, `Word ${index + 1}`, { reply_to: root.id });
    const { page, close } = await open(dana, `&message=${root.seq}`);
    const marks = page.getByText('held, wakes nobody');
    const areHeld = (count: number) => until(async () => (await marks.count()) === count, `${count} are held`);
    await areHeld(3);
    const third = article(page, 'Word 3').last();
    await third.hover();
    await third.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Who got it' }).click();
    await third.getByText('held, does not wake codex').waitFor();
    await limit(4);
    await areHeld(1);
    await dana.ok('setThreadRun', { params: { message: root.id }, body: { action: 'continue' } });
    await areHeld(0);
    await close();
  });

  it('still marks a closed thread as held of which a person let only some messages go', async () => {
    const params = { board: board.name };
    const limit = (hold: number) =>
      dana.ok('updateBoard', { params, body: { policy: { agent_run: { notice: 1, hold } } } });
    const claude = await newAgent(dana, board.name, { name: 'claude' });
    await limit(2);
    const { id } = await say(maya, 'Talk it over');
    let seq = 0;
    for (let n = 0; n < 14; n++) ({ seq } = await say(claude, `Word ${n}`, { reply_to: id }));
    await read(dana, seq);
    const { page, close } = await open(dana);
    const thread = page.getByRole('button', { name: /^14 replies/ });
    await thread.filter({ hasText: '14 by agents in a row, held' }).waitFor();
    await dana.ok('setThreadRun', { params: { message: id }, body: { action: 'continue' } });
    await conversation(page)
      .getByText(/let agents go on in a thread/)
      .waitFor();
    await thread.filter({ hasText: 'in a row, held' }).waitFor();
    await limit(20);
    await thread.filter({ hasText: /in a row(?!, held)/ }).waitFor();
    await close();
  });
});
