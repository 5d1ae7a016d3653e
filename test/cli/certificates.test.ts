/** Servers whose certificate is not accepted: each reason has words of its own, and says what to do. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type request, type ServerResponse } from 'node:http';
import { createServer, type RequestOptions, request as secureRequest } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { originHttp } from '../../src/daemon/server-link/http.ts';
import { fetchBy } from '../../src/local/node-fetch.ts';
import { type CertificateOptions, makeCertificate } from '../support/certificate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Home } from './support/home.ts';

type Text = (host: string) => string;

const DAY = 86_400_000;
const at = (days: number) => new Date(Date.now() + days * DAY);

describe('a server with a certificate', () => {
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
    it(`is not trusted when it is ${what}, until the environment names its issuer`, async () => {
      const certificate = makeCertificate({ name: 'server', ...(signed ? { issuer: signed } : {}) });
      const host = await listenWith(certificate);
      expect(await refused(host)).to.deep.equal([
        `Error (server_unreachable): The certificate of ${host} is signed by nobody that this machine trusts.`,
        'Hint: If you trust its issuer, save the certificate of the issuer (PEM) and name the file in the environment: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
      ]);
      const file = join(home.dir, 'own.pem');
      writeFileSync(file, (signed ?? certificate).cert);
      for (const name of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']) {
        const { info } = await home.json(['server', 'info', `https://${host}`], { env: { [name]: file } });
        expect(info, name).to.have.property('server_id');
      }
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

  it('may be what is missing where the address begins with http', async () => {
    const host = await listenWith(makeCertificate({ name: 'server', issuer }));
    const { code, stderr } = await home.shell(`echo abh_${'x'.repeat(43)} | service login http://${host}`);
    expect([code, stderr]).to.deep.equal([
      8,
      `Error (server_unreachable): http://${host} ended the connection without an answer; it may speak TLS.\n` +
        `Hint: Then its address begins with https: service login https://${host}\n`,
    ]);
  });

  it('gets a body also where nothing before it asks for one', async () => {
    const { cert, key } = makeCertificate({ name: 'server', issuer });
    let got = '';
    const host = await listen(
      createServer({ cert, key }).on('checkContinue', async (request: IncomingMessage, response: ServerResponse) => {
        got = await text(request);
        response.end('{}');
      }),
    );
    const url = new URL(`https://${host}/v1/files`);
    const init = { method: 'PUT', body: new Blob(['The valve.']).stream() };
    const { status } = await fetchBy(secureRequest as typeof request, url, init, { ca: issuer.cert } as RequestOptions);
    expect([status, got]).to.deep.equal([200, 'The valve.']);
  });

  describe('that only a proxy reaches', () => {
    const url = 'https://team.example.com';
    const hint = 'Hint: Check the proxy that HTTPS_PROXY names; servers that need none are named in NO_PROXY.';
    const asked: string[] = [];
    let env: Record<string, string>;
    let answer: (socket: Duplex) => void;
    before(async () => {
      const certificate = makeCertificate({ name: 'server', issuer, hosts: [{ dns: 'team.example.com' }] });
      const [, port] = (await listenWith(certificate)).split(':');
      const proxy = createHttp().on('connect', ({ url: wanted }, socket) => {
        asked.push(String(wanted));
        answer(socket);
      });
      env = { HTTPS_PROXY: `http://${await listen(proxy)}`, NODE_EXTRA_CA_CERTS: trusted };
      answer = (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(connect(Number(port), '127.0.0.1')).pipe(socket);
      };
    });

    it('is asked through it, unless NO_PROXY names the server', async () => {
      const { info } = await home.json(['server', 'info', url], { env });
      expect(info).to.have.property('server_id');
      expect(asked).to.deep.equal(['team.example.com:443']);
      const [error] = await refused('team.example.com', { ...env, NO_PROXY: '.example.com' });
      expect(error).to.include('The name of the server was not found.');
    });

    it('is asked through it by the daemon', async () => {
      const daemonEnv = { HTTPS_PROXY: env['HTTPS_PROXY'], SSL_CERT_FILE: trusted };
      Object.assign(process.env, daemonEnv);
      const http = originHttp(url, null);
      try {
        expect(await http.fetch(`${url}/v1/info`)).to.include({ status: 200 });
        expect(asked).to.deep.equal(['team.example.com:443', 'team.example.com:443']);
      } finally {
        http.close();
        for (const name of Object.keys(daemonEnv)) delete process.env[name];
      }
    });

    it('is asked without one where what stands there is no address of a proxy', async () => {
      asked.length = 0;
      const host = await listenWith(makeCertificate({ name: 'server', issuer }));
      for (const HTTPS_PROXY of ['http://maya:hunter%22%@127.0.0.1:9', 'http://']) {
        const { info } = await home.json(['server', 'info', `https://${host}`], { env: { ...env, HTTPS_PROXY } });
        expect(info, HTTPS_PROXY).to.have.property('server_id');
        const { checks } = JSON.parse((await home.run(['doctor', '--json'], { env: { ...env, HTTPS_PROXY } })).stdout);
        const [found] = checks.filter(({ name }: { name: string }) => name === 'network');
        expect(found.message).to.equal('HTTPS_PROXY is not the address of a proxy.');
      }
      expect(asked).to.deep.equal([]);
    });

    it('is not reached without one, which is not used because of what stands there or of this version of Node.js', async () => {
      const old = join(home.dir, 'old.cjs');
      writeFileSync(
        old,
        `Object.defineProperty(process.versions, 'node', { value: '22.18.0' });
        const https = require('node:https');
        const proxiless = ({ proxyEnv, ...options }) => options;
        https.Agent = class extends https.Agent { constructor(options) { super(proxiless(options)); } };`,
      );
      const outdated = { ...env, NO_PROXY: '.example.com', NODE_OPTIONS: `--require=${old}` };
      for (const given of [{ HTTPS_PROXY: 'proxy.corp:3128' }, outdated])
        expect((await refused('team.invalid', given))[1]).to.equal(
          'Hint: The proxy that HTTPS_PROXY names is not used; service doctor says why.',
        );
      for (const NO_PROXY of ['.invalid', 'example.com, Team.Invalid', '*'])
        expect((await refused('team.invalid', { ...outdated, NO_PROXY }))[1], NO_PROXY).to.equal(
          'Hint: Check that the address https://team.invalid is right, and that this machine has a network.',
        );
      const host = await listen(createHttp());
      servers.pop()?.close();
      expect((await refused(host, outdated))[1]).to.equal(
        `Hint: Check the network and that the server at https://${host} is running.`,
      );
    });

    it('goes past it where the server is on this machine', async () => {
      asked.length = 0;
      const host = await listenWith(makeCertificate({ name: 'server', issuer }));
      await home.json(['server', 'info', `https://${host}`], { env });
      expect(asked).to.deep.equal([]);
    });

    it('is not reached where the proxy refuses', async () => {
      answer = (socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      expect(await refused('team.example.com', env)).to.deep.equal([
        'Error (server_unreachable): The proxy makes no connection to the server.',
        hint,
      ]);
    });

    it('is not reached where the proxy does not run, or its name is not found', async () => {
      const closed = createHttp();
      const host = await listen(closed);
      closed.close();
      for (const proxy of [host, host.replace('127.0.0.1', 'localhost'), 'proxy.invalid:3128']) {
        expect(await refused('team.example.com', { ...env, HTTPS_PROXY: `http://${proxy}` })).to.deep.equal([
          'Error (server_unreachable): The proxy cannot be reached.',
          hint,
        ]);
      }
    });
  });
});
