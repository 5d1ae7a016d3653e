import { BaseCommand } from '../../cli/base.ts';
import { serveFlags } from './lib/flags.ts';
import { readServeOptions, runServer } from './lib/serve.ts';

export default class Serve extends BaseCommand<typeof Serve> {
  static override summary = 'Run a server in the foreground: for this machine, or for a team';
  static override description = [
    'Serves boards to this machine only, until it is interrupted. Other commands start that server by themselves when they',
    'need it, so this is for watching it work.',
    'With --team it serves a team by its public address, behind a proxy that ends TLS; docs/deploy.md shows how. Each of its',
    'flags can be a variable (service-environment(7)). A password for the database goes into SERVICE_DB, never into --db.',
  ].join('\n');
  static override examples = [
    'service serve',
    'service serve --listen 127.0.0.1:7401 --log-level debug',
    'service serve --team --public-url https://team.example.com --data /srv/service --listen 127.0.0.1:7400 --admin ana',
  ];
  static override seeAlso = ['server start', 'server logs', 'server recover-key'];
  static override flags = serveFlags;

  override async run(): Promise<void> {
    const { workers, ...options } = await readServeOptions(this.flags);
    await runServer(options, this.out, workers);
  }
}
