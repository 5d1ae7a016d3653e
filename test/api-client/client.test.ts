/** The API's description as other programs take it: a linter, a generator of clients, and a client made by it. */
import { execFile, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import openapiTS, { astToString } from 'openapi-typescript';
import { openapi } from '../../src/contract/openapi/openapi.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const description = JSON.stringify(openapi('0.1.0'));

describe('the description of the API', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(async () => {
    rmSync(here('generated.d.ts'), { force: true });
    await server.stop();
  });

  it('has nothing that a linter finds', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const found = await lintFromString({ source: description, config });
    expect(found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)).to.deep.equal(
      [],
    );
  });

  it('makes a client that compiles, and that posts, reads, waits and follows', async () => {
    const types = astToString(await openapiTS(description, { defaultNonNullable: false }));
    writeFileSync(here('generated.d.ts'), types);
    const tsc = [here('node_modules/typescript/bin/tsc'), '-p', here('.'), '--noEmit'];
    const compiled = spawnSync(process.execPath, tsc, { encoding: 'utf8' });
    expect(compiled.status, compiled.stdout + compiled.stderr).to.equal(0);
    const env = { ...process.env, BASE_URL: server.url, TOKEN: server.dana.token! };
    const args = ['--disable-warning=ExperimentalWarning', here('program.ts')];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).to.deep.equal({
      repeated: true,
      read: ['hello'],
      waited: ['again'],
      refused: 'board_not_found',
    });
  });
});
