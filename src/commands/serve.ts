import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../cli/base.ts';
import { readServeOptions, runServer } from '../cli/serving.ts';

export default class Serve extends BaseCommand<typeof Serve> {
  static override summary = "Run this machine's server in the foreground";
  static override description =
    'Serves boards to this machine only, until it is interrupted. Other commands start it by themselves when they need\nit, so this is for watching it work. A password for the database goes into SERVICE_DB, never into --db.';
  static override examples = [
    'service serve',
    'service serve --listen 127.0.0.1:7401',
    'service serve --log-level debug',
  ];
  static override seeAlso = ['server start', 'server logs'];
  static override flags = {
    data: Flags.string({ helpValue: 'DIR', description: 'Folder of the server’s data' }),
    listen: Flags.string({ helpValue: '127.0.0.1:PORT', description: 'Listen exactly there' }),
    db: Flags.string({ helpValue: 'URL', description: 'sqlite:///absolute/path or postgres://host/database' }),
    'log-level': Flags.string({ options: ['debug', 'info', 'warn', 'error'], description: 'What is logged' }),
    'log-format': Flags.string({ options: ['json', 'text'], description: 'How it is logged' }),
    'no-migrate': Flags.boolean({ description: 'Refuse to start when the database needs to be migrated' }),
  };

  override async run(): Promise<void> {
    await runServer(await readServeOptions(this.flags), this.out);
  }
}
