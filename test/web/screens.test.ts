/**
 * Every screen, light and dark, wide, zoomed and on a phone: it shows no error, is accessible, nothing stands out at the side,
 * and nothing is covered.
 *
 * SERVICE_TEST_SHOTS=1 writes pictures of each to `.shots`, to be looked at.
 */
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { screens, settled, sideways } from './support/screens.ts';
import { startPageServer } from './support/server.ts';
import { type Story, tellStory } from './support/story.ts';
import { type Visit, visit } from './support/visit.ts';

const shots = fileURLToPath(new URL('../../.shots/', import.meta.url));
const PHONE = { width: 360, height: 780 };
const SIDEWAYS = { width: 844, height: 390 };
const WIDE = { width: 1280, height: 800 };
/** A window of 1280 by 1024, as the page sees it when it is zoomed. */
const ZOOMED_200 = { width: 640, height: 512 };
const ZOOMED_400 = { width: 320, height: 256 };
const MIN_TARGET = 44;
/** Those of axe's rules that look at colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

after(closeBrowser);

describe('every screen of the page', () => {
  let server: TestServer;
  let story: Story;
  let seen: Visit;
  before(async () => {
    server = await startPageServer();
    story = await tellStory(server);
    // Without the fade of colours, which a picture would catch halfway.
    seen = await visit(server, story.dana, '/', { reducedMotion: 'reduce' });
  });
  after(async () => {
    await seen.close();
    await server.stop();
  });

  const shoot = async (name: string): Promise<void> => {
    if (process.env['SERVICE_TEST_SHOTS'] === '1') await seen.page.screenshot({ path: `${shots}${name}.png` });
  };

  for (const [name, path] of screens) {
    it(`${name} can be used by everybody, in light and dark, wide, zoomed and on a phone`, async () => {
      const { page } = seen;
      await page.setViewportSize(WIDE);
      await page.goto(server.url + path(story));
      await settled(page);
      // The dark page differs in its colours only.
      for (const [colorScheme, rules] of [
        ['light', undefined],
        ['dark', COLOUR_RULES],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await shoot(`${name}-${colorScheme}`);
        await expectAccessible(page, `${name} ${colorScheme}`, rules);
      }
      expect(await page.evaluate(() => document.scrollingElement!.scrollWidth), `${name}: wider`).to.equal(WIDE.width);
      await page.setViewportSize(ZOOMED_200);
      await settled(page);
      expect(await page.evaluate(outOfReach), `${name} at 200 %`).to.deep.equal([]);
      await page.setViewportSize(ZOOMED_400);
      await page.goto(server.url + path(story));
      await settled(page);
      expect(await page.evaluate(outOfReach), `${name} at 400 %`).to.deep.equal([]);
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'light' });
      await settled(page);
      await shoot(`${name}-phone`);
      expect(await page.evaluate(sideways), `${name}: wider than the phone`).to.deep.equal([]);
      expect(await page.evaluate(tooSmall, MIN_TARGET), `${name}: too small for a finger`).to.deep.equal([]);
      expect(seen.complaints).to.deep.equal([]);
    });
  }

  it('keeps what is read and touched clear of a notch and of the bar at the end of a phone’s screen', async () => {
    const { page, context, close } = await visit(server, story.dana, '/', { reducedMotion: 'reduce' });
    const devtools = await context.newCDPSession(page);
    for (const [size, left, bottom, parts] of [
      [PHONE, 0, 34, '.main, .panel, .bot > a, .toasts'],
      // There the panel scrolls with the rest of the page.
      [SIDEWAYS, 47, 21, '.main, .bot > a, .toasts'],
    ] as const) {
      await page.setViewportSize(size);
      const insets = { left, leftMax: left, right: left, rightMax: left, bottom, bottomMax: bottom };
      await devtools.send('Emulation.setSafeAreaInsetsOverride', { insets });
      for (const path of ['/inbox', '/?board=payments', '/?board=payments&task=PAY-1', '/?board=payments&tab=people']) {
        await page.goto(server.url + path);
        await settled(page);
        const [first, last] = [left, size.width - left];
        const end = size.height - bottom;
        for (const one of await page.locator(parts).all()) {
          const box = await one.boundingBox();
          if (!box) continue;
          const { x, y, width, height } = box;
          const at = `${path} ${await one.getAttribute('class')} at ${size.width} px`;
          expect(x, at).to.be.at.least(first);
          expect(x + width, at).to.be.at.most(last);
          expect(y + height, at).to.be.at.most(end);
        }
      }
    }
    await close();
  });

  /** A link of the rail or of a board, a read that answers late, and what stands below the part that it is for. */
  const slowParts: [string, string, string][] = [
    ['All boards', '/v1/me/onboarding-inbox', 'Your boards'],
    ['People', '/v1/boards/payments/people', 'What it is for'],
    ['People', '/v1/boards/payments/join-codes', 'What it is for'],
    ['Cap the backoff', '/v1/boards/payments/files', 'Where it stands'],
  ];
  const holding = async (link: string, part: string): Promise<PromiseWithResolvers<void>> => {
    const { page } = seen;
    await page.setViewportSize(WIDE);
    await page.goto(`${server.url}/?board=payments&tab=tasks`);
    await settled(page);
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(
      ({ pathname }) => pathname === part,
      async (route) => {
        asked.resolve();
        await held.promise;
        await route.continue();
      },
    );
    await page
      .getByRole('link', { name: new RegExp(link) })
      .first()
      .click();
    await asked.promise;
    return held;
  };
  for (const [link, part, below] of slowParts)
    it(`shows by the link ${link} what stands below ${part} once that is read, so that nothing moves`, async () => {
      const { page } = seen;
      const held = await holding(link, part);
      const heading = page.getByText(below, { exact: true });
      await heading.waitFor({ state: 'attached' });
      expect(await heading.isVisible()).to.equal(false);
      held.resolve();
      await heading.waitFor();
      await page.unrouteAll();
    });

  it('shows what was read after three seconds, whatever else is still being read', async () => {
    const { page } = seen;
    const held = await holding('All boards', '/v1/me/onboarding-inbox');
    await page.getByText('Your boards', { exact: true }).waitFor();
    held.resolve();
    await page.unrouteAll();
  });

  for (const [path, held] of [
    ['/?board=payments', '**/v1/boards/payments'],
    ['/?board=payments', '**/boards/payments/messages?*'],
    ['/?board=payments&tab=tasks', '**/boards/payments/tasks?*'],
    ['/?board=payments&tab=files', '**/boards/payments/files?*'],
    ['/?board=payments&file=src%2Fretry.ts', '**/boards/payments/files/*'],
    ['/?board=payments&tab=people', '**/boards/payments/people*'],
    ['/?board=payments&agent=claude', '**/boards/payments/members*'],
    ['/agents', '**/v1/me/agents*'],
    ['/search?q=retry', '**/v1/search?*'],
    ['/inbox', '**/v1/asks?*'],
    ['/everything', '**/boards/*/events?*'],
  ] as const)
    it(`${path} says that it loads while the answer to ${held} is awaited`, async () => {
      const { page, close } = await visit(server, story.dana, '/');
      let release = () => {};
      const answer = new Promise<void>((go) => (release = go));
      await page.route(held, async (route) => {
        await answer;
        await route.continue();
      });
      await page.goto(server.url + path);
      await page.waitForFunction(() =>
        [...document.querySelectorAll('#main, #main *')].some((each) => {
          const { content, visibility } = getComputedStyle(each, '::before');
          return content === '"Loading"' && visibility === 'visible';
        }),
      );
      release();
      await settled(page);
      await close();
    });
});

