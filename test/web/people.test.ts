/** The people of a board and an agent's own page. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Member } from '../../src/contract/types.ts';
import { Api } from '../support/api.ts';
import { type Agent, newAgent, newBoard, newBoardWith, newCode, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './support/axe.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { streamsInPage } from './support/streams.ts';
import { signInAgain, visit } from './support/visit.ts';

// Starting the browser is not part of any test.
before(browser);
after(closeBrowser);

const choose = async (page: Page, menu: string, action: string): Promise<void> => {
  await page.getByRole('button', { name: menu }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

/** Waits until it, or something in it, has the focus. */
const hasFocus = (locator: Locator): Promise<void> =>
  until(() => locator.evaluate((element) => element.contains(document.activeElement)), 'it has the focus');

describe('people on the page', () => {
  let server: TestServer;
  let dana: Api;
  let maya: Api;
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana');
    maya = await server.person('maya');
    await server.person('noor');
  });
  after(() => server.stop());

  /** A board of dana with maya and an agent of each. */
  async function scene(body: Record<string, unknown> = {}) {
    const { name: board } = await newBoardWith(dana, ['maya'], body);
    const params = { board };
    const claude = await newAgent(dana, board, { name: 'claude', harness: 'claude-code' });
    const fixer = await newAgent(maya, board, { name: 'fixer' });
    return { board, params, claude, fixer, path: `/?board=${board}&tab=people` };
  }

  it('sets how messages reach the own agent, and says what it is on, live', async () => {
    const { params, claude, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    const mine = page.getByRole('list', { name: 'Agents of dana' });
    const theirs = page.getByRole('list', { name: 'Agents of maya' });
    await theirs.getByText('focused').waitFor();
    expect(await theirs.getByRole('combobox').count()).to.equal(0);
    const delivery = mine.getByRole('combobox', { name: 'Delivery to claude' });
    await delivery.focus();
    const set = page.waitForResponse('**/delivery');
    await delivery.selectOption('off');
    await set;
    await delivery.and(page.locator(':focus')).waitFor();
    const member = () => dana.ok('getMember', { params: { ...params, member: 'claude' } });
    expect((await member()).delivery_mode).to.equal('off');
    // What is chosen while the one before is being set is set after it.
    const held = Promise.withResolvers<void>();
    await page.route('**/delivery', async (route) => {
      await held.promise;
      await route.continue();
    });
    for (const mode of ['all', 'humans']) await delivery.selectOption(mode);
    held.resolve();
    await until(async () => (await member()).delivery_mode === 'humans', 'the last one is set');
    await page.unrouteAll({ behavior: 'wait' });
    await delivery.selectOption('off');
    await until(async () => (await member()).delivery_mode === 'off', 'it is off again');
    await choose(page, 'More about claude', 'Say what it is on');
    await page.getByRole('textbox', { name: 'In one line' }).fill('waits for the release');
    await page.getByRole('button', { name: 'Save' }).click();
    await mine.getByText('waits for the release').waitFor();
    await claude.ok('reportUsage', { body: { turns: 2, input_tokens: 30 } });
    await claude.ok('setPresence', { body: { presence: 'waiting' } });
    await mine.getByText('waiting', { exact: true }).waitFor();
    const question = 'Bash: make <b>all</b>';
    await claude.ok('setPresence', { body: { presence: 'working' } });
    await claude.ok('setPresence', { body: { presence: 'waiting', waiting: { for: 'permission', question } } });
    await mine.getByText(`waits for your permission: ${question}`).waitFor();
    await claude.ok('setPresence', { body: { presence: 'working' } });
    await mine.getByText('waits for the release').waitFor();
    await claude.ok('setPresence', { body: { presence: 'waiting', waiting: { for: 'permission', question } } });
    await mine.getByRole('link', { name: 'Agent claude' }).click();
    await page.getByText(`your permission: ${question}`).waitFor();
    await page.getByText('2 turns, 30 tokens in, unknown out, cost unknown').waitFor();
    await close();
  });

  it('shows the state that an agent gets while the board is read again', async () => {
    const { board, params, claude, path } = await scene();
    await claude.ok('setPresence', { body: { presence: 'working' } });
    const { page, close } = await visit(server, dana, path);
    const mine = page.getByRole('list', { name: 'Agents of dana' });
    await mine.getByText('working', { exact: true }).waitFor();
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(`**/v1/boards/${board}`, async (route) => {
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    await dana.ok('createTask', { params, body: { title: 'Read it again' } });
    await asked.promise;
    await claude.ok('setPresence', { body: { presence: 'idle' } });
    await mine.getByText('idle', { exact: true }).waitFor();
    held.resolve();
    await page.getByText('1 open task').waitFor();
    expect(await mine.getByText('idle', { exact: true }).count()).to.equal(1);
    await close();
  });

  it('shows what opening a board reveals before it is done', async () => {
    const { board, params, path } = await scene({ visibility: 'private' });
    await post(dana, board, 'Secret plan');
    await newCode(dana, board);
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Open it to everyone' }).click();
    await page.getByRole('dialog').getByText('read what it holds: 1 message and 0 files').waitFor();
    expect((await dana.ok('getBoard', { params })).visibility).to.equal('private');
    await page.getByRole('button', { name: 'Open it', exact: true }).click();
    await page.getByText('Open to everyone on the server.').waitFor();
    await page.getByRole('button', { name: 'Make it private' }).click();
    await page.getByRole('dialog').getByText('1 code to join will stop working').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Make it private' }).click();
    await page.getByText('Private: nobody else sees it.').waitFor();
    await close();
  });

  it('makes a board private where another owner was faster, and does not open it again', async () => {
    const { params, path } = await scene({ visibility: 'open' });
    await dana.ok('makeBoardOwner', { params, body: { handle: 'maya' } });
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Make it private' }).click();
    await page.getByRole('dialog').getByText('Those on the board stay').waitFor();
    await maya.ok('setBoardVisibility', { params, body: { visibility: 'private' } });
    await page.getByText('Private: nobody else sees it.').waitFor({ state: 'attached' });
    await page.getByRole('dialog').getByRole('button', { name: 'Make it private' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await dana.ok('getBoard', { params })).visibility).to.equal('private');
    await close();
  });

  it('makes a guest code that is shown once and works, and revokes a join line', async () => {
    const { board, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Guest code' }).click();
    const guest = `gil-${crypto.randomUUID().slice(0, 8)}`;
    await page.getByRole('textbox', { name: 'Handle of the guest' }).fill(guest);
    await page.getByRole('button', { name: 'Make the code' }).click();
    const card = page.getByRole('region', { name: `Send this to ${guest}` });
    const line = (await card.locator('code').textContent()) ?? '';
    const code = /with code (\S+)$/.exec(line)?.[1] ?? '';
    await page.reload();
    const codes = page.getByRole('region', { name: 'Codes that work' });
    await codes.getByText(`Guest ${guest}`).waitFor();
    expect(await page.content()).not.to.include(code);
    await server.nobody.ok('joinAsGuest', { body: { code, key_name: 'laptop' } });
    await page.getByRole('heading', { name: guest }).waitFor();
    await codes.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Join line for an agent' }).click();
    await page.getByRole('button', { name: 'Make the line' }).click();
    const made = page.getByRole('region', { name: 'Paste this into a session of yours' });
    expect(await made.locator('code').textContent()).to.include(`service board ${board}`);
    await made.getByRole('button', { name: 'Hide it' }).click();
    await codes.getByRole('button', { name: /Revoke/ }).click();
    await codes.waitFor({ state: 'detached' });
    await hasFocus(page.getByRole('main'));
    await close();
  });

  it('adds a person, makes them an owner, removes an agent and leaves', async () => {
    const { board, params, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    await page.getByText('You are its only owner').waitFor();
    expect(await page.getByRole('button', { name: 'Leave the board' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Add a person' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^service invite create --board /)
      .waitFor();
    await page.getByText(/Not here yet: .*noor/).waitFor();
    await page.getByRole('combobox', { name: 'Handle' }).fill('nobody-of-that-name');
    const add = page.getByRole('button', { name: 'Add', exact: true });
    await add.press('Enter');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await add.and(page.locator(':focus')).waitFor();
    await page.getByRole('combobox', { name: 'Handle' }).fill('noor');
    await add.click();
    await page.getByRole('heading', { name: 'noor' }).waitFor();
    await choose(page, 'More about noor', 'Make an owner');
    await page.getByRole('button', { name: 'Make an owner' }).click();
    await page.getByRole('heading', { name: 'Make noor an owner' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More about noor' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('region', { name: 'noor' }).getByText('owner').waitFor();
    await choose(page, 'More about fixer', `Remove it from ${board}`);
    await page.getByRole('button', { name: 'Remove fixer' }).click();
    await page.getByRole('list', { name: 'Agents of maya' }).waitFor({ state: 'detached' });
    await hasFocus(page.getByRole('main'));
    await page.getByRole('button', { name: 'Leave the board' }).click();
    await page.getByRole('button', { name: `Leave ${board}` }).click();
    await page.getByText(`You left ${board}`).waitFor();
    expect(new URL(page.url()).search).to.equal('');
    const { people } = await maya.ok('listBoardPeople', { params });
    expect(people.map(({ handle }) => handle)).to.deep.equal(['maya', 'noor']);
    await close();
  });

  it('an owner changes title, policy and roles', async () => {
    const { params, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    const save = () => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit title and charter' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('The payments');
    await save();
    await page.getByRole('heading', { name: 'The payments', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    await page.getByRole('combobox', { name: 'Agents who may send urgent messages' }).selectOption('granted');
    await save();
    await page.getByText('Only agents whose role allows it may send urgent messages.').waitFor();
    await page.getByRole('button', { name: 'Edit the roles' }).click();
    await page.getByRole('checkbox', { name: 'urgent' }).check();
    await save();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { policy, roles } = await dana.ok('getBoard', { params });
    expect(policy.overrides).to.deep.equal(['urgent']);
    expect(roles['member']?.can).to.include('urgent');
    await dana.ok('updateBoard', { params, body: { policy: { agent_run: { notice: 1, hold: 2 } } } });
    await page.getByText('are told after 1 message in a row, and held after 2.').waitFor();
    await close();
  });

  it('an owner who changes one thing of a board leaves what another owner changes meanwhile', async () => {
    const { board, params, path } = await scene();
    await dana.ok('makeBoardOwner', { params, body: { handle: 'maya' } });
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Edit title and charter' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Payments');
    await maya.ok('updateBoard', { params, body: { charter: 'Ship it on Friday.' } });
    await page.getByText('Ship it on Friday.').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    await page.getByLabel('Reminders to agents').selectOption('off');
    await maya.ok('updateBoard', { params, body: { agents_add_people: true } });
    await page.getByText('Agents may add people').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { title, charter, agents_add_people, policy } = await dana.ok('getBoard', { params: { board } });
    expect([title, charter, agents_add_people, policy.nudges]).to.deep.equal([
      'Payments',
      'Ship it on Friday.',
      true,
      'off',
    ]);
    await close();
  });

  it('an owner who changes a role leaves the roles that another owner changes meanwhile', async () => {
    const { params, path } = await scene();
    await dana.ok('makeBoardOwner', { params, body: { handle: 'maya' } });
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Edit the roles' }).click();
    await page.getByRole('button', { name: 'Add a role' }).click();
    const name = page.getByRole('textbox', { name: 'Name of the role' });
    await name.fill('member');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await name.evaluate((field: HTMLInputElement) => field.validationMessage)).to.include('already');
    await name.fill('tester');
    const { roles } = await maya.ok('getBoard', { params });
    await maya.ok('updateBoard', { params, body: { roles: { ...roles, writer: { can: ['post'] } } } });
    await page.locator('.roles').getByText('writer').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const after = (await dana.ok('getBoard', { params })).roles;
    expect(Object.keys(after)).to.have.members(['member', 'tester', 'writer']);
    expect(after['member']).to.deep.equal(roles['member']);
    await close();
  });

  it('what an owner writes in a form outlives the session, and leaves what was changed meanwhile', async () => {
    const { params, path } = await scene({ title: 'Payments' });
    const { page, close } = await visit(server, dana, path);
    const field = (name: string) => page.getByRole('dialog').getByRole('textbox', { name });
    const save = async (): Promise<void> => {
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Edit title and charter' }).click();
    await field('Charter').fill('Ship it on Friday.');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await signInAgain(page, dana, server.url + path);
    await dana.ok('updateBoard', { params, body: { title: 'The payments' } });
    await page.getByRole('heading', { name: 'The payments', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit title and charter' }).click();
    expect(await field('Charter').inputValue()).to.equal('Ship it on Friday.');
    await save();
    await page.getByRole('button', { name: 'Edit the roles' }).click();
    await field('Charter of the role').fill('Be brief.');
    await signInAgain(page, dana, server.url + path);
    await page.getByRole('button', { name: 'Edit the roles' }).click();
    expect(await field('Charter of the role').inputValue()).to.equal('Be brief.');
    await save();
    const { title, charter, roles } = await dana.ok('getBoard', { params });
    expect([title, charter, roles['member']?.charter]).to.deep.equal([
      'The payments',
      'Ship it on Friday.',
      'Be brief.',
    ]);
    await close();
  });

  it('what was typed in a form goes by its button, not by Escape or a click beside it', async () => {
    const { path } = await scene({ title: 'Payments' });
    const { page, close } = await visit(server, dana, path);
    const dialog = page.getByRole('dialog');
    const forms: [string, string, string, string][] = [
      ['Edit title and charter', 'Charter', '', 'Ship it.'],
      ['Edit the roles', 'Charter of the role', '', 'Be brief.'],
      ['Guest code', 'Handle of the guest', '', 'gia'],
      ['Add a person', 'Handle', '', 'noor'],
    ];
    for (const [opener, label, before, typed] of forms) {
      const field = dialog.getByLabel(label);
      const value = async (): Promise<string> => {
        await page.getByRole('button', { name: opener }).click();
        return field.inputValue();
      };
      expect(await value(), opener).to.equal(before);
      await field.fill(typed);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await value(), opener).to.equal(typed);
      await page.mouse.click(5, 5);
      await dialog.waitFor({ state: 'detached' });
      expect(await value(), opener).to.equal(typed);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await value(), opener).to.equal(before);
      await page.keyboard.press('Escape');
    }
    await close();
  });

  it('shows the choices of the policy whole on a phone', async () => {
    const { path } = await scene();
    const { page, close } = await visit(server, dana, path, { viewport: { width: 360, height: 740 } });
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    const choices = page.getByRole('dialog').getByRole('combobox');
    await choices.first().waitFor();
    const cut = await choices.evaluateAll((all) =>
      (all as HTMLSelectElement[]).flatMap((choice) => {
        const shown = choice.offsetWidth;
        // As wide as its longest words need, and in nobody's way.
        choice.style.cssText = 'position: fixed; width: max-content';
        const needed = choice.offsetWidth;
        choice.style.cssText = '';
        return needed > shown ? [`${choice.textContent}: ${needed} of ${shown} px`] : [];
      }),
    );
    expect(cut).to.deep.equal([]);
    await close();
  });

  it('choices of the policy and one line about an agent outlive the session', async () => {
    const { params, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    const dialog = page.getByRole('dialog');
    const save = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    await dialog.getByLabel('Reminders to agents').selectOption('off');
    await dialog.getByRole('checkbox', { name: /^Agents may add people/ }).check();
    await signInAgain(page, dana, server.url + path);
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    await save();
    const { policy, agents_add_people } = await dana.ok('getBoard', { params });
    expect([policy.nudges, policy.overrides, agents_add_people]).to.deep.equal(['off', ['nudges'], true]);
    await choose(page, 'More about claude', 'Say what it is on');
    await dialog.getByLabel('In one line').fill('waits for the release');
    await signInAgain(page, dana, server.url + path);
    await choose(page, 'More about claude', 'Say what it is on');
    await save();
    const { line } = await dana.ok('getMember', { params: { ...params, member: 'claude' } });
    expect(line?.text).to.equal('waits for the release');
    await close();
  });

  it('names the program of an agent also where it is called like a part of every object', async () => {
    const { board } = await scene();
    await newAgent(dana, board, { name: 'odd', harness: 'constructor' });
    const { page, close } = await visit(server, dana, `/?board=${board}&tab=people&agent=odd`);
    await page.getByText('your agent, constructor, member here').waitFor();
    await close();
  });

  it('archives, restores and, once its name is typed, deletes a board', async () => {
    const { board, params, path } = await scene();
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Archive it' }).click();
    await page.getByRole('button', { name: `Archive ${board}` }).click();
    await page.getByText('nothing written. You can restore it.').waitFor();
    await hasFocus(page.getByRole('region', { name: 'The board as a whole' }));
    const changing = page.getByRole('button', { name: /^(Add a person|Guest code|Edit)/ });
    await until(async () => (await changing.count()) === 0, 'nothing is offered that changes the board');
    await page.getByRole('button', { name: 'Restore it' }).click();
    await page.getByRole('button', { name: `Restore ${board}` }).click();
    await page.getByRole('button', { name: 'Archive it' }).click();
    await page.getByRole('button', { name: `Archive ${board}` }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    const last = page.getByRole('button', { name: `Delete ${board}` });
    expect(await last.isDisabled()).to.equal(true);
    await page.getByRole('textbox', { name: `Type ${board} to go on` }).fill(board);
    await last.click();
    await page.getByText(`Deleted ${board}`).waitFor();
    expect(await dana.refused('getBoard', { params })).to.equal('404 board_not_found');
    await close();
  });

  it('says who can restore an archived board: its creator only while on it', async () => {
    const { params, path } = await scene();
    await dana.ok('makeBoardOwner', { params, body: { handle: 'maya' } });
    await dana.ok('archiveBoard', { params });
    const { page, close } = await visit(server, maya, path);
    await page.getByText('nothing written. dana can restore it.').waitFor();
    await dana.ok('leaveBoard', { params });
    await page.getByText('nothing written. An admin of the server can restore it.').waitFor();
    await close();
  });

  it('offers nobody to leave before it is known whether they may', async () => {
    const { board } = await scene();
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const tab = page.getByRole('link', { name: 'People 4' });
    await tab.waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(
      ({ pathname }) => pathname.endsWith('/people'),
      async (route) => {
        await held.promise;
        await route.continue();
      },
    );
    await tab.click();
    await page.getByText('What it is for').waitFor({ state: 'attached' });
    expect(await page.getByRole('button', { name: 'Leave the board' }).count()).to.equal(0);
    held.resolve();
    await page.getByText('You are its only owner').waitFor();
    await close();
  });

  it('offers to archive the board, but not to leave it, while its people cannot be read', async () => {
    const { board } = await scene();
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const tab = page.getByRole('link', { name: 'People 4' });
    await tab.waitFor();
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route(
      ({ pathname }) => pathname.endsWith('/people'),
      (route) => route.fulfill({ status: 400, json: { error } }),
    );
    await tab.click();
    await page.getByText('Not now.').waitFor();
    await page.getByRole('button', { name: 'Archive it' }).waitFor();
    expect(await page.getByRole('button', { name: 'Leave the board' }).count()).to.equal(0);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('You are its only owner').waitFor();
    await close();
  });

  it('shows the buttons of a form that is longer than the window', async () => {
    const { path } = await scene();
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    const form = page.getByRole('dialog', { name: 'Policy for agents' });
    for (const height of [800, 400]) {
      await page.setViewportSize({ width: 1280, height });
      const save = await form.getByRole('button', { name: 'Save' }).boundingBox();
      const box = await form.boundingBox();
      expect(save!.y + save!.height).to.be.below(box!.y + box!.height);
    }
    // What has the focus is not behind them.
    const last = form.getByRole('checkbox', { name: /^Agents may add people/ });
    await last.focus();
    expect(
      await last.evaluate((one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        return document.elementFromPoint(x + width / 2, y + height / 2) === one;
      }),
    ).to.equal(true);
    await close();
  });

  it('a guest sees no control that would be refused', async () => {
    const { board, path } = await scene();
    const { code } = await newCode(dana, board, { guest: `eve-${crypto.randomUUID().slice(0, 8)}` });
    const { key, agent } = await server.nobody.ok('joinAsGuest', { body: { code, key_name: 'laptop' } });
    const guest = new Api(server.url, key.token);
    const { page, close } = await visit(server, guest, path);
    await page.getByRole('button', { name: 'Leave the board' }).waitFor();
    const buttons = await page.locator('main .page button').allTextContents();
    expect(buttons.filter((text) => text.trim())).to.deep.equal(['Leave the board']);
    await page.getByRole('link', { name: 'Your agents' }).click();
    await page.getByRole('listitem').filter({ hasText: agent.name }).waitFor();
    await guest.ok('removeMember', { params: { board, member: agent.name } });
    await page.getByText('None. A guest brings one with a guest code.').waitFor();
    await close();
  });

  it('an agent’s page says whose it is, why it is woken or not, what reached it and what it wrote on every board', async () => {
    const { board, claude, fixer, path } = await scene();
    const { name: second } = await newBoard(dana);
    const other = await newAgent(dana, second, { name: 'claude' });
    await post(other, second, 'Written elsewhere');
    await post(claude, board, 'Written **here**');
    const asked = await post(fixer, board, 'Please review', { to: ['@claude'] });
    await claude.ok('setPresence', { body: { presence: 'idle', delivery: 'focused' } });
    const { page, close } = await visit(server, dana, path);
    await page.getByRole('link', { name: 'Agent claude' }).click();
    await page.getByRole('heading', { name: 'claude' }).waitFor();
    await page.getByText('your agent, Claude Code, member here').waitFor();
    await page.getByText('Its session is idle.').waitFor();
    await claude.ok('setPresence', { body: { presence: 'no_session' } });
    await page.getByText(/^No session has been connected since (\S+ )?\d\d:\d\d\. Messages wait/).waitFor();
    const reached = page.getByRole('region', { name: 'Last messages to it' }).getByRole('listitem');
    await reached.filter({ hasText: 'Please review' }).getByText('waits').waitFor();
    await claude.ok('ackInbox', { body: { up_to: asked.seq } });
    await reached.filter({ hasText: 'Please review' }).getByText('received').waitFor();
    const wrote = page.getByRole('region', { name: 'What it wrote last' });
    await wrote.getByText('Written elsewhere').waitFor();
    await wrote.getByText('Written here').waitFor();
    const reads: string[] = [];
    page.on('request', (request) => reads.push(request.url()));
    await post(claude, board, 'Written later');
    await wrote.getByText('Written later').waitFor();
    expect(reads.filter((url) => url.includes('from=claude'))).to.deep.equal([]);
    await page.getByRole('combobox', { name: 'Delivery to claude' }).selectOption('off');
    await page.getByText('Delivery is off').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('list', { name: 'Agents of dana' }).waitFor();
    await page.getByRole('link', { name: 'Your agents' }).click();
    await page.getByRole('heading', { name: 'Your agents' }).waitFor();
    const all = page.getByRole('main').getByRole('listitem');
    await all.filter({ hasText: second }).getByRole('link', { name: 'Agent claude' }).waitFor();
    await all.filter({ hasText: board }).getByRole('combobox').waitFor();
    await close();
  });

  it('the list of one’s agents is read once for all that happens to them, and not for agents of others', async () => {
    const { claude, fixer } = await scene();
    const { page, context, close } = await visit(server, dana, '/');
    await context.addInitScript(streamsInPage);
    await page.goto(`${server.url}/agents`);
    const row = page.locator(`[id="${claude.memberId}"]`);
    await row.waitFor();
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    let reads = 0;
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/v1/me/agents*', async (route) => {
      reads++;
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    let told = 0;
    const tell = async (agent: Agent, presence: Member['presence']): Promise<void> => {
      await agent.ok('setPresence', { body: { presence } });
      told++;
      await page.waitForFunction((count) => {
        const { streamed = '' } = globalThis as { streamed?: string };
        return streamed.split('"presence_since"').length > count;
      }, told);
    };
    await tell(claude, 'working');
    await asked.promise;
    await tell(claude, 'idle');
    await tell(claude, 'waiting');
    expect(reads).to.equal(1);
    held.resolve();
    await row.getByText('waiting', { exact: true }).waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 2_000);
    const before = reads;
    const read = page.waitForResponse('**/v1/me/agents*');
    await tell(fixer, 'working');
    await page.clock.runFor(2_000);
    await read;
    await tell(fixer, 'idle');
    await page.clock.runFor(2_000);
    await tell(claude, 'idle');
    await page.clock.runFor(2_000);
    await row.getByText('idle', { exact: true }).waitFor();
    expect(reads - before).to.equal(2);
    await close();
  });

  it('an agent’s page asks only for what may have reached it, and once for what did', async () => {
    const { board, claude, fixer } = await scene();
    const reached = await post(fixer, board, 'First for claude', { to: ['@claude'] });
    await claude.ok('ackInbox', { body: { up_to: reached.seq } });
    await post(maya, board, 'For fixer', { to: ['@fixer'] });
    const { page, close } = await visit(server, dana, '/');
    const asked: number[] = [];
    await page.route('**/receipts', (route) => {
      asked.push(Number(/(\d+)\/receipts/.exec(route.request().url())?.[1]));
      return route.continue();
    });
    await page.goto(`${server.url}/?board=${board}&agent=claude`);
    const handed = page.getByRole('region', { name: 'Last messages to it' });
    await handed.getByText('First for claude').waitFor();
    const { seq } = await post(maya, board, 'Then for claude', { to: ['role:member'] });
    await handed.getByText('Then for claude').waitFor();
    expect(asked).to.deep.equal([reached.seq, seq]);
    await close();
  });

  it('an agent that agents wake no more is told apart everywhere, and so is one that waits', async () => {
    const lea = await server.person('lea');
    const { name: board } = await newBoard(lea);
    const params = { board };
    for (const name of ['busy', 'braked', 'asking'])
      await (await newAgent(lea, board, { name })).ok('setPresence', {
        body: { presence: name === 'busy' ? 'working' : name === 'asking' ? 'waiting' : 'idle', delivery: 'focused' },
      });
    const pause = { action: 'pause', until: new Date(Date.now() + 3_600_000).toISOString() } as const;
    const { page, close } = await visit(server, lea, `/?board=${board}&agent=braked`);
    const woken = page.locator('.agent-facts div').filter({ hasText: 'Woken now' });
    await woken.getByText('what is addressed to it or its role').waitFor();
    await lea.ok('releaseAgent', { params: { ...params, member: 'braked' }, body: pause });
    await woken.getByText('Only by people').waitFor();
    await woken.getByText('It is woken by what a person posts.').waitFor();
    await woken.getByText(/^Messages of agents do not wake it until .*, \d\d:\d\d\.$/).waitFor();
    expect(await woken.getByText('what is addressed to it').count()).to.equal(0);
    const now = page.locator('.now');
    await until(
      async () => /1 agent working.*1 waiting.*1 braked/s.test(await now.innerText()),
      'the header counts each apart',
    );
    expect(await now.innerText()).not.to.include('idle');
    await page.goto(`${server.url}/?board=${board}`);
    const side = page.getByRole('complementary', { name: 'Around the conversation' }).getByRole('listitem');
    await side.filter({ hasText: 'braked' }).waitFor();
    expect((await side.allInnerTexts()).map((text) => /busy|asking|braked/.exec(text)?.[0])).to.deep.equal([
      'busy',
      'asking',
      'braked',
    ]);
    await page.goto(`${server.url}/agents`);
    await page.getByText('1 waiting, 1 braked, 1 working').waitFor();
    const rows = page.getByRole('main').getByRole('link', { name: /^Agent / });
    const names = await rows.evaluateAll((links) => links.map((link) => link.textContent?.trim()));
    expect(names).to.deep.equal(['asking', 'braked', 'busy']);
    await close();
  });

  it('its forms can be used by everybody, in light and dark', async () => {
    const { path } = await scene();
    const { page, close } = await visit(server, dana, path);
    for (const opener of ['Guest code', 'Edit the roles'])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.getByRole('button', { name: opener }).click();
        await page.getByRole('dialog').waitFor();
        await expectAccessible(page, `${opener} ${colorScheme}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    await close();
  });
});
