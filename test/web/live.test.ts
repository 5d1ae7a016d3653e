/** The page while its server goes away and comes back, and many tabs of one browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { newBoard, post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

const live = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
const said = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });

forEachDatabase('the live page', function (this: unknown, engine) {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('says that it reconnects, and then shows each message it missed once', async () => {
    const dana = await server.person('dana');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, complaints, context } = await visit(server, dana, `/?board=${name}`);
    await said(page, 'before').waitFor();
    await live(page);
    await server.close();
    await page.getByText('Reconnecting to the server').waitFor({ timeout: 15_000 });
    await server.restart();
    const missed = ['missed one', 'missed two', 'missed three'];
    for (const text of missed) await post(dana, name, text);
    const again = page.getByRole('button', { name: 'Try now' });
    await again.click({ timeout: 2_000 }).catch(() => {});
    await live(page);
    await page.getByText('Reconnecting to the server').waitFor({ state: 'detached' });
    for (const text of missed) await said(page, text).first().waitFor();
    await post(dana, name, 'after');
    await said(page, 'after').waitFor();
    for (const text of ['before', ...missed, 'after']) expect(await said(page, text).count(), text).to.equal(1);
    // What the browser itself logs of a connection that breaks is expected here.
    expect(complaints.filter((text) => !text.includes('ERR_'))).to.deep.equal([]);
    await context.close();
  }).timeout(60_000);

  it('holds four streams for eight tabs on five boards, so that no request waits for a connection', async () => {
    const eve = await server.person('eve');
    const names: string[] = [];
    for (let n = 0; n < 5; n++) names.push((await newBoard(eve)).name);
    for (const name of names) await post(eve, name, `welcome to ${name}`);
    const { page, tab, close } = await visit(server, eve, `/?board=${names[0]}`);
    const tabs = [page];
    for (let n = 1; n < 8; n++) tabs.push(await tab(`/?board=${names[n % 5]}`));
    for (const [n, one] of tabs.entries()) await said(one, `welcome to ${names[n % 5]}`).waitFor();
    await Promise.all(tabs.map(live));
    for (const name of names) await post(eve, name, `news of ${name}`);
    for (const [n, one] of tabs.entries()) await said(one, `news of ${names[n % 5]}`).waitFor();
    const asked = tabs.map((one) =>
      one.evaluate(async () => {
        const began = performance.now();
        await fetch('/v1/me');
        return performance.now() - began;
      }),
    );
    for (const ms of await Promise.all(asked)) expect(ms).to.be.below(2_000);
    await close();
  }).timeout(60_000);
});
