/** A machine with a seat on a new board, a daemon as a process, and a program that lives on one of the ways. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { daemonPaths } from '../../../src/daemon/paths.ts';
import { builtinProfile } from '../../../src/harness/builtin.ts';
import { writePrivate } from '../../../src/local/private-file.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import type { TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Machine } from '../world.ts';
import { FakeHarness, type Way } from './harness.ts';
import { DaemonProcess } from './process.ts';

const fakeCodex = fileURLToPath(new URL('fake-codex.mjs', import.meta.url));

export class Played {
  readonly machine: Machine;
  readonly agent: Agent;
  readonly board: string;
  harness: FakeHarness;
  readonly posted: { seq: number; text: string }[] = [];
  daemon: DaemonProcess;
  readonly #server: TestServer;

  private constructor(parts: {
    server: TestServer;
    machine: Machine;
    agent: Agent;
    board: string;
    harness: FakeHarness;
    daemon: DaemonProcess;
  }) {
    this.machine = parts.machine;
    this.agent = parts.agent;
    this.board = parts.board;
    this.harness = parts.harness;
    this.daemon = parts.daemon;
    this.#server = parts.server;
  }

  /** @param faults as `DaemonProcess.start` takes them. @param origin where the daemon reaches the server. */
  static async begin(
    server: TestServer,
    { way = 'wait', faults = '', origin = server.url }: { way?: Way; faults?: string; origin?: string } = {},
  ): Promise<Played> {
    const machine = new Machine();
    const log = join(machine.home, 'queued.log');
    if (way === 'queue') machine.env = withCodex(machine, log);
    if (way === 'turn_end') saveStopper(machine);
    const made = await newBoard(server.dana);
    const agent = await newAgent(server.dana, made.name);
    // As this machine's own server, whose return is noticed at once.
    machine.owns(server);
    writePrivate(join(machine.folders.data, 'server.addr'), `${new URL(origin).host}\n`);
    const local = { mode: 'local' as const, urls: [origin] };
    await machine.knows(origin, (await server.nobody.ok('getInfo')).server_id, server.dana, local);
    await machine.holds(origin, made, agent);
    const daemon = await DaemonProcess.start(machine, faults);
    const options = way === 'queue' ? { transcript: log, header: { session: 'own' } } : {};
    const harness = new FakeHarness(daemonPaths(machine.folders).socket, { way, ...options });
    await harness.register();
    const bound = await harness.ask('bind', { agent: { server: origin, board: made.name, name: agent.name } });
    if (bound['error']) throw new Error(`not bound: ${JSON.stringify(bound)}`);
    harness.start();
    return new Played({ server, machine, agent, board: made.name, harness, daemon });
  }

  async say(text = `<words ${this.posted.length}>`): Promise<number> {
    // Tags would be escaped.
    const plain = text.replaceAll(/[<>]/g, '.');
    const { seq } = await post(this.#server.dana, this.board, plain);
    this.posted.push({ seq, text: plain });
    return seq;
  }

  cursor = async (): Promise<number> => (await this.agent.ok('readInbox')).cursor;

  /** Acknowledged is what the session had, and nothing after it. */
  async honest(): Promise<void> {
    const cursor = await this.cursor();
    for (const { seq, text } of this.posted)
      if (seq <= cursor) expect(this.harness.times(text), `#${seq} is acknowledged`).to.be.at.least(1);
  }

  /** What the journal says was received. */
  confirmed(): { seq: number; text: string }[] {
    const db = new Sqlite(daemonPaths(this.machine.folders).journal, { readonly: true });
    try {
      const rows = db
        .prepare(
          `SELECT m.seq FROM part_messages AS m JOIN parts AS p USING (handoff_id, origin, member_id)
          WHERE p.state IN ('confirmed', 'acked')`,
        )
        .all() as { seq: number }[];
      const known = new Set(rows.map(({ seq }) => seq));
      return this.posted.filter(({ seq }) => known.has(seq));
    } finally {
      db.close();
    }
  }

  /** The journal's file is whole, and nothing in it was confirmed that the session does not have. */
  whole(): void {
    const { journal } = daemonPaths(this.machine.folders);
    const db = new Sqlite(journal, { readonly: true });
    try {
      expect(db.pragma('quick_check', { simple: true })).to.equal('ok');
    } finally {
      db.close();
    }
    for (const { seq, text } of this.confirmed())
      expect(this.harness.times(text), `#${seq} is confirmed`).to.be.at.least(1);
  }

  /** Nothing is on its way: all that was posted is acknowledged, and the journal has nothing in between. */
  async settled(ms = 20_000): Promise<void> {
    const { seq } = this.posted.at(-1)!;
    await until(async () => (await this.cursor()) >= seq, `#${seq} is acknowledged`, ms);
    const db = new Sqlite(daemonPaths(this.machine.folders).journal, { readonly: true });
    try {
      const open = db.prepare("SELECT id, state, reason FROM handoffs WHERE state NOT IN ('done', 'ended')");
      await until(() => open.all().length === 0, 'all handoffs are over', ms);
    } finally {
      db.close();
    }
  }

  async restart(faults = ''): Promise<void> {
    this.daemon = await DaemonProcess.start(this.machine, faults);
  }

  async end(): Promise<void> {
    await this.harness.stop();
    await this.daemon.kill();
    await this.machine.close();
  }

  /** Stops in order, and looks at the journal: nothing is left in between, and the file is whole. */
  async endSound(): Promise<void> {
    await this.harness.stop();
    await this.daemon.kill('SIGTERM');
    sound(daemonPaths(this.machine.folders).journal);
    await this.machine.close();
  }
}

