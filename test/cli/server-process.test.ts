/** The process of a server, as the operating system shows it. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { serverFlags } from '../../src/local/server-process.ts';
import { freePort } from '../support/free-port.ts';
import { collect, finished, Home, until } from './support/home.ts';

describe('the process of a server', () => {
  const home = new Home();
  after(() => home.discard());

  it('is the one that was started, with flags of V8 that keep it small', async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    const child = home.start(['serve', '--data', join(home.dir, 'srv'), '--listen', listen]);
    const printed = collect(child);
    await until('it serves', () => printed().stderr.includes('Listening'));
    const words = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(child.pid)], { encoding: 'utf8' }).split(' ');
    expect(words.slice(1, 1 + serverFlags.length)).to.deep.equal(serverFlags);
    child.kill('SIGTERM');
    expect((await finished(child)).code).to.equal(0);
  });

  if (process.platform !== 'win32')
    it('lets running requests finish also where its terminal is closed, of which it may hear twice', async () => {
      const listen = `127.0.0.1:${await freePort()}`;
      const child = home.start(['serve', '--data', join(home.dir, 'srv'), '--listen', listen]);
      const printed = collect(child);
      await until('it serves', () => printed().stderr.includes('Listening'));
      const authorization = `Bearer ${readFileSync(join(home.dir, 'srv', 'local-key'), 'utf8').trim()}`;
      const headers = { authorization, 'content-type': 'application/json', expect: '100-continue' };
      const running = request(`http://${listen}/v1/boards`, { method: 'POST', headers });
      running.flushHeaders();
      await once(running, 'continue');
      child.kill('SIGHUP');
      await until('it stops', () => printed().stderr.includes('Stopping; running requests finish first.'));
      child.kill('SIGHUP');
      running.end('{}');
      const [answer] = (await once(running, 'response')) as [IncomingMessage];
      expect(answer.resume().statusCode).to.equal(201);
      expect((await finished(child)).code).to.equal(0);
    });

  if (process.platform === 'linux')
    it('has stopped when it has ended, also in a container whose first process asks after no other', async () => {
      const first = `require("node:child_process").spawnSync("sh", ["-c", process.argv[1]], { stdio: "inherit" })`;
      const script = 'service server start -q; service server stop; echo "exit $?"';
      const { stdout } = await home.shell(`unshare -rpf --mount-proc node -e '${first}' '${script}'`);
      expect(stdout).to.equal('Stopped the local server.\nexit 0\n');
    });
});
