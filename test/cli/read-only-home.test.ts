/** A home folder on a disk that cannot be written: named as what it is, by every command that has to keep something. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

if (process.platform === 'linux')
  describe('a read-only home folder', () => {
    let home: Home;
    let disk: string;
    before(() => {
      home = new Home();
      disk = join(home.dir, 'disk');
      mkdirSync(disk);
    });
    after(() => home.discard());

    /** @param prepare what is done there while it can be written. */
    const inside = (script: string, prepare = 'true') =>
      home.shell(
        `unshare -rm sh -c 'mount -t tmpfs -o size=8m,mode=0700 tmpfs ${disk}; cd ${disk}; ${prepare}; mount -o remount,ro ${disk}; ${script}'`,
        { env: { HOME: disk, SERVICE_HOME: '' } },
      );

    it('is what the error says, whether it was used before or not', async () => {
      const made = 'mkdir -m 700 -p .config/service .local/share/service .local/state/service .cache/service';
      for (const prepare of ['true', made])
        for (const command of ['board list', 'server start', 'serve', 'daemon start', 'init --yes']) {
          const { stderr, stdout } = await inside(`timeout 20 service ${command}; echo "exit $?"`, prepare);
          expect(stderr, command).to.match(
            /^Error \(folder_unwritable\): \S+ cannot be used: the file system is read-only\.\nHint: Make it writable, or set SERVICE_HOME to a folder elsewhere\n$/,
          );
          expect(stdout, command).to.equal('exit 1\n');
        }
    });

    it('of a kind in which no folder can be made ends the command, too', async () => {
      const env = { SERVICE_HOME: '/proc/none' };
      const { code, stderr } = await home.shell('timeout -s KILL 20 service server start', { env });
      expect([code, stderr.split('\n')[0]]).to.deep.equal([
        1,
        'Error (folder_unwritable): /proc/none cannot be used: no folder can be made there.',
      ]);
    });

    it('is what doctor finds, and not that the disk is full', async () => {
      const { stdout } = await inside('service doctor --json');
      const { checks } = JSON.parse(stdout);
      const found = checks.filter(({ level }: { level: string }) => level === 'error');
      expect(found.map(({ code }: { code: string }) => code)).to.deep.equal(['folder_unwritable']);
      expect(found[0].message).to.equal(`${disk} cannot be written, so nothing can be kept there.`);
    });
  });

if (process.platform === 'linux')
  describe('credentials that cannot be saved', () => {
    const home = homeWithBoard();
    /** With the folder of the credentials on a disk that cannot be written. */
    const inside = (script: string, folder = home().path('config')) =>
      home().shell(
        `unshare -rm sh -c 'mount --bind ${folder} ${folder} && mount -o remount,bind,ro ${folder} && { ${script}; echo "exit $?"; }'`,
      );
    const boards = async () =>
      (await home().json(['board', 'list'])).boards.map(({ name }: { name: string }) => name) as string[];
    const agents = async () =>
      (await home().json(['agents', '-b', 'demo'])).agents.map(({ name }: { name: string }) => name) as string[];

    it('of what is only noted keep no check of the record from telling what it found', async () => {
      const state = home().path('state');
      await home().json(['audit', 'verify', '-b', 'demo']);
      const lock = join(state, 'audit-heads.json.lock');
      for (const left of [false, true]) {
        if (left) {
          writeFileSync(lock, '');
          utimesSync(lock, 1, 1);
        }
        const { stdout, stderr } = await inside('timeout 20 service audit verify -b demo', state);
        expect(stdout, stderr).to.match(/^demo: \d+ events verified, head .+\nexit 0\n$/);
        expect(stderr).to.include('The end is not remembered: ').and.include('read-only');
      }
      rmSync(lock);
    });

    it('keep a seat from being made, whose token would be lost', async () => {
      const { code } = (await home().json(['code', 'create', '--board', 'demo', '--role', 'member'])).code;
      for (const command of ['agent create fixer --board demo', `join ${code} --name fixer`]) {
        const { stderr, stdout } = await inside(`service ${command}`);
        expect(stderr, command).to.match(
          /^Error \(folder_unwritable\): \S+ cannot be used: the file system is read-only\. Nothing was changed on the server\.\nHint: Make it writable\n$/,
        );
        expect(stdout, command).to.equal('exit 1\n');
      }
      expect(await agents()).to.deep.equal([]);
      await home().json(['join', code, '--name', 'fixer']);
      expect(await agents()).to.deep.equal(['fixer']);
    });

    it('keep a pair from being begun', async () => {
      const { stderr } = await inside('service pair --new --title "Two of us"');
      expect(stderr).to.include('Error (folder_unwritable)').and.include('Nothing was changed on the server.');
      expect(await boards()).to.deep.equal(['demo']);
    });

    it('are told of with the way out where the disk becomes full after the seat was made', async () => {
      const full = home().path('full.cjs');
      // The second time that the file is replaced, which is after the answer.
      writeFileSync(
        full,
        `const fs = require('node:fs');
         const { renameSync } = fs;
         let times = 0;
         fs.renameSync = (from, to) => {
           if (String(to).endsWith('credentials.json') && ++times === 2)
             throw Object.assign(new Error('no room'), { code: 'ENOSPC', path: to });
           renameSync(from, to);
         };`,
      );
      const env = { NODE_OPTIONS: `--require=${full}` };
      const create = ['agent', 'create', 'lost', '--board', 'demo'];
      const { code, stderr } = await home().run(create, { env });
      const url = (await home().json(['whoami'])).server.url;
      const path = home().path('config', 'credentials.json');
      expect(stderr).to.equal(
        `Error (folder_unwritable): ${path} cannot be used: the disk is full. lost has a seat on demo, and its token is lost.\nHint: Free some space; then remove the seat: service agent remove lost --board demo --server ${url}\n`,
      );
      expect(code).to.equal(1);
      const keyed = await home().run([...create.with(2, 'found'), '--idempotency-key', 'k1'], { env });
      expect(keyed.stderr).to.include(
        'found has a seat on demo, and its token was not saved.\nHint: Free some space; then run the same command again, which gets the same seat',
      );
      await home().json([...create.with(2, 'found'), '--idempotency-key', 'k1']);
      await home().json(['whoami', '--as', 'found']);
    });

    it('keep a key from being revoked that would not be forgotten', async () => {
      const { url } = (await home().json(['whoami'])).server;
      const { key } = await home().json(['key', 'create', 'laptop']);
      const other = new Home();
      try {
        const signedIn = await other.shell(`echo "$KEY" | service login ${url}`, { env: { KEY: key.token } });
        expect(signedIn.code, signedIn.stderr).to.equal(0);
        for (const command of ['logout --yes', 'key revoke laptop --yes']) {
          const folder = other.path('config');
          const { stderr, stdout } = await other.shell(
            `unshare -rm sh -c 'mount --bind ${folder} ${folder} && mount -o remount,bind,ro ${folder} && { service ${command}; echo "exit $?"; }'`,
          );
          expect(stderr, command).to.match(
            /^Error \(folder_unwritable\): \S+ cannot be used: the file system is read-only\. Nothing was changed on the server\.\nHint: Make it writable\n$/,
          );
          expect(stdout, command).to.equal('exit 1\n');
          expect((await other.json(['whoami'])).me.kind, command).to.equal('human');
        }
      } finally {
        await other.close();
      }
    });
  });
