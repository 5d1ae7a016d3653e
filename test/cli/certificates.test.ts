/** Servers whose certificate is not accepted: each reason has words of its own, and says what to do. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CertificateOptions, makeCertificate } from '../support/certificate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Home } from './support/home.ts';

type Text = (host: string) => string;

const DAY = 86_400_000;
const at = (days: number) => new Date(Date.now() + days * DAY);

describe('a server with a certificate', function () {
  this.timeout(60_000);
  const home = new Home();
  const issuer = makeCertificate({ name: 'issuer' });
  const trusted = join(home.dir, 'issuer.pem');
  const servers: Server[] = [];
  let behind: TestServer;
  before(async () => {
    writeFileSync(trusted, issuer.cert);
    behind = await startTestServer('sqlite');
  });
  after(async () => {
    for (const server of servers) server.close();
    await home.close();
    await behind.stop();
  });

  async function listen(server: Server): Promise<string> {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A server that says what the true one says, under this certificate. */
  const listenWith = ({ cert, key }: { cert: string; key: string }) =>
    listen(
      createServer({ cert, key }, async ({ url }, response) => {
        const answer = await fetch(`${behind.url}${url}`);
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      }),
    );

  async function refused(host: string, env: Record<string, string> = {}): Promise<string[]> {
    const { code, stdout, stderr } = await home.run(['server', 'info', `https://${host}`], { env });
    expect([code, stdout], stderr).to.deep.equal([8, '']);
    return stderr.trimEnd().split('\n');
  }

  for (const [what, signed] of [
    ['signed by itself', undefined],
    ['of an issuer that nobody knows', issuer],
  ] as const)
    it(`is not trusted when it is ${what}, until NODE_EXTRA_CA_CERTS names its issuer`, async () => {
      const certificate = makeCertificate({ name: 'server', ...(signed ? { issuer: signed } : {}) });
      const host = await listenWith(certificate);
      expect(await refused(host)).to.deep.equal([
        `Error (server_unreachable): The certificate of ${host} is signed by nobody that this machine trusts.`,
        'Hint: If you trust its issuer, save the certificate of the issuer (PEM) and name the file in the environment: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
      ]);
      const file = join(home.dir, 'own.pem');
      writeFileSync(file, (signed ?? certificate).cert);
      const { info } = await home.json(['server', 'info', `https://${host}`], { env: { NODE_EXTRA_CA_CERTS: file } });
      expect(info).to.have.property('server_id');
    });

  const refusals: [what: string, wish: CertificateOptions, message: Text, hint: Text][] = [
    [
      'that has expired',
      { from: at(-9), until: at(-2) },
      (host) => `The certificate of ${host} has expired.`,
      () => "The operator of the server has to renew it. Check this machine's clock, too.",
    ],
    [
      'that is not valid yet',
      { from: at(2), until: at(9) },
      (host) => `The certificate of ${host} is not valid yet.`,
      () => "Check this machine's clock.",
    ],
    [
      'for another name',
      { hosts: [{ dns: 'other.example.com' }] },
      (host) => `The certificate of the server is not for ${host}.`,
      (host) => `Use the name that the certificate is for; or ask the operator of the server to get one for ${host}.`,
    ],
  ];
  for (const [what, wish, message, hint] of refusals)
    it(`${what} is refused in words of its own`, async () => {
      const host = await listenWith(makeCertificate({ name: 'server', issuer, ...wish }));
      expect(await refused(host, { NODE_EXTRA_CA_CERTS: trusted })).to.deep.equal([
        `Error (server_unreachable): ${message(host)}`,
        `Hint: ${hint(host)}`,
      ]);
    });

  it('may have none at all', async () => {
    const host = await listen(createHttp((_, response) => response.end('hello')));
    expect((await refused(host))[0]).to.equal(
      `Error (server_unreachable): What answers at ${host} does not speak TLS.`,
    );
  });
});
