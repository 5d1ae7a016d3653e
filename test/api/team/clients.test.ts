import { expect } from 'chai';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { binary, binaryFrom, line } from '../../support/preamble.ts';
import { exchange, lines, open } from '../../support/raw.ts';
import { startTeamServer, type TeamServer, type TeamStart } from '../../support/team.ts';
import { until } from '../../support/until.ts';

const asking = { body: { handle: 'nobody-here', label: 'box' } };
const GET = lines('GET /v1/info HTTP/1.1', 'Host: team.example.com');

const started = (engine: Engine, options: TeamStart): (() => TeamServer) => {
  let server: TeamServer;
  before(async () => {
    server = await startTeamServer(engine, { limits: true, ...options });
  });
  beforeEach(() => server.clock.nextMinute());
  after(() => server.stop());
  return () => server;
};

forEachDatabase('a team server behind a proxy that tells its clients', (engine) => {
  const team = started(engine, { proxyProtocol: true });
  const url = () => `http://127.0.0.1:${team().listening.port}`;
  const ask = (preamble?: string | Buffer) => team().client(undefined, preamble).call('createMachineRequest', asking);
  const statuses = async (n: number, preamble: string | Buffer): Promise<number[]> => {
    const all: number[] = [];
    for (let at = 0; at < n; at++) all.push((await ask(preamble)).status);
    return all;
  };
  /** Whether the server closes the connection without a word. */
  const silent = (bytes: string | Buffer) =>
    exchange(url(), bytes).then(
      ({ status }) => `answered ${status}`,
      (error: Error) => (/no answer|ECONNRESET/.test(error.message) ? 'closed' : error.message),
    );

  it('limits each of them, in both versions of the protocol', async () => {
    expect(new Set(await statuses(10, line('203.0.113.1')))).to.deep.equal(new Set([201]));
    expect(await statuses(1, line('203.0.113.1'))).to.deep.equal([429]);
    expect(await statuses(1, binaryFrom('203.0.113.1'))).to.deep.equal([429]);
    expect(await statuses(1, line('203.0.113.2'))).to.deep.equal([201]);
    expect(await statuses(1, binaryFrom('203.0.113.3'))).to.deep.equal([201]);
  });

  it('counts an IPv6 client by its /64, and an IPv4 client alike in both forms', async () => {
    await statuses(5, line('2001:db8:1:2::1'));
    await statuses(5, binaryFrom([0x2001, 0xdb8, 1, 2, 9, 9, 9, 9]));
    expect(await statuses(1, line('2001:db8:1:2:ffff::'))).to.deep.equal([429]);
    expect(await statuses(1, line('2001:db8:1:3::1'))).to.deep.equal([201]);
    await statuses(10, line('198.51.100.7'));
    expect(await statuses(1, line('::ffff:198.51.100.7'))).to.deep.equal([429]);
  });

  it('limits a client on a private network too, because it is told of', async () => {
    await statuses(10, line('10.0.0.9'));
    expect(await statuses(1, line('10.0.0.9'))).to.deep.equal([429]);
  });

  it('limits nobody where the proxy speaks for itself', async () => {
    expect(new Set(await statuses(12, 'PROXY UNKNOWN\r\n'))).to.deep.equal(new Set([201]));
    expect(new Set(await statuses(12, binary(0x20, 0x00, Buffer.alloc(0))))).to.deep.equal(new Set([201]));
  });

  it('is told once per connection, and serves every request on it', async () => {
    const one = lines('GET /v1/info HTTP/1.1', 'Host: team.example.com');
    const kept = one.replace('Connection: close', 'Connection: keep-alive');
    const all = await exchange(url(), `${line('203.0.113.5')}${kept}${kept}${one}`);
    expect(all.status).to.equal(200);
    expect(all.text.match(/HTTP\/1.1 200/g)).to.have.length(2);
  });

  it('takes a preamble and a request in whatever pieces they come, and large ones whole', async () => {
    const body = JSON.stringify({ handle: 'nobody-here', label: 'box', what: 'x'.repeat(16_000) });
    const head = `POST /v1/machine-requests HTTP/1.1\r\nHost: team.example.com\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    const large = await exchange(url(), `${line('203.0.113.6')}${head}${body}`);
    expect([large.status, large.code]).to.deep.equal([400, 'invalid_request']);

    const socket = open(url());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    for (const byte of `${line('203.0.113.6')}${GET}`) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(async () => text.includes('"mode":"team"'), 'the answer came');
  });

  it('closes what does not begin with one, without a word, and says so in the log once', async () => {
    for (const bytes of [
      GET,
      '\r\nGET /',
      'PROXY TCP4 evil\r\n',
      `PROXY ${'x'.repeat(200)}`,
      binary(0x21, 0x41, Buffer.alloc(9)),
    ])
      expect(await silent(bytes)).to.equal('closed');
    const warnings = team().log.filter((text) => text.includes('without the PROXY protocol') && text.includes('warn'));
    expect(warnings).to.have.length(1);
  });

  it('waits for one as long as for headers, and not longer', async () => {
    const socket = open(url());
    // An end with bytes that nobody read is a reset.
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write('PROXY ');
    await until(async () => team().clock.waiting(10_000) > 0, 'the server waits');
    team().clock.advance(10_001);
    await closed;
  });

  it('is not kept from stopping by a connection that never said anything', async () => {
    const other = await startTeamServer(engine, { proxyProtocol: true });
    const socket = open(`http://127.0.0.1:${other.listening.port}`);
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    await other.stop();
  });

  it('never reads headers that name a client', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1', 'x-real-ip': '192.0.2.1' };
    const api = team().client(undefined, line('203.0.113.8'));
    for (let n = 0; n < 10; n++) await api.call('createMachineRequest', { ...asking, headers });
    expect(await ask(line('203.0.113.8'))).to.include({ status: 429 });
    expect(await ask(line('192.0.2.1'))).to.include({ status: 201 });
  });
});

forEachDatabase('a team server behind a proxy that does not tell', (engine) => {
  const team = started(engine, {});

  it('limits nobody by the proxy’s address, and everybody together', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 61; n++) statuses.push((await team().client().call('createMachineRequest', asking)).status);
    expect(statuses.slice(0, 60).every((status) => status === 201)).to.equal(true);
    expect(statuses[60]).to.equal(429);
  });

  it('answers bad credentials 401 however many there are', async () => {
    const junk = team().client('junk');
    for (let n = 0; n < 130; n++) expect(await junk.refused('getMe')).to.equal('401 unauthorized');
  });

  it('takes a preamble for what it is without the protocol: no request', async () => {
    const answer = await exchange(`http://127.0.0.1:${team().listening.port}`, `${line('203.0.113.1')}${GET}`);
    expect(answer.status).to.equal(400);
  });
});
