/** What the claims of others cost a session that edits files, and what it is told of them. */
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Claims } from '../../src/daemon/claims/claims.ts';
import { realClock } from '../../src/daemon/clock.ts';
import { ownLines } from '../../src/daemon/handoff/own-lines.ts';
import type { Log } from '../../src/daemon/log.ts';
import type { ServerEvents } from '../../src/daemon/server-link/link.ts';
import type { Servers } from '../../src/daemon/server-link/servers.ts';
import type { GoneDeps } from '../../src/daemon/sessions/gone.ts';
import type { Session } from '../../src/daemon/sessions/session.ts';
import { stagedFiles } from '../../src/local/repository.ts';
import { until } from '../support/until.ts';

const claimOf = (agent: string, paths: string[]) => ({
  ...{ agent, member_id: `mem_${agent}`, owner: 'dana', board: 'general', board_id: 'brd_1', repo: 'example.com/api' },
  ...{ line: 'on it', task: null, since: '2026-03-02T09:00:00.000Z', own: false, paths },
});

describe('claims of others', () => {
  let folder: string;
  let claims: ReturnType<typeof claimOf>[];
  let reads: number;
  let known: Claims;
  let session: Session;
  let events: ServerEvents;
  const seat = { origin: 'http://localhost', member_id: 'mem_own' };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'board-claims-'));
    execFileSync('git', ['init', '--quiet', folder]);
    execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'https://example.com/api.git']);
    claims = [];
    reads = 0;
    const read = async () => {
      reads++;
      return claims;
    };
    known = new Claims({
      clock: realClock,
      log: { write: () => {} } as unknown as Log,
      servers: { at: () => ({ claims: read }) } as unknown as Servers,
    });
    events = new EventEmitter();
    known.listen(events);
    const parts = { seats: new Set([{ row: seat }]), edited: new Map(), pendingLines: [], row: { open: true } };
    session = parts as unknown as Session;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const edit = (...files: string[]) => known.atBoundary(session, files, folder);
  const told = () => session.pendingLines.splice(0).map((line) => line.split("'s line")[0]);
  const read = async () => {
    events.emit('lines', seat as never);
    await until(() => session.pendingLines.length > 0, 'it is told');
    return told();
  };

  it('keep no hook and no event waiting, however their globs are made, and hide no other claim', async () => {
    const globs = Array.from({ length: 20 }, (_, n) => `${'+(*|?)'.repeat(32)}x${n}`);
    const hostile = Array.from({ length: 100 }, (_, n) => claimOf(`agent-${n}`, globs));
    claims = [...hostile, claimOf('codex', ['docs/old/**', '**/*.ts'])];
    await edit(...Array.from({ length: 300 }, (_, n) => `docs/part-${n}/of-the-manual.md`));
    const before = process.cpuUsage();
    await edit('src/http.ts');
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds of a hook').to.be.below(1_000);
    expect(told()).to.deep.equal(['service: src/http.ts is in codex']);
    claims = [...claims, claimOf('omp', ['docs/part-299/**'])];
    const begun = process.cpuUsage();
    expect(await read()).to.deep.equal(['service: docs/part-299/of-the-manual.md is in omp']);
    expect(process.cpuUsage(begun).user / 1_000, 'milliseconds of an event').to.be.below(1_000);
  });

  it('are told of in no repository that has no name: each may be another', async () => {
    execFileSync('git', ['-C', folder, 'remote', 'remove', 'origin']);
    claims = [{ ...claimOf('codex', ['a.ts']), repo: null as unknown as string }, claimOf('omp', ['a.ts'])];
    await edit('a.ts');
    expect(told()).to.deep.equal([]);
  });

  it('run nothing that the configuration of a repository names', async () => {
    const git = (...words: string[]) => execFileSync('git', ['-C', folder, ...words]);
    const ran = join(folder, 'ran');
    writeFileSync(join(folder, 'a.ts'), '');
    git('add', 'a.ts');
    git('config', 'core.fsmonitor', `touch '${ran}'; false`);
    expect(await stagedFiles(folder)).to.deep.equal(['a.ts']);
    expect(existsSync(ran), 'what watches its files').to.equal(false);
    git('remote', 'remove', 'origin');
    // Its first commit is missing, and said to be had from another repository by a command.
    const promised = { url: folder, promisor: 'true', uploadpack: `touch '${ran}'; false` };
    for (const [name, value] of Object.entries(promised)) git('config', `remote.p.${name}`, value);
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'extensions.partialClone', 'p');
    writeFileSync(join(folder, '.git', 'HEAD'), `${'1'.repeat(40)}\n`);
    await edit('a.ts');
    expect(existsSync(ran), 'what it fetches with').to.equal(false);
  });

  it('are told once of each file, also of one edited before', async () => {
    await edit('a.ts', 'b.ts', 'c.ts');
    expect(told()).to.deep.equal([]);
    claims = [claimOf('codex', ['{a,b}.ts'])];
    expect(await read()).to.deep.equal(['service: b.ts, a.ts are in codex']);
    await edit('a.ts', 'c.ts');
    expect(told()).to.deep.equal([]);
  });

  it('are read again when lines change only while a session that edits files is there', async () => {
    await edit('a.ts');
    expect(reads).to.equal(1);
    claims = [claimOf('codex', ['a.ts'])];
    session.row.open = false;
    events.emit('lines', seat as never);
    expect(reads).to.equal(1);
    session.row.open = true;
    await edit('b.ts');
    expect([reads, told()]).to.deep.equal([2, ['service: a.ts is in codex']]);
  });

  it('are one line for all files that a claim has, however many were edited before', async () => {
    await edit(...Array.from({ length: 300 }, (_, n) => `${n}.ts`));
    claims = [claimOf('codex', ['**'])];
    expect(await read()).to.deep.equal(['service: 299.ts, 298.ts, 297.ts and 297 more of your files are in codex']);
  });

  it('leave room for messages where many claim a file each, and are all told in the end', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `${n}-${'long'.repeat(25)}.ts`);
    claims = names.map((name, n) => claimOf(`agent-${n}`, [name]));
    await edit(...names);
    await edit(...names);
    const nothing = { journal: { lostOf: () => [] }, seats: {}, saved: {} } as unknown as GoneDeps;
    const lines: string[] = [];
    for (let texts = 0; lines.length < names.length; texts++) {
      const { text, effects } = ownLines(nothing, session);
      expect(Buffer.byteLength(text)).to.be.within(1, 2_000);
      expect(texts).to.be.below(20);
      lines.push(...text.split('\n'));
      session.pendingLines.splice(0, effects.pending.length);
      await edit(...names);
    }
    expect(new Set(lines)).to.have.property('size', names.length);
  });
});
