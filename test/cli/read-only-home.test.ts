/** A home folder on a disk that cannot be written: named as what it is, by every command that has to keep something. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home } from './support/home.ts';

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
