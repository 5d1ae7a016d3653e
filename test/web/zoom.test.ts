/** Every screen at 200 % and at 400 % zoom of a window of 1280 by 1024: nothing stands out at the side, nothing is covered. */
import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { screens, settled } from './support/screens.ts';
import { startPageServer } from './support/server.ts';
import { type Story, tellStory } from './support/story.ts';
import { type Visit, visit } from './support/visit.ts';

after(closeBrowser);

describe('the page when it is zoomed', function () {
  this.timeout(60_000);
  let server: TestServer;
  let story: Story;
  let seen: Visit;
  before(async () => {
    server = await startPageServer();
    story = await tellStory(server);
    seen = await visit(server, story.dana, '/', { reducedMotion: 'reduce' });
  });
  after(async () => {
    await seen.close();
    await server.stop();
  });

  for (const [zoom, viewport] of [
    ['200 %', { width: 640, height: 512 }],
    ['400 %', { width: 320, height: 256 }],
  ] as const)
    it(`at ${zoom} has every control of every screen in reach, and nothing beside the window`, async () => {
      const { page } = seen;
      await page.setViewportSize(viewport);
      const found: Record<string, string[]> = {};
      for (const [name, path] of screens) {
        await page.goto(server.url + path(story));
        await settled(page);
        const wrong = await page.evaluate(outOfReach);
        if (wrong.length > 0) found[name] = wrong;
      }
      expect(found).to.deep.equal({});
    });
});

/** Runs in the page: what stands beside the window, and controls that something covers when they have the focus. */
function outOfReach(): string[] {
  const nameOf = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 30)}"`;
  const wrong: string[] = [];
  if (document.scrollingElement!.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
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
