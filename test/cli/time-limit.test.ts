/** `--timeout`: for all requests of a command, and for each where there may be any number. Each one takes twelve seconds here. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('--timeout', () => {
  const home = homeWithBoard();
  let env: { NODE_OPTIONS: string };

  before(async () => {
    const slow = home().path('slow.cjs');
    writeFileSync(
      slow,
      `const http = require('node:http');
       const { request } = http;
       const now = performance.now.bind(performance);
       let ahead = 0;
       performance.now = () => now() + ahead;
       http.request = (...args) => {
         ahead += 12_000;
         return request(...args);
       };
       require('node:module').syncBuiltinESMExports();`,
    );
    env = { NODE_OPTIONS: `--require=${slow}` };
    for (const name of ['one', 'two', 'three']) await home().json(['board', 'create', name]);
  });

  const invite = ['invite', 'create', '--board', 'one', '--board', 'two', '--board', 'three'];
  const invites = async () => (await home().json(['invite', 'list'])).invites.length as number;

  it('is for all requests of the command together', async () => {
    const { code, stdout } = await home().run([...invite, '--json'], { env });
    const { error } = JSON.parse(stdout);
    expect([code, error.code, error.details]).to.deep.equal([8, 'request_timeout', { phase: 'total' }]);
    expect(await invites()).to.equal(0);
    for (const timeout of ['100', '0'])
      expect((await home().run([...invite, '--timeout', timeout], { env })).code, timeout).to.equal(0);
    expect(await invites()).to.equal(2);
  });

  it('is for each where a list is read to its end', async () => {
    for (const body of ['word one', 'word two', 'word three']) await home().json(['say', body, '-b', 'one']);
    for (const args of [
      ['audit', 'verify', '-b', 'one'],
      ['search', 'word', '-b', 'one', '--all', '--limit', '1'],
      // The page that is read, and the mark.
      ['read', '-b', 'one', '--ndjson', '--mark-read'],
    ]) {
      const { code, stderr } = await home().run([...args, '--timeout', '20'], { env });
      expect(code, args.join(' ') + stderr).to.equal(0);
    }
  });
});
