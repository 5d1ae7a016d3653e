/** The journal by itself: durable, whole, and kept small. */
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { contiguousUpTo } from '../../src/daemon/inbox/acknowledge.ts';
import { Journal } from '../../src/daemon/journal/journal.ts';
import { openJournal } from '../../src/daemon/journal/open.ts';
import { probeJournal } from '../../src/daemon/journal/probe.ts';
import type { HandoffRow, HandoffState, Manifest, SessionRow } from '../../src/daemon/journal/rows.ts';
import { Seat } from '../../src/daemon/sessions/session.ts';
import { aMessage, anInbox } from '../support/messages.ts';

const DAY = 86_400_000;
const NOBODY = 65_534;

describe('the journal', () => {
  let folder: string;
  let journal: Journal;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'board-journal-'));
    journal = new Journal(openJournal(join(folder, 'delivery.db')).db);
  });
  afterEach(() => {
    journal.close();
    rmSync(folder, { recursive: true });
  });

  const seat = { origin: 'https://a.example', member_id: 'mem_1' };
  const handoff = (id: string, state: HandoffState, created_at: number): HandoffRow => ({
    id,
    session_key: 'fake:a',
    boot: 'b',
    path: 'wait',
    class: 'mixed',
    payload_sha256: 'x',
    bytes: 1,
    state,
    attempts: 0,
    next_at: null,
    reason: null,
    turn_id: 1,
    peers: 0,
    created_at,
    handed_at: null,
    accepted_at: null,
    turn_at: null,
    confirmed_at: null,
    stalled_at: null,
  });
  const manifest = (id: string, state: HandoffState, created_at: number): Manifest => ({
    handoff: handoff(id, state, created_at),
    parts: [{ handoff_id: id, ...seat, board_id: 'brd_1', generation: 1, state: 'open' }],
    messages: [1, 2].map((seq) => ({
      handoff_id: id,
      ...seat,
      message_id: `msg_${id}_${seq}`,
      seq,
      form: 'full' as const,
    })),
    notices: [],
  });

  it('keeps a handoff with all that was in it, in its order', () => {
    const written = manifest('hnd_1', 'prepared', 5);
    journal.saveManifest(written);
    expect(journal.manifest('hnd_1')).to.deep.equal(written);
    expect(journal.manifest('hnd_2')).to.equal(null);
  });

  it('writes all of a transaction or nothing', () => {
    expect(() =>
      journal.write(() => {
        journal.saveManifest(manifest('hnd_1', 'prepared', 5));
        throw new Error('in the middle');
      }),
    ).to.throw('in the middle');
    expect(journal.handoff('hnd_1')).to.equal(null);
  });

  it('forgets what was finished a week ago, and finished ones beyond ten thousand, never one that is under way', () => {
    const now = 100 * DAY;
    journal.write(() => {
      journal.saveManifest(manifest('old-done', 'done', now - 8 * DAY));
      journal.saveManifest(manifest('old-open', 'pending', now - 30 * DAY));
      for (let n = 0; n < 10_005; n++) journal.saveManifest(manifest(`n${n}`, 'done', now - DAY + n));
    });
    journal.prune(now);
    expect(journal.handoff('old-done')).to.equal(null);
    expect(journal.manifest('old-open')?.messages).to.have.length(2);
    expect(journal.handoff('n0')).to.equal(null);
    expect(journal.handoff('n10004')).to.not.equal(null);
    expect(journal.handoffsIn(['done']).length).to.be.at.most(10_000);
    expect(journal.messagesIn(seat, ['done']).every(({ handoff_id }) => handoff_id.startsWith('n'))).to.equal(true);
  });

  it('forgets a session without seats a week after its end, with what it lost to another one', () => {
    const now = 100 * DAY;
    const session = (key: string, daysAgo: number): SessionRow => ({
      key,
      harness: 'command',
      session_id: key,
      boot: 'b',
      source: 'startup',
      open: false,
      pid: null,
      pid_start: null,
      cwd: null,
      started_in: null,
      config_dir: null,
      harness_version: null,
      turned: true,
      turn_id: 1,
      opened_at: 1,
      closed_at: now - daysAgo * DAY,
    });
    for (const [key, daysAgo] of Object.entries({ old: 8, seated: 8, recent: 6 })) {
      journal.saveSession(session(key, daysAgo));
      journal.saveLost({
        ...seat,
        board_id: 'brd_1',
        board: 'b',
        name: 'n',
        session_key: key,
        taken_by: 'x',
        at: 1,
        told: 0,
      });
    }
    journal.saveBinding({ ...seat, session_key: 'seated', generation: 1, bound_at: 1, told_mode: null });
    journal.prune(now);
    expect(journal.sessions().map(({ key }) => key)).to.have.members(['seated', 'recent']);
    expect(['old', 'seated', 'recent'].map((key) => journal.lostOf(key).length)).to.deep.equal([0, 1, 1]);
  });

  it('is left alone where this user may not write its log', () => {
    const path = join(folder, 'delivery.db');
    chmodSync(`${path}-wal`, 0o400);
    const before = readdirSync(folder);
    // Root may write everything.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) for (const own of [folder, ...before.map((name) => join(folder, name))]) chownSync(own, NOBODY, NOBODY);
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      expect(() => openJournal(path))
        .to.throw()
        .and.include({ code: 'internal' });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(readdirSync(folder)).to.deep.equal(before);
  });

  it('is durable to the disk with every write', () => {
    const { db } = openJournal(join(folder, 'other.db'));
    db.exec("INSERT INTO servers VALUES ('a', 'b', 1)");
    expect(db.pragma('synchronous', { simple: true })).to.equal(2);
    expect(db.pragma('fullfsync', { simple: true })).to.equal(1);
    expect(db.pragma('journal_mode', { simple: true })).to.equal('wal');
    db.close();
  });

  it('keeps the version that a daemon gives it while doctor looks at it', () => {
    const path = join(folder, 'delivery.db');
    const { db } = openJournal(path);
    const newest = db.pragma('user_version', { simple: true });
    db.pragma('user_version = 1');
    const { pragma } = Sqlite.prototype;
    Sqlite.prototype.pragma = function (source, options) {
      if (source.startsWith('integrity_check')) pragma.call(db, `user_version = ${newest}`);
      return pragma.call(this, source, options);
    };
    try {
      expect(probeJournal(path, true)).to.equal('usable');
    } finally {
      Sqlite.prototype.pragma = pragma;
    }
    expect(db.pragma('user_version', { simple: true })).to.equal(newest);
    db.close();
  });
});

