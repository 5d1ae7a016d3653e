/** A team's server, and clients that reach it as a proxy in front of it would: by its public name, over plain HTTP. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningServer, startServer } from '../../src/server/serve.ts';
import type { TeamOptions } from '../../src/server/upkeep/modes.ts';
import { TestClock } from './clock.ts';
import type { Engine } from './databases.ts';
import { filesWith, finishedWith, newPostgresDatabase } from './postgres.ts';
import { readAsItCloses, Watch } from './secrets.ts';
import { WireApi } from './wire-api.ts';

export const PUBLIC_URL = 'https://team.example.com';

export interface TeamServer extends RunningServer {
  clock: TestClock;
  log: string[];
  databaseUrl: string | undefined;
  /** A client; by default without a credential. */
  client(token?: string, preamble?: string | Buffer): WireApi;
  /** The first admin, with the key of the file. */
  admin(): WireApi;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TeamStart extends Partial<TeamOptions> {
  clock?: TestClock;
  dataDir?: string;
  databaseUrl?: string | undefined;
  /** Attempts are limited as they are in truth. */
  limits?: boolean;
}

const MANY = 10_000;

export async function startTeamServer(engine: Engine, options: TeamStart = {}): Promise<TeamServer> {
  const { clock = new TestClock(), dataDir = mkdtempSync(join(tmpdir(), 'board-service-team-')), ...rest } = options;
  const databaseUrl = options.databaseUrl ?? (engine === 'postgres' ? await newPostgresDatabase() : undefined);
  const log: string[] = [];
  const { databaseUrl: _url, limits = false, ...team } = rest;
  const start = () =>
    startServer({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      portFixed: true,
      db: databaseUrl,
      files: filesWith(databaseUrl),
      clock,
      attemptFactor: limits ? 1 : MANY,
      team: { publicUrl: PUBLIC_URL, adminHandle: 'ana', ...team },
      logTo: { write: (line) => void log.push(line) },
    });
  const watch = new Watch();
  const server: TeamServer = {
    ...(await start()),
    clock,
    log,
    databaseUrl,
    client: (token, preamble) => new WireApi({ port: server.listening.port, url: server.url, preamble }, token),
    admin: () => server.client(readFileSync(join(dataDir, 'admin-key'), 'utf8').trim()),
    async restart() {
      await server.close();
      Object.assign(server, await start());
    },
    async stop() {
      const tables = databaseUrl === undefined ? undefined : readAsItCloses(server.db);
      await server.close();
      const secrets = await watch.end({ dataDir, databaseUrl, tables: tables?.(), log });
      rmSync(dataDir, { recursive: true, force: true });
      if (databaseUrl !== undefined && options.databaseUrl === undefined) finishedWith(databaseUrl);
      if (secrets.length > 0) throw new Error(`secrets were found at rest: ${secrets.join('; ')}`);
    },
  };
  return server;
}
