/** The daemon in this process, on a true server, with its true journal and socket: tests speak to it through these. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Adapter } from '../../../src/daemon/adapter.ts';
import { type DaemonClock, realClock } from '../../../src/daemon/clock.ts';
import { secureFolders } from '../../../src/daemon/control/address.ts';
import { Daemon } from '../../../src/daemon/daemon.ts';
import { type Faults, noFaults } from '../../../src/daemon/faults.ts';
import { Journal } from '../../../src/daemon/journal/journal.ts';
import { openJournal } from '../../../src/daemon/journal/open.ts';
import type { SeatRow } from '../../../src/daemon/journal/rows.ts';
import { openLog } from '../../../src/daemon/log.ts';
import { Pairing } from '../../../src/daemon/pairing/pairing.ts';
import { daemonPaths } from '../../../src/daemon/paths.ts';
import type { PortDeps, Ports } from '../../../src/daemon/ports.ts';
import type { SeatIdentity, SeatRef } from '../../../src/daemon/refs.ts';
import type { InboxRead, Notice } from '../../../src/daemon/server-link/link.ts';
import { Servers } from '../../../src/daemon/server-link/servers.ts';
import { savedSeats } from '../../../src/daemon/sessions/saved-seats.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import type { TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Machine } from '../world.ts';
import { asked, type Frame, Line } from './line.ts';
import { fakeAdapter, KeptReports, noDelegating, only } from './parts.ts';

/** A line of the daemon's log. */
export type LogLine = { t: string; level: string; ev: string; [field: string]: unknown };

export interface RigOptions {
  adapter?: Adapter;
  clock?: DaemonClock;
  faults?: Faults;
  /** What is put around the true journal. */
  journal?: (journal: Journal) => Journal;
  /** True parts in place of small ones. */
  ports?: (connecting: PortDeps) => Partial<Ports>;
}

export class Rig {
  readonly server: TestServer;
  readonly machine = new Machine();
  readonly paths = daemonPaths(this.machine.folders);
  readonly reports = new KeptReports();
  clock: DaemonClock = realClock;
  adapter: Adapter = fakeAdapter(['idle-hook', 'turn-start', 'tool-boundary']);
  daemon!: Daemon;
  /** What the daemon was connected with when it started. */
  journal!: Journal;
  servers!: Servers;
  events!: PortDeps['events'];
  serverEvents!: PortDeps['serverEvents'];
  /** What servers told of seats, by member id. */
  readonly #told = new Map<string, { read?: InboxRead; seenSeq: number; notices: readonly Notice[] }>();
  readonly #lines: Line[] = [];

  constructor(server: TestServer) {
    this.server = server;
  }

  /** Where the daemon reaches the server; a test may put a proxy there. */
  origin = '';

  async start({
    adapter = this.adapter,
    clock = realClock,
    faults = noFaults,
    journal = (same) => same,
    ports = () => ({}),
  }: RigOptions = {}): Promise<this> {
    this.adapter = adapter;
    this.clock = clock;
    this.origin ||= this.server.url;
    const { credentials } = this.machine;
    const known = credentials.server(this.origin);
    const { server_id } = await this.server.nobody.ok('getInfo');
    if (!known) await this.machine.knows(this.origin, server_id, this.server.dana);
    secureFolders(this.paths);
    const { db, movedTo: putAside } = openJournal(this.paths.journal);
    const log = openLog(this.paths.log);
    if (putAside) log.write('journal_error', { put_aside: true }, 'error');
    this.#told.clear();
    this.journal = journal(new Journal(db));
    this.daemon = await Daemon.start({
      paths: this.paths,
      clock,
      journal: this.journal,
      log,
      faults,
      build: { version: '0.0.1' },
      ports: (connecting) => {
        const { events, serverEvents } = connecting;
        const world = { ...this.machine.world, nowUs: clock.nowUs };
        const servers = new Servers({ environment: world, credentials, events: serverEvents });
        const made = {
          servers,
          adapters: only(adapter),
          reports: this.reports,
          saved: savedSeats(credentials),
          delegatedBoards: noDelegating,
          pairing: new Pairing({ ...connecting, servers, credentials, folders: this.machine.folders, env: {} }),
          ...ports(connecting),
        };
        this.#listen(serverEvents);
        Object.assign(this, { events, serverEvents, servers: made.servers });
        return made;
      },
    });
    return this;
  }

