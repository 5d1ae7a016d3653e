/** The flags of `serve`. */
import type { Interfaces } from '@oclif/core';
import { booleanFlag, choiceFlag, integerFlag, stringFlag } from '../../../cli/flags.ts';

export const serveFlags = {
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
    'Wait so long for a database that cannot be reached yet, and before a migration for older servers to end; of a team’s server default 60',
  ),
  'log-level': choiceFlag(['debug', 'info', 'warn', 'error'], 'What is logged'),
  'log-format': choiceFlag(['json', 'text'], 'How it is logged'),
  'no-migrate': booleanFlag('Refuse to start when the database needs to be migrated'),
};

export type ServeFlags = Interfaces.InferredFlags<typeof serveFlags>;
