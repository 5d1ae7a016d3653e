/** The README's tour, played from top to bottom in one clean home: what it shows is what happens. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home, root } from './support/home.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tour = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].map((match) => match[1] ?? '').join('');

interface Step {
  command: string;
  shown: string;
}

function steps(): Step[] {
  return tour
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...shown] = part.split('\n');
      return { command, shown: shown.join('\n') };
    });
}

/** What differs from machine to machine: the port, the person's name, folders, hashes. */
function plain(text: string, person: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:7400')
    .replace(/sha256:[0-9a-f]+/g, 'sha256:0123456789ab')
    .replace(/\/\S+\/credentials\.json/g, '~/.config/service/credentials.json')
    .replaceAll(`@${person}`, '@dana');
}

describe('the README', () => {
  const home = new Home();
  after(() => home.close());

  it('has a tour', () => {
    expect(steps().length).to.be.greaterThan(8);
  });

  it('shows what its commands print', async () => {
    const { stdout } = await home.shell('service whoami --json');
    const person = (JSON.parse(stdout) as { me: { name: string } }).me.name;
    await home.shell('service server stop');
    for (const { command, shown } of steps()) {
      const done = await home.shell(command.replaceAll('@dana', `@${person}`));
      // At a terminal both streams are seen; that the server was started is said once and not part of the tour.
      const said = done.stderr.replace(/^Started the local server.*\n/m, '');
      const exit = done.code === 0 ? '' : `[exit ${done.code}]\n`;
      expect(plain(done.stdout + said + exit, person).trimEnd(), `$ ${command}`).to.equal(shown.trimEnd());
    }
  });
});
