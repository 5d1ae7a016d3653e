import { BaseCommand, booleanFlag, choiceFlag, integerFlag, stringFlag } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { readServeOptions, runServer, workersOf } from './lib/serve.ts';

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
  static override flags = {
    team: booleanFlag('Serve a team by its public address'),
    'public-url': stringFlag('URL', 'Where a team reaches it: https://host, with its port if not 443', {
      dependsOn: ['team'],
    }),
    admin: stringFlag('HANDLE', 'First admin of a team’s server (default admin)', { dependsOn: ['team'] }),
    'proxy-protocol': booleanFlag(
      'The proxy in front tells by the PROXY protocol, version 1 or 2, whom a connection comes from',
      { dependsOn: ['team'] },
    ),
    workers: integerFlag(
      'N',
      'Serve with so many processes on one port, 1 to 32, on Postgres with the files in it or in S3',
      { dependsOn: ['team'] },
    ),
    data: stringFlag('DIR', 'Folder of the server’s data'),
    listen: stringFlag('ADDR:PORT', 'Listen exactly there; of a team’s server default 0.0.0.0:7400'),
    files: stringFlag('URL', 'disk:///absolute/path, db: or s3://bucket/prefix'),
    db: stringFlag('URL', 'sqlite:///absolute/path or postgres://host/database'),
    'wait-for-db': stringFlag(
      'SECONDS',
      'Wait so long for a database that cannot be reached yet; of a team’s server default 60',
    ),
    'log-level': choiceFlag(['debug', 'info', 'warn', 'error'], 'What is logged'),
    'log-format': choiceFlag(['json', 'text'], 'How it is logged'),
    'no-migrate': booleanFlag('Refuse to start when the database needs to be migrated'),
  };

  override async run(): Promise<void> {
    const workers = this.flags.team ? workersOf(this.flags.workers, runtime().env) : 1;
    await runServer(await readServeOptions(this.flags), this.out, workers);
  }
}
