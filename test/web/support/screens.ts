/** Every screen of the page by its address, when it is there, and what of it is too wide. */
import type { Page } from 'playwright-core';
import type { Story } from './story.ts';

export const screens: [string, (told: Story) => string][] = [
  ['boards', () => '/'],
  ['inbox', () => '/inbox'],
  ['approval', ({ approval }) => `/inbox/approvals/${approval}`],
  ['allowance', () => '/settings/allowance'],
  ['talk', () => '/?board=payments'],
  ['message', ({ root }) => `/?board=payments&message=${root}`],
  ['empty', () => '/?board=infra'],
  ['tasks', () => '/?board=payments&tab=tasks'],
  ['task', () => '/?board=payments&task=PAY-1'],
  ['files', () => '/?board=payments&tab=files'],
  ['file', () => '/?board=payments&file=src%2Fretry.ts'],
  ['diff', () => '/?board=payments&file=src%2Fretry.ts&version=3&against=1'],
  ['people', () => '/?board=payments&tab=people'],
  ['agent', () => '/?board=payments&agent=claude'],
  ['record', () => '/?board=payments&tab=record'],
  ['agents', () => '/agents'],
  ['everything', () => '/everything'],
  ['search', () => '/search?q=retry'],
  ['server', () => '/server'],
  ['nowhere', () => '/?board=nowhere-at-all'],
];

/** Waits until the screen shows what it was opened for. */
export async function settled(page: Page): Promise<void> {
  await page.locator('#main').waitFor();
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
}

/** Runs in the page: what is wider than the window, or scrolls sideways within it. */
export function sideways(): string[] {
  const wider =
    document.scrollingElement!.scrollWidth > innerWidth
      ? (one: Element) => one.getBoundingClientRect().right > innerWidth + 1
      : (one: Element) => one.scrollWidth > one.clientWidth && /auto|scroll/.test(getComputedStyle(one).overflowX);
  return [...document.querySelectorAll('body *')]
    .filter(wider)
    .map((one) => `${one.tagName.toLowerCase()}.${one.className} "${(one.textContent ?? '').trim().slice(0, 30)}"`);
}
