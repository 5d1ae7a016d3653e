/** Signing in and out of the page. */
import { expect } from 'chai';
import { newBoard, newBoardWith, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

describe('signing in to the page', () => {
  let server: TestServer;
  before(async () => {
    server = await startPageServer();
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
    await close();
  });

  it('by link can be tried again where a proxy had no server, or it could not be reached', async () => {
    const dana = await server.person('dana-in-a-tunnel');
    const { code } = await dana.ok('createLoginCode');
    const { page, close } = await visit(server, null);
    await page.route('**/v1/login-codes/preview', (route) => route.fulfill({ status: 503, body: 'No server' }));
    await page.route('**/v1/browser-sessions', (route) => route.abort());
    await page.goto(`${server.url}/?elsewhere#code=${code}`);
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute('**/v1/login-codes/preview');
    await again.click();
    const signIn = page.getByRole('button', { name: 'Sign in as dana-in-a-tunnel' });
    await signIn.click();
    await again.waitFor();
    await page.unrouteAll();
    await again.click();
    await signIn.click();
    await page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    await close();
  });

  it('by link says how long it still works by the clock of the server', async () => {
    const dana = await server.person('dana-with-a-fast-clock');
    const { code } = await dana.ok('createLoginCode');
    const { page, close } = await visit(server, null);
    await page.clock.install({ time: Date.now() + 60 * 60_000 });
    await page.goto(`${server.url}/?elsewhere#code=${code}`);
    await page.getByText(/^This link works once, for [\d,\u00a0]+ more seconds?\./).waitFor();
    await close();
  });

  it('by a used link says so and goes on as the person who is signed in', async () => {
    const dana = await server.person('dana-again');
    const { code } = await dana.ok('createLoginCode');
    const { page, close } = await visit(server, dana);
    await page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    const other = await visit(server, null, `/#code=${code}`);
    await other.page.getByRole('button', { name: 'Sign in as dana-again' }).click();
    await other.page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    await other.close();
    await page.goto(`${server.url}/#code=${code}`);
    await page.getByRole('alert').filter({ hasText: 'login code' }).waitFor();
    await page.getByRole('button', { name: 'Go on as dana-again' }).click();
    await page.getByRole('navigation', { name: 'Boards and more' }).waitFor();
    await close();
  });

  it('by link asks nothing of somebody who is signed in as that person, and asks before it switches accounts', async () => {
    const [ana, ben] = [await server.person('ana'), await server.person('ben')];
    const { page, close } = await visit(server, ana);
    const openLink = async (person: typeof ana): Promise<void> => {
      const { code } = await person.ok('createLoginCode');
      await page.goto(`${server.url}/#code=${code}`);
    };
    await openLink(ana);
    await page.getByRole('button', { name: 'Account of ana' }).waitFor();
    await openLink(ben);
    await page.getByRole('button', { name: 'Sign in as ben' }).click();
    await page.getByRole('heading', { name: 'Switch accounts?' }).waitFor();
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.getByRole('button', { name: 'Account of ana' }).waitFor();
    await openLink(ben);
    await page.getByRole('button', { name: 'Sign in as ben' }).click();
    await page.getByRole('button', { name: 'Switch accounts' }).click();
    await page.getByRole('button', { name: 'Account of ben' }).waitFor();
    await close();
  });

  it('by link as another person shows that in every tab of the browser', async () => {
    const [gus, ida] = [await server.person('gus'), await server.person('ida')];
    const { page, tab, close } = await visit(server, gus);
    const second = await tab('/');
    await second.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const { code } = await ida.ok('createLoginCode');
    await page.goto(`${server.url}/#code=${code}`);
    await page.getByRole('button', { name: 'Sign in as ida' }).click();
    await page.getByRole('button', { name: 'Switch accounts' }).click();
    await page.getByRole('button', { name: 'Account of ida' }).waitFor();
    await second.getByRole('button', { name: 'Account of ida' }).waitFor();
    await close();
  });

  it('by a link of `service open --board` opens that board', async () => {
    const kai = await server.person('kai');
    const { name: board } = await newBoard(kai);
    const { code } = await kai.ok('createLoginCode');
    const { page, close } = await visit(server, null, `/#code=${code}&board=${board}`);
    await page.getByRole('button', { name: 'Sign in as kai' }).click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(page.url()).to.equal(`${server.url}/?board=${board}`);
    await close();
  });

  it('as another person shows nothing of the one before, and gives them nothing that was left unsent', async () => {
    const [lou, mia] = [await server.person('lou'), await server.person('mia')];
    const { name: hidden } = await newBoard(lou, { visibility: 'private' });
    await post(lou, hidden, 'Only for lou');
    const { name: shared } = await newBoardWith(lou, ['mia']);
    const { ref } = await lou.ok('createTask', { params: { board: shared }, body: { title: 'Shared work' } });
    const { page, tab, close } = await visit(server, lou, `/?board=${shared}&task=${ref}`);
    await page.getByLabel(`Write to everyone about ${ref}`).fill('Not for mia');
    await page.goto(`${server.url}/?board=${shared}`);
    await page.getByRole('button', { name: 'Write a brief' }).first().click();
    await page.getByLabel('Text of the brief').fill('Not for mia');
    const second = await tab(`/?board=${hidden}`);
    const secret = second.getByRole('article').filter({ hasText: 'Only for lou' });
    await secret.waitFor();
    await second.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    const { code } = await mia.ok('createLoginCode');
    await page.goto(`${server.url}/?board=${shared}&task=${ref}#code=${code}`);
    await page.getByRole('button', { name: 'Sign in as mia' }).click();
    await page.getByRole('button', { name: 'Switch accounts' }).click();
    await second.getByRole('button', { name: 'Account of mia' }).waitFor();
    expect(await second.getByText('Only for lou').count()).to.equal(0);
    expect(await page.getByLabel(`Write to everyone about ${ref}`).inputValue()).to.equal('');
    await page.goto(`${server.url}/?board=${shared}`);
    await page.getByRole('button', { name: 'Write a brief' }).first().click();
    expect(await page.getByLabel('Text of the brief').inputValue()).to.equal('');
    await close();
  });

  it('by key keeps the session over a reload; revoking the key ends it within a second', async () => {
    const eve = await server.person('eve');
    const key = await eve.ok('createKey', { body: { name: 'page' } });
    const { name: board } = await newBoard(eve);
    const { page, close } = await visit(server, null, `/?board=${board}`);
    const field = page.getByLabel('Access key');
    await field.waitFor();
    expect(await page.getByText('Your session has ended').count()).to.equal(0);
    await field.fill('abh_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await field.fill(key.token);
    await field.press('Enter');
    await page.getByRole('button', { name: 'Account of eve' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Account of eve' }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await server.clock.within(1_000, async () => {
      await eve.ok('revokeKey', { params: { key: key.id } });
      await page.getByLabel('Access key').waitFor();
    });
    await page.getByText('Your session has ended').waitFor();
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(stored).not.to.include(key.token.slice(0, 12));
    await close();
  });

  it('by key that is in use elsewhere warns of it', async () => {
    const [eva, ole] = [await server.person('eva'), await server.person('ole')];
    const { token } = await eva.ok('createKey', { body: { name: 'shared' } });
    const signIn = async () => {
      const visited = await visit(server, null);
      await visited.page.getByLabel('Access key').fill(token);
      await visited.page.getByLabel('Access key').press('Enter');
      return visited;
    };
    const first = await signIn();
    await first.page.getByRole('button', { name: 'Account of eva' }).waitFor();
    expect(await first.page.getByRole('alert').count()).to.equal(0);
    await first.close();
    const second = await signIn();
    await second.page
      .getByRole('alert')
      .getByText(/^This key was last used just now, maybe by another/)
      .waitFor();
    await second.page.getByRole('button', { name: 'Account of eva' }).waitFor();
    await second.close();
    const { page, context, close } = await visit(server, null);
    await page.getByLabel('Access key').fill(token);
    const other = await visit(server, ole);
    await context.addCookies(await other.context.cookies());
    await other.close();
    await page.getByLabel('Access key').press('Enter');
    const asked = page.getByRole('region', { name: 'Switch accounts' });
    await asked.getByText('This key was last used').waitFor();
    await asked.getByRole('button', { name: 'Switch accounts' }).click();
    await page.getByRole('button', { name: 'Account of eva' }).waitFor();
    await close();
  });

  it('out without a connection says so, and no longer once it worked', async () => {
    const kim = await server.person('kim');
    const { page, context, close } = await visit(server, kim);
    const signOut = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Account of kim' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    await page.getByRole('button', { name: 'Account of kim' }).waitFor();
    await page.route('**/v1/me/browser-session', (route) =>
      route.fulfill({ status: 400, json: { error: { code: 'invalid_request', message: 'Not now.', hint: '' } } }),
    );
    await signOut();
    await page.getByRole('alert').getByText('Not signed out. Not now.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await signOut();
    await page.getByLabel('Access key').waitFor();
    const { code } = await kim.ok('createLoginCode');
    await page.goto(`${server.url}/#code=${code}`);
    await page.getByRole('button', { name: 'Sign in as kim' }).click();
    await page.getByRole('button', { name: 'Account of kim' }).waitFor();
    expect(await page.getByText('Not signed out').count()).to.equal(0);
    await context.setOffline(false);
    await close();
  });

  it('out ends the session on the server, in every tab of the browser', async () => {
    const fay = await server.person('fay');
    const { page, tab, close } = await visit(server, fay);
    const second = await tab('/');
    await second.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    await page.getByRole('button', { name: 'Account of fay' }).click();
    await page.getByText('Signed in with key').waitFor();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Access key').waitFor();
    await second.getByLabel('Access key').waitFor();
    expect((await fay.ok('listBrowserSessions')).sessions).to.deep.equal([]);
    // Signed in again in one tab, the others go on once somebody looks at them.
    const { code } = await fay.ok('createLoginCode');
    await page.goto(`${server.url}/#code=${code}`);
    await page.getByRole('button', { name: 'Sign in as fay' }).click();
    await page.getByRole('button', { name: 'Account of fay' }).waitFor();
    await second.evaluate(() => dispatchEvent(new Event('focus')));
    await second.getByRole('button', { name: 'Account of fay' }).waitFor();
    await close();
  });

  it('out, the theme, the own agents and the allowance are in reach on a phone, also zoomed', async () => {
    const tom = await server.person('tom');
    const { page, close } = await visit(server, tom, '/', { viewport: { width: 390, height: 844 } });
    const account = page.getByRole('button', { name: 'You', exact: true });
    for (const [item, heading] of [
      ['Your agents', 'Your agents'],
      ['Your allowance', 'What your agents may do without asking'],
      ['Server and settings', new URL(server.url).host],
    ] as const) {
      await account.click();
      await page.getByRole('menuitem', { name: item }).click();
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await account.locator('[aria-current="page"]').waitFor();
    }
    // A window of 1280 by 512 at 200 %.
    await page.setViewportSize({ width: 640, height: 256 });
    await account.click();
    await page.getByRole('menuitemradio', { name: 'Dark theme' }).click();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).to.equal('dark');
    await account.click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Access key').waitFor();
    await close();
  });

  it('stays as it is where a proxy and not the server answers 401', async () => {
    const gil = await server.person('gil');
    const { name } = await newBoard(gil);
    const { page, close } = await visit(server, gil, `/?board=${name}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.route('**/v1/boards/*/tasks*', (route) =>
      route.fulfill({ status: 401, contentType: 'text/html', body: '<h1>Sign in to the network</h1>' }),
    );
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'status 401' }).waitFor();
    expect(await page.getByLabel('Access key').count()).to.equal(0);
    await close();
  });

  it('goes on as the person who is signed in once their session can be read', async () => {
    const hal = await server.person('hal');
    const { page, close } = await visit(server, hal);
    await page.getByRole('button', { name: 'Account of hal' }).waitFor();
    await page.route('**/v1/me/browser-session', (route) =>
      route.fulfill({ status: 404, contentType: 'text/html', body: '<h1>Not found</h1>' }),
    );
    await page.reload();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Access key').count()).to.equal(0);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Account of hal' }).waitFor();
    await close();
  });
});
