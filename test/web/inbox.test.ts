/** What needs the person: its order, answers by one key, decisions about requests of agents, and the allowance. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Message } from '../../src/contract/types.ts';
import type { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './support/axe.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

before(async () => void (await browser()));
after(closeBrowser);

const OPTIONS = ['30 s', '60 s', '120 s'];
/** A message that leaves no room for the others in view. */
const LONG = 'One more line.\n\n'.repeat(60);
const in_ = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();

/** The questions of a group of the list, from top to bottom. */
const questions = (page: Page, group = 'Needs you'): Promise<string[]> =>
  page.getByRole('region', { name: group }).locator('.qq').allTextContents();

const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '');

async function repliesTo(reader: Api, { id }: Message): Promise<Message[]> {
  return (await reader.ok('listReplies', { params: { message: id } })).replies;
}

describe('what needs the person', () => {
  let server: TestServer;
  let persons = 0;
  before(async () => {
    server = await startPageServer();
  });
  after(() => server.stop());

  /** A person with a board and an agent of theirs there: every test has its own inbox. */
  async function begin(role: 'admin' | 'member' = 'member') {
    const handle = `person-${++persons}`;
    const person = await server.person(handle, role);
    const board = await newBoard(person);
    const agent = await newAgent(person, board.name, { name: 'claude' });
    return { handle, person, board, agent };
  }

  it('shows an ask with three options, key 2 answers it, and the thread of the asker has the answer', async () => {
    const { person, board, agent } = await begin();
    const ask = await post(agent, board.name, 'How long may one wait be?\n\nThe cap is the last thing I need.', {
      ask: { options: OPTIONS },
    });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'How long may one wait be?' }).waitFor();
    await page.getByRole('group', { name: 'How long may one wait be?' }).getByRole('button', { name: '60 s' }).focus();
    await page.keyboard.press('2');
    await page.getByRole('button', { name: '60 s', pressed: true }).waitFor();
    await page.getByTestId('said').filter({ hasText: 'Answered 60 s' }).waitFor();
    expect(await focused(page), 'the focus stays').to.include('60 s');
    const [answer, ...others] = await repliesTo(agent, ask);
    expect(answer?.answer?.option).to.equal(2);
    expect(answer?.body).to.equal('60 s');
    expect(others).to.deep.equal([]);
    await page.getByRole('region', { name: 'Answered today' }).getByText('you said: 60 s').waitFor();
    // A stray key changes nothing; "Change" does.
    await page.keyboard.press('1');
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('button', { name: '120 s' }).click();
    await page.getByRole('button', { name: '120 s', pressed: true }).waitFor();
    expect((await repliesTo(agent, ask)).map((reply) => reply.answer?.option)).to.deep.equal([2, 3]);
    await close();
  });

  it('says below what needs the person which agents are late or idle without a task, and counts none of them', async () => {
    const { handle, person, board, agent } = await begin();
    const params = { board: board.name };
    const other = await server.person(`${handle}-other`);
    await person.ok('addBoardPerson', { params, body: { handle: `${handle}-other` } });
    await agent.ok('createTask', { params, body: { title: 'Cap the backoff', start: true } });
    const [fixer] = await Promise.all(
      ['fixer', 'tester', 'busy'].map((name) => newAgent(person, board.name, { name })),
    );
    const { page, close } = await visit(server, person, '/');
    const idle = (minutes: number) => ({ state: 'idle', presence_since: in_(-minutes) });
    const states: Record<string, object> = {
      claude: idle(31),
      fixer: idle(31),
      tester: { state: 'late', line: { kind: 'paused', text: 'Lunch', until: in_(-5), task: null } },
      busy: idle(29),
    };
    let reads = 0;
    let refuses = false;
    await page.route('**/v1/me/agents*', async (route) => {
      reads++;
      const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
      if (refuses) return route.fulfill({ status: 400, json: { error } });
      const response = await route.fetch();
      const list = (await response.json()) as { agents: { name: string }[] };
      const agents = list.agents.map((one) => ({ ...one, ...states[one.name] }));
      return route.fulfill({ response, json: { ...list, agents } });
    });
    await page.goto(`${server.url}/inbox`);
    const quiet = page.getByRole('region', { name: 'Your agents', exact: true });
    await quiet.getByRole('link', { name: /fixer.*It has nothing to do/ }).waitFor();
    await quiet.getByRole('link', { name: /tester.*It is late/ }).waitFor();
    expect(await quiet.getByRole('link').count()).to.equal(2);
    await page.getByText('Nothing needs you').waitFor();
    expect(await page.locator('.hd .you').count()).to.equal(0);
    await post(other, board.name, 'Shall I?', { to: [`@${handle}`], ask: { options: OPTIONS } });
    const lines = page.getByRole('navigation', { name: 'Needs you' }).locator('.qq');
    await lines.nth(2).waitFor();
    expect((await lines.allTextContents())[0]).to.equal('Shall I?');
    states['fixer'] = { state: 'working' };
    await fixer!.ok('setPresence', { body: { presence: 'working' } });
    await quiet.getByRole('link', { name: /fixer/ }).waitFor({ state: 'detached' });
    await page.clock.install();
    const show = (shown: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => !value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, shown);
    await show(true);
    await show(false);
    const before = reads;
    await fixer!.ok('setPresence', { body: { presence: 'idle' } });
    await page.clock.fastForward(120_000);
    refuses = true;
    await show(true);
    await quiet.getByText('Not now.').waitFor();
    expect(reads - before).to.be.within(1, 2);
    refuses = false;
    await quiet.getByRole('button', { name: 'Try again' }).click();
    await quiet.getByText('Not now.').waitFor({ state: 'detached' });
    await quiet.getByRole('link', { name: /tester/ }).click();
    await page.getByRole('heading', { name: 'tester' }).waitFor();
    await close();
  });

  it('keeps the focus at a question in the list that is answered by key, and says once that it is', async () => {
    const { person, board, agent } = await begin();
    await post(agent, board.name, 'Which cap?', { ask: { options: OPTIONS } });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('link', { name: 'Which cap?' }).focus();
    await page.keyboard.press('2');
    const moved = page.getByRole('region', { name: 'Answered today' }).getByRole('link', { name: 'Which cap?' });
    await moved.waitFor();
    expect(await moved.evaluate((link) => link === document.activeElement)).to.equal(true);
    await page.getByText('Answered: 60 s.').waitFor();
    const live = page.locator('[aria-live], [role=status]').filter({ hasText: 'Answered' });
    expect(await live.allTextContents()).to.deep.equal(['Answered 60 s']);
    await close();
  });

  it('shows tables with lines, and the day of what came before today', async () => {
    const { person, board, agent } = await begin();
    await post(agent, board.name, 'Looking into it');
    const body = 'Which one?\n\n| cap | wait |\n| --- | --- |\n| 60 s | long |';
    const { id } = await post(agent, board.name, body, { ask: {} });
    const { page, close } = await visit(server, person, '/');
    await page.clock.install({ time: Date.now() + 24 * 3_600_000 });
    await page.goto(`${server.url}/inbox/asks/${id}`);
    const cell = page.getByRole('cell', { name: '60 s' });
    expect(await cell.evaluate((element) => getComputedStyle(element).borderBottomWidth)).to.equal('1px');
    await page
      .getByRole('region', { name: 'What came before' })
      .getByText(/^yesterday, \d\d:\d\d$/)
      .waitFor();
    await close();
  });

  it('shows what is asked of a person whose handle another member of the board has as a name', async () => {
    const handle = `person-${++persons}`;
    const { name: board } = await newBoard(server.dana);
    await newAgent(server.dana, board, { name: handle });
    const person = await server.person(handle);
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle } });
    const asked = await post(await newAgent(person, board), board, 'Which cap?', { ask: { options: OPTIONS } });
    expect(asked.to).to.deep.equal([`@${handle}-2`]);
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'Which cap?' }).waitFor();
    expect(await questions(page)).to.deep.equal(['Which cap?']);
    await close();
  });

  it('breaks no reference to a task, and no amount, over two lines', async () => {
    const { person, board, agent } = await begin();
    const body = 'Go on with PAY-123 after 60 s?';
    await post(agent, board.name, body, { ask: {} });
    const { page, close } = await visit(server, person, '/inbox');
    const inList = page.getByRole('region', { name: 'Needs you' }).locator('.qq');
    for (const shown of [page.getByRole('heading', { name: body }), inList]) {
      await shown.waitFor();
      const broken = await shown.evaluate((element) => {
        const lines = (part: string): number => {
          const found = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
          while (found.nextNode() && !found.currentNode.textContent?.includes(part));
          const at = found.currentNode.textContent?.indexOf(part) ?? 0;
          const range = document.createRange();
          range.setStart(found.currentNode, at);
          range.setEnd(found.currentNode, at + part.length);
          return new Set([...range.getClientRects()].map(({ top }) => top)).size;
        };
        return [...Array(300).keys()].filter((n) => {
          element.style.width = `${100 + n}px`;
          return lines('PAY-123') > 1 || lines('60 s') > 1;
        });
      });
      expect(broken, 'at these widths').to.deep.equal([]);
    }
    await close();
  });

  it('shows a question with the signs that are none of Markdown, or in its code', async () => {
    const { handle, person, board, agent } = await begin();
    const body = 'Is `` a ` **b** `` or 2 ** 8 **the** answer?';
    await post(agent, board.name, body, { to: [`@${handle}`], ask: {} });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'Is a ` **b** or 2 ** 8 the answer?' }).waitFor();
    await close();
  });

  it('comes live, in one order: due soon, what blocks, requests of agents, the rest; each oldest first', async () => {
    const { person, board, agent } = await begin();
    const ask = (body: string, more: object = {}) =>
      post(agent, board.name, body, { ask: { options: OPTIONS, ...more } });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByText('Nothing needs you').waitFor();
    await page.clock.install();
    await ask('Rest?', { going_with: '60 s', going_at: in_(170) });
    const other = await server.person(`person-${++persons}`);
    await agent.ok('requestAdminAction', {
      body: { kind: 'add_people', board_id: board.id, person_id: other.personId },
    });
    await ask('First block?');
    await ask('Second block?');
    await ask('Due?', { going_with: '60 s', going_at: in_(20) });
    const wants = `Wants to add person-${persons} to ${board.name}`;
    const order = ['Due?', 'First block?', 'Second block?', wants, 'Rest?'];
    await page.getByRole('region', { name: 'Needs you' }).getByText('Rest?').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Due?' }).waitFor();
    expect(await questions(page)).to.deep.equal(order);
    // Time alone makes the last one urgent, as no answer tells that the server's clock did not go on.
    await page.route('**/v1/**', (route) => route.abort());
    await page.clock.fastForward('02:25:00');
    await page.waitForFunction(() => {
      const later = [...document.querySelectorAll('.il .qq')].map(({ textContent }) => textContent);
      return later.indexOf('Rest?') < later.indexOf('First block?');
    });
    await close();
  });

  /** Begins to write an answer to the first of these questions, above a conversation of messages that were read. */
  const writeAnswer = async (question: string, ...others: string[]) => {
    const { person, board, agent } = await begin();
    const first = await post(agent, board.name, question, { ask: {} });
    for (const other of others) await post(agent, board.name, other, { ask: {} });
    const last = await post(agent, board.name, LONG);
    await person.ok('ackBoard', { params: { board: board.name }, body: { up_to: last.seq } });
    const { page, close } = await visit(server, person, `/?board=${board.name}`);
    const strip = page.getByRole('region', { name: 'Needs you' });
    await strip.getByText(question).waitFor();
    await strip.getByRole('button', { name: 'Write an answer' }).click();
    return { person, board, agent, first, page, strip, close };
  };

  it('above the conversation, a written answer stays with its question when that is answered elsewhere', async () => {
    const { person, board, first, page, strip, close } = await writeAnswer('Which name?', 'Which colour?');
    await strip.getByRole('textbox', { name: 'Answer to claude' }).fill('Call it cap');
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await post(person, board.name, 'cap', { reply_to: first.id, answer: {} });
    await strip.getByText('Which colour?').waitFor();
    await strip.getByRole('button', { name: 'Write an answer' }).click();
    expect(await strip.getByRole('textbox', { name: 'Answer to claude' }).inputValue()).to.equal('');
    await close();
  });

  it('above the conversation, the buttons of a written answer can be read in light and dark', async () => {
    const { page, strip, close } = await writeAnswer('Which name?');
    await strip.getByRole('textbox', { name: 'Answer to claude' }).fill('Call it cap');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expectAccessible(page, colorScheme, ['color-contrast']);
      // Axe leaves words in the colour of what they stand on undecided.
      const { text, ground } = await strip.getByRole('button', { name: 'Answer', exact: true }).evaluate((button) => {
        const { color, backgroundColor } = getComputedStyle(button);
        return { text: color, ground: backgroundColor };
      });
      expect(text, colorScheme).not.to.equal(ground);
    }
    await close();
  });

  it('says of a question with the focus that it was answered elsewhere, and no key answers it again', async () => {
    const { person, board, agent } = await begin();
    const ask = (body: string) => post(agent, board.name, body, { ask: { options: OPTIONS } });
    const answer = ({ id }: Message) => post(person, board.name, '120 s', { reply_to: id, answer: { option: 3 } });
    const first = await ask('Above the conversation?');
    const second = await ask('Among the boards?');
    const last = await post(agent, board.name, LONG);
    await person.ok('ackBoard', { params: { board: board.name }, body: { up_to: last.seq } });
    const { page, close } = await visit(server, person, `/?board=${board.name}`);
    const needs = page.getByRole('region', { name: 'Needs you' });
    const option = needs.getByRole('button', { name: '60 s' });
    const closed = needs.getByRole('status').filter({ hasText: /answered or closed meanwhile/ });
    for (const [message, path] of [
      [first, `/?board=${board.name}`],
      [second, '/'],
    ] as const) {
      await page.goto(server.url + path);
      await option.focus();
      await answer(message);
      await closed.waitFor();
      expect(await needs.locator(':focus').count(), path).to.equal(1);
      await page.keyboard.press('2');
      await page.getByRole('link', { name: 'Search' }).first().focus();
      await closed.waitFor({ state: 'detached' });
      expect((await repliesTo(agent, message)).length, path).to.equal(1);
    }
    await close();
  });

  /** Runs in the page before it: what waits for the next frame never comes. */
  const withoutFrames = (): void => {
    globalThis.requestAnimationFrame = () => 0;
  };

  it('has the focus on what a key moved to before the next key is pressed', async () => {
    const { person, board, agent } = await begin();
    for (const question of ['First?', 'Second?', 'Third?'])
      await post(agent, board.name, question, { ask: { options: OPTIONS } });
    const { page, context, close } = await visit(server, person, '/');
    await context.addInitScript(withoutFrames);
    await page.goto(`${server.url}/inbox`);
    await page.getByRole('heading', { name: 'First?' }).waitFor();
    await page.keyboard.press('j');
    expect(await focused(page)).to.include('Second?');
    await page.keyboard.press('j');
    expect(await focused(page)).to.include('Third?');
    const last = await post(agent, board.name, LONG);
    await person.ok('ackBoard', { params: { board: board.name }, body: { up_to: last.seq } });
    await page.goto(`${server.url}/?board=${board.name}`);
    const strip = page.getByRole('region', { name: 'Needs you' });
    const next = strip.getByRole('button', { name: 'Next that needs you' });
    await next.waitFor();
    const before = await strip.locator('.ask').textContent();
    await next.press('Enter');
    expect(await strip.locator('.ask').textContent()).not.to.equal(before);
    expect(await focused(page)).to.include(OPTIONS[0]);
    await close();
  });

  it('reads no requests of agents again for a message, and all that needs the person once it is online', async () => {
    const { person, board, agent } = await begin();
    await post(agent, board.name, 'First?', { ask: {} });
    const { page, context, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'First?' }).waitFor();
    await post(agent, board.name, 'Second?', { ask: {} });
    await page.getByText('Second?').waitFor();
    const asked: string[] = [];
    context.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await post(agent, board.name, 'Third?', { ask: {} });
    await page.getByText('Third?').waitFor();
    const requests = ['/v1/me/approvals', '/v1/pairing-requests'];
    expect(asked).to.include('/v1/asks');
    expect(asked.filter((path) => requests.includes(path))).to.deep.equal([]);
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await until(() => requests.every((path) => asked.includes(path)), 'they are read again');
    await close();
  });

  it('does not ask again each second where the clock of the browser is ahead', async () => {
    const { person, board, agent } = await begin();
    const ask = { options: OPTIONS, going_with: '60 s', going_at: in_(5) };
    await post(agent, board.name, 'How long?', { ask });
    const { page, close } = await visit(server, person, '/');
    await page.clock.install({ time: Date.now() + 10 * 60_000 });
    let asked = 0;
    await page.route('**/v1/asks?can_answer=true&limit=200*', (route) => {
      asked++;
      return route.continue();
    });
    await page.goto(`${server.url}/inbox`);
    await page.getByRole('heading', { name: 'How long?' }).waitFor();
    asked = 0;
    for (let seconds = 0; seconds < 30; seconds++) await page.clock.runFor(1_000);
    expect(asked).to.be.below(5);
    await close();
  });

  it('says that a default applies only once it does by the clock of the server', async () => {
    const { person, board, agent } = await begin();
    const ask = { options: OPTIONS, going_with: '60 s', going_at: in_(5) };
    const { id } = await post(agent, board.name, 'How long?', { ask });
    const { page, close } = await visit(server, person, '/');
    await page.clock.install({ time: Date.now() + 10 * 60_000 });
    await page.goto(`${server.url}/?board=${board.name}`);
    await page.getByText(/claude goes with 60 s, .*, unless you say otherwise/).waitFor();
    await page.goto(`${server.url}/inbox/asks/${id}`);
    await page
      .getByText(/goes with 60\s?s in [4-6]\smin/)
      .first()
      .waitFor();
    expect(await page.getByText('went with').count()).to.equal(0);
    await close();
  });

  it('keeps what is typed while an answer is sent', async () => {
    const { person, board, agent } = await begin();
    const { id } = await post(agent, board.name, 'Which name?', { ask: {} });
    const { page, close } = await visit(server, person, `/inbox/asks/${id}`);
    await page.getByRole('heading', { name: 'Which name?' }).waitFor();
    await page.keyboard.press('r');
    const field = page.getByRole('textbox', { name: 'Answer to claude' });
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    await field.fill('Call it cap');
    await field.press('Control+Enter');
    await asked.promise;
    await field.fill('Call it cap, and say why');
    held.resolve();
    await page.getByText('Answered in words.').waitFor();
    expect(await field.inputValue()).to.equal('Call it cap, and say why');
    await close();
  });

  it('above the conversation, a question that comes back takes the focus from nothing', async () => {
    const { person, board, agent, page, strip, close } = await writeAnswer('Which name?');
    await strip.getByRole('textbox', { name: 'Answer to claude' }).fill('Call it cap');
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    const hasFocus = () => box.evaluate((element) => element === document.activeElement);
    const due = { options: OPTIONS, going_with: '60 s', going_at: in_(20) };
    const urgent = await post(agent, board.name, 'Which cap?', { ask: due });
    await post(agent, board.name, `Later\n\n${LONG}`);
    await page.getByRole('article').filter({ hasText: 'Later' }).waitFor();
    expect(await hasFocus()).to.equal(true);
    await strip.getByText('Which cap?').waitFor();
    await post(person, board.name, '60 s', { reply_to: urgent.id, answer: { option: 2 } });
    await strip.getByText('Which name?').waitFor();
    expect(await hasFocus()).to.equal(true);
    await strip.getByRole('button', { name: 'Write an answer' }).click();
    expect(await strip.getByRole('textbox', { name: 'Answer to claude' }).inputValue()).to.equal('Call it cap');
    await close();
  });

  it('above the conversation, an answer that is sent takes the focus from nothing', async () => {
    const { page, strip, close } = await writeAnswer('Which name?', 'Which colour?');
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      asked.resolve();
      await held.promise;
      return route.continue();
    });
    const field = strip.getByRole('textbox', { name: 'Answer to claude' });
    await field.fill('Call it cap');
    await field.press('Control+Enter');
    await asked.promise;
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.focus();
    held.resolve();
    await strip.getByText('Which colour?').waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(await box.evaluate((element) => element === document.activeElement)).to.equal(true);
    await close();
  });

  it('moves by j and k, writes an answer by r, keeps its draft, and opens the board by Enter', async () => {
    const { person, board, agent } = await begin();
    const first = await post(agent, board.name, 'Which name?', { ask: {} });
    await post(agent, board.name, 'Which colour?', { ask: { options: ['red', 'blue'] } });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'Which name?' }).waitFor();
    // Without options there is nothing that this would be the other way of.
    await page.getByRole('button', { name: /^Write an answer to claude/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Which colour?' }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Which name?' }).waitFor();
    await page.keyboard.press('r');
    const field = page.getByRole('textbox', { name: 'Answer to claude' });
    await field.fill('Call it cap');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Draft: Call it cap' }).waitFor();
    expect(await focused(page)).to.include('Call it cap');
    await page.keyboard.press('r');
    await field.press('Control+Enter');
    await page.getByText('Answered in words.').waitFor();
    expect((await repliesTo(agent, first)).map(({ body, answer }) => [body, answer?.ask_id])).to.deep.equal([
      ['Call it cap', first.id],
    ]);
    await page.getByRole('link', { name: 'Which colour?' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Which colour?' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\?board=room-\d+&message=\d+$/);
    await close();
  });

  it('goes on by j and k from where a question stood that was answered', async () => {
    const { person, board, agent } = await begin();
    const ask = { options: ['a', 'b'] };
    const { id } = await post(agent, board.name, 'Which first?', { ask });
    for (const body of ['Which second?', 'Which third?']) await post(agent, board.name, body, { ask });
    const { page, close } = await visit(server, person, `/inbox/asks/${id}`);
    const answer = async (question: string): Promise<void> => {
      await page.getByRole('heading', { name: question }).waitFor();
      await page.keyboard.press('1');
      await page.getByRole('region', { name: 'Answered today' }).getByText(question).waitFor();
    };
    await page.getByRole('link', { name: 'Which first?' }).waitFor();
    await page.keyboard.press('j');
    await answer('Which second?');
    await page.keyboard.press('j');
    await answer('Which third?');
    await page.keyboard.press('k');
    await answer('Which first?');
    // It stands where it stood, now above the others that were answered.
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Which third?' }).waitFor();
    await close();
  });

  it('takes a key for what is shown from the moment it is shown', async () => {
    const { person, board, agent } = await begin();
    const first = await post(agent, board.name, 'Which name?', { ask: { options: ['a', 'b'] } });
    const second = await post(agent, board.name, 'Which colour?', { ask: { options: ['red', 'blue'] } });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'Which name?' }).waitFor();
    // A change of the document is seen before the browser paints it, sooner than anyone can press a key.
    await page.evaluate(() => {
      const press = (key: string) => document.dispatchEvent(new KeyboardEvent('keydown', { key }));
      const observer = new MutationObserver(() => {
        if (document.getElementById('inbox-title')?.textContent !== 'Which colour?') return;
        observer.disconnect();
        press('2');
      });
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      press('j');
    });
    await page.getByRole('button', { name: 'blue', pressed: true }).waitFor();
    expect((await repliesTo(agent, second)).map(({ body }) => body)).to.deep.equal(['blue']);
    expect(await repliesTo(agent, first)).to.deep.equal([]);
    await page.getByRole('region', { name: 'Answered today' }).getByText('you said: blue').waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Which name?' }).waitFor();
    // What opens to be written in has the keyboard from that moment too: what is typed next is not a key.
    const typed = await page.evaluate(async () => {
      const shown = new Promise<string>((resolve) => {
        new MutationObserver((_, observer) => {
          if (!document.querySelector('.idet textarea')) return;
          observer.disconnect();
          resolve(document.activeElement?.tagName ?? '');
        }).observe(document.body, { subtree: true, childList: true });
      });
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'r' }));
      return shown;
    });
    expect(typed).to.equal('TEXTAREA');
    await close();
  });

  it('stands above the conversation as long as its card is out of view, one at a time', async () => {
    const { person, board, agent } = await begin();
    await post(agent, board.name, 'Which first?', { ask: { options: ['a', 'b'] } });
    const second = await post(agent, board.name, 'Which second?', { ask: { options: ['c', 'd'] } });
    let last = second;
    for (let count = 0; count < 30; count++) last = await post(agent, board.name, `Line ${count}`);
    await person.ok('ackBoard', { params: { board: board.name }, body: { up_to: last.seq } });
    const { page, close } = await visit(server, person, `/?board=${board.name}`);
    const strip = page.getByRole('region', { name: 'Needs you', exact: true });
    await strip.getByText('1 of 2').waitFor();
    await page.keyboard.press('1');
    await strip.getByText('Which second?').waitFor();
    await strip.getByRole('button', { name: 'd' }).click();
    await strip.getByRole('button', { name: 'd', pressed: true }).waitFor();
    expect(await focused(page), 'the focus stays').to.include('d');
    expect((await repliesTo(agent, second)).map(({ body }) => body)).to.deep.equal(['d']);
    await page.getByRole('textbox').first().focus();
    await strip.waitFor({ state: 'detached' });
    await close();
  });

  it('offers answers in lists and above the conversation to a question of which all is shown', async () => {
    const { person, board, agent } = await begin();
    const ask = (body: string) => post(agent, board.name, body, { ask: { options: ['Yes', 'No'] } });
    const short = await ask('Fix the typo in the README?\n\nI also **force-push**; Yes covers both.');
    const long = await ask(`The tests:\n\n\`\`\`\nok?\n\`\`\`\nMerge it?\n\n${LONG}Yes also deletes the branch.`);
    const last = await post(agent, board.name, LONG);
    await person.ok('ackBoard', { params: { board: board.name }, body: { up_to: last.seq } });
    const viewport = { width: 360, height: 740 };
    const { page, close } = await visit(server, person, '/inbox', { viewport });
    const whole = 'Fix the typo in the README? I also force-push; Yes covers both.';
    await page.getByRole('link', { name: whole }).waitFor();
    expect(await questions(page)).to.deep.equal([whole, 'Merge it? …']);
    expect(await page.getByRole('button', { name: 'Yes' }).count()).to.equal(1);
    await page.getByRole('link', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'Merge it?' }).waitFor();
    await page.getByText('Yes also deletes the branch.').waitFor();
    await page.getByRole('button', { name: 'Yes' }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(server.url);
    const rows = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
    await rows.filter({ hasText: 'Merge it? …' }).getByRole('link', { name: 'Look at it' }).waitFor();
    await page.getByRole('group', { name: whole }).waitFor();
    expect(await rows.getByRole('button', { name: 'Yes' }).count()).to.equal(1);
    await page.goto(`${server.url}/?board=${board.name}`);
    const strip = page.getByRole('region', { name: 'Needs you', exact: true });
    await strip.getByText(whole).waitFor();
    await page.keyboard.press('1');
    await strip.getByText('Merge it? …').waitFor();
    await page.keyboard.press('1');
    await strip.getByRole('link', { name: 'Look at it' }).click();
    const card = page.getByRole('article').filter({ hasText: 'Yes also deletes the branch.' }).first();
    await card.getByRole('button', { name: 'No' }).click();
    await card.getByRole('button', { name: 'No', pressed: true }).waitFor();
    const answers = await Promise.all([short, long].map((each) => repliesTo(agent, each)));
    expect(answers.map((all) => all.map(({ body }) => body))).to.deep.equal([['Yes'], ['No']]);
    await close();
  });

  it('shows a question whose lines were wrapped in one piece, in the order of its message', async () => {
    const { person, board, agent } = await begin();
    const ask = (body: string) => post(agent, board.name, body, { ask: { options: ['Yes'] } });
    await ask('The tests are green.\n\nThe branch is\nrebased. Should I **merge\nit** now?\n\nIt is small.');
    await ask('1. one\n2. two\n   or which of them?');
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'The branch is rebased. Should I merge it now?' }).waitFor();
    expect(await questions(page)).to.deep.equal([
      'The tests are green. The branch is rebased. Should I merge it now? It is small.',
      'two or which of them? …',
    ]);
    // The question itself stands out from the words around it.
    const around = await page.locator('.qq .rest').allInnerTexts();
    expect(around.map((words) => words.trim())).to.deep.equal(['The tests are green.', 'It is small.', '…']);
    await page.goto(`${server.url}/?board=${board.name}`);
    const wrapped = page.getByRole('article').filter({ hasText: 'rebased' });
    await wrapped.getByRole('button', { name: 'Yes' }).waitFor();
    expect(await wrapped.locator('.question p').first().innerText()).to.equal(
      'The branch is\nrebased. Should I merge\nit now?',
    );
    const list = page.getByRole('article').filter({ hasText: 'which of them' });
    expect(await list.getByRole('listitem').allInnerTexts()).to.deep.equal(['one', 'two\nor which of them?']);
    await close();
  });

  it('offers no answer where a file, an address or a picture of the question is not shown', async () => {
    const { person, board, agent } = await begin();
    await put(person, board.name, 'plan.md', 'The plan\n');
    const ask = (body: string, more: object = {}) =>
      post(agent, board.name, body, { ask: { options: ['Yes'] }, ...more });
    await ask('Approve it?', { files: [{ file: 'plan.md' }] });
    await ask('Run [the script](https://evil.example/run)?');
    const picture = await ask('![](https://evil.example/a.png)\nShip it');
    await ask('cap | wait\n--- | ---\n60 s | long');
    const { page, close } = await visit(server, person, '/inbox', { viewport: { width: 360, height: 740 } });
    await page.getByRole('link', { name: 'Look at it' }).nth(3).waitFor();
    expect(await page.getByRole('button', { name: 'Yes' }).count()).to.equal(0);
    expect((await questions(page)).slice(0, 3)).to.deep.equal(['Approve it?', 'Run the script? …', 'Ship it …']);
    await page.goto(`${server.url}/inbox/asks/${picture.id}`);
    await page.getByRole('heading', { name: 'Ship it' }).waitFor();
    await page.getByRole('link', { name: 'https://evil.example/a.png' }).waitFor();
    await close();
  });

  it('shows all of a question without a line of its own, however long', async () => {
    const { person, board, agent } = await begin();
    const body = `${'One more word. '.repeat(100)}Is Yes enough?`;
    const { id, seq } = await post(agent, board.name, body, { ask: { options: ['Yes'] } });
    const { page, close } = await visit(server, person, `/inbox/asks/${id}`);
    await page.getByRole('heading', { name: /^One more word.*…$/ }).waitFor();
    await page.getByRole('paragraph').filter({ hasText: 'Is Yes enough?' }).waitFor();
    await page.goto(`${server.url}/?board=${board.name}&message=${seq}`);
    await page.getByRole('article').getByText('Is Yes enough?').waitFor();
    await close();
  });

  /** Three questions, of which the first one stands above a conversation of messages that were read. */
  const threeQuestions = async () => {
    const { person, board, agent } = await begin();
    const asks: Message[] = [];
    for (const question of ['Which first?', 'Which second?', 'Which third?'])
      asks.push(await post(agent, board.name, question, { ask: { options: OPTIONS } }));
    const last = await post(agent, board.name, LONG);
    await person.ok('ackBoard', { params: { board: board.name }, body: { up_to: last.seq } });
    const { page, close } = await visit(server, person, `/?board=${board.name}`);
    const strip = page.getByRole('region', { name: 'Needs you', exact: true });
    await strip.getByText('Which first?').waitFor();
    const answers = async () => {
      const replies = await Promise.all(asks.map((ask) => repliesTo(agent, ask)));
      return replies.map((all) => all.map(({ body }) => body));
    };
    return { page, strip, answers, close };
  };

  it('above the conversation, a key that is held or pressed twice answers one question', async () => {
    const { page, strip, answers, close } = await threeQuestions();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.down('2');
    await strip.getByText('Which second?').waitFor();
    await page.clock.runFor(1_000);
    // It is still down, so this is a repeat.
    await page.keyboard.down('2');
    await page.keyboard.up('2');
    await page.keyboard.press('3');
    await strip.getByText('Which third?').waitFor();
    await page.keyboard.press('3');
    await page.clock.runFor(600);
    await page.keyboard.press('3');
    await page.clock.runFor(200);
    await page.keyboard.press('1');
    await strip.waitFor({ state: 'detached' });
    expect(await answers()).to.deep.equal([['60 s'], ['120 s'], ['30 s']]);
    await close();
  });

  it('above the conversation, a key answers also from a message, but from no other question', async () => {
    const { person, board, agent } = await begin();
    const params = { board: board.name };
    const ask = (body: string) => post(agent, board.name, body, { ask: { options: OPTIONS } });
    const above = await ask('How long?');
    const { seq } = await post(agent, board.name, LONG);
    await person.ok('ackBoard', { params, body: { up_to: seq } });
    await post(agent, board.name, 'The first new one');
    const answered = await ask('Which one?');
    await post(person, board.name, '30 s', { reply_to: answered.id, answer: { option: 1 } });
    const { page, close } = await visit(server, person, `/?board=${board.name}`);
    const strip = page.getByRole('region', { name: 'Needs you', exact: true });
    await strip.getByText('How long?').waitFor();
    const focus = page.locator('article:focus');
    await focus.getByText('The first new one').waitFor();
    await page.keyboard.press('j');
    await focus.getByText('Which one?').waitFor();
    await page.keyboard.press('3');
    await page.keyboard.press('k');
    await focus.getByText('The first new one').waitFor();
    await page.keyboard.press('2');
    await strip.waitFor({ state: 'detached' });
    expect((await repliesTo(agent, above)).map(({ body }) => body)).to.deep.equal(['60 s']);
    expect(await repliesTo(agent, answered)).to.have.length(1);
    await close();
  });

  it('above the conversation, the chosen option is filled', async () => {
    const { page, strip, close } = await threeQuestions();
    const chosen = strip.getByRole('button', { name: '60 s' });
    const other = strip.getByRole('button', { name: '30 s' });
    const fill = (option: Locator) => option.evaluate((element) => getComputedStyle(element).backgroundColor);
    await chosen.click();
    await strip.getByRole('button', { name: '60 s', pressed: true }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await fill(chosen), colorScheme).not.to.equal(await fill(other));
      await expectAccessible(page, colorScheme, ['color-contrast']);
    }
    await close();
  });

  it('sends an answer once, however often it is tried while its outcome is unknown', async () => {
    const { person, board, agent } = await begin();
    const ask = await post(agent, board.name, 'Go on?', { ask: { options: ['Yes', 'No'] } });
    const { page, context, close } = await visit(server, person, '/inbox');
    const yes = page.getByRole('button', { name: 'Yes' });
    await yes.waitFor();
    let lost = 0;
    // The server does it, but its answer is lost, also when the page asks again.
    await context.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST' || lost > 8) return route.continue();
      lost++;
      await route.fetch();
      await route.abort();
    });
    await page.clock.install();
    await yes.click();
    const again = page.getByRole('button', { name: 'Try again' });
    await until(async () => {
      await page.clock.fastForward(1_000);
      return again.isVisible();
    }, 'the page leaves it to the person');
    expect(lost).to.be.greaterThan(1);
    lost = 9;
    await again.click();
    await page.getByRole('button', { name: 'Yes', pressed: true }).waitFor();
    expect(await repliesTo(agent, ask)).to.have.length(1);
    await close();
  });

  it('lists what was answered today, however many questions were asked and answered after it', async () => {
    const { person, board, agent } = await begin();
    const asked: Message[] = [];
    for (let n = 0; n < 25; n++) asked.push(await post(agent, board.name, `Is it ${n}?`, { ask: {} }));
    for (const { id } of asked) await post(person, board.name, 'yes', { reply_to: id, answer: {} });
    const { page, close } = await visit(server, person, '/inbox');
    const today = page.getByRole('region', { name: 'Answered today' });
    await today.getByText('Is it 0?').waitFor();
    expect(await today.getByText('you said: yes').count()).to.equal(25);
    let read = 0;
    await page.route(/\/v1\/boards\/[^/]+\/messages\//, (route) => {
      read++;
      return route.continue();
    });
    await page.clock.install({ time: Date.now() + 48 * 3_600_000 });
    // These are asked for once the answers are read.
    const notices = page.waitForResponse('**/me/invite-notices?*');
    await page.reload();
    await notices;
    await page.getByText('Nothing needs you').waitFor();
    expect(await today.count()).to.equal(0);
    expect(read, 'only the last answer is read, which is not of today').to.equal(1);
    await close();
  });

  it('lists what is answered here, however many questions were asked after it and answered', async () => {
    const { person, board, agent } = await begin();
    await post(agent, board.name, 'The old one?', { ask: {} });
    const later = Array.from({ length: 201 }, async (_, n) => {
      const { id } = await post(agent, board.name, `Is it ${n}?`, { ask: {} });
      await post(person, board.name, 'yes', { reply_to: id, answer: {} });
    });
    await Promise.all(later);
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'The old one?' }).waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('the new one');
    await page.keyboard.press('Control+Enter');
    const today = page.getByRole('region', { name: 'Answered today' });
    await today.getByText('The old one?').waitFor();
    await today.getByText('you said: the new one').waitFor();
    expect(await today.getByRole('listitem').count()).to.equal(201);
    await close();
  });

  it('takes back an own question by w', async () => {
    const { person, board, agent } = await begin();
    const ask = await post(person, board.name, 'Which one?', { to: ['@claude'], ask: { options: ['a', 'b'] } });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('region', { name: 'You asked' }).getByText('waits for claude').waitFor();
    await page.getByRole('heading', { name: 'Which one?' }).waitFor();
    expect(await page.getByRole('button', { name: 'a', exact: true }).count(), 'no option to press').to.equal(0);
    await page.keyboard.press('w');
    await page.getByText('Withdrawn: it needs no answer.').waitFor();
    expect((await repliesTo(agent, ask))[0]?.answer?.withdrawn).to.equal(true);
    await close();
  });

  it('says of a question that was withdrawn after it was answered that it is withdrawn', async () => {
    const { person, board, agent } = await begin();
    const { id } = await post(agent, board.name, 'Which one?', { ask: { options: ['a', 'b'] } });
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('heading', { name: 'Which one?' }).waitFor();
    await page.keyboard.press('2');
    await page.getByText('Answered: b.').waitFor();
    await post(agent, board.name, 'Never mind', { reply_to: id, answer: { withdrawn: true } });
    await page.getByText('Withdrawn: it needs no answer.').waitFor();
    await close();
  });

  it('allows and declines requests of agents by key, spelled out field by field', async () => {
    const { person, board, agent } = await begin();
    const other = await server.person(`person-${++persons}`);
    const request = () =>
      agent.ok('requestAdminAction', { body: { kind: 'add_people', board_id: board.id, person_id: other.personId } });
    const { approval } = await request();
    const path = new URL(approval.next?.board_view ?? '').pathname;
    const { page, close } = await visit(server, person, path);
    await page.getByRole('heading', { name: `Add person-${persons} to ${board.name}` }).waitFor();
    const fields = page.locator('.frozen');
    for (const words of ['Adds one person to a board.', other.personId ?? '', board.name, 'claude'])
      await fields.getByText(words).first().waitFor();
    await page.keyboard.press('2');
    await page.getByText('You declined it').waitFor();
    expect(await focused(page)).to.include(`Add person-${persons}`);
    expect((await person.ok('getApproval', { params: { approval: approval.id } })).approval.state).to.equal('declined');
    const answered = page.getByRole('region', { name: 'Answered today' });
    await answered
      .getByRole('link', { name: `Wants to add person-${persons}` })
      .getByText('you declined')
      .waitFor();
    const again = await request();
    const waiting = page.getByRole('region', { name: 'Needs you', exact: true });
    await waiting.getByRole('link', { name: `Wants to add person-${persons}` }).click();
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    // On a narrow screen, two short choices share the row above a long one.
    await page.setViewportSize({ width: 768, height: 900 });
    const widths = await page
      .locator('.decide .opt')
      .evaluateAll((choices) => choices.map((choice) => Math.round(choice.getBoundingClientRect().width)));
    expect(widths).to.deep.equal([316, 316, 640]);
    await page.keyboard.press('1');
    await page.getByText('You allowed it once').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await answered.getByText('you allowed it').waitFor();
    const decided = await person.ok('getApproval', { params: { approval: again.approval.id } });
    expect(decided.approval.decision).to.equal('once');
    const { people } = await person.ok('listBoardPeople', { params: { board: board.name } });
    expect(people.map(({ handle }) => handle)).to.include(`person-${persons}`);
    await close();
  });

  it('spells out all that a preset of a policy sets, and what agents can read then', async () => {
    const { person, board, agent } = await begin();
    await person.ok('updateBoard', { params: { board: board.name }, body: { policy: { preset: 'recommended' } } });
    const { approval } = await agent.ok('requestAdminAction', {
      body: { kind: 'set_board_policy', board_id: board.id, policy: { preset: 'starter', nudges: 'off' } },
    });
    const { page, tab, close } = await visit(server, person, `/inbox/approvals/${approval.id}`);
    await page.getByRole('heading', { name: `Change the policy of ${board.name}` }).waitFor();
    const rows = async (of: Page) => {
      const [names, words] = [of.locator('.frozen dt'), of.locator('.frozen dd')];
      const [all, texts] = [await names.allTextContents(), await words.allTextContents()];
      return all.map((name, n) => `${name}: ${texts[n]?.trim()}`).slice(2, -2);
    };
    expect(await rows(page)).to.deep.equal([
      'Preset: starter',
      'Agents read: every message',
      'Agents who may write to everyone: all',
      'Agents who may send urgent messages: all',
      'Agents see which program another agent runs in: yes',
      'Reminders to agents: off',
      'Agents who post many messages in a row: are told after 12, held after 30',
      'A task whose agent is gone is stale: after 30 minutes',
    ]);
    await page.getByText('The fields below are all that it sets.').waitFor();
    await page.getByText('With these settings, agents can read the whole history of the board.').waitFor();
    const rest = { show_harness: false, agent_run: { notice: 3, hold: 5 }, stale_after: 1_000 };
    const other = await agent.ok('requestAdminAction', {
      body: { kind: 'set_board_policy', board_id: board.id, policy: { preset: 'recommended', ...rest } },
    });
    const second = await tab(`/inbox/approvals/${other.approval.id}`);
    await second.getByText('after 1\u202f000 seconds').waitFor();
    expect(await rows(second)).to.deep.equal([
      'Preset: recommended',
      'Agents read: what goes to them or everyone',
      'Agents who may write to everyone: those whose role allows it',
      'Agents who may send urgent messages: those whose role allows it',
      'Agents see which program another agent runs in: no',
      'Reminders to agents: on',
      'Agents who post many messages in a row: are told after 3, held after 5',
      'A task whose agent is gone is stale: after 1\u202f000 seconds',
    ]);
    await close();
  });

  it('shows the link of an invite once, and for what needs the own key the command instead of a button', async () => {
    const { person, board, agent } = await begin('admin');
    const other = await server.person(`person-${++persons}`);
    await agent.ok('requestAdminAction', { body: { kind: 'invite_people', invite: { suggested_handle: 'zoe' } } });
    const { approval } = await agent.ok('requestAdminAction', {
      body: { kind: 'set_server_role', person_id: other.personId, role: 'admin' },
    });
    for (let n = 0; n < 10; n++) await newBoard(person, { name: `open-${n}-of-${persons}` });
    const { page, tab, close } = await visit(server, person, '/inbox');
    await page.getByRole('link', { name: 'Wants to invite one person' }).click();
    await page.getByText(/^A new member can read every open board here:.*, and \d+ more\.$/).waitFor();
    expect(await page.locator('.warn').textContent(), 'with no board').not.to.include('everything');
    const { name: closed, id: closedId } = await newBoard(person, { visibility: 'private' });
    const onto = await agent.ok('requestAdminAction', {
      body: { kind: 'invite_people', invite: { boards: [board.id, closedId] } },
    });
    const second = await tab(`/inbox/approvals/${onto.approval.id}`);
    await second.getByText(`They can also read everything on ${closed}, from the first message on.`).waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page
      .getByRole('region', { name: 'Invite link' })
      .getByText(/\/join#abi_/)
      .waitFor();
    await page.getByRole('region', { name: 'Invites of your agents' }).getByText('Invite for zoe').click();
    await page.getByText(/service invite revoke/).waitFor();
    await page.getByRole('link', { name: `Wants to make person-${persons} an admin` }).click();
    await page.getByText(`allow ${approval.id}`).waitFor();
    expect(await page.getByRole('button', { name: 'Allow once' }).count()).to.equal(0);
    const { id: key_id } = await other.ok('createKey', { body: { name: 'spare' } });
    await agent.ok('requestAdminAction', { body: { kind: 'revoke_key', key_id } });
    await page.getByRole('link', { name: `Wants to revoke person-${persons}’s key spare` }).click();
    await page.getByText(key_id, { exact: true }).waitFor();
    const fresh = await tab('/inbox');
    await fresh.getByRole('link', { name: 'Invite for zoe' }).click();
    await fresh.getByText('It still works').waitFor();
    expect(await fresh.content(), 'the link is nowhere').not.to.include('join#abi_');
    await close();
  });

  it('lets the one whom work is proposed to choose an agent or decline', async () => {
    const { person, board, agent } = await begin();
    const colleague = await server.person(`person-${++persons}`);
    await person.ok('addBoardPerson', { params: { board: board.name }, body: { handle: `person-${persons}` } });
    await newAgent(colleague, board.name, { name: 'robin' });
    const propose = (work: string) =>
      person.ok('createPairingRequest', {
        body: { board_id: board.id, recipient_id: colleague.personId, initiating_agent_id: agent.memberId, work },
      });
    const first = await propose('Review the runbook');
    const { page, close } = await visit(server, colleague, `/inbox/pairings/${first.id}`);
    await page.getByText('“Review the runbook”').waitFor();
    await page.getByRole('button', { name: 'Choose robin' }).click();
    await page.getByTestId('said').filter({ hasText: 'Asked robin' }).waitFor();
    await page.getByText(`service pairing accept ${first.id}`).waitFor();
    const second = await propose('Another one');
    await page.getByRole('link', { name: 'Proposes work' }).first().waitFor();
    await page.goto(`${server.url}/inbox/pairings/${second.id}`);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('Declined.').waitFor();
    expect((await person.ok('getPairingRequest', { params: { pairing: second.id } })).state).to.equal('declined');
    await close();
  });

  it('offers the agent that came after the proposal, and says where the agents could not be read', async () => {
    const { person, board, agent } = await begin();
    const colleague = await server.person(`person-${++persons}`);
    await person.ok('addBoardPerson', { params: { board: board.name }, body: { handle: `person-${persons}` } });
    const { id } = await person.ok('createPairingRequest', {
      body: { board_id: board.id, recipient_id: colleague.personId, initiating_agent_id: agent.memberId, work: 'Help' },
    });
    const { page, close } = await visit(server, colleague, '/inbox');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    await page.route('**/v1/me/agents*', (route) => route.fulfill({ status: 400, json: { error } }));
    await page.goto(`${server.url}/inbox/pairings/${id}`);
    const work = page.getByRole('region', { name: 'What it is about' });
    const refusal = work.getByRole('alert').filter({ hasText: 'Not now.' });
    await refusal.waitFor();
    const none = page.getByText('You have no agent on that board yet.');
    expect(await none.count()).to.equal(0);
    await page.unrouteAll({ behavior: 'wait' });
    await refusal.getByRole('button', { name: 'Try again' }).click();
    await none.waitFor();
    await newAgent(colleague, board.name, { name: 'robin' });
    await page.getByRole('button', { name: 'Choose robin' }).waitFor();
    await close();
  });

  it('shows and sets the allowance, with its changes, and says when somebody else changed it', async () => {
    const { person } = await begin();
    const { page, close } = await visit(server, person, '/settings/allowance');
    const adding = page.getByRole('checkbox', { name: /Add people/ });
    await adding.click();
    await page.getByText('in a browser').waitFor();
    expect((await person.ok('getAllowance')).categories).to.deep.equal(['add_people']);
    await page.getByRole('button', { name: 'Let them ask for everything' }).click();
    await page.getByText('Nothing without asking').waitFor();
    expect(await adding.isChecked()).to.equal(false);
    await page.route('**/v1/me/allowance', async (route) => {
      if (route.request().method() === 'PUT')
        await person.ok('setAllowance', { body: { categories: ['invite_people'] } });
      await route.continue();
    });
    await adding.click();
    await page.getByRole('alert').waitFor();
    expect((await person.ok('getAllowance')).categories).to.deep.equal(['invite_people']);
    expect(await page.getByRole('checkbox', { name: /Invite new/ }).isChecked()).to.equal(true);
    await close();
  });

  it('says where agents may bring people, and why what is on has no effect', async () => {
    const { handle, person } = await begin('admin');
    await person.ok('setAllowance', { body: { categories: ['add_people', 'invite_people'] } });
    await server.dana.ok('setPersonRole', { params: { handle }, body: { server_role: 'member' } });
    const { page, close } = await visit(server, person, '/settings/allowance');
    const means = async (name: string): Promise<string> =>
      page.getByRole('checkbox', { name }).evaluate((box) => {
        const id = box.getAttribute('aria-describedby') ?? '';
        return document.getElementById(id)?.textContent ?? '';
      });
    const may = 'Your agents may bring any member onto any board you are on. Anyone who comes reads everything there.';
    expect(await means('Add people')).to.equal(may);
    expect(await means('Invite new')).to.match(/ It has no effect now: you are no admin of this server\.$/);
    await server.dana.ok('updateSettings', { body: { agents_add_people: false } });
    await page.reload();
    expect(await means('Add people')).to.equal(
      `${may} It has no effect now: the server’s settings let no agent add people.`,
    );
    await server.dana.ok('updateSettings', { body: { agents_add_people: true } });
    await close();
  });

  it('reads again what was refused, of each kind', async () => {
    const { person } = await begin();
    const { page, close } = await visit(server, person, '/inbox');
    const error = { code: 'invalid_request', message: 'Not now.', hint: '' };
    const never = '0'.repeat(26);
    for (const [path, request] of [
      [`/inbox/asks/msg_${never}`, '**/v1/messages/*'],
      [`/inbox/approvals/apr_${never}`, '**/v1/me/approvals/*'],
      [`/inbox/pairings/prq_${never}`, '**/v1/pairing-requests/*'],
      [`/inbox/invites/inv_${never}`, '**/v1/me/invite-notices*'],
      ['/settings/allowance', '**/v1/me/allowance'],
    ] as const) {
      await page.route(request, (route) => route.fulfill({ status: 400, json: { error } }));
      await page.goto(server.url + path);
      const refusal = page.getByRole('alert').filter({ hasText: 'Not now.' });
      await refusal.waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await refusal.getByRole('button', { name: 'Try again' }).click();
      await refusal.waitFor({ state: 'detached' });
    }
    await close();
  });

  it('can be used on a narrow phone, first the list, then one thing', async () => {
    const { person, board, agent } = await begin();
    await post(agent, board.name, 'How long may one wait between two tries be at most?', { ask: { options: OPTIONS } });
    const { page, close } = await visit(server, person, '/inbox', { viewport: { width: 360, height: 740 } });
    const button = page.getByRole('button', { name: '60 s' });
    await button.waitFor();
    expect((await button.boundingBox())?.height).to.be.at.least(44);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(await wide()).to.equal(false);
    await page.getByRole('link', { name: 'How long may one wait' }).click();
    await page.getByRole('heading', { name: 'How long may one wait' }).waitFor();
    expect(await wide()).to.equal(false);
    await page.getByRole('link', { name: 'Back to the list' }).click();
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
    await close();
  });

  describe('on a narrow window, takes no key for what the list covers', () => {
    /** The list alone, with its first thing chosen, and the last words of the addresses that it posts to. */
    const openList = async (person: Api) => {
      const { page, close } = await visit(server, person, '/inbox', { viewport: { width: 800, height: 740 } });
      const posted: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') posted.push(request.url().split('/').at(-1) ?? '');
      });
      await page.locator('#inbox-title').waitFor({ state: 'attached' });
      return { page, posted, close };
    };

    it('of a request', async () => {
      const { person, board, agent } = await begin();
      const { personId } = await server.person(`person-${++persons}`);
      await agent.ok('requestAdminAction', { body: { kind: 'add_people', board_id: board.id, person_id: personId } });
      const { page, posted, close } = await openList(person);
      for (const key of ['3', '2', '1']) await page.keyboard.press(key);
      await page.getByRole('link', { name: 'Wants to add' }).click();
      await page.getByRole('button', { name: 'Allow once' }).waitFor();
      await page.keyboard.press('2');
      await page.getByText('You declined it').waitFor();
      expect(posted).to.deep.equal(['decline']);
      await close();
    });

    it('of agents that wait', async () => {
      const { person, board, agent } = await begin();
      const other = await newAgent(person, board.name, { name: 'codex' });
      const policy = { agent_run: { notice: 1, hold: 2 } };
      await person.ok('updateBoard', { params: { board: board.name }, body: { policy } });
      const root = await post(agent, board.name, 'Retry design', { to: ['@codex'] });
      for (const from of [other, agent]) await post(from, board.name, 'ok', { reply_to: root.id });
      const { page, posted, close } = await openList(person);
      await page.keyboard.press('2');
      await page.getByRole('link', { name: 'have exchanged' }).click();
      await page.getByRole('button', { name: 'Continue' }).waitFor();
      await page.keyboard.press('1');
      await page.getByTestId('said').filter({ hasText: 'They may go on' }).waitFor();
      expect(posted).to.deep.equal(['run']);
      await close();
    });

    it('of an own question', async () => {
      const { person, board } = await begin();
      await post(person, board.name, 'Which one?', { to: ['@claude'], ask: { options: ['a', 'b'] } });
      const { page, posted, close } = await openList(person);
      await page.keyboard.press('w');
      await page.getByRole('link', { name: 'Which one?' }).click();
      await page.getByRole('button', { name: 'Withdraw this question' }).waitFor();
      expect(posted).to.deep.equal([]);
      await close();
    });

    it('of a question to be answered in words', async () => {
      const { person, board, agent } = await begin();
      await post(agent, board.name, 'Which name?', { ask: {} });
      const { page, close } = await openList(person);
      await page.keyboard.press('r');
      await page.getByRole('link', { name: 'Which name?' }).click();
      await page.getByRole('button', { name: 'Write an answer' }).waitFor();
      expect(await page.getByRole('textbox', { name: 'Answer to claude' }).count()).to.equal(0);
      await close();
    });
  });

  it('shows agents that answer each other without a person: continue lets them go on, a stop closes the thread', async () => {
    const { person, board, agent } = await begin();
    const other = await newAgent(person, board.name, { name: 'codex' });
    await person.ok('updateBoard', {
      params: { board: board.name },
      body: { policy: { agent_run: { notice: 1, hold: 2 } } },
    });
    const root = await post(agent, board.name, 'Retry design', { to: ['@codex'] });
    for (const from of [other, agent]) await post(from, board.name, 'ok', { reply_to: root.id });
    const { page, close } = await visit(server, person, '/inbox');
    const title = 'claude and codex have exchanged 3 messages on "Retry design" without a person';
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByTestId('said').filter({ hasText: 'They may go on' }).waitFor();
    await page.getByText('Nothing needs you').waitFor();
    for (const from of [other, agent, other]) await post(from, board.name, 'ok', { reply_to: root.id });
    await page.getByRole('link', { name: /have exchanged/ }).waitFor();
    await page.keyboard.press('2');
    await page.getByTestId('said').filter({ hasText: 'Closed for agents until a person writes in it' }).waitFor();
    expect(
      await other.refused('postMessage', { params: { board: board.name }, body: { body: 'x', reply_to: root.id } }),
    ).to.equal('409 thread_held');
    await page.goto(`${server.url}/?board=${board.name}`);
    await page.getByRole('button', { name: /closed for agents/ }).waitFor();
    await close();
  });

  it('shows an agent whose wakes are used up, and wakes it again with one click', async () => {
    const { person, board, agent } = await begin();
    const other = await newAgent(person, board.name, { name: 'codex' });
    const params = { board: board.name, member: 'codex' };
    await person.ok('setAgentBudget', { params, body: { wakes: [{ count: 1, seconds: 600 }] } });
    const { page, close } = await visit(server, person, '/inbox');
    const { seq } = await post(agent, board.name, 'look', { to: ['@codex'] });
    await other.ok('ackInbox', { body: { up_to: seq } });
    await page.getByRole('link', { name: 'May agents go on waking codex?' }).click();
    await page.waitForURL(/\/inbox\/agents\/./);
    const held = Promise.withResolvers<void>();
    await page.route('**/needs*', async (route) => {
      await held.promise;
      return route.continue();
    });
    await page.reload();
    await page.locator('.idet [aria-busy="true"]').waitFor();
    expect(await page.getByText('This needs nobody any more.').count()).to.equal(0);
    held.resolve();
    await page.getByRole('heading', { name: 'May agents go on waking codex?' }).waitFor();
    await page.getByRole('button', { name: 'Wake it again' }).click();
    await page.getByTestId('said').filter({ hasText: 'Agents wake it again' }).waitFor();
    expect((await person.ok('getMember', { params })).braked).to.equal(undefined);
    await close();
  });

  it('shows an agent that acknowledges nothing as one, and offers what helps there', async () => {
    const { person, board, agent } = await begin();
    const codex = await newAgent(person, board.name, { name: 'codex' });
    await post(agent, board.name, 'look', { to: ['@codex'] });
    const left = new AbortController();
    for (let read = 0; read < 40; read++) await codex.ok('readInbox', { query: { wait: 60 } });
    const waiting = codex.call('readInbox', { query: { wait: 60 }, signal: left.signal }).catch(() => {});
    const { page, close } = await visit(server, person, '/inbox');
    await page.getByRole('link', { name: 'codex acknowledges nothing of what it reads' }).click();
    const choices = page.getByRole('article').getByRole('button');
    await page.getByRole('button', { name: 'Give it messages again' }).waitFor();
    expect(await choices.allInnerTexts()).to.deep.equal(['1\nGive it messages again', '2\nUntil tomorrow']);
    await page.getByRole('button', { name: 'Give it messages again' }).click();
    await page.getByTestId('said').filter({ hasText: 'It is given messages again' }).waitFor();
    left.abort();
    await waiting;
    await close();
  });
});
