/** A person's browser on the page, signed in; whatever the page logs as an error or breaks of its policy fails the test. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Api } from '../../support/api.ts';
import type { TestServer } from '../../support/server.ts';
import { PATIENCE_MS } from '../../support/until.ts';
import { browser } from './browser.ts';

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Errors and violations so far, and requests to any other host. */
  complaints: string[];
  /** Another tab of the same browser. */
  tab(path?: string): Promise<Page>;
  /** Ends the browser of this person. @throws when there were complaints. */
  close(): Promise<void>;
}

/** Refusals that a test provokes are logged by the browser too. */
const expected = /^Failed to load resource: (the server responded with a status of|net::ERR_)/;

/**
 * Opens the page for a person.
 *
 * @param person who signs in; null: nobody
 * @param path where the page opens, such as `/?board=payments`
 */
export async function visit(
  server: Pick<TestServer, 'url'>,
  person: Api | null,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`policy violated: ${violatedDirective} ${blockedURI}`),
    );
  });
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== server.url && protocol !== 'blob:') complaints.push(`asked another host: ${request.url()}`);
  });
  const tab = async (to = path): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', (error) =>
      complaints.push(error.stack || error.message || `an error without words on ${page.url()}`),
    );
    page.on('console', (message) => {
      if (message.type() === 'error' && !expected.test(message.text()))
        complaints.push(message.text() || `an empty message from ${message.location().url}`);
    });
    await page.goto(server.url + to);
    return page;
  };
  if (person) await signIn(context, server.url, person);
  return {
    page: await tab(),
    context,
    complaints,
    tab,
    async close() {
      await context.close();
      if (complaints.length > 0) throw new Error(`the page complained:\n${complaints.join('\n')}`);
    },
  };
}

/** Puts a session of this person into the browser, as a used link of `service open` leaves it. */
async function signIn(context: BrowserContext, url: string, person: Api): Promise<void> {
  const { code } = await person.ok('createLoginCode');
  const answer = await person.call('createBrowserSession', {
    body: { code },
    key: crypto.randomUUID(),
    headers: { Origin: url, Authorization: '' },
  });
  const cookie = answer.headers.get('set-cookie') ?? '';
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(cookie) ?? [];
  if (!name || !value) throw new Error(`no session: ${answer.text}`);
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }]);
}

/** Ends all browser sessions of the person in the page, and signs them in again at an address. */
export async function signInAgain(page: Page, person: Api, url: string): Promise<void> {
  await person.ok('endAllBrowserSessions');
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  const { code } = await person.ok('createLoginCode');
  await page.goto(`${url}#code=${code}`);
  await page.getByRole('button', { name: /^Sign in as/ }).click();
}
