/**
 * The web page in a real browser, beside a bare page that prints the same messages: bytes, first paint, time to live, how soon
 * a post is seen in another browser, and scrolling on a board of 10,000 messages with the processor slowed down four times.
 */
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import { newBoard, post } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { browser, closeBrowser } from '../web/support/browser.ts';
import { fillBoard } from '../web/support/long-board.ts';
import { visit } from '../web/support/visit.ts';
import { type Figure, median, quantile, round } from './measure.ts';

const MESSAGES = 10_000;
const LOADS = 7;
const POSTS = 40;
const SCROLL_MS = 4_000;
const SLOWER = 4;
/** What the page shows at first. */
const SHOWN = 50;

export async function page(): Promise<Figure[]> {
  const server = await startTestServer('sqlite');
  const floor = await bareServer();
  try {
    const dana = await server.person('dana');
    const { name: short } = await newBoard(dana);
    for (let n = 1; n <= SHOWN; n++) await post(dana, short, `Message ${n}`);
    const { name: long } = await newBoard(dana);
    await fillBoard(server, dana, 'dana', long, MESSAGES);
    await dana.ok('ackBoard', { params: { board: long }, body: { up_to: MESSAGES } });
    await browser();
    return [
      ...bytes(),
      ...(await firstPaint(server, dana, short, floor.url)),
      ...(await seenElsewhere(server, dana, short)),
      ...(await scrolling(server, dana, long, floor.url)),
    ];
  } finally {
    await closeBrowser();
    await server.stop();
    await floor.close();
  }
}

/** All that the page has, as a browser gets it. */
function bytes(): Figure[] {
  const folder = fileURLToPath(new URL('../../dist/web/assets/', import.meta.url));
  const sum = (ending: string): string => {
    const files = readdirSync(folder).filter((name) => name.endsWith(`${ending}.br`));
    return `${round(files.reduce((all, name) => all + statSync(join(folder, name)).size, 0) / 1024, 0)} KB`;
  };
  return [
    { name: 'scripts of all screens, compressed', value: sum('.js') },
    { name: 'styles of all screens, compressed', value: sum('.css') },
  ];
}

/** First paint and, of the page, when its conversation is there and when it is live; nothing is cached. */
async function firstPaint(server: TestServer, person: Api, board: string, floor: string): Promise<Figure[]> {
  const times: Record<'paint' | 'read' | 'live' | 'floor', number[]> = { paint: [], read: [], live: [], floor: [] };
  for (let n = 0; n < LOADS; n++) {
    const { page, context } = await visit(server, person, `/?board=${board}`);
    await page.getByRole('article').last().waitFor();
    times.read.push(await sinceStart(page));
    await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
    times.live.push(await sinceStart(page));
    times.paint.push(await paintOf(page));
    await context.close();
    const bare = await (await browser()).newPage();
    await bare.goto(`${floor}/?${SHOWN}`);
    times.floor.push(await paintOf(bare));
    await bare.close();
  }
  const ms = (list: number[]): string => `${round(median(list), 0)} ms`;
  const paint = median(times.paint);
  return [
    { name: 'first paint of a board, cold', value: ms(times.paint), ratio: paint, target: { op: '<=', value: 1_000 } },
    { name: 'first paint of the bare page', value: ms(times.floor) },
    { name: 'conversation can be read', value: ms(times.read) },
    { name: 'page is live', value: ms(times.live) },
  ];
}

const sinceStart = (page: Page): Promise<number> => page.evaluate(() => performance.now());

const paintOf = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries()[0]!.startTime)).observe({
          type: 'paint',
          buffered: true,
        });
      }),
  );

/** From the answer of a post to its words in another browser. */
async function seenElsewhere(server: TestServer, person: Api, board: string): Promise<Figure[]> {
  const { page, context } = await visit(server, person, `/?board=${board}`);
  await page.waitForFunction(() => document.documentElement.dataset['link'] === 'live');
  const times: number[] = [];
  for (let n = 0; n < POSTS; n++) {
    const text = `Seen ${n} by another`;
    const seen = page.getByText(text, { exact: true }).waitFor();
    const began = performance.now();
    await post(person, board, text);
    await seen;
    times.push(performance.now() - began);
  }
  await context.close();
  const p95 = quantile(times, 0.95);
  return [
    {
      name: 'a post until it is seen in another browser, p95',
      value: `${round(p95, 0)} ms`,
      ratio: p95,
      target: { op: '<=', value: 300 },
    },
  ];
}

/** Frames a second while a script scrolls up and down, with what stands in the document afterwards. */
async function scrolling(server: TestServer, person: Api, board: string, floor: string): Promise<Figure[]> {
  const { page, context } = await visit(server, person, `/?board=${board}`);
  await page.getByRole('article').last().waitFor();
  const own = await framesOf(page, '.tl');
  const articles = await page.getByRole('article').count();
  const session = await context.newCDPSession(page);
  const heap = await heapOf(session);
  await context.close();
  const bare = await ((await browser()) as Browser).newPage();
  await bare.goto(`${floor}/?${articles}`);
  const least = await framesOf(bare, 'html');
  await bare.close();
  return [
    {
      name: 'scrolling 10,000 messages, frames a second',
      value: round(own, 0),
      ratio: own,
      target: { op: '>=', value: 50 },
    },
    { name: 'scrolling as many as the document holds on the bare page', value: round(least, 0) },
    {
      name: 'messages in the document after scrolling',
      value: String(articles),
      ratio: articles,
      target: { op: '<=', value: 400 },
    },
    { name: 'memory of scripts after scrolling', value: `${round(heap / 2 ** 20, 0)} MiB` },
  ];
}

async function framesOf(page: Page, scroller: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  const frames = await page.evaluate(
    ({ selector, ms }) =>
      new Promise<number>((resolve) => {
        const element = document.querySelector(selector)!;
        const began = performance.now();
        let count = 0;
        const step = (now: number): void => {
          count++;
          element.scrollTop -= 24;
          if (now - began < ms) requestAnimationFrame(step);
          else resolve((count * 1_000) / (now - began));
        };
        requestAnimationFrame(step);
      }),
    { selector: scroller, ms: SCROLL_MS },
  );
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  return frames;
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

/** A page of nothing but paragraphs: `/?50` has fifty. */
async function bareServer(): Promise<{ url: string; close(): Promise<unknown> }> {
  const server = createServer((req, res) => {
    const count = Number(req.url?.split('?')[1] ?? 0);
    const lines = Array.from({ length: count }, (_, n) => `<p>Message ${n + 1}</p>`);
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(`<!doctype html><title>Bare</title>${lines.join('')}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: async () => server.close() };
}
