/** All boards, what a guest and an admin see of them, the palette and the keys. */
import { expect } from 'chai';
import { type Connected, connect } from '../api/invites/cast.ts';
import { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { putOnBoard } from '../support/state.ts';
import { expectAccessible } from './support/axe.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { signInAgain, visit } from './support/visit.ts';

before(async () => void (await browser()));
after(closeBrowser);

describe('all boards', () => {
  let server: TestServer;
  before(async () => {
    server = await startPageServer();
  });
  after(() => server.stop());

  it('says what needs the person and shows each board with its people, what was said last and what is unread', async () => {
    const ada = await server.person('ada');
    const ben = await server.person('ben');
    await newBoard(ada, { name: 'payments', title: 'Payments' });
    await newBoard(ada, { name: 'vault', visibility: 'private' });
    await ada.ok('addBoardPerson', { params: { board: 'payments' }, body: { handle: 'ben' } });
    const agent = await newAgent(ada, 'payments', { name: 'claude' });
    await post(agent, 'payments', 'Is it good?', { ask: { options: ['Yes', 'No'] } });
    const { page, close } = await visit(server, ada);
    await page.getByRole('heading', { name: 'One thing needs you' }).waitFor();
    // What claude does at the moment is not part of its question.
    const cursor = page.getByRole('region', { name: 'Needs you' }).locator('.g');
    expect(await cursor.evaluate((glyph) => getComputedStyle(glyph, '::after').display)).to.equal('none');
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /^Payments/ }) });
    await row.getByText('1 needs you').waitFor();
    await row.getByText('2 people, 1 agent').waitFor();
    await row.getByText('1 unread').waitFor();
    await row.getByText('claude: Is it good?').waitFor();
    await row.getByRole('img', { name: '1 message in 14 days, 1 today' }).waitFor();
    await page.getByRole('main').getByText('private').waitFor();
    // Live, without a reload.
    await post(ben, 'payments', 'It **is** [good](`n`): `2 ** n`, *not* `_n_`.\n```ts\nn **= 2\n```\n*Now*');
    await row.getByText('ben: It is good: 2 ** n, not _n_. n **= 2 Now').waitFor();
    await row.getByText('2 unread').waitFor();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter boards' }).fill('vau');
    await row.waitFor({ state: 'detached' });
    await page
      .getByRole('link', { name: /^vault/ })
      .last()
      .waitFor();
    await close();
  });

  it('shows what is unread now also where older answers come after the news of it', async () => {
    const finn = await server.person('finn');
    const { name: board } = await newBoard(finn);
    const agent = await newAgent(finn, board);
    const { page, close } = await visit(server, finn);
    const unread = page.locator('.rl', { hasText: board }).getByText('1 unread');
    /** Holds the answers to such requests until the function that it returns is called. */
    const hold = async (requests: string) => {
      const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route(requests, async (route) => {
        const response = await route.fetch();
        asked.resolve();
        await held.promise;
        return route.fulfill({ response });
      });
      return { asked: asked.promise, release: held.resolve };
    };
    await page.locator('.rl', { hasText: board }).waitFor();
    const list = await hold('**/v1/boards?*');
    const { name: another } = await newBoard(finn);
    await list.asked;
    await post(agent, board, 'News');
    await unread.waitFor();
    list.release();
    await page.locator('.rl', { hasText: another }).waitFor();
    expect(await unread.count(), 'after the list').to.equal(1);
    const acknowledged = await hold('**/ack');
    await page.locator('.rl', { hasText: board }).click();
    await acknowledged.asked;
    await unread.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'All boards' }).click();
    await page.getByRole('searchbox', { name: 'Filter boards' }).waitFor();
    await post(agent, board, 'More');
    await unread.waitFor();
    acknowledged.release();
    // By the answer to a later request the page has seen that of the former.
    await page.evaluate(() => fetch('/v1/info').then((response) => response.text()));
    expect(await unread.count(), 'after the acknowledgement').to.equal(1);
    await close();
  });

  it('reads a board again once for many messages, and only while it can be seen', async () => {
    const amy = await server.person('amy');
    const { name: board } = await newBoard(amy);
    const agent = await newAgent(amy, board, { name: 'claude' });
    const { page, close } = await visit(server, amy);
    await page.getByText('Nothing was said yet').waitFor();
    await post(agent, board, 'Message 0');
    // Once it is shown, no timer of the clock before is left.
    await page.getByText('claude: Message 0').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const reads = () => asked.filter((path) => path === `/v1/boards/${board}/messages`).length;
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const hide = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    const say = async (first: number, last: number) => {
      for (let n = first; n <= last; n++) await post(agent, board, `Message ${n}`);
      // The page has heard of the last one.
      await page
        .getByText(`${last + 1} unread`)
        .first()
        .waitFor();
    };
    await say(1, 9);
    await page.clock.runFor(1_000);
    await page.getByText('claude: Message 9').waitFor();
    expect(reads()).to.equal(1);
    await hide(true);
    await say(10, 12);
    await page.clock.runFor(5_000);
    expect(reads()).to.equal(1);
    await hide(false);
    await page.clock.runFor(1_000);
    await page.getByText('claude: Message 12').waitFor();
    expect(reads()).to.equal(2);
    await close();
  });

  it('tells, live, who added the person to a board and who came by their invite, until that is noted', async () => {
    const [gwen, hugo] = [await server.person('gwen'), await server.person('hugo', 'admin')];
    await newBoard(gwen, { name: 'orchard', title: 'Orchard' });
    await newBoard(gwen, { name: 'meadow' });
    const { page, close } = await visit(server, hugo);
    await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    for (const board of ['orchard', 'meadow'])
      await gwen.ok('addBoardPerson', { params: { board }, body: { handle: 'hugo' } });
    const news = page.getByRole('region', { name: 'News' });
    const orchard = news.getByRole('listitem').filter({ hasText: 'Added you to Orchard' });
    await orchard.getByText('gwen, just now').waitFor();
    await news.getByRole('link', { name: 'Added you to meadow' }).waitFor();
    // On a phone the buttons leave the words their room.
    await page.setViewportSize({ width: 360, height: 740 });
    const words = await news.getByRole('link', { name: 'Added you to meadow' }).boundingBox();
    expect(words?.width).to.be.at.least(200);
    await page.setViewportSize({ width: 1280, height: 800 });
    await expectAccessible(page);
    // Reading on there ends it.
    const { seq } = await post(gwen, 'orchard', 'Welcome');
    await hugo.ok('ackBoard', { params: { board: 'orchard' }, body: { up_to: seq } });
    await orchard.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Noted meadow' }).press('Enter');
    await news.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.className)).to.equal('news');

    const { id } = await hugo.ok('getBoard', { params: { board: 'orchard' } });
    const { invite } = await hugo.ok('createInvite', { body: { boards: [id] } });
    const { body } = await connect(server, { invite, handle: 'ines' });
    await newAgent(new Api(server.url, (body as Connected).key.token), 'orchard', { name: 'heron' });
    await page.reload();
    await news.getByText('Came by your invite, with heron on Orchard').waitFor();
    await page.getByRole('button', { name: 'Noted ines' }).click();
    await news.waitFor({ state: 'detached' });
    const answered = page.waitForResponse('**/v1/me/onboarding-inbox');
    await page.reload();
    await answered;
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    expect(await news.count()).to.equal(0);
    await close();
  });

  it('makes a board, joins an open one, and restores an archived one, all by keyboard', async () => {
    const cleo = await server.person('cleo');
    const dan = await server.person('dan');
    await newBoard(dan, { name: 'mobile', title: 'Mobile app' });
    await newBoard(cleo, { name: 'old-work' });
    await cleo.ok('archiveBoard', { params: { board: 'old-work' } });
    const { page, close } = await visit(server, cleo);
    await page.getByRole('button', { name: 'New board' }).focus();
    await page.keyboard.press('Enter');
    const form = page.getByRole('dialog', { name: 'New board' });
    await form.getByRole('textbox', { name: 'Title' }).fill('Café, the 2nd!');
    expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).to.equal('cafe-the-2nd');
    await signInAgain(page, cleo, server.url);
    await form.waitFor();
    expect(await form.getByRole('textbox', { name: 'Title' }).inputValue()).to.equal('Café, the 2nd!');
    await form.getByRole('radio', { name: 'Private' }).check();
    await page.keyboard.press('Enter');
    await page.waitForURL(/board=cafe-the-2nd/);
    expect((await cleo.ok('getBoard', { params: { board: 'cafe-the-2nd' } })).visibility).to.equal('private');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.getByRole('button', { name: 'New board' }).click();
    await form.getByRole('textbox', { name: 'Name' }).fill('mobile');
    await page.keyboard.press('Enter');
    await form.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.activeElement?.textContent === 'New board');
    await page.getByRole('button', { name: '1 archived board' }).click();
    await page.getByRole('button', { name: 'Restore old-work' }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('list')
      .getByRole('link', { name: /^old-work/ })
      .last()
      .waitFor();
    await page.getByRole('button', { name: 'Join Mobile app' }).click();
    await page.waitForURL(/board=mobile/);
    const { people } = await dan.ok('listBoardPeople', { params: { board: 'mobile' } });
    expect(people.map(({ handle }) => handle)).to.include('cleo');
    await close();
  });

  it('reads archived boards when that is tried again after a refusal', async () => {
    const pia = await server.person('pia');
    await newBoard(pia, { name: 'old-pia' });
    await pia.ok('archiveBoard', { params: { board: 'old-pia' } });
    const { page, close } = await visit(server, pia);
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/v1/boards?*archived*', (route) => route.fulfill({ status: 400, json: { error } }));
    await page.getByRole('button', { name: '1 archived board' }).click();
    await page.getByText('Not now.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Restore old-pia' }).waitFor();
    await close();
  });

  it('joins an open board, from the list and at its address, after the person got another handle', async () => {
    const fern = await server.person('fern');
    const greg = await server.person('greg');
    for (const name of ['first-open', 'second-open']) await newBoard(greg, { name });
    const { page, close } = await visit(server, fern);
    const join = page.getByRole('button', { name: 'Join first-open' });
    await join.waitFor();
    await fern.ok('renamePerson', { params: { handle: 'fern' }, body: { handle: 'ferny' } });
    await join.click();
    await page.waitForURL(/board=first-open/);
    await page.goto(`${server.url}/?board=second-open`);
    const second = page.getByRole('button', { name: 'Join second-open' });
    await second.waitFor();
    await fern.ok('renamePerson', { params: { handle: 'ferny' }, body: { handle: 'fern' } });
    await second.click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await close();
  });

  it('leads on, also on a phone, from a board that is not there or not joined', async () => {
    const iris = await server.person('iris');
    await newBoard(server.dana, { name: 'not-joined' });
    const { page, close } = await visit(server, iris, '/', { viewport: { width: 390, height: 844 } });
    for (const name of ['not-there', 'not-joined']) {
      await page.goto(`${server.url}/?board=${name}`);
      await page.getByRole('heading', { name }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'All boards' }).click();
      await page.getByRole('heading', { name: 'Open to join' }).waitFor();
    }
    await close();
  });

  it('says so at once when a board is deleted that is open, or its person is removed', async () => {
    const [nora, olaf] = [await server.person('nora'), await server.person('olaf')];
    for (const name of ['noras-private', 'noras-open']) {
      await newBoard(nora, { name, visibility: name === 'noras-open' ? 'open' : 'private' });
      await nora.ok('addBoardPerson', { params: { board: name }, body: { handle: 'olaf' } });
    }
    const [first, second] = [await visit(server, olaf, '/?board=noras-private'), await visit(server, olaf)];
    await first.page.getByText('nora added olaf').waitFor();
    await nora.ok('removeBoardPerson', { params: { board: 'noras-private', handle: 'olaf' } });
    await first.page.getByText('There is no such board here.').waitFor();
    expect(await first.page.getByText('nora added olaf').count()).to.equal(0);
    await second.page.goto(`${server.url}/?board=noras-open`);
    await second.page.getByText('nora added olaf').waitFor();
    await nora.ok('archiveBoard', { params: { board: 'noras-open' } });
    await second.page.getByText('This board is archived.').waitFor();
    await nora.ok('deleteBoard', { params: { board: 'noras-open' } });
    await second.page.getByText('There is no such board here.').waitFor();
    await first.close();
    await second.close();
  });

  it('has the focus in what the screen shows after a change of screen by key, also the first time', async () => {
    const lou = await server.person('lou');
    await newBoard(lou, { name: 'lous-room' });
    const { page, close } = await visit(server, lou, '/?board=lous-room&tab=people');
    await page.getByRole('button', { name: 'Guest code' }).focus();
    for (const [keys, heading] of [
      ['gf', 'Files'],
      ['gi', 'Needs you'],
      ['gb', 'Your boards'],
      ['gi', 'Needs you'],
    ] as const) {
      await page.keyboard.type(keys);
      await page.getByRole('heading', { name: heading }).first().waitFor({ state: 'attached' });
      await page.waitForFunction(() => document.activeElement?.closest('main') !== null);
    }
    await close();
  });

  it('keeps the account in view below any number of boards', async () => {
    const june = await server.person('june');
    for (let n = 1; n <= 24; n++) {
      const { name } = await newBoard(june, { name: `june-${n}` });
      await post(await newAgent(june, name, {}), name, 'Unread');
    }
    const { page, close } = await visit(server, june);
    await page.getByRole('navigation').getByRole('link', { name: 'june-9 1 unread' }).waitFor({ state: 'attached' });
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).to.equal(0);
    const account = await page.getByRole('button', { name: 'Account of june' }).boundingBox();
    expect(account!.y + account!.height).to.be.at.most(800);
    await close();
  });

  it('skips by the first control of the page to what the screen shows', async () => {
    const eve = await server.person('eve');
    await newBoard(eve, { name: 'skipped' });
    const { page, close } = await visit(server, eve);
    await page.getByRole('heading', { name: 'Your boards' }).waitFor();
    for (const key of ['Tab', 'Enter', 'Tab']) await page.keyboard.press(key);
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).to.equal(true);
    expect(page.url()).to.equal(`${server.url}/`);
    await close();
  });

  it('shows a guest only their boards and nothing that would be refused', async () => {
    const eva = await server.person('eva');
    const guest = await server.person('gus', 'guest');
    await newBoard(eva, { name: 'shared', title: 'Shared' });
    await newBoard(eva, { name: 'elsewhere', title: 'Elsewhere' });
    await putOnBoard(server, 'shared', guest);
    const { page, context, close } = await visit(server, guest, '/');
    const refused: string[] = [];
    context.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Shared/ })
      .waitFor();
    expect(await page.getByRole('button', { name: /New board|Join/ }).count()).to.equal(0);
    expect(await page.getByText('Elsewhere').count()).to.equal(0);
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to or do' });
    await field.fill('board');
    await page.getByRole('option', { name: /All boards/ }).waitFor();
    expect(await page.getByRole('option', { name: 'New board' }).count()).to.equal(0);
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/inbox`);
    await page.getByText('Nothing needs you').waitFor();
    await page.goto(`${server.url}/settings/allowance`);
    await page.getByText('As a guest you have no allowance').waitFor();
    expect(refused).to.deep.equal([]);
    await close();
  });

  it('shows an admin of the server no trace of a private board they are not on', async () => {
    const fay = await server.person('fay');
    const admin = await server.person('adam', 'admin');
    await newBoard(fay, { name: 'secret-plan', title: 'Secret plan', visibility: 'private' });
    await post(fay, 'secret-plan', 'The hidden word is heliotrope.');
    const { page, close } = await visit(server, admin, '/');
    await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
    const traces = async () => /secret.plan|heliotrope/i.test(await page.content());
    expect(await traces()).to.equal(false);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('secret');
    await page.getByRole('option', { name: 'Search everything for “secret”' }).waitFor();
    expect(await page.getByRole('option', { name: /secret.plan/i }).count()).to.equal(0);
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/?board=secret-plan`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByText(/Secret plan|heliotrope/).count()).to.equal(0);
    await close();
  });

  it('goes anywhere and does anything by the palette, and lists the keys, which can be turned off', async () => {
    const hal = await server.person('hal');
    await newBoard(hal, { name: 'alpha', title: 'Alpha' });
    await newBoard(hal, { name: 'beta', title: 'Beta' });
    const agent = await newAgent(hal, 'beta', { name: 'codex' });
    const { ref } = await agent.ok('createTask', { params: { board: 'beta' }, body: { title: 'Honour Retry-After' } });
    const { page, close } = await visit(server, hal);
    const field = page.getByRole('combobox', { name: 'Go to or do' });
    const find = async (words: string) => {
      await page.keyboard.press('Control+k');
      await field.fill(words);
    };
    await page.getByRole('heading', { name: 'Nothing needs you' }).waitFor();
    await find('honour');
    await page.getByRole('option', { name: /Honour Retry-After/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`task=${ref}`));
    await find('codex');
    await page.getByRole('option', { name: /codex agent of hal/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/agent=codex/);
    await find('alpha');
    await page.keyboard.press('Enter');
    await page.waitForURL(/board=alpha$/);
    await page.getByRole('heading', { name: 'Alpha' }).waitFor();
    await page.locator('body').press(']');
    await page.waitForURL(/board=beta$/);
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL(/tab=tasks/);
    await find('dark');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Go to, or do').waitFor();
    await keys.getByRole('button', { name: 'Turn them off' }).click();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.keyboard.press('Control+k');
    await field.waitFor();
    expect(page.url()).to.include('tab=tasks');
    await close();
  });

  it('opens the palette on a phone, in a board', async () => {
    const rue = await server.person('rue');
    await newBoard(rue, { name: 'rues-room' });
    const { page, close } = await visit(server, rue, '/?board=rues-room', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Search or go to' }).click();
    await page.getByRole('combobox', { name: 'Go to or do' }).fill('dark');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
    await close();
  });

  it('has in the header of a board on a phone its title, three facts below it, and the number of files', async () => {
    const uma = await server.person('uma');
    const board = 'umas-room';
    const title = 'Payments of the shop';
    await newBoard(uma, { name: board, title });
    const agent = await newAgent(uma, board, { name: 'claude' });
    await agent.ok('createTask', { params: { board }, body: { title: 'Open' } });
    const { ref } = await agent.ok('createTask', { params: { board }, body: { title: 'Running', start: true } });
    await agent.ok('createTask', { params: { board }, body: { title: 'Running too', start: true } });
    for (const name of ['a.md', 'b.md']) await put(agent, board, name, 'text');
    await post(agent, board, 'Go on?', { to: ['@uma'], ask: { options: ['Yes', 'No'] }, about: [ref] });
    const { page, close } = await visit(server, uma, `/?board=${board}`, { viewport: { width: 390, height: 844 } });
    const header = page.locator('.hd');
    for (const words of ['1 needs you', '1 blocked']) await header.getByText(words).waitFor();
    const facts = await header.locator('.now a').filter({ visible: true }).allInnerTexts();
    expect(facts.map((words) => words.replace(/\s+/g, ' '))).to.deep.equal([
      '1 needs you',
      '1 in progress',
      '1 blocked',
    ]);
    const heading = header.getByRole('heading', { name: title });
    expect(await heading.evaluate((one) => one.scrollWidth - one.clientWidth)).to.equal(0);
    const [above, below] = [await heading.boundingBox(), await header.getByText('1 blocked').boundingBox()];
    expect(below!.y).to.be.at.least(above!.y + above!.height);
    await header.getByRole('link', { name: 'Files 2' }).waitFor();
    await put(agent, board, 'c.md', 'text');
    await header.getByRole('link', { name: 'Files 3' }).waitFor();
    await close();
  });

  it('takes no key for text or for the screen while the palette is loaded', async () => {
    const kim = await server.person('kim');
    await newBoard(kim, { name: 'kims-room' });
    const { page, close } = await visit(server, kim, '/?board=kims-room');
    const held = Promise.withResolvers<void>();
    await page.route('**/assets/palette-*.js', async (route) => {
      await held.promise;
      await route.continue();
    });
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('inbox');
    expect(await box.inputValue()).to.equal('');
    const passes = (key: string, ctrlKey = false): Promise<boolean> =>
      page.evaluate(
        (keys: { key: string; ctrlKey: boolean }) =>
          document.activeElement!.dispatchEvent(
            new KeyboardEvent('keydown', { ...keys, bubbles: true, cancelable: true }),
          ),
        { key, ctrlKey },
      );
    expect(await passes('v', true)).to.equal(false);
    // Who waits too long can load the page again.
    expect(await passes('F5')).to.equal(true);
    expect(await passes('r', true)).to.equal(true);
    held.resolve();
    await page.getByRole('combobox', { name: 'Go to or do' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await box.and(page.locator(':focus')).waitFor();
    await close();
  });

  it('has an accessible palette and form, light and dark, and fits a narrow phone', async () => {
    const ida = await server.person('ida');
    await newBoard(ida, { name: 'room' });
    const agent = await newAgent(ida, 'room', { name: 'claude' });
    await post(agent, 'room', 'Is it good?', { ask: { options: ['Yes', 'No'] } });
    const { page, close } = await visit(server, ida);
    await page.getByText('claude: Is it good?').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('room');
      await expectAccessible(page, 'palette');
      await page.keyboard.press('Escape');
    }
    await page.getByRole('button', { name: 'New board' }).click();
    await page.getByRole('textbox', { name: 'Title' }).waitFor();
    await expectAccessible(page, 'new board');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).to.equal(false);
    const box = await page.getByRole('button', { name: 'New board' }).boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).to.be.at.least(44);
    await close();
  });
});
