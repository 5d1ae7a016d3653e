/** All checks of `service doctor`, in the order in which they are shown. */
import { blobs } from '../checks/blobs.ts';
import { credentials } from '../checks/credentials.ts';
import { daemon } from '../checks/daemon.ts';
import { database } from '../checks/database.ts';
import { disk } from '../checks/disk.ts';
import { folders } from '../checks/folders.ts';
import { harnesses } from '../checks/harnesses.ts';
import { journal } from '../checks/journal.ts';
import { keychain } from '../checks/keychain.ts';
import { leftovers } from '../checks/leftovers.ts';
import { localServer } from '../checks/local-server.ts';
import { network } from '../checks/network.ts';
import { node } from '../checks/node.ts';
import { project } from '../checks/project.ts';
import { seats } from '../checks/seats.ts';
import { servers } from '../checks/servers.ts';
import type { Check } from './check.ts';

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
