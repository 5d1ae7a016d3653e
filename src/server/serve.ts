/** The composition root: data folder, database, areas, HTTP, and their end in the opposite order. */
import { rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { shellArgument } from '../contract/text.ts';
import { Blobs } from './blobs/blobs.ts';
import { openStore, rememberPlace } from './blobs/open.ts';
import { type Clock, repeatInTurn, systemClock } from './db/clock.ts';
import type { Database } from './db/tx.ts';
import { drainable } from './http/connection/drain.ts';
import { createHttp } from './http/server.ts';
import { Live } from './live/live.ts';
import { createOperations } from './operation/dispatch.ts';
import { recordUses } from './operation/last-use.ts';
import { uploadSlots } from './operation/upload-slots.ts';
import { Attempts } from './rates/attempts.ts';
import { memoryTally } from './rates/memory.ts';
import { sharedTally } from './rates/shared.ts';
import { limitWork, takingTurns } from './rates/work.ts';
import { RepeatedReads } from './seats/budget.rules.ts';
import { noteReturn } from './seats/outages.steps.ts';
import { warnOfConnections } from './upkeep/connections.ts';
import { type DataOptions, ofDatabase, type Start, useData } from './upkeep/data-folder.ts';
import { infoOf } from './upkeep/info.ts';
import { listen } from './upkeep/listen.ts';
import { type LogOptions, makeLogger } from './upkeep/logger.ts';
import { modeOf, type TeamOptions } from './upkeep/modes.ts';
import { scheduleClosings, schedulePurge } from './upkeep/purge.ts';
import { searchIndexer } from './upkeep/search-indexer.ts';
import type { ServeError } from './upkeep/serve-error.ts';
import { Serving } from './upkeep/serving.ts';
import { withoutPassword } from './upkeep/storage.ts';
import { sweepLines } from './upkeep/sweep-lines.ts';
import { useCases } from './use-cases.ts';

export interface ServeOptions extends DataOptions, LogOptions {
  host: string;
  port: number;
  /** Never try the next port. */
  portFixed: boolean;
  /** What makes it a team's server; without, it serves this machine only. */
  team?: TeamOptions | undefined;
  /** Where the bytes of files are kept: `disk:///absolute/path`, `db:` or `s3://bucket/prefix`; default: in the data folder. */
  files?: string | undefined;
  /** Bytes that all files together may take; 0: as many as fit. */
  filesQuota?: number | undefined;
  /** Processes that serve with these settings, told to the first of them; 0: this is another one. Default 1. */
  processes?: number | undefined;
  clock?: Clock;
  /** Multiplies the limits on attempts, for tests, which make many from one address. */
  attemptFactor?: number | undefined;
}

export interface RunningServer {
  /** Where it is reached: of a team's server its public URL. */
  url: string;
  /** What it listens to. */
  listening: { host: string; port: number };
  mode: 'local' | 'team';
  dataDir: string;
  /** Nobody was on this server before. */
  firstStart: boolean;
  /** The port that was taken, if the server listens on another one for that reason. */
  movedFrom: number | null;
  personHandle: string;
  /** Where the first person's key lies, if it does. */
  keyFile: string | null;
  /** Resolves with why it cannot go on, should it come to that; what is left is to close it. */
  failed: Promise<ServeError>;
  /** The database, for tests and tools of the same process. */
  db: Database;
  /** Takes no new requests, lets running ones finish for up to 10 seconds, then closes everything. */
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;

/** @throws ServeError */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { dataDir } = options;
  const clock = options.clock ?? systemClock;
  const log = makeLogger(options);
  let port = 0;
  const mode = modeOf(options.team, () => port);
  const { promise: failed, resolve: fail } = Promise.withResolvers<ServeError>();
  /** All that needs the database before something is served: it is waited for as a whole. */
  const begin = async (start: Start) => {
    const { db, url: dbUrl } = start;
    const store = await openStore(options.files, { dataDir, db, dbUrl, lost: fail });
    const used = recordUses(db, log);
    const live = new Live(db, clock, used, log);
    const serving = new Serving(db, clock, log);
    await live.start(
      (error) => fail(ofDatabase(error, dataDir) as ServeError),
      (yes) => serving.setReachable(yes),
    );
    await db.write(noteReturn);
    // Last: a start that is repeated after it would not be the first one any more.
    const person = await mode.firstPerson(start).catch((error: unknown) => {
      live.close();
      throw error;
    });
    return { store, used, live, serving, person };
  };
  const data = await useData(options, clock, begin, log);
  const { db, root, serverId } = data;
  const { store, used, live, serving, person } = data.value;
  const undo: (() => Promise<void> | void)[] = [data.close];
  try {
    const look = lookCommand(options);
    const blobs = new Blobs({ db, store, clock, log, quota: options.filesQuota ?? 0, look });
    undo.unshift(() => blobs.stop());
    const indexer = searchIndexer(db, clock, log, (digest, signal) => store.open(digest, undefined, signal));
    live.notifier.watchAll((key) => {
      if (key.startsWith('board:')) indexer.noticed();
    });
    indexer.noticed();
    const { site } = mode;
    const admit = limitWork(mode.rateFactor);
    const attempts = new Attempts({
      tally: db.dialect.shared ? sharedTally(db) : memoryTally(() => clock.now()),
      clock,
      factor: options.attemptFactor,
    });
    await warnOfConnections(db, { ...options, files: store.kind }, log);
    const info = infoOf(serverId, db, store.kind, site.mode);
    const engine = {
      db,
      root,
      info,
      address: site,
      live,
      blobs,
      admit,
      inTurn: takingTurns(),
      searchable: indexer.searchable,
      repeatedReads: new RepeatedReads(),
      report: (message: string, about: object): void => log.error(about, message),
      takeUploadSlot: uploadSlots(),
      used,
    };
    const operations = createOperations(engine, useCases);
    const { proxyProtocol } = mode;
    const server = createHttp({ operations, site, attempts, log, version: info.version, clock, proxyProtocol });
    const drain = drainable(server);
    undo.unshift(() => indexer.stop());
    const repeat = repeatInTurn(clock);
    undo.unshift(scheduleClosings(db, repeat, log));
    undo.unshift(sweepLines(db, serving, repeat, log));
    undo.unshift(schedulePurge(db, repeat, log));
    const bound = await listen(server, options);
    undo.unshift(serving.keep(repeat));
    // Last: it looks for the bytes of all files first, which may take long.
    blobs.start(repeat);
    port = (server.address() as AddressInfo).port;
    await rememberPlace(options.files, { dataDir, db });
    const url = site.baseUrl();
    // Of several processes that serve as one, the one that looks after them is the server.
    try {
      writePid(dataDir, options.supervised ? process.ppid : process.pid, url, info.version);
    } catch (error) {
      // Only this machine's commands need it.
      if (!options.team) throw error;
      log.warn({ err: error }, 'server.pid cannot be written');
    }
    mode.listening(dataDir, person, log);
    log.info({ url, listen: `${options.host}:${port}`, db: info.storage.db, data: dataDir }, 'listening');
    return {
      url,
      listening: { host: options.host, port },
      mode: site.mode,
      dataDir,
      firstStart: person.fresh,
      movedFrom: bound.movedFrom,
      personHandle: person.handle,
      keyFile: person.keyFile,
      failed,
      db,
      close: once(() => shutDown(drain, live, undo, options, log)),
    };
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

function lookCommand({ dataDir, db, files }: ServeOptions): string {
  const named = db === undefined ? [] : ['--db', withoutPassword(db)];
  const where = files === undefined ? [] : ['--files', files];
  return ['service storage check --data', ...[dataDir, ...named, ...where].map((word) => shellArgument(word))].join(
    ' ',
  );
}

function once(fn: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= fn();
    return running;
  };
}

function writePid(dataDir: string, pid: number, url: string, version: string): void {
  const content = { pid, url, version, started_at: new Date().toISOString() };
  writeFileSync(join(dataDir, 'server.pid'), `${JSON.stringify(content)}\n`, { mode: 0o600 });
}

async function shutDown(
  drain: (limitMs: number) => Promise<void>,
  live: Live,
  undo: (() => Promise<void> | void)[],
  { dataDir, supervised }: ServeOptions,
  log: Logger,
): Promise<void> {
  log.info('shutting down');
  live.close();
  await drain(DRAIN_MS);
  for (const step of undo) await step();
  if (!supervised) rmSync(join(dataDir, 'server.pid'), { force: true });
  log.info('stopped');
}
