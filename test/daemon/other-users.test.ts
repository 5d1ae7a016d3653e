/**
 * The daemon's socket and files are their user's alone. Whoever may become another user tries it as one; everybody looks at
 * owners and modes, and at what is refused where they are wrong.
 */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { checkFolder, checkSocket } from '../../src/daemon/control/address.ts';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { asked } from './support/line.ts';
import { Played } from './support/played.ts';

const run = promisify(execFile);
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** What another user's process reaches of these paths: reading each, and speaking at the socket. */
const trying = `
  const [socket, ...paths] = process.argv.slice(1);
  const fs = require('node:fs');
  const outcomes = {};
  for (const path of paths) {
    try { fs.statSync(path).isDirectory() ? fs.readdirSync(path) : fs.readFileSync(path); outcomes[path] = 'read'; }
    catch (error) { outcomes[path] = error.code; }
    try { fs.writeFileSync(path + '.other', 'x'); outcomes[path] += ' written'; } catch {}
  }
  const line = require('node:net').connect(socket);
  const done = (outcome) => { console.log(JSON.stringify({ uid: process.getuid(), ...outcomes, socket: outcome })); process.exit(); };
  line.on('error', (error) => done(error.code));
  line.on('connect', () => line.write('{"v":1,"op":"status"}\\n'));
  line.on('data', () => done('answered'));
  line.on('close', () => done('closed'));
`;

describe('other users of the machine', () => {
  let server: TestServer;
  let played: Played;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    played = await Played.begin(server);
    await played.say('secret words');
    await played.settled();
    // The way there is open, so that only what is the daemon's own keeps them out.
    chmodSync(played.machine.home, 0o755);
  });
  afterEach(() => played.end());

  const owned = () => {
    const { state, config } = played.machine.folders;
    return [state, config].flatMap((folder) => [
      folder,
      ...(readdirSync(folder, { recursive: true }) as string[]).map((name) => join(folder, name)),
    ]);
  };

  it('find every file of the daemon owned by its user, folders 0700, files 0600', () => {
    const paths = owned();
    for (const name of ['daemon.sock', 'daemon.lock', 'daemon.json', 'daemon.log', 'delivery.db', 'credentials.json'])
      expect(
        paths.some((path) => path.endsWith(name)),
        name,
      ).to.equal(true);
    for (const path of paths) {
      const stat = lstatSync(path);
      expect(stat.uid, path).to.equal(process.getuid!());
      expect(stat.isSymbolicLink(), path).to.equal(false);
      expect((stat.mode & 0o777).toString(8), path).to.equal(stat.isDirectory() ? '700' : '600');
    }
  });

  it('are kept out by the system: no word at the socket, no byte of a file', async () => {
    const { socket } = daemonPaths(played.machine.folders);
    const paths = owned();
    const own = JSON.parse((await run(process.execPath, ['-e', trying, socket, ...paths])).stdout);
    expect(own.socket).to.equal('answered');
    for (const path of paths) rmSync(`${path}.other`, { force: true });
    if (!isRoot) return;
    // The same program as somebody else.
    const node = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', process.execPath];
    const { stdout } = await run('setpriv', [...node, '-e', trying, socket, ...paths], { cwd: '/' });
    const { uid, socket: said, ...tried } = JSON.parse(stdout) as Record<string, unknown>;
    expect([uid, said]).to.deep.equal([NOBODY, 'EACCES']);
    for (const [path, outcome] of Object.entries(tried)) expect(outcome, path).to.equal('EACCES');
    expect((await asked(socket, { op: 'status' }))['pid']).to.equal(played.daemon.child.pid);
  });

  it('cannot put a folder or a socket in the way: what is not this user’s own is refused with `socket_unsafe`', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-others-'));
    const codeOf = (work: () => unknown) => {
      try {
        work();
        return 'ok';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    const socket = join(folder, 'daemon.sock');
    const listening = createServer();
    await new Promise<void>((resolve) => listening.listen(socket, resolve));
    try {
      chmodSync(socket, 0o600);
      expect(codeOf(() => checkSocket(socket))).to.equal('ok');
      for (const mode of [0o701, 0o710, 0o777, 0o704]) {
        chmodSync(folder, mode);
        expect(
          codeOf(() => checkFolder(folder)),
          mode.toString(8),
        ).to.equal('socket_unsafe');
        expect(
          codeOf(() => checkSocket(socket)),
          mode.toString(8),
        ).to.equal('socket_unsafe');
      }
      chmodSync(folder, 0o700);
      for (const mode of [0o666, 0o660, 0o604, 0o777]) {
        chmodSync(socket, mode);
        expect(
          codeOf(() => checkSocket(socket)),
          mode.toString(8),
        ).to.equal('socket_unsafe');
      }
      chmodSync(socket, 0o600);
      mkdirSync(join(folder, 'real'), { mode: 0o700 });
      symlinkSync(join(folder, 'real'), join(folder, 'link'));
      expect(codeOf(() => checkFolder(join(folder, 'link')))).to.equal('socket_unsafe');
      if (!isRoot) return;
      chownSync(socket, NOBODY, NOBODY);
      expect(codeOf(() => checkSocket(socket))).to.equal('socket_unsafe');
      chownSync(folder, NOBODY, NOBODY);
      // Such as the folder of the person for whom `sudo` runs this: nothing is to be removed there.
      expect(() => checkFolder(folder))
        .to.throw()
        .and.include({ code: 'socket_unsafe', hint: `ls -ld '${folder}'` });
    } finally {
      await new Promise((resolve) => listening.close(resolve));
      rmSync(folder, { recursive: true });
    }
  });
});
