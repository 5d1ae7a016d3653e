import { BaseCommand, booleanFlag } from '../cli/base.ts';
import { runtime } from '../cli/runtime.ts';
import { forAgent } from '../cli/session/here.ts';
import { useLocalServer } from '../cli/session/local-server.ts';
import type { Session } from '../cli/session/open-session.ts';
import { flag, object, text } from '../cli/shapes.ts';
import type { Client } from '../client/client.ts';
import type { Answer } from '../contract/types.ts';
import { openInBrowser, openPrivately, thisBrowserHost } from '../local/browser.ts';
import { Failure } from '../local/failure.ts';
import { readCredentials } from '../local/keys/credentials.ts';
import { findProject } from '../local/project.ts';
import { type KnownServer, localServer, personServer } from '../local/servers.ts';

export const json = () => object({ url: text.nullable(), ui_url: text, opened: flag, expires_at: text.nullable() });

export default class Open extends BaseCommand<typeof Open> {
  static override summary = "Open a server's page, signed in";
  static override description =
    'Makes a link that signs in the first person who opens it, within a minute, and opens it: with BROWSER where that is set,\nelse with what the system opens links with. All users of a machine see what programs are started with, so the\nbrowser is given a file in your home folder that leads to it, for a minute. Without a terminal or a browser the\nlink is printed instead.\nAn agent gets the page without a sign-in.';
  static override examples = ['service open', 'service open --board payments', 'service open --print'];
  static override seeAlso = ['key sessions', 'status'];
  static override flags = { print: booleanFlag('Print the link and open nothing') };

  override async run(): Promise<void> {
    if (forAgent(this.globals)) return this.forAgent(await this.agentPage());
    const session = await this.session('P');
    const page = await personPage(session);
    const opened = await open(page, this.flags.print !== true && this.terminal);
    const who = session.entry?.person?.handle ?? 'you';
    this.print<typeof json>({ ...page, opened }, () =>
      opened
        ? `Opened ${page.ui_url} in the browser.`
        : `The first person to open this, within a minute, is signed in as ${who}:\n${page.url}`,
    );
  }

  private async forAgent(page: Page): Promise<void> {
    const opened = await open(page, this.flags.print !== true);
    if (!opened && this.flags.print !== true) throw noBrowser(page);
    this.print<typeof json>({ ...page, opened }, () =>
      opened ? `Opened ${page.ui_url} in the browser; sign in there if it asks.` : page.ui_url,
    );
  }

  /** The page as an agent may open it: no key is read and no code is made, because a code in its reach would be the person's login. */
  private async agentPage(): Promise<Page> {
    const { env, folders } = runtime();
    const { server: named = env.SERVICE_SERVER, board } = this.globals;
    const saved = readCredentials(folders);
    const { actorOf } = await import('../cli/session/open-session.ts');
    const actor = await actorOf(this.choice('A'), () => saved);
    const seat = actor.kind === 'seat' ? actor.seat : null;
    const server: KnownServer =
      seat && seat.entry.mode !== 'local'
        ? { origin: seat.origin, name: seat.entry.name, local: false, entry: seat.entry }
        : seat
          ? localServer(saved, folders, env)
          : personServer({ named, project: findProject() }, saved, folders, env);
    const { origin } = server.local ? await useLocalServer(server, this.choice('A'), false) : server;
    this.out.base.server = { name: server.name, url: origin };
    return { url: null, ui_url: pageOf(origin, board ?? seat?.saved.board ?? env.SERVICE_BOARD), expires_at: null };
  }

  /** Whether somebody sits here who would see a window. */
  private get terminal(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true && this.globals['no-input'] !== true;
  }
}

interface Page {
  /** With the login code: the first to open it is signed in. Null where none was made. */
  url: string | null;
  /** Without anything secret. */
  ui_url: string;
  expires_at: string | null;
}

/** The page with a new login code of the person. */
async function personPage({ client, server, choice }: Session): Promise<Page> {
  const board = choice.board ?? runtime().env.SERVICE_BOARD;
  const { code, expires_at } = await newCode(client);
  const more = board ? `&board=${encodeURIComponent(board)}` : '';
  return { url: `${server.url}/#code=${code}${more}`, ui_url: pageOf(server.url, board), expires_at };
}

/** A code whose answer was lost is nobody's: it dies within a minute, and another is made. */
async function newCode(client: Client): Promise<Answer<'createLoginCode'>> {
  const lost = (error: unknown) => (error as { code?: unknown }).code === 'outcome_unknown';
  const first = await client.call('createLoginCode').catch((error) => {
    if (!lost(error)) throw error;
    return client.call('createLoginCode');
  });
  return first.data;
}

const pageOf = (origin: string, board: string | undefined): string =>
  board ? `${origin}/?board=${encodeURIComponent(board)}` : `${origin}/`;

/** Opens a page in a browser, if there is one. @param watched somebody is at a terminal, or an agent's person is near. */
async function open({ url, ui_url }: Page, watched: boolean): Promise<boolean> {
  const desk = thisBrowserHost(runtime().env);
  return watched && (url === null ? openInBrowser(ui_url, desk) : openPrivately(url, desk));
}

const noBrowser = ({ ui_url }: Page): Failure =>
  new Failure('browser_unavailable', 'No browser can be opened from here.', {
    hint: `Open ${ui_url} yourself, or ask for the link alone: service open --print`,
    details: { ui_url },
  });
