/** A machine with seats on a true server: its home, what it saved, and the daemon's connections from there. */
import { EventEmitter } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SeatProblem } from '../../src/daemon/protocol.ts';
import type { SeatIdentity } from '../../src/daemon/refs.ts';
import { CredentialStore } from '../../src/daemon/server-link/credentials.ts';
import type { InboxRead, Notice, ServerEvents } from '../../src/daemon/server-link/link.ts';
import { Servers } from '../../src/daemon/server-link/servers.ts';
import type { Environment } from '../../src/daemon/server-link/transport.ts';
import { type Folders, folders } from '../../src/local/folders.ts';
import { type ServerEntry, updateCredentials } from '../../src/local/keys/credentials.ts';
import { FakeClock } from '../client/support.ts';
import type { Api } from '../support/api.ts';
import type { Agent } from '../support/cast.ts';
import { until } from '../support/until.ts';

/** What the connections told, in order. */
export class Told {
  readonly events: ServerEvents = new EventEmitter();
  readonly log: string[] = [];
  readonly reads: { member_id: string; read: InboxRead }[] = [];
  readonly problems: (SeatProblem | null)[] = [];
  lastNotices: Notice[] = [];

  constructor() {
    this.events.on('inbox', ({ member_id }, read) => {
      this.reads.push({ member_id, read });
      this.log.push(`inbox ${read.inbox.messages.map(({ body }) => body).join('|')}`);
    });
    this.events.on('read', (_seat, upTo) => this.log.push(`read ${upTo}`));
    this.events.on('mode', (_seat, mode, revision) => this.log.push(`mode ${mode} ${revision}`));
    this.events.on('notices', (_seat, notices) => {
      this.lastNotices = notices;
      this.log.push(`notices ${notices.map(({ kind }) => kind).join('|')}`);
    });
    this.events.on('problem', (_seat, problem) => {
      this.problems.push(problem);
      this.log.push(`problem ${problem}`);
    });
    this.events.on('token', () => this.log.push('token'));
  }

  /** Waits until something was told. */
  async until(line: string | RegExp, times = 1): Promise<void> {
    const fits = (each: string) => (typeof line === 'string' ? each === line : line.test(each));
    await until(() => this.log.filter(fits).length >= times, `${line} was told; it was: ${this.log.join(', ')}`);
  }
}

export class Machine {
  readonly home = mkdtempSync(join(tmpdir(), 'board-daemon-'));
  readonly folders: Folders = folders({ SERVICE_HOME: this.home });
  /** What a daemon that is started here finds in its environment besides. */
  env: Record<string, string> = {};
  readonly credentials = new CredentialStore(this.folders, { SERVICE_HOME: this.home });
  readonly told = new Told();
  /** Pauses of the connections, which pass when the test says so. */
  readonly clock = new FakeClock(() => true);
  readonly lines: string[] = [];
  readonly world: Environment = {
    now: this.clock.now,
    sleep: this.clock.sleep,
    random: () => 0.5,
    nowUs: () => Math.round(performance.now() * 1_000),
    wallNow: this.clock.now,
    userAgent: 'service/0.0.0',
    log: (event, fields) => void this.lines.push(`${event} ${JSON.stringify(fields)}`),
  };
  #servers: Servers | null = null;

  get servers(): Servers {
    this.#servers ??= new Servers({ environment: this.world, credentials: this.credentials, events: this.told.events });
    return this.#servers;
  }

  /** Saves what the machine knows of a server. @param person whose key is kept here. */
  async knows(origin: string, serverId: string, person: Api | null, more: Partial<ServerEntry> = {}): Promise<void> {
    await updateCredentials(this.folders, (saved) => {
      saved.servers[origin] = {
        server_id: serverId,
        name: `server-${Object.keys(saved.servers).length}`,
        mode: 'team',
        person: person && { id: person.personId ?? 'hum_1', handle: 'somebody' },
        key: person && { id: 'key_1', name: 'laptop', expires_at: null, store: 'file', token: person.token! },
        seats: saved.servers[origin]?.seats ?? {},
        ...more,
      };
    });
  }

  /** Has the data folder of a server, which so is this machine's own. */
  owns({ dataDir }: { dataDir: string }): void {
    mkdirSync(this.folders.data, { recursive: true, mode: 0o700 });
    copyFileSync(join(dataDir, 'server-secret'), join(this.folders.data, 'server-secret'));
  }

  /** Saves a seat. @returns what the daemon knows it by. */
  async holds(origin: string, board: { id: string; name: string }, agent: Agent): Promise<SeatIdentity> {
    await updateCredentials(this.folders, (saved) => {
      saved.servers[origin]!.seats[agent.memberId] = {
        token: agent.token!,
        board_id: board.id,
        board: board.name,
        name: agent.name,
        role: 'member',
        harness: null,
        session: null,
        created_at: '2026-03-02T09:00:00.000Z',
      };
    });
    return { origin, member_id: agent.memberId, board_id: board.id, board: board.name, name: agent.name };
  }

  /** The pauses that are under way now, in milliseconds, without the limits of running requests. */
  pauses(): number[] {
    return this.clock.held.map(({ ms }) => ms).filter((ms) => ![15_000, 60_000, 30_000, 65_000].includes(ms));
  }

  /** Waits for a pause and lets it pass. @returns how long it was. */
  async pass(fits: (ms: number) => boolean = () => true): Promise<number> {
    await until(() => this.pauses().some(fits), `a pause; there are ${this.clock.held.map(({ ms }) => ms)}`);
    const ms = this.pauses().find(fits)!;
    const [entry] = this.clock.held.splice(
      this.clock.held.findIndex((each) => each.ms === ms),
      1,
    );
    entry!.resolve();
    return ms;
  }

  async close(): Promise<void> {
    await this.#servers?.close();
    this.credentials.close();
    rmSync(this.home, { recursive: true, force: true });
  }
}
