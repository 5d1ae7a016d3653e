/** Getting a file onto a disk that is full or cannot be written: said, nothing half written, and what was there stays. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { homeWithBoard } from './support/shared.ts';

describe('a file that has no place here', () => {
  const home = homeWithBoard('docs', { apart: true });
  before(async () => {
    await home().json(['server', 'start']);
    writeFileSync(join(home().work, 'big.txt'), 'x'.repeat(3_000_000));
    await home().json(['file', 'put', 'big.txt']);
    mkdirSync(join(home().work, 'folder'));
  });

  const refused = async (args: string[], code: string) => {
    const result = await home().run([...args, '--json']);
    const { error } = JSON.parse(result.stdout);
    expect([error.code, result.code], args.join(' ')).to.deep.equal([code, 1]);
    return error.message as string;
  };

  it('is refused with the reason: no such folder, a file where a folder should be, a folder where a file should be', async () => {
    const put = ['file', 'get', 'big.txt'];
    expect(await refused([...put, 'nowhere/big.txt'], 'folder_unwritable')).to.include('its folder is not there');
    expect(await refused([...put, 'big.txt/in.txt'], 'folder_unwritable')).to.include('its folder is a file');
    for (const force of [[], ['--force']])
      expect(await refused([...put, 'folder', ...force], 'folder_unwritable')).to.include('it is a folder');
    expect(readdirSync(home().work).sort()).to.deep.equal(['.service', 'big.txt', 'folder']);
  });

  if (process.platform === 'linux') {
    /** A script in a place where a folder is a disk of its own. */
    const onDisk = (size: string, script: string, folder = 'disk') => {
      mkdirSync(join(home().work, 'disk'), { recursive: true });
      const mount = `mount -t tmpfs -o size=${size},mode=0700 tmpfs ${folder}`;
      return home().shell(`unshare -rm sh -c '${mount} && ${script}'`);
    };

    it('is refused where the disk is full, and what was there stays', async () => {
      const get = 'service file get big.txt disk/big.txt';
      const full = await onDisk(
        '1m',
        `echo mine > disk/big.txt; ${get} --force; echo "exit $?"; ls disk; cat disk/big.txt`,
      );
      expect(full.stderr).to.equal(
        'Error (folder_unwritable): disk/big.txt cannot be written: the disk is full. What was there is as it was.\nHint: Name another path, or - for standard output\n',
      );
      expect(full.stdout).to.equal('exit 1\nbig.txt\nmine\n');
      const room = await onDisk(
        '1m',
        `${get} -q; mount -o remount,size=8m disk; ${get} -q && cmp big.txt disk/big.txt && ls disk`,
      );
      expect(room.stdout).to.equal('big.txt\n');
    });

    it('is told by storage copy, which goes on once there is room', async () => {
      const copy = `service storage copy --from disk://${home().path('data', 'files')} --to disk://$PWD/disk/files`;
      const { stdout, stderr } = await onDisk('1m', `${copy}; echo "exit $?"; mount -o remount,size=8m disk; ${copy}`);
      expect(stderr).to.equal(
        'Error (storage_full): There is no room left where the files go.\nHint: Free some space there, then run it again: what was copied stays.\n',
      );
      expect(stdout).to.equal('exit 1\nCopied 1, 0 were there already, 0 could not be copied.\n');
    });

    it('is named where the data of a server is on it, by its start and by the tools, which go on once there is room', async () => {
      await home().json(['server', 'stop']);
      const data = '--data "$PWD/disk" --json';
      const tools = ['storage migrate', 'storage check'];
      const start = `timeout 20 service serve ${data} --listen 127.0.0.1:${await freePort()}`;
      const all = [start, ...tools.map((tool) => `service ${tool} ${data}`)].join('; ');
      const full = `head -c 32000000 /dev/zero > disk/other 2>/dev/null; ${all}`;
      const script = `cp -a ${home().path('data')}/. disk && { ${full}; rm -f disk/service.db-*; mount -o remount,ro disk; ${all}; mount -o remount,rw disk; rm disk/other; ${all.slice(start.length + 1)}; }`;
      const { stdout } = await onDisk('16m', script);
      const told = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).error ?? {});
      const codes = told.map(({ code }) => code);
      for (const code of codes.slice(0, 3)) expect(code).to.be.oneOf(['storage_full', 'storage_unreachable']);
      expect(codes.slice(3)).to.deep.equal([...Array(3).fill('storage_unreachable'), undefined, undefined]);
      for (const { hint } of told.slice(0, 6)) expect(hint).to.match(/Free some space|Look at its disk/);
    });

    it('is foretold by doctor, of the disk of the server that it looks at', async () => {
      const result = await onDisk('4m', 'SERVICE_DATA="$PWD/disk" service doctor --json');
      const { checks } = JSON.parse(result.stdout) as { checks: { name: string; code: string; message: string }[] };
      const full = checks.filter(({ code }) => code === 'storage_full').map(({ name, message }) => [name, message]);
      expect(full).to.deep.equal([['disk', `Only 4.2 MB free where ${join(home().work, 'disk')} is.`]]);
    });

    it('is refused where the disk cannot be written', async () => {
      const result = await onDisk(
        '8m',
        'mount -o remount,ro disk; service file get big.txt disk/big.txt; echo "exit $?"',
      );
      expect(result.stderr).to.include(
        'Error (folder_unwritable): disk/big.txt cannot be written: the file system is read-only.',
      );
      expect(result.stdout).to.equal('exit 1\n');
    });

    it('is refused as an export of a record too, which needs no links', async () => {
      const name = 'disk/record.ndjson';
      const full = await onDisk('16k', `head -c 16384 /dev/zero > disk/other; service audit export ${name}; ls disk`);
      expect(full.stderr).to.equal(
        `Error (folder_unwritable): ${name} cannot be written: the disk is full. What was there is as it was.\nHint: Name another path, or - for standard output\n`,
      );
      expect(full.stdout).to.equal('other\n');
      const noLinks = join(home().dir, 'no-links.cjs');
      const refuse = "throw Object.assign(new Error('no links here'), { code: 'EPERM', path: 'draft' });";
      writeFileSync(noLinks, `require('node:fs').linkSync = () => { ${refuse} };`);
      const env = { NODE_OPTIONS: `--require=${noLinks}` };
      const written = await home().run(['audit', 'export', 'record.ndjson', '--quiet'], { env });
      expect([written.stderr, written.code]).to.deep.equal(['', 0]);
    });

    it('is taken from a pipe where another one has just removed what it kept aside', async () => {
      const spool = home().path('cache', 'spool');
      mkdirSync(spool, { recursive: true, mode: 0o700 });
      // It is listed, and is not there when it is looked at.
      symlinkSync(join(spool, 'none'), join(spool, 'gone'));
      const { stdout, stderr } = await home().shell('echo one | service file put piped.md - --json');
      rmSync(spool, { recursive: true });
      expect(JSON.parse(stdout).version, stdout + stderr).to.equal(1);
      await home().json(['file', 'remove', 'piped.md', '--yes']);
    });

    it('is not taken from a pipe where there is no room to keep it aside, and nothing of it stays', async () => {
      const cache = home().path('cache');
      mkdirSync(cache, { recursive: true, mode: 0o700 });
      const script = `head -c 3000000 /dev/zero | service file put piped.bin -; echo "exit $?"; ls ${cache}/spool`;
      const result = await onDisk('1m', script, cache);
      expect(result.stdout).to.equal('exit 1\n');
      expect(result.stderr).to.match(
        /^Error \(folder_unwritable\): A file cannot be used: the disk is full\.\nHint: Free some space/,
      );
      const { files } = await home().json(['file', 'list']);
      expect(files.map(({ name }: { name: string }) => name)).to.deep.equal(['big.txt']);
    });

    it('leaves the saved keys as they were where only a part of their file has room', async () => {
      const kept = join(home().work, 'credentials.json');
      const seat = { token: 'aba_x', board_id: 'brd_x', board: 'x', name: 'x', role: 'member', created_at: '' };
      const seats = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`mem_${n}`, seat]));
      const entry = { server_id: 'srv_1', name: 'a', mode: 'team', person: null, key: null, seats };
      writeFileSync(kept, JSON.stringify({ v: 1, default: null, servers: { 'https://a.example': entry } }));
      const place = `${home().path('config')}/credentials.json`;
      const fill = `install -m 600 ${kept} ${place}; head -c 60000 /dev/zero > ${home().path('config')}/other`;
      const result = await onDisk(
        '100k',
        `${fill}; service servers use a; echo "exit $?"; cmp ${kept} ${place} && ls ${home().path('config')}`,
        home().path('config'),
      );
      expect(result.stderr).to.match(/^Error \(folder_unwritable\): A file cannot be used: the disk is full\.\n/);
      expect(result.stdout).to.equal('exit 1\ncredentials.json\nother\n');
    });
  }
});
