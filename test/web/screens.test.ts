/**
 * Every screen, light and dark, wide and on a phone: it shows no error, is accessible, and nothing stands out at the side.
 * Pictures of each are written to `.shots`, to be looked at.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { screens, settled } from './support/screens.ts';
import { startPageServer } from './support/server.ts';
import { type Story, tellStory } from './support/story.ts';
import { type Visit, visit } from './support/visit.ts';

const shots = fileURLToPath(new URL('../../.shots/', import.meta.url));
const PHONE = { width: 360, height: 780 };
const WIDE = { width: 1280, height: 800 };
const MIN_TARGET = 44;

after(closeBrowser);

describe('every screen of the page', function () {
  this.timeout(120_000);
  let server: TestServer;
  let story: Story;
  let seen: Visit;
  before(async () => {
    mkdirSync(shots, { recursive: true });
    server = await startPageServer();
    story = await tellStory(server);
    // Without the fade of colours, which a picture would catch halfway.
    seen = await visit(server, story.dana, '/', { reducedMotion: 'reduce' });
  });
  after(async () => {
    await seen.close();
    await server.stop();
  });

  for (const [name, path] of screens) {
    it(`${name} can be used by everybody, in light and dark, wide and on a phone`, async () => {
      const { page } = seen;
      await page.setViewportSize(WIDE);
      await page.goto(server.url + path(story));
      await settled(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${shots}${name}-${colorScheme}.png` });
        await expectAccessible(page, `${name} ${colorScheme}`);
      }
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(server.url + path(story));
      await settled(page);
      await page.screenshot({ path: `${shots}${name}-phone.png` });
      const { wider, small } = await page.evaluate(measure, MIN_TARGET);
      expect(wider, `${name}: wider than the phone`).to.deep.equal([]);
      expect(small, `${name}: too small for a finger`).to.deep.equal([]);
      expect(seen.complaints).to.deep.equal([]);
    });
  }
});

/** Runs in the page: what is wider than the screen, and what is too small to touch. */
function measure(least: number): { wider: string[]; small: string[] } {
  const nameOf = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 30)}"`;
  const wider =
    document.scrollingElement!.scrollWidth > innerWidth
      ? [...document.querySelectorAll('body *')]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map(nameOf)
      : [];
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
  const small = [...document.querySelectorAll('button, input, select, textarea, a[href], summary')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.vh, .skip, .x, p, [inert]'))
    // Words within a line of text are exempt, as WCAG 2.5.8 has it.
    .filter((one) => !(one.tagName === 'A' && getComputedStyle(one).display === 'inline'))
    .filter((one) => {
      const { width, height } = reach(one);
      return width > 1 && (width < least || height < least);
    })
    .map((one) => `${nameOf(one)} ${Math.round(reach(one).width)}x${Math.round(reach(one).height)}`);
  return { wider, small };
}
