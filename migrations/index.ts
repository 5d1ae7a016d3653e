/** All migrations, oldest first. They only ever move forward; a released one is never edited. */
import type { Knex } from 'knex';
import * as start from './001_start.ts';
import * as brakes from './002_brakes.ts';
import * as keyOrder from './003_key_order.ts';
import * as largeBoards from './004_large_boards.ts';
import * as threadNames from './005_thread_names.ts';
import * as filters from './006_filters.ts';
import * as requestKeys from './007_request_keys.ts';
import * as rareEvents from './008_rare_events.ts';
import * as waitingReads from './009_waiting_reads.ts';
import * as withdrawnAsks from './010_withdrawn_asks.ts';
import * as keptPresences from './011_kept_presences.ts';
import * as openAsks from './012_open_asks.ts';
import * as owedMessages from './013_owed_messages.ts';

export interface Migration {
  name: string;
  up(db: Knex): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: '001_start', up: start.up },
  { name: '002_brakes', up: brakes.up },
  { name: '003_key_order', up: keyOrder.up },
  { name: '004_large_boards', up: largeBoards.up },
  { name: '005_thread_names', up: threadNames.up },
  { name: '006_filters', up: filters.up },
  { name: '007_request_keys', up: requestKeys.up },
  { name: '008_rare_events', up: rareEvents.up },
  { name: '009_waiting_reads', up: waitingReads.up },
  { name: '010_withdrawn_asks', up: withdrawnAsks.up },
  { name: '011_kept_presences', up: keptPresences.up },
  { name: '012_open_asks', up: openAsks.up },
  { name: '013_owed_messages', up: owedMessages.up },
];
