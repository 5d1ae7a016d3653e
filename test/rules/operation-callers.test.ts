/** Nothing is offered that nobody asks for: every operation has a caller on the command line, or is somebody else's. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { operations } from '../../src/contract/operations.ts';
import { useCases } from '../../src/server/use-cases.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Called by the daemon alone. */
const daemonOnly = [
  'createDelegation',
  'createDelegatedBoard',
  'setPresence',
  'setLocation',
  'getDeliveryQueue',
  'reportDeliveryQueue',
  'selectPairingEndpoint',
  'acceptPairing',
  'verifyPairing',
];
/** Called by the page alone. */
const pageOnly = ['createBrowserSession', 'previewLoginCode', 'getMyBrowserSession', 'endMyBrowserSession'];
/** Nobody should call it any more. */
const deprecated = ['createBrowserToken'];

const names = Object.keys(operations);
const others = new Set([...daemonOnly, ...pageOnly, ...deprecated]);

const called = new Set<string>();
for (const folder of ['cli', 'commands', 'mcp', 'client']) {
  if (!existsSync(join(root, 'src', folder))) continue;
  for (const file of readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = readFileSync(join(root, 'src', folder, file), 'utf8');
    // The client reaches some by the table itself; only the command line's own words count as calls by name.
    const pattern = folder === 'client' ? /\broutes\.(\w+)/g : /(\bcall\(\s*)?'([A-Za-z]+)'/g;
    for (const [, first, second] of source.matchAll(pattern)) {
      // A name of one small word may stand for anything else.
      const name = second === undefined ? first! : first !== undefined || /[A-Z]/.test(second) ? second : '';
      if (Object.hasOwn(operations, name)) called.add(name);
    }
  }
}

const missing = names.filter((name) => !called.has(name) && !others.has(name));

describe('operations and their callers', () => {
  it('are found', () => {
    expect(called.size).to.be.greaterThan(60);
    expect([...called]).to.include.members(['search', 'openStream', 'postMessage', 'leaveSeat']);
  });

  it('are all there', () => {
    expect(missing).to.deep.equal([]);
  });

  it('leaves to the daemon and the page what is theirs', () => {
    expect([...daemonOnly, ...pageOnly].filter((name) => called.has(name))).to.deep.equal([]);
    const old = names.filter((name) => 'deprecated' in operations[name as keyof typeof operations]);
    expect(old).to.deep.equal(deprecated);
  });
});

describe('use cases', () => {
  it('each serve an operation', () => {
    const served = Object.keys(useCases);
    expect(served.sort()).to.deep.equal(names.sort());
  });
});
