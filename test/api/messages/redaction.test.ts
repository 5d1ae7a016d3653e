import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChainVerifier } from '../../../src/contract/chain.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { TestStream } from '../../support/stream.ts';

const sha256 = (value: string): string => createHash('sha256').update(value, 'utf8').digest('hex');

const x = (length: number, alphabet = 'aB3dE6gH9') =>
  alphabet.repeat(Math.ceil(length / alphabet.length)).slice(0, length);

/** One of each class, by kind. Put together here, so that no scanner takes this file for a leak. */
const secrets: Record<string, string> = {
  private_key: `-----BEGIN ${'RSA'} PRIVATE KEY-----\n${x(60)}\n-----END RSA PRIVATE KEY-----`,
  service_token: `abh_${x(43)}`,
  api_key: `sk-${x(30)}`,
  github_token: `ghp_${x(36)}`,
  aws_access_key: `AKIA${'ABCD2345EFGH6789'}`,
  google_api_key: `AIza${x(35)}`,
  slack_token: `xoxb-${x(20)}`,
  npm_token: `npm_${x(36)}`,
  gitlab_token: `glpat-${x(20)}`,
  google_oauth_secret: `GOCSPX-${x(28)}`,
  slack_webhook: `https://hooks.slack.com/services/${x(24)}`,
  pypi_token: `pypi-${x(50)}`,
  huggingface_token: `hf_${x(34)}`,
  sendgrid_key: `SG.${x(22)}.${x(43)}`,
  digitalocean_token: `dop_v1_${x(64, '0a1b2c3d')}`,
  age_key: `AGE-SECRET-KEY-1${x(58, 'Q2P3Z4')}`,
  jwt: `eyJ${x(20)}.eyJ${x(20)}.${x(30)}`,
};
/** Classes of which only a part is replaced: the text around it, and the part. */
const parts: Record<string, [string, string]> = {
  aws_secret_key: ['aws_secret_access_key = ', x(40)],
  azure_storage_key: ['AccountKey=', `${x(86)}==`],
  authorization_header: ['Authorization: Basic ', x(24)],
  url_password: ['postgres://user:', x(12)],
};
const text = [
  ...Object.values(secrets),
  ...Object.entries(parts).map(([kind, [before, part]]) => before + part + (kind === 'url_password' ? '@host/db' : '')),
  '\n```sh\nexport A=b # in code it counts as well\n```\nhttps://example.org/path?query=value#part',
].join(' and ');
const raw = [...Object.values(secrets), ...Object.values(parts).map(([, part]) => part)];

forEachDatabase('a secret in a message', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const holds = (where: string): string[] => raw.filter((secret) => where.includes(secret));

  it('of every class is replaced and counted by kind, sorted', async () => {
    expect(holds(text)).to.have.length(21);
    const { name } = await newBoard(server.dana);
    const message = await post(server.dana, name, text);
    expect(holds(message.body)).to.deep.equal([]);
    const kinds = [...Object.keys(secrets), ...Object.keys(parts)].sort();
    expect(message.redactions).to.deep.equal(kinds.map((kind) => ({ kind, count: 1 })));
    for (const kind of kinds) expect(message.body).to.include(`[redacted:${kind}]`);
  });

  it('is nowhere: no list, event, stream, inbox, kept answer, log line or database file has it', async () => {
    const board = await newBoard(server.dana);
    const params = { board: board.name };
    const agent = await newAgent(server.dana, board.name);
    const stream = await TestStream.open(agent, { board: board.name, include: 'message' });
    await stream.frame(({ event }) => event === 'ready');
    const call = { params, body: { body: text }, key: 'with a secret' };
    const first = await server.dana.call('postMessage', call);
    const replay = await server.dana.call('postMessage', call);
    expect(replay.replayed).to.equal(true);
    await stream.frame(({ event }) => event === 'message');
    stream.close();
    const places = {
      answer: first.text,
      replay: replay.text,
      timeline: (await agent.call('listMessages', { params })).text,
      one: (await agent.call('getMessage', { params: { message: first.body.id } })).text,
      thread: (await agent.call('listReplies', { params: { message: first.body.id } })).text,
      inbox: (await agent.call('readInbox')).text,
      events: (await agent.call('listEvents', { params })).text,
      stream: JSON.stringify(stream.frames),
      log: server.log.join('\n'),
      kept: JSON.stringify(
        (await server.db.read((tx) => tx.query<{ body: Buffer }>((db) => db('idempotency').select()))).map(({ body }) =>
          body.toString('latin1'),
        ),
      ),
      rows: JSON.stringify(await server.db.read((tx) => tx.query((db) => db('events').select('data', 'actor')))),
    };
    for (const [place, content] of Object.entries(places)) {
      expect(holds(content), place).to.deep.equal([]);
      if (place !== 'log') expect(content, place).to.include('[redacted:jwt]');
    }
    const verifier = new ChainVerifier(board.id, { sha256 });
    const { events } = await agent.ok('listEvents', { params });
    for (const event of events) expect(await verifier.add(event)).to.equal(null);
    const found = async (q: string) =>
      (await server.dana.ok('search', { query: { q, board: board.name } })).results.length;
    expect(await found('redacted')).to.equal(1);
    for (const secret of raw.filter((each) => /^[\w-]{10,200}$/.test(each))) expect(await found(secret)).to.equal(0);
    if (engine === 'sqlite') {
      for (const entry of readdirSync(server.dataDir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        expect(holds(readFileSync(join(entry.parentPath, entry.name), 'latin1')), entry.name).to.deep.equal([]);
      }
    }
  });

  it('is not in a refusal either, nor kept with it', async () => {
    const { name } = await newBoard(server.dana);
    const body = { body: text, to: ['@nobody'] };
    const refused = await server.dana.call('postMessage', { params: { board: name }, body, key: 'refused secret' });
    expect(refused.status).to.equal(422);
    expect(holds(refused.text)).to.deep.equal([]);
  });

  it('is taken out of a title and a charter, also in the record', async () => {
    const title = `use ${secrets['github_token']}`;
    const board = await server.dana.ok('createBoard', { body: { title, charter: `key: ${secrets['api_key']}` } });
    expect(board).to.include({ title: 'use [redacted:github_token]', charter: 'key: [redacted:api_key]' });
    const events = await server.dana.call('listEvents', { params: { board: board.name } });
    expect(holds(events.text)).to.deep.equal([]);
    expect(events.text).to.include('[redacted:github_token]');
  });

  it('is not seen where there is none: prose, hashes, ids and placeholders stay whole', async () => {
    const { name } = await newBoard(server.dana);
    const prose = [
      'The quick brown fox jumps over the lazy dog, sk-learn-contrib-lightning included.',
      'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3 123e4567-e89b-12d3-a456-426614174000',
      'postgres://user:password@host/db mysql://u:$DB_PASSWORD@h/db msg_01K5A0000000000000000000P1',
      'Authorization: Bearer <token> npm_config_registry AKIA github_pat glpat-short',
    ].join('\n');
    const body = prose.repeat(Math.ceil(20_000 / prose.length)).slice(0, 20_000);
    const message = await post(server.dana, name, body);
    expect([message.body === body, message.redactions]).to.deep.equal([true, []]);
  });

  it('may leave a text longer than a message may be', async () => {
    const { name } = await newBoard(server.dana);
    const one = `hf_${x(30)} `;
    const body = one.repeat(Math.floor(32_768 / one.length));
    const message = await post(server.dana, name, `${body}${'-'.repeat(32_768 - body.length)}`);
    expect(message.redactions[0]?.count).to.equal(Math.floor(32_768 / one.length));
  });
});
