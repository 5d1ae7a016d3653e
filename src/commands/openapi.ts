import { BaseCommand, booleanFlag } from '../cli/base.ts';
import { version } from '../cli/runtime.ts';
import type { Session } from '../cli/session/open-session.ts';
import type { ClientError } from '../client/errors.ts';
import { Failure } from '../local/failure.ts';
import { loadServer } from './serve/lib/serve.ts';

export default class Openapi extends BaseCommand<typeof Openapi> {
  static override summary = 'Print the description of the HTTP API';
  static override description =
    'OpenAPI 3.1 as the server in use gives it, so that other programs can be made from it. No server is started for it:\nwhere the local one does not run, and with --offline, it is the description this program was built with.';
  static override examples = ['service openapi > openapi.json', 'service openapi --offline'];
  static override flags = { offline: booleanFlag('The one this program was built with') };

  override async run(): Promise<void> {
    const open = () => this.session('A', { autostart: false });
    const published = this.flags.offline ? null : await publishedDescription(open);
    if (!published && !this.flags.offline) this.out.note('The local server does not run; this is what it would say.');
    this.out.document(published ?? (await offlineDescription()));
  }
}

/** What the server in use publishes about itself; null where that is this machine's own, which does not run. */
async function publishedDescription(open: () => Promise<Session>): Promise<object | null> {
  try {
    const { client } = await open();
    return await client.description();
  } catch (error) {
    const { code, status } = error as Partial<ClientError>;
    if (code === 'server_not_running') return null;
    if (status !== 404) throw error;
    throw new Failure('server_outdated', 'The server does not describe its API.', {
      hint: 'service openapi --offline',
    });
  }
}

/** The description of this build. */
async function offlineDescription(): Promise<object> {
  const { openapi } = await loadServer();
  return openapi(version());
}
