/** Whether a screen can be used by everybody, as far as a program can tell. */
import AxeBuilder from '@axe-core/playwright';
import { expect } from 'chai';
import type { Page } from 'playwright-core';

/**
 * Fails with what axe finds that is serious or critical.
 *
 * @param rules the rules to check; default: all that axe has on
 */
export async function expectAccessible(page: Page, where = page.url(), rules?: readonly string[]): Promise<void> {
  const only = rules && { runOnly: [...rules] };
  const axe = new AxeBuilder({ page: page as never }).options({ resultTypes: ['violations'], ...only });
  // Frames are looked at one by one and judged together in a page of their own, which takes three times as long.
  const { violations } = await axe.setLegacyMode(page.frames().length === 1).analyze();
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    );
  expect(found, where).to.deep.equal([]);
}