  #listen(servers: PortDeps['serverEvents']): void {
    const of = ({ member_id: id }: SeatRef) => {
      const told = this.#told.get(id) ?? { seenSeq: 0, notices: [] };
      this.#told.set(id, told);
      return told;
    };
    servers.on('inbox', (seat, read) => {
      const told = of(seat);
      told.read = read;
      told.seenSeq = Math.max(told.seenSeq, read.inbox.messages.at(-1)?.seq ?? 0);
    });
    servers.on('notices', (seat, notices) => {
      of(seat).notices = notices;
    });
  }

  /** The last read of a seat's inbox that the daemon was told of. */
  read = ({ member_id: id }: Pick<SeatRef, 'member_id'>): InboxRead['inbox'] | undefined =>
    this.#told.get(id)?.read?.inbox;

  noticesOf = ({ member_id: id }: SeatRef): readonly Notice[] => this.#told.get(id)?.notices ?? [];

  /** Waits until the daemon was told of a message of the seat. */
  seen = (seat: Pick<SeatRef, 'member_id'>, seq: number): Promise<void> =>
    until(() => (this.#told.get(seat.member_id)?.seenSeq ?? 0) >= seq, `#${seq} was seen`);

  /** Waits until the last read of the seat has so many messages. */
  hasRead = (seat: Pick<SeatRef, 'member_id'>, count: number): Promise<void> =>
    until(() => (this.read(seat)?.messages.length ?? 0) >= count, `${count} messages were read`);

  /** Waits until the daemon follows what its first server tells. */
  connected = (): Promise<void> =>
    until(async () => {
      const { servers = [] } = (await this.ask('status')) as { servers?: { connected?: boolean }[] };
      return servers[0]?.connected === true;
    }, 'the stream is open');

  /** The seat as the journal has it. */
  row = ({ member_id: id }: SeatRef): SeatRow =>
    this.rows<SeatRow>(`SELECT * FROM seats WHERE member_id = '${id}'`)[0]!;

  /** Whether a session is open, as the journal has it. */
  isOpen = ({ key }: TestSession): boolean =>
    this.rows<{ open: number }>(`SELECT open FROM sessions WHERE key = '${key}'`)[0]?.open === 1;

  /** A board with an agent of Dana's whose token this machine has. */
  async seat(board?: { id: string; name: string }): Promise<{ seat: SeatIdentity; board: string; boardId: string }> {
    const place = board ?? (await newBoard(this.server.dana));
    const agent = await newAgent(this.server.dana, place.name);
    const seat = await this.machine.holds(this.origin, place, agent);
    return { seat, board: place.name, boardId: place.id };
  }

  say = (board: string, body: string, more = {}) => post(this.server.dana, board, body, more);

  ask = (op: string, fields: Frame = {}): Promise<Frame> => asked(this.paths.socket, { op, ...fields });

  async open(op: string, fields: Frame = {}): Promise<Line> {
    const line = await Line.open(this.paths.socket);
    this.#lines.push(line);
    return line.send({ op, ...fields });
  }

  /** A registered session that holds this seat. */
  async session(seat?: SeatIdentity, more: Frame = {}): Promise<TestSession> {
    const session = new TestSession(this, {
      harness: 'fake',
      session: `s${++sessions}`,
      boot: bootOf(sessions),
      ...more,
    });
    await session.ask('register', { source: 'startup' });
    if (seat) await session.bind(seat);
    return session;
  }

  /** The seat's cursor as the server has it. */
  async cursor(seat: SeatIdentity): Promise<number> {
    const token = this.machine.credentials.token(seat.origin, seat.member_id)!;
    const answer = await fetch(`${this.server.url}/v1/me/inbox`, { headers: { Authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { cursor: number }).cursor;
  }

  async acked(seat: SeatIdentity, seq: number): Promise<void> {
    await until(async () => (await this.cursor(seat)) >= seq, `#${seq} is acknowledged`);
  }

  /** Rows of the journal as they are on the disk. */
  rows<Row>(sql: string): Row[] {
    const db = new Sqlite(this.paths.journal, { readonly: true });
    try {
      return db.prepare(sql).all() as Row[];
    } finally {
      db.close();
    }
  }

  states = (): string[] =>
    this.rows<{ state: string }>('SELECT state FROM handoffs ORDER BY created_at, rowid').map(({ state }) => state);

  /** Stops, and starts again on the same files. */
  async restart(options: RigOptions = {}): Promise<void> {
    await this.daemon.stop(true);
    await this.start(options);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.end()));
    await this.daemon?.stop(false);
    await this.machine.close();
  }

  get logFile(): string {
    return join(this.paths.state, 'daemon.log');
  }

  /** Lines of the log about one event; without, all of them. */
  logged(ev?: string): LogLine[] {
    const lines = readFileSync(this.logFile, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as LogLine).filter((line) => ev === undefined || line.ev === ev);
  }
}

let sessions = 0;
const bootOf = (n: number): string => n.toString(16).padStart(16, '0');

/** A program's session, as its hooks and commands speak for it. */
export class TestSession {
  readonly rig: Rig;
  header: Frame;

  constructor(rig: Rig, header: Frame) {
    this.rig = rig;
    this.header = header;
  }

  get key(): string {
    return `${this.header['harness']}:${this.header['session']}`;
  }

  ask = (op: string, fields: Frame = {}): Promise<Frame> => this.rig.ask(op, { ...this.header, ...fields });
  open = (op: string, fields: Frame = {}): Promise<Line> => this.rig.open(op, { ...this.header, ...fields });

  async bind({ origin, board, name, member_id }: SeatIdentity): Promise<Frame> {
    return this.ask('bind', { agent: { server: origin, board, name, member_id } });
  }

  /** Waits as a stop hook does. */
  async wait(more: Frame = {}): Promise<Line> {
    const line = await this.open('wait', { started: this.rig.clock.nowUs(), ...more });
    const first = await line.next();
    if (first['event'] !== 'waiting') throw new Error(`no wait: ${JSON.stringify(first)}`);
    return line;
  }

  /** Asks as a hook that takes text along, and says that it was written. */
  async hook(op: 'register' | 'turn_start' | 'boundary' | 'turn_end', more: Frame = {}): Promise<Frame> {
    const line = await this.open(op, { started: this.rig.clock.nowUs(), ...more });
    const carry = await line.next();
    if (carry['handoff_id']) await took(line, carry);
    await line.end();
    return carry;
  }
}

export const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

/** Says that a text was written. */
export async function took(line: Line, { handoff_id }: Frame): Promise<void> {
  const answer = await line.send({ op: 'received', handoff_id }).next();
  if (answer['event'] !== 'ok') throw new Error(`not taken: ${JSON.stringify(answer)}`);
}
