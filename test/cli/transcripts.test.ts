/** Sessions that anyone can read, run against the built program. Every file in the folder is one test. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home, root } from './support/home.ts';

const folder = join(root, 'test', 'cli', 'transcripts');

/** What may differ from run to run. */
const placeholders: Record<string, string> = {
  url: 'http://127\\.0\\.0\\.1:\\d+',
  person: '[a-z0-9-]+',
  // As wide as what stands above and below it.
  gap: ' +',
  n: '\\d+',
  hash: '[0-9a-f]+',
  secret: 'ab[ah]_[A-Za-z0-9_-]{32,}',
  path: '/\\S+',
  code: '[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}',
  id: '[a-z]+_[0-9A-HJKMNP-TV-Z]{26}',
  platform: '[a-z0-9]+-[a-z0-9]+',
  version: '\\d+\\.\\d+\\.\\d+',
};

/** In these the server is started as a process, if at all, and perhaps stopped. */
const aboutItsServer = /No server runs|Started the local server|service (serve|server|servers|storage)\b/;

interface Step {
  command: string;
  expected: string[];
  code: number;
}

/** `$` a command; `2>` a line on standard error; `[exit n]`; `…` any lines. */
function steps(text: string): Step[] {
  const found: Step[] = [];
  for (const line of text.split('\n')) {
    const exit = /^\[exit (\d+)\]$/.exec(line);
    const last = found.at(-1);
    if (line.startsWith('$ ')) found.push({ command: line.slice(2), expected: [], code: 0 });
    else if (exit && last) last.code = Number(exit[1]);
    else if (line !== '' && !line.startsWith('# ') && last) last.expected.push(line);
  }
  return found;
}

function pattern(expected: string[]): RegExp {
  const lines = expected.map((line) => {
    if (line === '…') return '(?:[^\\n]*\\n)*?';
    const quoted = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return `${quoted.replace(/<([a-z]+)>/g, (whole, name: string) => placeholders[name] ?? whole)}\\n`;
  });
  return new RegExp(`^${lines.join('')}$`);
}

async function play(home: Home, step: Step): Promise<void> {
  const { code, stdout, stderr } = await home.shell(step.command);
  const said = stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => `2> ${line}`);
  const printed = `${stdout}${said.map((line) => `${line}\n`).join('')}`;
  if (!pattern(step.expected).test(printed))
    expect.fail(`$ ${step.command}\nprinted:\n${printed}\nexpected:\n${step.expected.join('\n')}`);
  expect(code, `exit of $ ${step.command}`).to.equal(step.code);
}

describe('transcripts', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.transcript'));

  it('are found', () => expect(files.length).to.be.greaterThan(3));

  for (const file of files) {
    it(file.replace('.transcript', '').replaceAll('-', ' '), async () => {
      const text = readFileSync(join(folder, file), 'utf8');
      const home = new Home();
      try {
        if (!aboutItsServer.test(text)) await home.serve();
        for (const step of steps(text)) await play(home, step);
      } finally {
        await home.close();
      }
    });
  }
});
