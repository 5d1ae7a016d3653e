/** Every screen of the page by its address, and when it is there. */
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
