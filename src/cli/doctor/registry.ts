/** Everything `service doctor` looks at, in the order in which it is shown. One area, one file. */
import { blobs } from './blobs.ts';
import type { Check } from './check.ts';
import { credentials } from './credentials.ts';
import { daemon } from './daemon.ts';
import { database } from './database.ts';
import { disk } from './disk.ts';
import { folders } from './folders.ts';
import { harnesses } from './harnesses.ts';
import { journal } from './journal.ts';
import { keychain } from './keychain.ts';
import { leftovers } from './leftovers.ts';
import { localServer } from './local-server.ts';
import { network } from './network.ts';
import { node } from './node.ts';
import { project } from './project.ts';
import { seats } from './seats.ts';
import { servers } from './servers.ts';

export const checks: readonly Check[] = [
  node,
  folders,
  leftovers,
  disk,
  credentials,
  keychain,
  network,
  localServer,
  servers,
  seats,
  daemon,
  journal,
  harnesses,
  database,
  blobs,
  project,
];
