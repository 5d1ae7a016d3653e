/** The page while its server goes away and comes back, and many tabs of one browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { copyFolder } from '../support/copy-folder.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { closeBrowser } from './support/browser.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

const live = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
/** What stands over the page while it is not live. */
const banner = (page: Page) => page.locator('.ban', { hasText: 'Reconnecting to the server' });
/** Waits for it on a page whose clock can be moved: a short break is not worth a line. */
async function bannerComes(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.dataset['link'] === 'reconnecting');
  await page.clock.fastForward(2_000);
  await banner(page).waitFor();
}
const said = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });
/** What a browser tells a tab before it freezes it, and afterwards. One without a screen freezes none. */
const tell = (page: Page, what: string) => page.evaluate((type) => document.dispatchEvent(new Event(type)), what);

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
    await page.clock.install();
    await server.close();
    await bannerComes(page);
    await server.restart();
    const missed = ['missed one', 'missed two', 'missed three'];
    for (const text of missed) await post(dana, name, text);
    // It may have come back by itself.
    const again = page.getByRole('button', { name: 'Try now' }).click();
    await Promise.race([again.catch(() => {}), live(page)]);
    await live(page);
    await banner(page).waitFor({ state: 'detached' });
    for (const text of missed) await said(page, text).first().waitFor();
    await post(dana, name, 'after');
    await said(page, 'after').waitFor();
    for (const text of ['before', ...missed, 'after']) expect(await said(page, text).count(), text).to.equal(1);
    // What the browser itself logs of a connection that breaks is expected here.
    expect(complaints.filter((text) => !text.includes('ERR_'))).to.deep.equal([]);
    await context.close();
  });

  it('wakes on a laptop that slept for hours: says that it reconnects, and then shows each message it missed once', async () => {
    const dana = await server.person('dana-asleep');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, tab, close } = await visit(server, dana, '/');
    // Without shared workers the streams are in the page, where time can be moved.
    await page.context().addInitScript(lessAwake);
    const laptop = await tab();
    await laptop.clock.install();
    await laptop.goto(`${server.url}/?board=${name}`);
    const times = said(laptop, 'before').getByRole('time');
    await times.getByText('now').waitFor();
    await live(laptop);
    // Its connections are gone, which nobody tells it.
    await laptop.evaluate(() => Object.assign(globalThis, { asleep: true }));
    const missed = ['missed one', 'missed two', 'missed three'];
    for (const text of missed) await post(dana, name, text);
    await laptop.clock.fastForward('03:00:00');
    await bannerComes(laptop);
    await times.getByText(/^\d\d:\d\d$/).waitFor();
    expect(await said(laptop, missed[0]!).count()).to.equal(0);
    // In one step: awake, the page soon tries by itself, and the button goes.
    await laptop.getByRole('button', { name: 'Try now' }).evaluate((button: HTMLElement) => {
      Object.assign(globalThis, { asleep: false });
      button.click();
    });
    await banner(laptop).waitFor({ state: 'detached' });
    for (const text of missed) await said(laptop, text).first().waitFor();
    await post(dana, name, 'after');
    await said(laptop, 'after').waitFor();
    for (const text of ['before', ...missed, 'after']) expect(await said(laptop, text).count(), text).to.equal(1);
    await close();
  });

  it('goes on by hints where the stream of its board breaks its rules', async () => {
    const dana = await server.person('pat');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, tab, context } = await visit(server, dana, '/');
    // Without shared workers the streams are in the page, where they can be broken.
    await page.context().addInitScript(skipping);
    const broken = await tab(`/?board=${name}`);
    await said(broken, 'before').waitFor();
    await live(broken);
    for (const text of ['one', 'two']) {
      await post(dana, name, `after the break: ${text}`);
      await said(broken, `after the break: ${text}`).waitFor();
    }
    await context.close();
  });

  it('shows what is posted on a board that could first be read at the second try', async () => {
    const dana = await server.person('kit');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, close } = await visit(server, dana, '/');
    await page.route(`**/v1/boards/${name}`, (route) => route.fulfill({ status: 400, json: { error: refused } }));
    await page.goto(`${server.url}/?board=${name}`);
    await page.getByRole('alert').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await said(page, 'before').waitFor();
    await post(dana, name, 'after');
    await said(page, 'after').waitFor();
    await close();
  });
  const refused = { code: 'invalid_request', message: 'Not now.', hint: '' };

  it('connects again after an answer that is not of its server', async () => {
    const dana = await server.person('max');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, tab, close } = await visit(server, dana, '/');
    await page.context().addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    let refused = 0;
    await page.context().route('**/v1/stream', (route) => {
      if (refused > 0) return route.continue();
      refused++;
      return route.fulfill({ status: 404, contentType: 'text/html', body: '<h1>Not found</h1>' });
    });
    const later = await tab(`/?board=${name}`);
    await said(later, 'before').waitFor();
    await live(later);
    expect(refused).to.equal(1);
    await close();
  });

  /** A new person's tab whose stream breaks between an event and its text, on a board of theirs. */
  async function brokenFor(handle: string) {
    const dana = await server.person(handle);
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { tab, context, close } = await visit(server, dana, '/');
    await context.addInitScript(cut);
    const broken = await tab(`/?board=${name}`);
    await said(broken, 'before').waitFor();
    await live(broken);
    return { dana, name, broken, close };
  }

  it('shows a message whose stream broke between its event and its text', async () => {
    const { dana, name, broken, close } = await brokenFor('xena');
    await post(dana, name, 'cut off');
    await broken.waitForFunction(() => (globalThis as { cut?: boolean }).cut);
    await said(broken, 'cut off').waitFor();
    await post(dana, name, 'after');
    await said(broken, 'after').waitFor();
    expect(await said(broken, 'cut off').count()).to.equal(1);
    await close();
  });

  it('shows a message that it could not read as soon as the browser is online again', async () => {
    const { dana, name, broken, close } = await brokenFor('yara');
    const missing = `**/v1/boards/${name}/events?*`;
    await broken.route(missing, (route) => route.fulfill({ status: 400, json: { error: refused } }));
    const asked = broken.waitForResponse((answer) => answer.url().includes(`/boards/${name}/events?`));
    await post(dana, name, 'cut off');
    await asked;
    await broken.unrouteAll({ behavior: 'wait' });
    await broken.evaluate(() => dispatchEvent(new Event('online')));
    await said(broken, 'cut off').waitFor();
    await close();
  });

  it('does not ask for its streams without a pause where a proxy refuses them', async () => {
    const dana = await server.person('yuri');
    const { tab, context, close } = await visit(server, dana, '/');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    let asked = 0;
    await context.route('**/v1/stream', (route) => {
      asked++;
      return route.fulfill({ status: 403, contentType: 'text/html', body: '<h1>Forbidden</h1>' });
    });
    const later = await tab('/');
    await later.clock.install();
    await later.reload();
    await later.waitForFunction(() => document.documentElement.dataset['link'] === 'reconnecting');
    expect(asked).to.be.below(4);
    await close();
  });

  it('stays live where the session could not be read again after its streams were refused', async () => {
    const dana = await server.person('uma');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, tab, context, close } = await visit(server, dana, '/');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    const error = { code: 'unauthorized', message: 'Not now.', hint: '' };
    let refused = false;
    await context.route('**/v1/stream', (route) => {
      if (refused) return route.continue();
      refused = true;
      return route.fulfill({ status: 401, json: { error } });
    });
    await context.route('**/v1/me/browser-session', (route) =>
      refused ? route.fulfill({ status: 404, contentType: 'text/html', body: 'Not found' }) : route.continue(),
    );
    const later = await tab(`/?board=${name}`);
    await said(later, 'before').waitFor();
    await live(later);
    await post(dana, name, 'after');
    await said(later, 'after').waitFor();
    await page.close();
    await close();
  });

  it('is live without shared workers while the tab that has the streams is frozen, and once that goes on', async () => {
    const dana = await server.person('zora');
    const { name } = await newBoard(dana);
    await post(dana, name, 'before');
    const { page, tab, context, close } = await visit(server, dana, '/');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.close();
    const [leading, other] = [await tab(`/?board=${name}`), await tab(`/?board=${name}`)];
    for (const each of [leading, other]) {
      await said(each, 'before').waitFor();
      await live(each);
    }
    const leader = () =>
      other.evaluate(async () => (await navigator.locks.query()).held?.find((lock) => lock.name === 'live')?.clientId);
    const before = await leader();
    await tell(leading, 'freeze');
    await until(async () => ![undefined, before].includes(await leader()), 'another tab has the streams');
    await post(dana, name, 'meanwhile');
    await said(other, 'meanwhile').waitFor();
    await tell(leading, 'resume');
    await said(leading, 'meanwhile').waitFor();
    await tell(other, 'freeze');
    await until(async () => (await leader()) === before, 'the first tab has them again');
    await tell(other, 'resume');
    await post(dana, name, 'after');
    for (const each of [leading, other]) {
      await said(each, 'after').waitFor();
      for (const text of ['before', 'meanwhile', 'after']) expect(await said(each, text).count(), text).to.equal(1);
    }
    await close();
  });

  it('shows the board that came while its only tab was frozen', async () => {
    const dana = await server.person('olga');
    const { page, tab, context, close } = await visit(server, dana, '/');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.close();
    const phone = await tab('/');
    await live(phone);
    await tell(phone, 'freeze');
    const { name } = await newBoard(dana);
    await tell(phone, 'resume');
    await phone.getByRole('link', { name }).first().waitFor();
    await close();
  });

  it('shows the agent that began to wait while a tab was left that Back shows again, though another was live', async () => {
    const dana = await server.person('ines');
    const { name } = await newBoard(dana);
    const claude = await newAgent(dana, name, { name: 'claude' });
    await claude.ok('setPresence', { body: { presence: 'working' } });
    const { page, tab, close } = await visit(server, dana, `/?board=${name}&tab=people`);
    const other = await tab();
    for (const each of [page, other]) {
      await each.getByText('working', { exact: true }).waitFor();
      await live(each);
    }
    // What a browser tells a page that it keeps for Back. One that is driven by a test keeps none.
    const turn = (type: string) =>
      page.evaluate((what) => dispatchEvent(new PageTransitionEvent(what, { persisted: true })), type);
    await turn('pagehide');
    await claude.ok('setPresence', { body: { presence: 'waiting' } });
    await other.getByText(/^waiting/).waitFor();
    await turn('pageshow');
    await page.getByText(/^waiting/).waitFor();
    await close();
  });

  it('is live without shared workers also where the code of the streams could first not be loaded', async () => {
    const dana = await server.person('vera');
    const { name } = await newBoard(dana);
    const { tab, context, close } = await visit(server, dana, '/');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    let failed = false;
    await context.route('**/assets/hub-*.js', (route) => {
      if (failed) return route.continue();
      failed = true;
      return route.abort();
    });
    const later = await tab(`/?board=${name}`);
    await later.getByRole('textbox', { name: 'Message' }).waitFor();
    await live(later);
    expect(failed).to.equal(true);
    await close();
  });

  it('shows a tab of the board that is first opened without a connection once there is one', async () => {
    const dana = await server.person('wim');
    const { name } = await newBoard(dana);
    const { page, context, close } = await visit(server, dana, `/?board=${name}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Not done yet');
    await context.setOffline(true);
    // Two parts, both of which load the page again.
    for (const tab of ['Tasks', 'Files']) {
      await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: tab }).click();
      await page.waitForFunction(() => document.querySelector('.page')?.ariaBusy === 'true');
    }
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Files' }).waitFor();
    await page.getByRole('navigation', { name: 'Board', exact: true }).getByRole('link', { name: 'Talk' }).click();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Not done yet');
    await close();
  });

  it('shows the board that came, and the agent that began to wait, while it had no connection', async () => {
    const dana = await server.person('lee');
    const { name } = await newBoard(dana);
    const claude = await newAgent(dana, name, { name: 'claude' });
    await claude.ok('setPresence', { body: { presence: 'working' } });
    const { page, tab, close } = await visit(server, dana, '/');
    await page.context().addInitScript(lessAwake);
    const laptop = await tab();
    await laptop.clock.install();
    await laptop.goto(`${server.url}/?board=${name}&tab=people`);
    await laptop.getByText('working', { exact: true }).waitFor();
    await live(laptop);
    await laptop.evaluate(() => Object.assign(globalThis, { asleep: true }));
    const later = (await newBoard(dana)).name;
    await claude.ok('setPresence', { body: { presence: 'waiting' } });
    await laptop.clock.fastForward('03:00:00');
    await bannerComes(laptop);
    await laptop.getByRole('button', { name: 'Try now' }).evaluate((button: HTMLElement) => {
      Object.assign(globalThis, { asleep: false });
      button.click();
    });
    await banner(laptop).waitFor({ state: 'detached' });
    await laptop.getByRole('link', { name: later }).first().waitFor();
    await laptop.getByText(/^waiting/).waitFor();
    await close();
  });

  it('asks for events that it is refused when another comes, and not without a pause', async () => {
    const dana = await server.person('quinn');
    const { name } = await newBoard(dana);
    const { page, tab, context } = await visit(server, dana, '/');
    await page.context().addInitScript(behindItsStream);
    const behind = await tab(`/?board=${name}`);
    const world = (change: object) => behind.evaluate((parts) => Object.assign(globalThis, parts), change);
    await behind.waitForFunction(() => (globalThis as { read?: boolean }).read);
    await post(dana, name, 'one');
    await world({ stream: true });
    await behind.waitForFunction(() => (globalThis as { streaming?: boolean }).streaming);
    await world({ refuse: true, show: true });
    await post(dana, name, 'two');
    const asked = () => behind.evaluate(() => (globalThis as { asked?: number }).asked ?? 0);
    await behind.waitForFunction(() => (globalThis as { asked?: number }).asked);
    const before = await asked();
    await post(dana, name, 'another');
    await behind.waitForFunction((times) => (globalThis as { asked?: number }).asked! > times, before);
    expect(await asked()).to.be.below(10);
    await world({ refuse: false });
    await post(dana, name, 'three');
    await behind.getByRole('button', { name: 'Try again' }).click();
    await said(behind, 'three').waitFor();
    await context.close();
  });

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
    await expectConnections(tabs);
    await close();
  });

  it('holds four streams also with tabs that were opened before the server was upgraded, which stay live', async () => {
    const ida = await server.person('ida');
    const names: string[] = [];
    for (let n = 0; n < 6; n++) names.push((await newBoard(ida)).name);
    for (const name of names) await post(ida, name, `welcome to ${name}`);
    const { page, tab, context, close } = await visit(server, ida, `/?board=${names[0]}`);
    const tabs = [page, await tab(`/?board=${names[1]}`), await tab(`/?board=${names[2]}`)];
    await Promise.all(tabs.map(live));
    await context.addInitScript(newerPage);
    for (const name of names.slice(3)) tabs.push(await tab(`/?board=${name}`));
    for (const [n, one] of tabs.entries()) await said(one, `welcome to ${names[n]}`).waitFor();
    await Promise.all(tabs.map(live));
    for (const name of names) await post(ida, name, `news of ${name}`);
    for (const [n, one] of tabs.entries()) await said(one, `news of ${names[n]}`).waitFor();
    await expectConnections(tabs);
    for (const one of tabs.splice(3)) await one.close();
    for (const name of names) await post(ida, name, `later on ${name}`);
    for (const [n, one] of tabs.entries()) await said(one, `later on ${names[n]}`).waitFor();
    await close();
  });
});

describe('the live page of a server that was restored from a backup', () => {
  it('shows what the server has, and what is posted from then on', async () => {
    const server = await startTestServer('sqlite');
    const dana = await server.person('dana');
    const { name } = await newBoard(dana);
    await post(dana, name, 'kept');
    const { page, close } = await visit(server, dana, `/?board=${name}`);
    await said(page, 'kept').waitFor();
    await live(page);
    await server.close();
    const backup = mkdtempSync(join(tmpdir(), 'board-backup-'));
    copyFolder(server.dataDir, backup);
    await server.restart();
    for (const text of ['lost one', 'lost two', 'lost three']) await post(dana, name, text);
    await said(page, 'lost three').waitFor();
    await server.close();
    rmSync(server.dataDir, { recursive: true });
    copyFolder(backup, server.dataDir);
    await server.restart();
    await post(dana, name, 'after');
    await said(page, 'after').waitFor();
    expect(await said(page, 'kept').count()).to.equal(1);
    expect(await said(page, 'lost').count()).to.equal(0);
    await close();
    await server.stop();
    rmSync(backup, { recursive: true });
  });
});

/** Runs in the page before it: its shared worker is another one than that of pages before, as after an upgrade. */
function newerPage(): void {
  const Real = SharedWorker;
  globalThis.SharedWorker = class extends Real {
    constructor(url: string | URL) {
      super(url, { type: 'module', name: 'newer' });
    }
  };
}

/** Runs in the page before it: while `asleep`, streams that are open say nothing more and nothing new connects. */
function lessAwake(): void {
  Reflect.deleteProperty(globalThis, 'SharedWorker');
  const world = globalThis as typeof globalThis & { asleep?: boolean };
  const real = fetch;
  world.fetch = async (...asked) => {
    if (world.asleep) throw new TypeError('Failed to fetch');
    const answer = await real(...asked);
    if (!answer.body || !answer.headers.get('content-type')?.includes('event-stream')) return answer;
    let dead = false;
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        dead ||= world.asleep === true;
        if (!dead) controller.enqueue(bytes);
      },
    });
    return new Response(answer.body.pipeThrough(gate), answer);
  };
}

/** Runs in the page before it: the first stream with a message breaks before its text; then `cut` is on. */
function cut(): void {
  Reflect.deleteProperty(globalThis, 'SharedWorker');
  const world = globalThis as typeof globalThis & { cut?: boolean };
  const real = fetch;
  globalThis.fetch = async (...asked) => {
    const answer = await real(...asked);
    if (!answer.body || !String(asked[0]).includes('/v1/stream?board=')) return answer;
    const scissors = new TransformStream<string, string>({
      transform(text, controller) {
        const at = world.cut ? -1 : text.indexOf('event: message\n');
        if (at < 0) return controller.enqueue(text);
        controller.enqueue(text.slice(0, at));
        world.cut = true;
        controller.terminate();
      },
    });
    const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>;
    return new Response(
      answer.body.pipeThrough(decoder).pipeThrough(scissors).pipeThrough(new TextEncoderStream()),
      answer,
    );
  };
}

/** Runs in the page before it: events of a board's stream have numbers that leave others out. */
function skipping(): void {
  Reflect.deleteProperty(globalThis, 'SharedWorker');
  const real = fetch;
  globalThis.fetch = async (...asked) => {
    const answer = await real(...asked);
    if (!answer.body || !String(asked[0]).includes('/v1/stream?board=')) return answer;
    const gaps = new TransformStream<string, string>({
      transform: (text, controller) => controller.enqueue(text.replaceAll(/^(event: event\nid: )/gm, '$17')),
    });
    const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>;
    return new Response(
      answer.body.pipeThrough(decoder).pipeThrough(gaps).pipeThrough(new TextEncoderStream()),
      answer,
    );
  };
}

/**
 * Runs in the page before it: what is read of a board is shown only once `show` is on, its stream begins once `stream` is, and its
 * events are refused while `refuse` is. `read`, `streaming` and `asked` tell how far it is.
 */
function behindItsStream(): void {
  Reflect.deleteProperty(globalThis, 'SharedWorker');
  const world = globalThis as typeof globalThis & Record<string, unknown>;
  const real = fetch;
  const on = async (name: string) => {
    while (!world[name]) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  world.fetch = async (...asked) => {
    const url = new URL(String(asked[0]), location.href);
    const events = url.pathname.endsWith('/events');
    if (events && world['refuse']) {
      world['asked'] = Number(world['asked'] ?? 0) + 1;
      return Response.json({ error: { code: 'forbidden', message: 'Not now.', hint: '' } }, { status: 403 });
    }
    const ofBoard = url.searchParams.has('board') && url.pathname === '/v1/stream';
    if (ofBoard) await on('stream');
    const answer = await real(...asked);
    if (ofBoard) world['streaming'] = true;
    if (/^\/v1\/boards\/[^/]+$/.test(url.pathname)) {
      world['read'] = true;
      await on('show');
    }
    return answer;
  };
}

/** That each tab still has a connection: without one, a request would wait for as long as a stream lasts. */
async function expectConnections(tabs: Page[]): Promise<void> {
  const asked = tabs.map((one) =>
    one.evaluate(async () => {
      const began = performance.now();
      await fetch('/v1/me');
      return performance.now() - began;
    }),
  );
  for (const ms of await Promise.all(asked)) expect(ms).to.be.below(10_000);
}
