/** With the longest names that the server allows, nothing scrolls sideways or is out of reach, on a phone or beside the rail. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { type Longest, tellLongest } from './support/longest.ts';
import { settled, sideways } from './support/screens.ts';
import { startPageServer } from './support/server.ts';
import { type Visit, visit } from './support/visit.ts';

after(closeBrowser);

type Screen = [what: string, path: (told: Longest) => string, open?: (page: Page) => Promise<void>];

const press = async (page: Page, ...names: string[]): Promise<void> => {
  for (const name of names)
    await page.locator(':is(button, [role="menuitem"]):visible', { hasText: name }).first().click();
  await page.locator('dialog').waitFor();
};
const people = ({ board }: Longest): string => `/?board=${board}&tab=people`;
const file = ({ board, file: name }: Longest): string => `/?board=${board}&file=${name}`;

const screens: Screen[] = [
  ['the boards', () => '/'],
  ['the inbox', () => '/inbox'],
  ['an approval', ({ approval }) => `/inbox/approvals/${approval}`],
  ['proposed work', ({ pairing }) => `/inbox/pairings/${pairing}`],
  ['the conversation', ({ board }) => `/?board=${board}`],
  ['the tasks', ({ board }) => `/?board=${board}&tab=tasks`],
  ['a task', ({ board, task }) => `/?board=${board}&task=${task}`],
  ['the files', ({ board }) => `/?board=${board}&tab=files`],
  ['a file', file],
  ['a comparison', (told) => `${file(told)}&version=2&against=1`],
  ['people', people],
  ['archiving', people, (page) => press(page, 'Archive it')],
  [
    'removing an agent',
    people,
    async (page) => {
      await page.getByRole('button', { name: /^More about m{40}/ }).click();
      await press(page, 'Remove it from');
    },
  ],
  ['an agent', ({ board, agent }) => `/?board=${board}&agent=${agent}`],
  ['the record', ({ board }) => `/?board=${board}&tab=record`],
  ['your agents', () => '/agents'],
  ['everything', () => '/everything'],
  ['found things', () => `/search?q=${'W'.repeat(80)}`],
  ['the server', () => '/server'],
];

describe('the longest names on the page', () => {
  let server: TestServer;
  let told: Longest;
  let seen: Visit;
  before(async () => {
    server = await startPageServer();
    told = await tellLongest(server);
    seen = await visit(server, told.dana, '/', { reducedMotion: 'reduce' });
  });
  after(async () => {
    await seen.close();
    await server.stop();
  });

  for (const [what, path, open] of screens)
    it(`fit with ${what} on a phone and on a wide screen`, async () => {
      const { page } = seen;
      for (const width of [360, 1_280]) {
        await page.setViewportSize({ width, height: 780 });
        await page.goto(server.url + path(told));
        await settled(page);
        await open?.(page);
        expect(await page.evaluate(sideways), `${what} at ${width} px`).to.deep.equal([]);
      }
    });

  it('leave a task its title on a phone', async () => {
    const { page } = seen;
    await page.setViewportSize({ width: 360, height: 780 });
    await page.goto(`${server.url}/?board=${told.board}&tab=tasks`);
    const title = await page.getByText(/^W{120}$/).boundingBox();
    expect(title?.width).to.be.above(150);
  });

  it('leave the message box in view below a long question, whose answers can be reached', async () => {
    const { page } = seen;
    for (const width of [360, 1_280]) {
      await page.setViewportSize({ width, height: 780 });
      await page.goto(`${server.url}/?board=${told.board}`);
      const post = await page.getByRole('button', { name: 'Post', exact: true }).boundingBox();
      expect(post!.y + post!.height).to.be.below(780);
      const strip = page.getByRole('region', { name: 'Needs you', exact: true });
      await strip.getByRole('button', { name: /^4/ }).click({ trial: true });
    }
  });

  it('leave a board on the list its mark beside the number of unread messages on a phone', async () => {
    const { page } = seen;
    await page.setViewportSize({ width: 360, height: 780 });
    await page.goto(`${server.url}/`);
    const mark = page.getByRole('link', { name: /^W{80}/ }).getByText(/need you/);
    expect(await mark.evaluate((one) => one.scrollWidth - one.clientWidth)).to.equal(0);
  });

  it('fit into the list of those who can be mentioned', async () => {
    const { page } = seen;
    await page.goto(`${server.url}/?board=${told.board}`);
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('@');
    const owned = page.getByRole('option', { name: /’s agent/ }).first();
    expect(await owned.evaluate((one) => one.scrollWidth - one.clientWidth)).to.equal(0);
    expect(await page.evaluate(sideways)).to.deep.equal([]);
    const owner = await owned.getByText(/’s agent/).boundingBox();
    expect(owner?.height, 'on one line').to.be.below(24);
    await page.setViewportSize({ width: 360, height: 600 });
    await page.getByRole('button', { name: 'Ask a question with options' }).click();
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('@');
    const options = page.getByRole('option');
    expect((await options.first().boundingBox())?.y, 'all in the window').to.be.at.least(0);
    await page.keyboard.press('ArrowUp');
    const list = (await page.getByRole('listbox').boundingBox())!;
    const last = (await options.and(page.locator('[aria-selected="true"]')).boundingBox())!;
    expect(last.y + last.height, 'the last in view').to.be.at.most(list.y + list.height);
  });

  it('leave the tabs of a board of thousands of tasks, files and people within a phone', async () => {
    const { page } = seen;
    for (const width of [360, 390]) {
      await page.setViewportSize({ width, height: 780 });
      await page.goto(`${server.url}${people(told)}`);
      await settled(page);
      const shown = (await page.getByRole('link', { name: 'Record' }).boundingBox())!;
      expect(shown.x + shown.width).to.be.at.most(width);
      await page.locator('.tabs .num').evaluateAll((all) => {
        for (const one of all) one.textContent = ' 12 345';
      });
      expect(await page.evaluate(sideways)).to.deep.equal([]);
      const tabs = page.getByRole('navigation', { name: 'Board' }).getByRole('link');
      for (const tab of await tabs.all()) {
        const { x, width: wide, height } = (await tab.boundingBox())!;
        expect(x + wide).to.be.at.most(width);
        expect(height).to.be.below(50);
      }
    }
  });

  it('leave the marks of the rail and the words of the header their room', async () => {
    const { page } = seen;
    await page.setViewportSize({ width: 844, height: 390 });
    await page.goto(`${server.url}/?board=${told.board}`);
    expect((await page.locator('.rail .dot').boundingBox())?.width).to.equal(8);
    expect((await page.locator('.brf:visible .cut').boundingBox())?.width).to.be.above(60);
    await page.goto(`${server.url}/`);
    expect((await page.locator('.opt .d:visible').boundingBox())?.height, 'the word default').to.be.below(30);
    await page.goto(`${server.url}/inbox`);
    expect((await page.getByRole('heading', { name: 'Needs you' }).boundingBox())?.height).to.be.below(30);
  });
});
