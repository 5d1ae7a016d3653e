/** A checkout that nobody has built runs from its sources, and knows a command as soon as its file is there. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './support/root.ts';

const command = (word: string) => `
import { BaseCommand } from '../../cli/base.ts';

export default class BoardGreet extends BaseCommand<typeof BoardGreet> {
  static override summary = 'Say ${word}';
  static override description = 'Says it once.';
  static override examples = ['service board greet'];
  static override flags = {};

  override async run(): Promise<void> {
    this.out.print({ said: '${word}' }, () => '${word}');
  }
}
`;

describe('an unbuilt checkout', () => {
  let checkout: string;

  before(() => {
    checkout = mkdtempSync(join(tmpdir(), 'board-unbuilt-'));
    for (const name of ['bin', 'migrations', 'package.json', 'src', 'tools'])
      cpSync(join(root, name), join(checkout, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  });

  after(() => rmSync(checkout, { recursive: true, force: true }));

  const service = (...args: string[]) => {
    const env = { PATH: process.env['PATH'], SERVICE_HOME: join(checkout, 'home'), NODE_NO_WARNINGS: '1' };
    return spawnSync(process.execPath, [join(checkout, 'bin', 'dev.js'), ...args], { env, encoding: 'utf8' });
  };

  it('has the commands of its sources without a manifest, and writes the same one as a build', () => {
    const { stdout, stderr } = service('version');
    expect(stderr).to.equal('');
    expect(stdout).to.include('0.1.0');
    const manifest = 'oclif.manifest.json';
    expect(readFileSync(join(checkout, manifest), 'utf8')).to.equal(readFileSync(join(root, manifest), 'utf8'));
    expect(existsSync(join(checkout, 'dist'))).to.equal(false);
  });

  it('knows a new command, what it becomes, and that it is gone', () => {
    const file = join(checkout, 'src', 'commands', 'board', 'greet.ts');
    writeFileSync(file, command('hello'));
    expect(service('board', 'greet').stdout).to.equal('hello\n');
    expect(service('help', 'board').stdout).to.include('Say hello');
    writeFileSync(file, command('goodbye'));
    expect(service('help', 'board').stdout).to.include('Say goodbye');
    rmSync(file);
    expect(service('board', 'greet').status).to.equal(2);
  });
});
