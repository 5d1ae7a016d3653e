/** The control socket from the daemon's side: who is heard, in what form, and what is never said. */
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { MAX_CONNECTIONS, MAX_FRAME_BYTES } from '../../src/daemon/control/limits.ts';
import { mask } from '../../src/daemon/log.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import { asked, Line } from './support/line.ts';
import type { Rig } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

describe('the control socket', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  withRig((made) => {
    ({ server, rig, clock } = made);
  });

  it('and all files of the daemon are its user’s alone', () => {
    const { socket, state, journal, lock, info } = rig.paths;
    expect(lstatSync(socket).mode & 0o777).to.equal(0o600);
    expect(statSync(state).mode & 0o777).to.equal(0o700);
    for (const path of [journal, info, rig.logFile]) expect(statSync(path).mode & 0o077, path).to.equal(0);
    expect(lock).to.match(/daemon\.lock$/);
    expect(JSON.parse(readFileSync(info, 'utf8'))).to.include({ pid: process.pid, protocol: 1, socket });
  });

  it('names both versions to a caller of another one, and closes', async () => {
    const line = await Line.open(rig.paths.socket);
    line.raw('{"v":2,"op":"status"}\n');
    const { error } = (await line.next()) as { error: { code: string; details: object } };
    expect(error.code).to.equal('daemon_protocol_mismatch');
    expect(error.details).to.deep.equal({ daemon: 1, client: 2 });
    await until(() => line.closed, 'it is closed');
  });

  it('refuses what is no frame, a verb it does not know, and fields of another kind', async () => {
    for (const text of ['no json', '[1]', '"text"', '{']) {
      const line = await Line.open(rig.paths.socket);
      line.raw(`${text}\n`);
      expect(errorOf(await line.next()), text).to.equal('invalid_request');
      await until(() => line.closed, 'it is closed');
    }
    const { socket } = rig.paths;
    expect(errorOf(await asked(socket, { op: 'fly' }))).to.equal('invalid_request');
    expect(errorOf(await asked(socket, { op: 'agents', harness: 'fake', session: 7 }))).to.equal('invalid_request');
    expect(errorOf(await asked(socket, { op: 'agents', harness: 'fake', session: 'a b' }))).to.equal('invalid_request');
    expect(await asked(socket, { op: 'status', unknown_field: 1 })).to.include({ pid: process.pid });
  });

  it('takes a frame of any pieces, and none that is too long', async () => {
    const line = await Line.open(rig.paths.socket);
    const frame = `${JSON.stringify({ v: 1, op: 'status', pad: 'ä'.repeat(1_000) })}\n`;
    for (const byte of Buffer.from(frame)) line.raw(Buffer.from([byte]));
    expect(await line.next()).to.include({ pid: process.pid });
    line.raw(JSON.stringify({ v: 1, op: 'status', pad: 'a'.repeat(MAX_FRAME_BYTES) }));
    expect(errorOf(await line.next())).to.equal('invalid_request');
    await until(() => line.closed, 'it is closed');
  });

  it('closes a connection that says nothing for five seconds', async () => {
    const silent = await Line.open(rig.paths.socket);
    const spoken = await Line.open(rig.paths.socket);
    await spoken.send({ op: 'status' }).next();
    clock.pass(5_000);
    await until(() => silent.closed, 'it is closed');
    expect(spoken.closed).to.equal(false);
    await spoken.end();
  });

  it('has room for so many connections and says so to the next', async () => {
    const lines = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, () => Line.open(rig.paths.socket)));
    await Promise.all(lines.map((line) => line.send({ op: 'status' }).next()));
    const one = await Line.open(rig.paths.socket);
    expect(errorOf(await one.next())).to.equal('invalid_request');
    await Promise.all(lines.map((line) => line.end()));
    await until(async () => !errorOf(await asked(rig.paths.socket, { op: 'status' })), 'there is room again');
  });

  it('answers requests of one connection one after the other', async () => {
    const line = await Line.open(rig.paths.socket);
    line
      .send({ op: 'register', harness: 'fake', session: 'a', source: 'startup' })
      .send({ op: 'agents', harness: 'fake', session: 'a' });
    expect(await line.next()).to.have.property('boot');
    expect(await line.next()).to.include({ turn: 'unknown' });
    await line.end();
  });

  it('tells those who wait that the daemon goes, and whether another one comes', async () => {
    const session = await rig.session();
    const hook = await session.wait();
    const other = await Line.open(rig.paths.socket);
    other.send({ op: 'shutdown', restart: true });
    expect(await hook.next()).to.deep.equal({ v: 1, event: 'bye', restart: true });
    await rig.daemon.stopped;
    await until(() => hook.closed, 'it is closed');
    await rig.start({ clock });
    const again = await session.wait({ resumed: true });
    await rig.ask('shutdown');
    expect(await again.next()).to.deep.equal({ v: 1, event: 'bye' });
    await rig.daemon.stopped;
  });

  it('that somebody deleted makes room for a daemon that can be reached', async () => {
    const session = await rig.session();
    const hook = await session.wait();
    rmSync(rig.paths.socket);
    clock.pass(5_000);
    expect(await hook.next()).to.deep.equal({ v: 1, event: 'bye', restart: true });
    await rig.daemon.stopped;
    await rig.start({ clock });
    await session.wait({ resumed: true });
  });

  it('stays in use while its folder cannot be looked into', async () => {
    const session = await rig.session();
    const { state } = rig.paths;
    renameSync(state, `${state}.away`);
    symlinkSync(state, state);
    clock.pass(5_000);
    rmSync(state);
    renameSync(`${state}.away`, state);
    expect(rig.logged('daemon_stopping')).to.deep.equal([]);
    await session.wait();
  });

  it('ends by itself after ten minutes without anything to do', async () => {
    const session = await rig.session();
    clock.pass(700_000);
    expect(rig.logged('daemon_stopping')).to.deep.equal([]);
    await session.ask('end');
    const endedUs = clock.nowUs();
    await until(() => {
      clock.pass(10_000);
      return rig.logged('daemon_stopping').length > 0;
    }, 'it has nothing to do');
    expect((clock.nowUs() - endedUs) / 1e6).to.be.within(595, 625);
    await rig.daemon.stopped;
  });

  it('carries no secret in its frames, and neither do log, journal and status', async () => {
    const { seat, board } = await rig.seat();
    const token = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const session = await rig.session(seat);
    const hook = await session.wait();
    await rig.say(board, 'hello');
    const frames = [await hook.next(), await rig.ask('status'), await session.ask('agents')];
    const { journal, info } = rig.paths;
    const said = JSON.stringify(frames) + readFileSync(info, 'utf8');
    await hook.end();
    // Closing the journal puts all of it into one file.
    await rig.daemon.stop(false);
    const texts = [said, ...[rig.logFile, journal].map((path) => readFileSync(path, 'latin1'))];
    for (const secret of [token, server.dana.token!]) for (const text of texts) expect(text).to.not.contain(secret);
    // The journal keeps no body either.
    expect(texts[2]).to.not.contain('hello');
  });

  it('masks what looks like a secret in every line of the log', () => {
    for (const kind of ['aba', 'abh', 'abc', 'abd', 'abi', 'abl', 'abp'])
      expect(mask(`x ${kind}_${'s'.repeat(43)} y`)).to.equal(`x ${kind}_… y`);
    expect(mask('https://ana:secret@host/?key=secret&token=secret')).to.not.contain('secret');
  });

  it('refuses to start in a folder that others may open', async () => {
    await rig.daemon.stop(false);
    chmodSync(rig.paths.state, 0o755);
    const refused = await rig.start({ clock }).catch((error: { code: string }) => error.code);
    expect(refused).to.equal('socket_unsafe');
    chmodSync(rig.paths.state, 0o700);
  });
});