/** The file is whole, and nothing in it is between its beginning and its end. */
export function sound(path: string): void {
  const db = new Sqlite(path, { readonly: true });
  try {
    expect(db.pragma('integrity_check', { simple: true })).to.equal('ok');
    const open = db.prepare("SELECT id, state, reason FROM handoffs WHERE state NOT IN ('done', 'ended')").all();
    expect(open).to.deep.equal([]);
    expect(db.prepare('SELECT * FROM received').all()).to.deep.equal([]);
    expect(db.prepare("SELECT * FROM parts WHERE state NOT IN ('acked', 'ended')").all()).to.deep.equal([]);
  } finally {
    db.close();
  }
}

function withCodex(machine: Machine, log: string): Record<string, string> {
  const bin = join(machine.home, 'bin');
  mkdirSync(bin);
  copyFileSync(fakeCodex, join(bin, 'codex'));
  chmodSync(join(bin, 'codex'), 0o755);
  return { PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`, FAKE_LOG: log };
}

/** A program of a person's own profile that has hooks for a turn's end and nothing else that wakes it. */
function saveStopper(machine: Machine): void {
  const { install: _, delivery, ...codex } = builtinProfile('codex')!;
  const { queue: __, ...rest } = delivery;
  const stopper = {
    ...codex,
    harness: 'stopper',
    command: 'stopper',
    checks: { installed: { run: ['stopper', '--version'] }, min_version: '0.1.0' },
    session_env: ['STOPPER_THREAD'],
    config_dir: { env: 'STOPPER_HOME', default: '~/.stopper' },
    identity: { kind: 'env', env: 'STOPPER_THREAD', precedence: 41 },
    subagent_identity: 'none',
    install: [],
    delivery: { ...rest, capabilities: ['turn-end-hook', 'turn-start', 'tool-boundary'] },
  };
  const folder = join(machine.folders.config, 'harnesses');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'stopper.json'), JSON.stringify(stopper));
}

/** Runs all of these, so many at a time; the first failure is the outcome. */
export async function inLanes<T>(all: readonly T[], lanes: number, one: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await one(next);
    }),
  );
}
