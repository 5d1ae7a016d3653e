import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { forAgent } from '../../cli/session/agent-here.ts';
import { agentPage, noBrowser, open, type Page, personPage } from './lib/open.ts';

export default class Open extends BaseCommand<typeof Open> {
  static override summary = "Open a server's page, signed in";
  static override description =
    'Makes a link that signs in whoever opens it first, within a minute, and opens it: with BROWSER where that is set,\nelse with what the system opens links with. All users of a machine see what programs are started with, so the\nbrowser is given a file in your home folder that leads to it, for a minute. Without a terminal or a browser the\nlink is printed instead.\nAn agent gets the page without a sign-in.';
  static override examples = ['service open', 'service open --board payments', 'service open --print'];
  static override seeAlso = ['key sessions', 'status'];
  static override flags = { print: Flags.boolean({ description: 'Print the link and open nothing' }) };

  override async run(): Promise<void> {
    const { server, board, as } = this.globals;
    if (forAgent({ as })) return this.forAgent(await agentPage({ server, board, as, out: this.out }));
    const session = await this.session('P');
    const page = await personPage(session);
    const opened = await open(page, this.flags.print !== true && this.terminal);
    const who = session.entry?.person?.handle ?? 'you';
    this.out.print({ ...page, opened }, () =>
      opened
        ? `Opened ${page.ui_url} in the browser.`
        : `Whoever opens this first, within a minute, is signed in as ${who}:\n${page.url}`,
    );
  }

  private async forAgent(page: Page): Promise<void> {
    const opened = await open(page, this.flags.print !== true);
    if (!opened && this.flags.print !== true) throw noBrowser(page);
    this.out.print({ ...page, opened }, () =>
      opened ? `Opened ${page.ui_url} in the browser; it asks whoever is not signed in to sign in.` : page.ui_url,
    );
  }

  /** Whether somebody sits here who would see a window. */
  private get terminal(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true && this.globals['no-input'] !== true;
  }
}