describe('what is acknowledged', () => {
  const state = (cursor: number, waiting: number[], received: number[]): Seat => {
    const ids = {
      origin: 'https://a.example',
      member_id: 'mem_1',
      board_id: 'brd_1',
      board: 'payments',
      name: 'claude',
    };
    const known = { mode: 'focused' as const, mode_revision: 0, generation: 1, problem: null, problem_at: null };
    const seat = new Seat({ ...ids, ...known, cursor });
    const inbox = anInbox(waiting.map((seq) => aMessage(seq)));
    seat.latest = { inbox, completeUpTo: null, sentUs: 0, atUs: 0 };
    for (const { id, seq } of inbox.messages) if (received.includes(seq)) seat.received.set(id, seq);
    return seat;
  };

  it('ends before the first message that was not received', () => {
    expect(contiguousUpTo(state(3, [5, 6, 9], [5, 6, 9]))).to.equal(9);
    expect(contiguousUpTo(state(3, [5, 6, 9], [5, 9]))).to.equal(5);
    expect(contiguousUpTo(state(3, [5, 6, 9], [9]))).to.equal(3);
    expect(contiguousUpTo(state(6, [5, 6, 9], [9]))).to.equal(9);
    expect(contiguousUpTo(state(3, [], []))).to.equal(3);
  });
});