/** Runs in the page: what is too small to touch. */
function tooSmall(least: number): string[] {
  const nameOf = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 30)}"`;
  const reach = (element: Element): DOMRect => {
    const { x, y, width, height } = element.getBoundingClientRect();
    // An invisible margin around a small control counts, and so does its label.
    const inset = Number.parseFloat(getComputedStyle(element, '::after').inset) || 0;
    const label = element.closest('label')?.getBoundingClientRect();
    const more = Math.max(0, -inset);
    return new DOMRect(
      x - more,
      y - more,
      Math.max(width + 2 * more, label?.width ?? 0),
      Math.max(height + 2 * more, label?.height ?? 0),
    );
  };
  return (
    [...document.querySelectorAll('button, input, select, textarea, a[href], summary')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.vh, .skip, .x, p, [inert]'))
      // Words within a line of text are exempt, as WCAG 2.5.8 has it.
      .filter((one) => !(one.tagName === 'A' && getComputedStyle(one).display === 'inline'))
      .filter((one) => {
        const { width, height } = reach(one);
        return width > 1 && (width < least || height < least);
      })
      .map((one) => `${nameOf(one)} ${Math.round(reach(one).width)}x${Math.round(reach(one).height)}`)
  );
}

/** Runs in the page: what stands beside the window, and controls that something covers when they have the focus. */
function outOfReach(): string[] {
  const nameOf = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 30)}"`;
  const wrong: string[] = [];
  if (document.scrollingElement!.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
  for (const one of document.querySelectorAll('body *'))
    if (one.scrollWidth > one.clientWidth && /auto|scroll/.test(getComputedStyle(one).overflowX))
      wrong.push(`scrolls sideways: ${nameOf(one)}`);
  const shown = [
    ...document.querySelectorAll<HTMLElement>(
      'body :is(a[href], button, input, select, textarea, summary, [tabindex="0"], h1, h2, h3, p, time)',
    ),
  ].filter(
    (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.vh, .skip, .cut, [inert], svg'),
  );
  for (const one of shown) {
    const { left, right } = one.getBoundingClientRect();
    if (left < -1 || right > innerWidth + 1) wrong.push(`beside the window: ${nameOf(one)}`);
  }
  for (const one of shown) {
    if (one.tabIndex < 0 || one.matches(':disabled')) continue;
    one.focus();
    // The first line of a link that has two.
    const box = one.getClientRects()[0]!;
    const middle = (from: number, to: number, end: number): number => (Math.max(from, 0) + Math.min(to, end)) / 2;
    const hit = document.elementFromPoint(
      middle(box.left, box.right, innerWidth),
      middle(box.top, box.bottom, innerHeight),
    );
    if (!hit || !(one.contains(hit) || one.closest('label')?.contains(hit)))
      wrong.push(`covered${hit ? ` by ${nameOf(hit)}` : ''}: ${nameOf(one)}`);
  }
  return wrong;
}
