/** Text reaches a terminal in one way: nothing of the command line writes to it past that. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const files = ['cli', 'commands'].flatMap((folder) =>
  readdirSync(join(src, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
);
const holding = (pattern: RegExp) => files.filter((name) => pattern.test(readFileSync(join(src, name), 'utf8')));

describe('the terminal', () => {
  it('is written to by terminal.ts alone', () => {
    // An empty text only waits until everything is out.
    const writing = /\b(?:stdout|stderr)\.write\((?!'',)|\bconsole\.|\bwriteSync\([12],/;
    expect(holding(writing)).to.deep.equal(['cli/terminal/terminal.ts']);
  });

  it('shows questions by prompts.ts alone', () => {
    expect(holding(/inquirer|readline/)).to.deep.equal(['cli/terminal/prompts.ts']);
  });
});
