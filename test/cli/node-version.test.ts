/** The program started by a Node that is too old for it, or where it was not built. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home, root } from './support/home.ts';

/** Makes the Node that loads it pass for this version; what it starts is what it is. */
const pretend = (version: string): string =>
  `Object.defineProperty(process, 'version', { value: 'v${version}' });
   Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;

describe('bin/run.js', () => {
  let home: Home;
  let folder: string;

  before(() => {
    home = new Home();
    folder = mkdtempSync(join(tmpdir(), 'board-package-'));
    for (const part of ['bin', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await home.close();
  });

  function start(program: string, version: string, args: string[]) {
    const old = join(folder, `${version}.cjs`);
    writeFileSync(old, pretend(version));
    return spawn(process.execPath, ['--require', old, program, ...args], {
      env: home.env,
      cwd: home.work,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async function run(program: string, version: string, ...args: string[]) {
    const child = start(program, version, args);
    const out = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        out[name] += String(chunk);
      });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...out };
  }

  it('refuses an older Node in one line that names the version found and the version needed', async () => {
    for (const version of ['22.17.1', '20.20.2', '18.0.0'])
      expect(await run(join(folder, 'bin', 'run.js'), version, '--version')).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: `service needs Node.js 22.18 or newer, but this is v${version}. Get a newer one from https://nodejs.org.\n`,
      });
  });

  it('names the line that builds where nothing is built', async () => {
    const child = spawn(process.execPath, [join(folder, 'bin', 'run.js'), '--version'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += String(chunk);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, stderr]).to.deep.equal([1, 'This checkout is not built yet. Run: npm ci && npm run build\n']);
  });

  it('goes on in the Node of a checkout', async () => {
    const link = join(folder, 'service');
    symlinkSync(join(root, 'bin', 'run.js'), link);
    const { code, stdout, stderr } = await run(link, '20.20.2', 'version', '--json');
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(JSON.parse(stdout).node).to.match(/^v24\./);
    const unknown = await run(link, '20.20.2', 'nothing');
    expect([unknown.code, unknown.stderr]).to.deep.equal([
      2,
      'Error (invalid_request): There is no command "nothing".\nHint: service help\n',
    ]);
  });

  it('passes a signal on to the Node of a checkout', async () => {
    const server = start(join(root, 'bin', 'run.js'), '20.20.2', ['serve']);
    let said = '';
    for await (const chunk of server.stderr) {
      said += String(chunk);
      if (said.includes('Listening at')) break;
    }
    const pid = home.serverPid()!;
    expect(pid).to.not.equal(server.pid);
    server.kill('SIGTERM');
    const [code] = (await once(server, 'exit')) as [number | null];
    expect(code).to.equal(0);
    expect(() => process.kill(pid, 0)).to.throw('ESRCH');
  });
});
