/** The brief: shown in place, edited by two people, and an HTML one that tries everything. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import { newAgent, newBoardWith, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

const hostile = `<!doctype html><html><head>
  <meta http-equiv="refresh" content="0;url=/tried/refresh"><base href="/tried/"><link rel="stylesheet" href="/tried/sheet">
  <style>@import "/tried/import"; p { color: red }</style><script>parent.document.title = 'tried'; fetch('/tried/fetch')</script>
</head><body onload="fetch('/tried/onload')" background="/tried/background">
  <h1 style="background:url(/tried/style)">The plan</h1>
  <p>Read <a id="top" href="/tried/link" target="_top" ping="/tried/ping">the link</a>, <a href="javascript:alert(1)">this</a>.</p>
  <form action="/tried/form"><input name="a"><button>Send it</button></form>
  <img src="/tried/image" srcset="/tried/set 2x" onerror="fetch('/tried/onerror')">
  <img alt="dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">
  <iframe src="/tried/frame"></iframe><object data="/tried/object"></object><embed src="/tried/embed"><video poster="/tried/poster"></video>
  <svg><a href="#"><animate attributeName="href" values="/tried/animate"></animate><text y="10">drawn</text></a>
    <circle r="4" fill="url(/tried/fill#a)"></circle><image href="/tried/svg"></image></svg>
  <template><img src="/tried/template"></template><noscript><img src="/tried/noscript"></noscript><!-- a remark -->
</body></html>`;

describe('the brief', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  let board: string;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana', 'admin');
    maya = await server.person('maya');
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoardWith(dana, ['maya'])).name;
  });

  const brief = async () => (await dana.ok('getBoard', { params: { board } })).brief;
  const text = async () => {
    const { file_id: file, version } = (await brief())!;
    return (await dana.call('downloadFile', { params: { board, file, version } })).text;
  };
  const field = (page: Page) => page.getByRole('textbox', { name: 'Text of the brief' });

  it('of HTML with script, form, refresh and links that leave does nothing in its preview', async () => {
    await put(dana, board, 'brief.html', hostile, { brief: true });
    const { page, context, close } = await visit(server, maya, `/?board=${board}`);
    const tried: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/tried')) tried.push(request.url());
    });
    await page.getByRole('button', { name: 'Brief The plan' }).click();
    const frame = page.frameLocator('iframe[title="Brief"]');
    await frame.getByRole('heading', { name: 'The plan' }).waitFor();
    const link = frame.getByText('the link');
    expect([await link.getAttribute('href'), await link.getAttribute('title')]).to.deep.equal([null, '/tried/link']);
    await link.click();
    await frame.getByText('drawn').click();
    const element = page.locator('iframe[title="Brief"]');
    expect(await element.getAttribute('sandbox')).to.equal('');
    const source = (await element.getAttribute('srcdoc')) ?? '';
    expect(source).to.match(
      /^<html><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">/,
    );
    expect(source).not.to.match(
      /<(script|form|input|button|style|link|base|iframe|object|embed|template|animate)|<!--| on\w+=/,
    );
    expect(source).to.include('data:image/gif');
    expect(tried).to.deep.equal([]);
    expect(new URL(page.url()).search).to.equal(`?board=${board}`);
    expect(await page.title()).not.to.equal('tried');
    await close();
  });

  it('of HTML keeps the titles of its drawings, and what follows an empty one', async () => {
    const html = `<p>The plan</p><svg><title/><g><title>12 < 13 of <style></title><circle r="4"/></g><text y="10">drawn</text></svg><title-bar>The end</title-bar>`;
    await put(dana, board, 'brief.html', html, { brief: true });
    const { page, close } = await visit(server, maya, `/?board=${board}`);
    await page.getByRole('button', { name: 'Brief The plan' }).click();
    const frame = page.frameLocator('iframe[title="Brief"]');
    expect(await frame.locator('g > title').textContent()).to.equal('12 < 13 of <style>');
    await frame.getByText('drawn').waitFor();
    await frame.getByText('The end').waitFor();
    await close();
  });

  it('of HTML is shown whose title, comments, styles and scripts name tags', async () => {
    const style = '<style>/* one <style>, no <script>, under the <title> */ p { color: red }</style>';
    const html = `<title>On <style> and more</title><!-- its <style> is below -->${style}<script>put('<style><!--')</script><p>The plan</p>`;
    await put(dana, board, 'brief.html', html, { brief: true });
    const { page, close } = await visit(server, maya, `/?board=${board}`);
    await page.getByRole('button', { name: 'Brief The plan' }).waitFor();
    await close();
  });

  it('changed by two people shows the second both texts, and loses neither', async () => {
    const { id } = await put(dana, board, 'brief.md', '# Payments\n\nNobody is charged twice.', { brief: true });
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await page.getByRole('button', { name: /^Brief Nobody is charged twice/ }).waitFor();
    await page.keyboard.press('b');
    await page.getByRole('button', { name: 'Edit' }).click();
    await field(page).fill('Mine');
    await put(maya, board, 'brief.md', 'Theirs', { brief: true, base: 1, file_id: id });
    await page.getByRole('button', { name: 'Save as v2' }).click();
    await page.getByRole('heading', { name: 'Not saved: maya changed the brief meanwhile' }).waitFor();
    const region = page.getByRole('region', { name: 'Brief' });
    await region.getByText('Mine', { exact: true }).waitFor();
    await region.getByText('Theirs', { exact: true }).waitFor();
    expect(await text()).to.equal('Theirs');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expectAccessible(page, 'conflict');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'conflict, dark');
    await page.reload();
    await page.getByRole('button', { name: /^Brief Theirs/ }).click();
    expect(await field(page).inputValue()).to.equal('Mine');
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByRole('button', { name: 'Put both together by hand' }).click();
    await field(page).fill('Mine and theirs');
    await page.getByRole('button', { name: 'Save as v3' }).click();
    await region.getByText('v3 by dana').waitFor();
    expect(await text()).to.equal('Mine and theirs');
    await close();
  });

  it('shows both texts if it was changed again after a save without an answer', async () => {
    await put(dana, board, 'brief.md', 'First', { brief: true });
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await page.getByRole('button', { name: /^Brief First/ }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await field(page).fill('Second');
    await page.route(
      '**/files?*',
      async (route) => {
        expect((await route.fetch({ postData: 'Second' })).status()).to.equal(201);
        await route.fulfill({ status: 504, contentType: 'application/json', body: '{"error":"Gateway Time-out"}' });
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Save as v2' }).click();
    await page.getByRole('alert').getByText('The server answered with status 504.').waitFor();
    await field(page).fill('Second and third');
    await page.getByRole('button', { name: 'Save as v2' }).click();
    await page.getByRole('heading', { name: 'Not saved: dana changed the brief meanwhile' }).waitFor();
    await close();
  });

  it('of somebody else can be taken, and the own text brought back and saved over it', async () => {
    const { id } = await put(dana, board, 'brief.md', 'First', { brief: true });
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await page.getByRole('button', { name: /^Brief First/ }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await field(page).fill('Mine');
    await put(maya, board, 'brief.md', 'Theirs', { brief: true, base: 1, file_id: id });
    await page.getByRole('button', { name: 'Save as v2' }).click();
    await page.getByRole('button', { name: 'Take maya’s' }).click();
    await page.getByRole('region', { name: 'Brief' }).getByText('v2 by maya').waitFor();
    await page.getByRole('button', { name: 'Bring it back' }).click();
    await page.getByRole('button', { name: 'Save as v3' }).click();
    await page.getByRole('region', { name: 'Brief' }).getByText('v3 by dana').waitFor();
    expect(await text()).to.equal('Mine');
    await close();
  });

  it('is edited on a phone with the message box in the window, and nothing on the answers of a question', async () => {
    await put(dana, board, 'brief.md', 'First', { brief: true });
    const agent = await newAgent(dana, board);
    await post(agent, board, 'How long may one wait between two tries be at most, before it fails?', {
      to: ['@dana'],
      ask: { options: ['30 s', '60 s', '120 s'] },
    });
    await post(maya, board, 'One more line.\n\n'.repeat(60));
    const { page, close } = await visit(server, dana, `/?board=${board}`, { viewport: { width: 390, height: 844 } });
    const box = page.getByRole('textbox', { name: 'Message' });
    const jump = page.getByRole('button', { name: /^\d+ new$/ });
    await box.waitFor();
    await jump.waitFor();
    await page.getByRole('button', { name: /^Brief First/ }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await field(page).waitFor();
    const button = await page.getByRole('button', { name: 'Post', exact: true }).boundingBox();
    expect(button!.y + button!.height).to.be.at.most(844);
    await page.setViewportSize({ width: 390, height: 640 });
    await jump.waitFor({ state: 'hidden' });
    await close();
  });

  it('counts a message that comes while the board is read', async () => {
    await put(dana, board, 'brief.md', 'Release Friday', { brief: true });
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await page.getByRole('button', { name: 'Brief Release Friday v1' }).waitFor();
    const counted = page.getByRole('button', { name: 'Brief Release Friday v1, 1 message since' });
    let held = false;
    await page.route(`**/v1/boards/${board}`, async (route) => {
      if (held) return route.continue();
      held = true;
      const response = await route.fetch();
      await post(maya, board, 'Good');
      await counted.waitFor();
      return route.fulfill({ response });
    });
    await dana.ok('createTask', { params: { board }, body: { title: 'Read it again' } });
    await page.getByText('1 open task').waitFor();
    expect(await counted.count()).to.equal(1);
    await close();
  });

  it('is written, says what came after it, and is read only on an archived board', async () => {
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    await page.getByRole('button', { name: 'Write a brief' }).click();
    await field(page).fill('Release Friday');
    // The editor is gone for a while before what takes the focus from it is there.
    await page.route('**/files/*/versions/1', async (route) => {
      await page.waitForTimeout(400);
      await route.continue();
    });
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /^Brief Release Friday v1/ }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).and(page.locator(':focus')).waitFor();
    await post(maya, board, 'Good');
    await page.getByRole('button', { name: 'Brief Release Friday v1, 1 message since' }).waitFor();
    await dana.ok('archiveBoard', { params: { board } });
    await page.getByRole('button', { name: 'Edit' }).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Brief' }).getByText('Release Friday').waitFor();
    await page.getByRole('region', { name: 'Brief' }).getByRole('link', { name: 'Download' }).focus();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Brief' }).waitFor({ state: 'detached' });
    await close();
  });
});
