/** How a local server proves to whoever has its data folder that it runs on it. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { proofOf, secretOf } from '../../../src/local/own-server/own-agent.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { exchange, lines } from '../../support/raw.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { startTeamServer } from '../../support/team.ts';

const newChallenge = (): string => randomBytes(32).toString('base64url');

forEachDatabase('a challenge to a local server', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const proofFor = async (challenge: string, path = '/v1/info') =>
    (await fetch(`${server.url}${path}`, { headers: { 'X-Service-Challenge': challenge } })).headers.get(
      'x-service-proof',
    );

  it('is answered with what only the secret of its data folder gives, for the address at which it listens', async () => {
    const [challenge, secret] = [newChallenge(), secretOf({ data: server.dataDir })!];
    const proof = await proofFor(challenge);
    expect(proof)
      .to.match(/^[A-Za-z0-9_-]{43}$/)
      .and.to.equal(proofOf(secret, challenge, server.url));
    expect(proof).to.not.equal(proofOf(secret, challenge, 'http://127.0.0.1:7400'));
    expect(proof).to.not.equal(proofOf(randomBytes(32), challenge, server.url));
    expect(await proofFor(newChallenge())).to.not.equal(proof);
  });

  it('is ignored if it is invalid, and on requests other than for the info', async () => {
    for (const text of ['x', `${newChallenge()}=`, newChallenge().slice(1)])
      expect(await proofFor(text)).to.equal(null);
    expect(await proofFor(newChallenge(), '/v1/me')).to.equal(null);
    expect((await fetch(`${server.url}/v1/info`)).headers.get('x-service-proof')).to.equal(null);
  });

  it('is not answered by a team’s server, which anybody reaches', async () => {
    const team = await startTeamServer(engine);
    const challenge = `X-Service-Challenge: ${newChallenge()}`;
    const target = `http://127.0.0.1:${team.listening.port}`;
    const answer = await exchange(target, lines('GET /v1/info HTTP/1.1', 'Host: team.example.com', challenge));
    await team.stop();
    expect(answer.status).to.equal(200);
    expect(JSON.stringify(answer)).to.not.match(/service-proof/i);
  });
});
