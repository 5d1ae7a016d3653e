/** Texts that mean harm, in every place where the page shows what somebody wrote: nothing runs, and nothing is asked for. */
import { expect } from 'chai';
import type { Api } from '../support/api.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { put } from '../support/files.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { browser, closeBrowser } from './support/browser.ts';
import { allHostile, hostile } from './support/hostile.ts';
import { startPageServer } from './support/server.ts';
import { type Visit, visit } from './support/visit.ts';

before(browser);
after(closeBrowser);

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** What an author's HTML must never become in its frame. */
const forbidden =
  ':is(script, style, link, meta, base, iframe, frame, object, embed, form, input, button, template, noscript, animate, set, [src^="http"], [srcdoc], [ping], [target], [formaction], [srcset], [background], [poster])';

/** Runs in the page: whatever in rendered text is no plain Markdown. */
function unexpected(): string[] {
  const known =
    'A B BLOCKQUOTE BR BUTTON CODE DEL EM FIGCAPTION FIGURE H1 H2 H3 H4 H5 H6 HR LI OL P PRE SPAN STRONG TABLE TBODY TD TH THEAD TR UL svg use'.split(
      ' ',
    );
  const attributes = 'href class start title rel target type aria-label'.split(' ');
  const found: string[] = [];
  for (const element of document.querySelectorAll('.x *')) {
    if (!known.includes(element.tagName)) found.push(`<${element.tagName}>`);
    // The page sets each block in the direction of its words.
    for (const { name, value } of element.attributes)
      if (
        !attributes.includes(name) &&
        !element.closest('svg') &&
        name !== 'aria-hidden' &&
        !(name === 'dir' && value === 'auto')
      )
        found.push(`${name}=${value}`);
    const href = element.tagName === 'A' ? element.getAttribute('href') : null;
    if (href !== null && !/^(https?:\/\/|mailto:|\/(?![/\\])|\?|#)/.test(href)) found.push(`href=${href}`);
  }
  return found;
}

describe('texts that mean harm', () => {
  let server: TestServer;
  let dana: Api;
  let board: string;
  let params: { board: string };
  before(async () => {
    server = await startPageServer();
    dana = await server.person('dana');
  });
  after(() => server.stop());
  beforeEach(async () => {
    board = (await newBoard(dana)).name;
    params = { board };
  });

  it('are more than 150, in every class', () => {
    expect(new Set(allHostile).size).to.equal(allHostile.length).and.to.be.above(150);
  });

  /** Opens the page, where `harm` would be heard; `unharmed` fails if it was, or if anything was asked for. */
  async function open(path: string): Promise<Visit & { unharmed: () => Promise<void> }> {
    const seen = await visit(server, dana, path);
    const { page, context } = seen;
    const harm: string[] = [];
    await context.exposeFunction('harm', () => harm.push('a script ran'));
    page.on('dialog', (dialog) => harm.push(dialog.message()));
    context.on('request', (request) => {
      if (/\/harm|evil/.test(request.url())) harm.push(request.url());
    });
    await page.reload();
    const unharmed = async (): Promise<void> => {
      expect(await page.evaluate(unexpected)).to.deep.equal([]);
      expect(new URL(page.url()).origin).to.equal(server.url);
      expect(harm).to.deep.equal([]);
    };
    return { ...seen, unharmed };
  }

  it('stay text in messages', async () => {
    for (const body of allHostile) {
      const { status, text } = await dana.call('postMessage', { params, body: { body }, key: crypto.randomUUID() });
      if (status !== 201) throw new Error(`refused: ${body.slice(0, 80)}: ${text}`);
    }
    const { page, close, unharmed } = await open(`/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.getByRole('article').first().waitFor();
    await until(async () => {
      await list.evaluate((element) => {
        element.scrollTop = 0;
      });
      return (await list.getByRole('article').count()) === allHostile.length;
    }, 'all of them are shown');
    await unharmed();
    await close();
  });

  it('leave the conversation readable where their markup goes too deep', async () => {
    const deep = ['>', '1. '].map((mark) => mark.repeat(32_000 / mark.length));
    for (const [n, marks] of deep.entries()) await post(dana, board, `${marks}word ${n}`);
    await post(dana, board, 'the last word');
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.getByText('the last word').waitFor();
    for (const n of deep.keys()) await list.getByText(`word ${n}`).waitFor();
    await close();
  });

  it('hold nobody up with levels behind spaces', async () => {
    for (const marks of [' +', '  1.', ' > ', '>   '])
      for (let n = 0; n < 4; n++) await post(dana, board, `${marks.repeat(32_000 / marks.length)} word ${n}`);
    await post(dana, board, 'the word after them');
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.getByText('the word after them').waitFor();
    await close();
  });

  it('hold nobody up with emphasis that has no end', async () => {
    for (const marks of ['*a"', '_a/', '*~&']) await post(dana, board, `${marks.repeat(10_000)} **the word**`);
    await post(dana, board, 'the *last* word');
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.locator('em', { hasText: 'last' }).waitFor();
    for (const n of [0, 1, 2]) await list.getByText('the word').nth(n).waitFor();
    await close();
  });

  it('hold nobody up with words and spaces that have no end, which stay as they were typed', async () => {
    const texts = ['a_', 'a*_', 'a.'].map((part) => `${part.repeat(29_000 / part.length)}@`);
    texts.push(`a${' '.repeat(29_000)}b`, `http://a.example/${')'.repeat(29_000)}`);
    for (const text of texts)
      await post(dana, board, `${text} **the word**\n\n\`\`\`\n${'b'.repeat(3_000)} code\n\`\`\``);
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.locator('strong', { hasText: 'the word' }).last().waitFor();
    const shown = await list.locator('p', { hasText: 'the word' }).allTextContents();
    expect(shown.slice(-texts.length)).to.deep.equal(texts.map((text) => `${text} the word`));
    expect(await list.locator('pre').last().textContent()).to.equal(`${'b'.repeat(3_000)} code`);
    await close();
  });

  it('leave links and images their long addresses', async () => {
    const link = `https://a.example/?state=${'b'.repeat(5_000)}`;
    await post(dana, board, `[the state](${link}) and [again][it]\n\n[it]: ${link}`);
    await post(dana, board, `**![the picture](data:image/png;base64,${'A'.repeat(20_000)})** of it`);
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    for (const name of ['the state', 'again'])
      expect(await list.getByRole('link', { name, exact: true }).getAttribute('href')).to.equal(link);
    expect(await list.locator('p', { hasText: 'the picture' }).textContent()).to.equal('the picture of it');
    await close();
  });

  it('are no longer on the page than as they were typed, whatever signs stand for their parts', async () => {
    const typed = `${'b'.repeat(15_000)} ${'\ue0000\ue000 '.repeat(4_000)}the end`;
    await post(dana, board, typed);
    await post(dana, board, `${'[a] '.repeat(2_000)}the end\n\n[a]: https://a.example/${'b'.repeat(15_000)}`);
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    const shown = list.locator('p', { hasText: 'the end' });
    await shown.nth(1).waitFor();
    expect(await shown.first().textContent()).to.equal(typed);
    expect((await shown.nth(1).innerHTML()).length).to.be.below(1_000_000);
    await close();
  });

  it('hold nobody up with a table of many columns whose rows are empty', async () => {
    await post(dana, board, `${'| a'.repeat(2_400)}\n${'| -'.repeat(2_400)}\n${'|\n'.repeat(8_000)}`);
    await post(dana, board, '| a | b |\n|---|---|\n| the word |');
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.getByRole('cell', { name: 'the word' }).waitFor();
    expect(await list.getByRole('cell').count()).to.equal(2);
    await close();
  });

  it('cost a long text of lines, names and words with emphasis none of it', async () => {
    const lines = Array.from(
      { length: 300 },
      (_, n) => `**10:${n}** the worker did get_user_name and another_step of the plan`,
    );
    await post(dana, board, lines.join('\n'));
    await post(dana, board, `${'get_user_name and '.repeat(600)}**the end**`);
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const list = page.getByRole('region', { name: 'Conversation' });
    await list.locator('strong', { hasText: 'the end' }).waitFor();
    expect(await list.locator('strong').count()).to.equal(lines.length + 1);
    await close();
  });

  it('hold nobody up in code that is one long line', async () => {
    await post(dana, board, `\`\`\`md\n${'[a]('.repeat(4_900)}\n\`\`\`\n\n\`\`\`ts\nconst code = 1;\n\`\`\``);
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const code = page.getByRole('region', { name: 'Conversation' }).locator('figure.code');
    await code.locator('span.k', { hasText: 'const' }).waitFor();
    await code.first().getByText('[a](').waitFor();
    await close();
  });

  it('are shown without colours in files where finding those would take minutes, or goes too deep', async () => {
    const files = { 'keys.ini': `${'a.'.repeat(450)}\n`.repeat(160), 'deep.rs': '/*\n'.repeat(5_000) };
    for (const [name, text] of Object.entries(files)) {
      await put(dana, board, name, text);
      const { page, close } = await visit(server, dana, `/?board=${board}&file=${name}`);
      await page.getByRole('table', { name }).getByText(text.slice(0, 2)).first().waitFor();
      await close();
    }
  });

  it('hold nobody up in a file of many thousand lines, nor where all of them changed', async () => {
    await put(dana, board, 'lines.txt', 'a line\n'.repeat(70_000));
    const { page, close } = await visit(server, dana, `/?board=${board}&file=lines.txt`);
    const lines = page.getByLabel('lines.txt', { exact: true });
    await lines.getByText('a line').first().waitFor();
    expect(await lines.locator('.no').innerText()).to.equal('');
    await put(dana, board, 'lines.txt', `${'a line\n'.repeat(70_000)}and one\n`, { base: 1 });
    await page.goto(`${server.url}/?board=${board}&file=lines.txt&version=2&against=1`);
    await page.getByText('and one').waitFor();
    expect(await page.getByRole('button', { name: /lines did not change$/ }).isDisabled()).to.equal(true);
    await put(dana, board, 'lines.txt', 'one line\n', { base: 2 });
    await page.goto(`${server.url}/?board=${board}&file=lines.txt&version=3&against=2`);
    await page.getByText('Too much of them differs').waitFor();
    await close();
  });

  it('hold nobody up where all words of many long lines changed', async () => {
    const lines = (words: string) => `${`${words} `.repeat(1_990 / (words.length + 1))}\n`.repeat(60);
    const { id } = await put(dana, board, 'data.txt', lines('a b c d e f g h'));
    await put(dana, board, 'data.txt', lines('p h q g r f s e'), { base: 1 });
    const { page, close } = await visit(server, dana, `/?board=${board}&file=data.txt&version=2&against=1`);
    await page.getByRole('table', { name: /Changes from v1/ }).waitFor();
    await close();
    await dana.ok('removeFile', { params: { board, file: id } });
  });

  it('hold nobody up in a brief, however its tags are left open', async () => {
    for (const tag of ['<base ', '<style ', '<style></style ']) {
      const { id } = await put(dana, board, 'brief.html', `<p>the plan</p>${tag.repeat(500_000 / tag.length)}`, {
        brief: true,
      });
      const { page, close } = await visit(server, dana, `/?board=${board}`);
      await page.getByRole('button', { name: /^Brief the plan/ }).waitFor();
      await close();
      await dana.ok('removeFile', { params: { board, file: id } });
    }
  });

  it('stay text in titles, names, options and lines', async () => {
    const titles = allHostile.map(oneLine).filter((title) => title.length <= 200);
    const kept: string[] = [];
    for (const title of titles) {
      const { status, body } = await dana.call('createTask', { params, body: { title }, key: crypto.randomUUID() });
      if (status === 201) kept.push(body.title);
    }
    expect(kept.length).to.be.above(150);
    const agent = await newAgent(dana, board, { name: 'claude' });
    await agent.ok('setMyLine', { body: { kind: 'working', text: titles[0]! } });
    await agent.ok('postMessage', {
      params,
      body: { body: titles[1]!, to: ['@dana'], ask: { options: [titles[2]!, titles[3]!, `[x](javascript:harm())`] } },
    });
    await dana.ok('updateBoard', { params, body: { title: titles[4]! } });
    const { page, close, unharmed } = await open(`/?board=${board}&tab=tasks`);
    await page.locator('a.tc').first().waitFor();
    for (;;) {
      const more = page.getByRole('button', { name: /more|earlier|older/i }).first();
      if ((await more.count()) === 0) break;
      await more.click();
    }
    const shown = await page.locator('a.tc .tt').allTextContents();
    expect(kept.filter((title) => !shown.includes(title))).to.deep.equal([]);
    await unharmed();
    for (const path of [
      '/',
      '/inbox',
      '/everything',
      `/?board=${board}`,
      `/?board=${board}&tab=people`,
      '/search?q=script',
    ]) {
      await page.goto(server.url + path);
      await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
      await unharmed();
    }
    await close();
  });

  it('do nothing in files and in the brief, as Markdown, HTML or SVG', async () => {
    const files = new Map(
      Object.entries(hostile).map(([about, texts]) => [about.replaceAll(' ', '-'), texts.join('\n')]),
    );
    // These swallow what comes after them.
    for (const [n, text] of hostile['markup that changes when it is read twice']!.entries())
      files.set(`twice-${n}`, text);
    const svg = (inner: string): string => `<svg xmlns="http://www.w3.org/2000/svg" onload="harm()">${inner}</svg>`;
    const { page, close, unharmed } = await open('/');
    /** As the browser's ways back and forward do it, which load nothing anew. */
    const show = async (name: string): Promise<void> => {
      await page.evaluate(
        (address) => {
          history.pushState(null, '', address);
          dispatchEvent(new PopStateEvent('popstate'));
        },
        `/?board=${board}&file=${encodeURIComponent(name)}`,
      );
      await page.getByRole('heading', { name, exact: true }).waitFor();
      await page.locator('.pmd, .pimg, iframe').first().waitFor();
      await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
    };
    const harmless = async (name: string): Promise<void> => {
      for (const frame of page.frames().slice(1)) {
        const body = frame.locator('body');
        await body.waitFor({ state: 'attached' });
        expect(await body.locator(forbidden).count(), name).to.equal(0);
        const attributes = await body
          .locator('*')
          .evaluateAll((all) =>
            all.flatMap((element) => [...element.attributes].map(({ name, value }) => [name, value])),
          );
        expect(
          attributes.filter(([name, value]) => /^on|^style$|href|action/.test(name!) || /url\((?!#)/.test(value!)),
          name,
        ).to.deep.equal([]);
      }
      await unharmed();
    };
    await put(dana, board, 'all.md', allHostile.join('\n\n'));
    await show('all.md');
    await harmless('all.md');
    for (const [name, text] of files) {
      await put(dana, board, `${name}.html`, text);
      await show(`${name}.html`);
      await harmless(name);
    }
    for (const [n, inner] of [
      '<script>harm()</script>',
      '<image href="https://evil.example/harm" width="9" height="9"/>',
      '<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="/harm" onerror="harm()"/></foreignObject>',
      '<style>@import "https://evil.example/harm";</style><animate onbegin="harm()" attributeName="x" dur="1s"/>',
    ].entries()) {
      await put(dana, board, `${n}.svg`, svg(inner));
      await show(`${n}.svg`);
      await unharmed();
    }
    const { id } = await put(dana, board, 'brief.md', allHostile.join('\n\n'), { brief: true });
    await page.goto(`${server.url}/?board=${board}`);
    await page.getByRole('button', { name: /^Brief/ }).click();
    await page.getByRole('region', { name: 'Brief' }).waitFor();
    await unharmed();
    await dana.ok('removeFile', { params: { board, file: id } });
    await put(dana, board, 'brief.html', allHostile.join('\n'), { brief: true });
    await page.goto(`${server.url}/?board=${board}`);
    await page.getByRole('button', { name: /^Brief/ }).click();
    await page.getByRole('region', { name: 'Brief' }).locator('iframe').waitFor();
    await harmless('brief.html');
    await close();
  });
});
