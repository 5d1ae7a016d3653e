/** The servers of one database that a test kills and starts again: one on SQLite, two on Postgres. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../support/api.ts';
import type { Engine } from '../support/databases.ts';
import { newFolder, newPlace, remove, type Where } from './databases.ts';
import { type Child, type LaunchOptions, launchServer, localKey } from './launch.ts';

/** A server that is killed and comes back at its address. */
export class Server {
  readonly url: string;
  readonly dataDir: string;
  child: Child;
  /** When it began to serve. */
  since = performance.now();
  readonly #options: LaunchOptions;

  private constructor(url: string, child: Child, options: LaunchOptions) {
    this.url = url;
    this.dataDir = options.dataDir;
    this.child = child;
    this.#options = options;
  }

  static async start(options: LaunchOptions): Promise<Server> {
    const child = launchServer(options);
    const url = await child.ready;
    return new Server(url, child, { ...options, port: Number(new URL(url).port) });
  }

  async kill(): Promise<void> {
    await this.child.kill();
    this.child = launchServer(this.#options);
    await this.child.ready;
    this.since = performance.now();
  }
}

export class Crew {
  readonly servers: Server[];
  /** The servers' owner, at the first of them. */
  readonly dana: Api;
  readonly #folders: string[];

  private constructor(servers: Server[], folders: string[]) {
    this.servers = servers;
    this.#folders = folders;
    this.dana = new Api(servers[0]?.url as string, localKey(folders[0] as string));
  }

  /** @param how what is wrong with them, whether their clocks jump, flags of Node. */
  static async start(engine: Engine, how: Pick<LaunchOptions, 'bug' | 'jumps' | 'nodeFlags'> = {}): Promise<Crew> {
    return Crew.at(await newPlace(engine), how);
  }

  static async at({ dataDir, db }: Where, how: Pick<LaunchOptions, 'bug' | 'jumps' | 'nodeFlags'> = {}): Promise<Crew> {
    const servers = [await Server.start({ dataDir, db, ...how })];
    if (db === undefined) return new Crew(servers, [dataDir]);
    const twin = newFolder('twin');
    for (const file of ['server-secret', 'local-key']) copyFileSync(join(dataDir, file), join(twin, file));
    servers.push(await Server.start({ dataDir: twin, db, ...how }));
    return new Crew(servers, [dataDir, twin]);
  }

  async stop(): Promise<void> {
    for (const { child } of this.servers) await child.stop();
    this.#folders.forEach(remove);
  }
}
