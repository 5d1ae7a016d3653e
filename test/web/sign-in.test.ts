/** Signing in and out of the page. */
import { expect } from 'chai';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

forEachDatabase('signing in to the page', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('by link: it shows whom it signs in, takes one click, and the code is in no address', async () => {
    const dana = await server.person('dana');
    const { code } = await dana.ok('createLoginCode');
    const { page, close } = await visit(server, null, `/#code=${code}`);
    await page.getByRole('heading', { name: 'dana' }).waitFor();
    expect(page.url()).to.equal(`${server.url}/`);
    await page.getByRole('button', { name: 'Sign in as dana' }).click();
    await page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    const addresses = await page.evaluate(() => JSON.stringify([location.href, history.length, document.referrer]));
    expect(addresses).not.to.include(code);
    await page.goto(`${server.url}/#code=${code}`);
    await page.getByRole('alert').filter({ hasText: 'code' }).waitFor();
    await page.getByRole('button', { name: 'Go on as dana' }).click();
    await page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    await close();
  });
});
