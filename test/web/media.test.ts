/** The page on paper, in colours that the system forces, and without motion. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

before(browser);
after(closeBrowser);

const article = (page: Page, text: string): Locator => page.getByRole('article').filter({ hasText: text });

/** What an element looks like beside its words. */
const lookOf = (locator: Locator): Promise<string> =>
  locator.first().evaluate((element) => {
    const { color, borderColor, borderWidth, borderStyle, outline, ...style } = getComputedStyle(element);
    // Forced colours make every ground that of the page, and leave it its transparency, which nobody sees then.
    const backgroundColor = style.backgroundColor.replace(/^rgba\((.*), 0\)$/, 'rgb($1)');
    return JSON.stringify({ color, backgroundColor, borderColor, borderWidth, borderStyle, outline });
  });

describe('the page in other media', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  let board: string;
  before(async () => {
    server = await startPageServer();
    [dana, maya] = [await server.person('dana'), await server.person('maya')];
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoard(dana)).name;
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'maya' } });
  });

  it('prints a thread: its whole text with the addresses of links, and nothing else', async () => {
    const lines = Array.from({ length: 150 }, (_, n) => `line ${n + 1}`);
    const root = await post(
      maya,
      board,
      `See [the page](https://example.com/retry?a=1):\n\n\`\`\`\n${lines.join('\n')}\n\`\`\``,
    );
    await post(dana, board, 'It is as it says', { reply_to: root.id });
    await post(maya, board, 'Something else');
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await article(page, 'Something else').waitFor();
    const button = page.getByRole('button', { name: '1 reply' });
    if ((await button.getAttribute('aria-expanded')) === 'true') await button.click();
    await page.evaluate(() => {
      window.print = () => Object.assign(globalThis, { printed: true });
    });
    await article(page, 'See the page')
      .first()
      .hover({ position: { x: 60, y: 20 } });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Print' }).click();
    await page.waitForFunction(() => 'printed' in globalThis);
    await page.emulateMedia({ media: 'print' });
    const shown = await page.evaluate(() => {
      const seen = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true });
      return {
        text: document.body.innerText,
        link: getComputedStyle(document.querySelector('article .x a')!, '::after').content,
        chrome: [...document.querySelectorAll('nav, header, aside, form, button, [role=toolbar]')]
          .filter((element) => seen(element) && !element.matches('.th'))
          .map((element) => element.outerHTML.slice(0, 80)),
      };
    });
    for (const text of ['See the page', 'line 1\n', 'line 150', 'It is as it says'])
      expect(shown.text).to.include(text);
    expect(shown.text).not.to.include('Something else');
    expect(shown.link).to.include('https://example.com/retry?a=1');
    expect(shown.chrome).to.deep.equal([]);
    // On as many sheets as it takes.
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type \/Page\b/g)?.length).to.be.within(3, 6);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.emulateMedia({ media: 'screen' });
    await article(page, 'Something else').waitFor();
    await close();
  });

  it('prints a task whole, without controls and without the tasks beside it', async () => {
    const params = { board };
    const { ref } = await maya.ok('createTask', { params, body: { title: 'Write it down' } });
    await maya.ok('createTask', { params, body: { title: 'Another one' } });
    const about = Array.from({ length: 150 }, (_, n) => `- line ${n + 1}`).join('\n');
    await maya.ok('updateTask', { params: { board, task: ref }, body: { about } });
    const { page, close } = await visit(server, dana, `/?board=${board}&task=${ref}`, { colorScheme: 'dark' });
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    const { text, controls, light } = await page.evaluate(() => ({
      text: document.body.innerText,
      controls: [...document.querySelectorAll('nav, header, button, input, textarea')]
        .filter((element) => element.checkVisibility())
        .map((element) => element.outerHTML.slice(0, 80)),
      light: getComputedStyle(document.documentElement).colorScheme,
    }));
    expect(text).to.include('Write it down').and.to.include('line 150').and.not.to.include('Another one');
    expect(controls).to.deep.equal([]);
    expect(light).to.equal('light');
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type \/Page\b/g)?.length).to.be.within(3, 6);
    await page.goto(`${server.url}/inbox`);
    await page.getByRole('region', { name: 'What it is about' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('navigation', { name: 'Boards and more' }).isVisible()).to.equal(false);
    await page.goto(`${server.url}/`);
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    expect(await page.getByText('Search or go to').isVisible()).to.equal(false);
    await close();
  });

  it('tells states apart in forced colours, and shows where the focus is', async () => {
    const claude = await newAgent(dana, board, { name: 'claude' });
    await post(claude, board, 'How long?', { to: ['@dana'], ask: { options: ['30 s', '60 s'] } });
    const { page, close } = await visit(server, dana, `/?board=${board}`, { forcedColors: 'active' });
    const options = article(page, 'How long?').getByRole('group', { name: 'How long?' });
    await options.getByRole('button', { name: '60 s' }).click();
    const chosen = options.getByRole('button', { name: '60 s', pressed: true });
    await chosen.waitFor();
    await page.mouse.move(5, 5);
    const tabs = page.getByRole('navigation', { name: 'Board' });
    const rail = page.getByRole('navigation', { name: 'Boards and more' });
    const box = page.getByRole('form', { name: 'New message' });
    await box.getByRole('button', { name: 'Urgent' }).click();
    const different = async (what: string, on: Locator, off: Locator): Promise<void> => {
      expect(await lookOf(on), what).not.to.equal(await lookOf(off));
    };
    await different('answer', chosen, options.getByRole('button', { name: '30 s' }));
    await different('tab', tabs.getByRole('link', { name: 'Talk' }), tabs.getByRole('link', { name: 'Files' }));
    await different('rail', rail.getByRole('link', { name: board }), rail.getByRole('link', { name: 'All boards' }));
    await different(
      'switch',
      box.getByRole('button', { name: 'Urgent' }),
      box.getByRole('button', { name: 'Expects a reply' }),
    );
    const unseen = new Set<string>();
    const steps = new Set<string>();
    await page.locator('body').click({ position: { x: 2, y: 2 } });
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      const step = await page.evaluate(() => {
        const at = document.activeElement!;
        let ringed: Element | null = at;
        while (ringed && !Number.parseFloat(getComputedStyle(ringed).outlineWidth)) ringed = ringed.parentElement;
        const ring = ringed && getComputedStyle(ringed);
        const clear = ring && ring.outlineStyle !== 'none' && ring.outlineColor !== 'rgba(0, 0, 0, 0)';
        return { name: at.outerHTML.slice(0, 120), clear };
      });
      steps.add(step.name);
      if (!step.clear && !step.name.startsWith('<body')) unseen.add(step.name);
    }
    expect(steps.size).to.be.above(20);
    expect([...unseen]).to.deep.equal([]);
    await dana.ok('createTask', { params: { board }, body: { title: 'Write it down' } });
    await page.goto(`${server.url}/?board=${board}&tab=tasks`);
    await page.getByRole('heading', { name: 'Last 30 days' }).waitFor();
    const colours = await page
      .locator('.flow figcaption i')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
    expect(new Set(colours).size, 'what the colours of the plot mean').to.equal(4);
    await page.keyboard.press('Control+k');
    const choices = page.getByRole('option');
    await different('choice', choices.first(), choices.last());
    await page.keyboard.type('write');
    const found = choices.filter({ hasText: 'Write it down' });
    await different('match', found.locator('mark'), found);
    await put(dana, board, 'plan.md', 'First\n');
    await put(dana, board, 'plan.md', 'Second\n', { base: 1 });
    await page.goto(`${server.url}/?board=${board}&file=plan.md`);
    const versions = page.getByRole('complementary').getByRole('listitem').filter({ hasText: /^v\d/ });
    await different('version', versions.first(), versions.last());
    await close();
  });

  it('shows what has the focus above the actions of its message on a narrow screen', async () => {
    await post(await newAgent(maya, board, { name: 'claude' }), board, 'Before');
    const { page, close } = await visit(server, dana, `/?board=${board}`, { viewport: { width: 320, height: 640 } });
    await article(page, 'Before').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Tab');
    const time = article(page, 'Before').locator('.at-link');
    await time.and(page.locator(':focus')).waitFor();
    await page.getByRole('toolbar', { name: 'Message actions' }).waitFor();
    const shown = await time.evaluate((link) => {
      const { left, top, width, height } = link.getBoundingClientRect();
      return link.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect(shown).to.equal(true);
    await close();
  });

  it('moves nothing when motion is unwanted, and otherwise only fades', async () => {
    // With nothing unread it opens at its end, where what comes is added.
    await post(dana, board, 'Before');
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await article(page, 'Before').waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const moving = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('*')].flatMap((element) => {
          const { animationName, animationDuration, transitionDuration, transitionProperty } =
            getComputedStyle(element);
          const found = [];
          if (animationName !== 'none' && animationDuration !== '0s')
            found.push(`${animationName} ${animationDuration}`);
          if (transitionDuration.split(', ').some((time) => time !== '0s')) found.push(transitionProperty);
          return found;
        }),
      );
    expect([...new Set(await moving())]).to.deep.equal(['background-color, border-color']);
    await post(maya, board, 'Meanwhile');
    await article(page, 'Meanwhile').waitFor();
    expect([...new Set(await moving())].sort()).to.deep.equal(['background-color, border-color', 'in 0.18s']);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await post(maya, board, 'After');
    await article(page, 'After').waitFor();
    expect(await moving()).to.deep.equal([]);
    expect(await page.evaluate(() => document.getAnimations().length)).to.equal(0);
    await close();
  });
});
