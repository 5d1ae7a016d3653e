/** A team's server, and clients that reach it as a proxy in front of it would: by its public name, over plain HTTP. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningServer, startServer } from '../../src/server/serve.ts';
import type { TeamOptions } from '../../src/server/upkeep/modes.ts';
import { Api } from './api.ts';
import { TestClock } from './clock.ts';
import type { Engine } from './databases.ts';
import { newPostgresDatabase } from './postgres.ts';

export const PUBLIC_URL = 'https://team.example.com';

/** Sends to the address a server listens to what its proxy would pass on. */
export class TeamApi extends Api {
  readonly port: number;
  /** Bytes a connection begins with. */
  readonly preamble: string | Buffer | undefined;

  constructor(port: number, token?: string, preamble?: string | Buffer) {
    super(PUBLIC_URL, token);
    this.port = port;
    this.preamble = preamble;
  }

  override send(url: string, { method, headers, body }: RequestInit): Promise<Response> {
    const { pathname, search, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const all = { host, ...(headers as Record<string, string>) };
      const outgoing = request(
        { path: pathname + search, method, headers: all, createConnection: () => this.#connect() },
        (answer) => read(answer).then(resolve, reject),
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  #connect(): Socket {
    const socket = connect(this.port, '127.0.0.1');
    if (this.preamble !== undefined) socket.write(this.preamble);
    return socket;
  }
}

async function read(answer: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0, headers });
}

export interface TeamServer extends RunningServer {
  clock: TestClock;
  log: string[];
  databaseUrl: string | undefined;
  /** A client; by default without a credential. */
  client(token?: string, preamble?: string | Buffer): TeamApi;
  /** The first admin, with the key of the file. */
  admin(): TeamApi;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TeamStart extends Partial<TeamOptions> {
  clock?: TestClock;
  dataDir?: string;
  databaseUrl?: string | undefined;
}

export async function startTeamServer(engine: Engine, options: TeamStart = {}): Promise<TeamServer> {
  const { clock = new TestClock(), dataDir = mkdtempSync(join(tmpdir(), 'board-service-team-')), ...rest } = options;
  const databaseUrl = options.databaseUrl ?? (engine === 'postgres' ? await newPostgresDatabase() : undefined);
  const log: string[] = [];
  const { databaseUrl: _url, ...team } = rest;
  const start = () =>
    startServer({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      portFixed: true,
      db: databaseUrl,
      clock,
      team: { publicUrl: PUBLIC_URL, adminHandle: 'ana', ...team },
      logTo: { write: (line) => void log.push(line) },
    });
  const server: TeamServer = {
    ...(await start()),
    clock,
    log,
    databaseUrl,
    client: (token, preamble) => new TeamApi(server.listening.port, token, preamble),
    admin: () => server.client(readFileSync(join(dataDir, 'admin-key'), 'utf8').trim()),
    async restart() {
      await server.close();
      Object.assign(server, await start());
    },
    async stop() {
      await server.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return server;
}
