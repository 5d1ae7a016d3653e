/** What `npm pack` makes of sources that were not built, and what it installs. */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { root } from './support/home.ts';

const SIZE_MIB = 45;

interface Packed {
  filename: string;
  files: { path: string }[];
}

describe('the package', function () {
  this.timeout(180_000);
  let folder: string;
  let packed: Packed;

  const done = (command: string, args: string[], options: SpawnSyncOptions): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
    return String(stdout);
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'board-pack-'));
    const clone = join(folder, 'clone');
    const tracked = done('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root });
    for (const file of tracked.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
      mkdirSync(dirname(join(clone, file)), { recursive: true });
      cpSync(join(root, file), join(clone, file));
    }
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
    const printed = done('npm', ['pack', '--json', '--pack-destination', folder], { cwd: clone });
    packed = (JSON.parse(printed.slice(printed.indexOf('['))) as Packed[])[0]!;
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('holds the program and its documentation, nothing of tests or of the build', () => {
    const paths = packed.files.map(({ path }) => path);
    const top = [...new Set(paths.map((path) => path.split('/')[0]!))].sort();
    expect(top).to.deep.equal([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin',
      'dist',
      'docs',
      'man',
      'oclif.manifest.json',
      'package.json',
      'schemas',
    ]);
    expect(paths.filter((path) => path.startsWith('bin/'))).to.deep.equal([
      'bin/other-node.js',
      'bin/package.json',
      'bin/run.js',
    ]);
    expect(paths.filter((path) => /\.ts$|\.test\.|\.map$/.test(path))).to.deep.equal([]);
  });

  it('names every man page, and may be published', () => {
    const { man, ...rest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(man).to.deep.equal(
      readdirSync(join(root, 'man'))
        .sort()
        .map((page) => `./man/${page}`),
    );
    expect(rest).to.not.have.property('private');
    expect(rest.publishConfig).to.include({ provenance: true });
  });

  it('installed into an empty prefix starts, posts and verifies', async () => {
    const prefix = join(folder, 'prefix');
    const home = join(folder, 'home');
    mkdirSync(home);
    const install = ['install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'];
    // Without a compiler on the path.
    const path = [join(prefix, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
    const compiler = { npm_config_node_gyp: '/bin/false', CC: '/bin/false', CXX: '/bin/false' };
    done('npm', [...install, join(folder, packed.filename)], { env: { ...process.env, ...compiler } });

    const installed = join(prefix, 'lib', 'node_modules', 'board-service');
    expect(sizeOf(installed) / 2 ** 20).to.be.below(SIZE_MIB);
    expect(existsSync(join(installed, 'node_modules', 'node'))).to.equal(false);

    const env = { HOME: home, PATH: path, SERVICE_LOCAL_ADDR: `127.0.0.1:${await freePort()}` };
    const service = (...args: string[]): string => done(join(prefix, 'bin', 'service'), args, { cwd: home, env });
    try {
      expect(service('version')).to.include(`node ${process.version}`);
      service('board', 'create', 'kitchen');
      expect(service('say', 'The tap drips.')).to.equal('Posted #3 to all on kitchen\n');
      expect(service('audit', 'verify')).to.match(/^kitchen: 3 events verified/);
      expect(Object.keys(JSON.parse(service('audit', 'verify', '--json=board_id,events')))).to.have.length(2);
      expect(service('harness', 'test', 'claude-code', '--only', 'idle')).to.equal('pass  idle\n');
    } finally {
      service('server', 'stop');
    }
  });
});

/** Bytes on disk of a folder and all below it. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + lstatSync(join(folder, name)).blocks * 512,
    0,
  );
}
