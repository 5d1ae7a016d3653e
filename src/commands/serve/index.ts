import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
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
    team: Flags.boolean({ description: 'Serve a team by its public address' }),
    'public-url': Flags.string({
      helpValue: 'URL',
      description: 'Where a team reaches it: https://host, with its port if not 443',
      dependsOn: ['team'],
    }),
    admin: Flags.string({
      helpValue: 'HANDLE',
      description: 'First admin of a team’s server (default admin)',
      dependsOn: ['team'],
    }),
    'proxy-protocol': Flags.boolean({
      description: 'The proxy in front tells by the PROXY protocol, version 1 or 2, whom a connection comes from',
      dependsOn: ['team'],
    }),
    workers: Flags.integer({
      helpValue: 'N',
      description: 'Serve with so many processes on one port, 1 to 32, on Postgres with the files in it or in S3',
      dependsOn: ['team'],
    }),
    data: Flags.string({ helpValue: 'DIR', description: 'Folder of the server’s data' }),
    listen: Flags.string({
      helpValue: 'ADDR:PORT',
      description: 'Listen exactly there; of a team’s server default 0.0.0.0:7400',
    }),
    files: Flags.string({ helpValue: 'URL', description: 'disk:///absolute/path, db: or s3://bucket/prefix' }),
    db: Flags.string({ helpValue: 'URL', description: 'sqlite:///absolute/path or postgres://host/database' }),
    'wait-for-db': Flags.string({
      helpValue: 'SECONDS',
      description: 'Wait so long for a database that cannot be reached yet; of a team’s server default 60',
    }),
    'log-level': Flags.string({ options: ['debug', 'info', 'warn', 'error'], description: 'What is logged' }),
    'log-format': Flags.string({ options: ['json', 'text'], description: 'How it is logged' }),
    'no-migrate': Flags.boolean({ description: 'Refuse to start when the database needs to be migrated' }),
  };

  override async run(): Promise<void> {
    const workers = this.flags.team ? workersOf(this.flags.workers, runtime().env) : 1;
    await runServer(await readServeOptions(this.flags), this.out, workers);
  }
}
