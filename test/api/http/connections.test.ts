import { once } from 'node:events';
import { expect } from 'chai';
import { forEachDatabase } from '../../support/databases.ts';
import { bothEnds, parse } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

forEachDatabase('a connection', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('on which something else than a request came is let go, also where its client keeps it', async () => {
    const { client, serverEnd } = await bothEnds(server.url, { allowHalfOpen: true });
    let answer = '';
    client.on('data', (bytes) => {
      answer += bytes;
    });
    client.on('error', () => {});
    client.write('this is no request\r\n\r\n');
    await once(client, 'end');
    expect(parse(answer)).to.include({ status: 400, code: 'invalid_request' });
    expect(serverEnd.destroyed, 'at once').to.equal(false);
    server.clock.advance(1_000);
    await until(() => serverEnd.destroyed, 'the server lets it go', 5_000);
    client.destroy();
  });
});
