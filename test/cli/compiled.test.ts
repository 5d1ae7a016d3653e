/** What V8 compiled of a packed file is kept for the next process, and used for that very build only. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './support/root.ts';

describe('compiled code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'board-compiled-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const packed = join(folder, 'part.cjs');

  const pack = (word: string): void => {
    const code = `exports.say = () => '${word}'; exports.again = () => require('./part.cjs') === exports;\n`;
    writeFileSync(packed, `${code}//${createHash('sha256').update(code).digest('hex')}`);
  };
  const run = (): string => {
    const script = `
      import { enableCompileCache } from 'node:module';
      import { loadCompiled } from ${JSON.stringify(join(root, 'src', 'local', 'compiled.ts'))};
      enableCompileCache(${JSON.stringify(join(folder, 'cache'))});
      const { say, again } = loadCompiled(${JSON.stringify(packed)});
      console.log(say(), again());`;
    const env = { PATH: process.env['PATH'] };
    const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
    const { stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    return stdout.trim() || stderr;
  };
  const kept = (): string => {
    const file = (readdirSync(join(folder, 'cache'), { recursive: true }) as string[]).find((one) =>
      one.endsWith('.cjs'),
    );
    return join(folder, 'cache', file!);
  };

  it('is kept once, for its owner alone, and is not made again', () => {
    pack('one');
    expect(run()).to.equal('one true');
    const { mode, mtimeMs } = statSync(kept());
    expect(mode & 0o777).to.equal(0o600);
    expect(run()).to.equal('one true');
    expect(statSync(kept()).mtimeMs).to.equal(mtimeMs);
  });

  it('of another build of the same length is replaced', () => {
    pack('two');
    expect(run()).to.equal('two true');
    const replaced = readFileSync(kept());
    expect(run()).to.equal('two true');
    expect(readFileSync(kept())).to.deep.equal(replaced);
  });

  it('that is damaged is made again', () => {
    const whole = readFileSync(kept());
    for (const damaged of [whole.subarray(0, whole.length / 2), whole.subarray(0, 10), Buffer.alloc(0)]) {
      writeFileSync(kept(), damaged);
      expect(run()).to.equal('two true');
      expect(readFileSync(kept()).length).to.be.greaterThan(damaged.length);
    }
  });
});
