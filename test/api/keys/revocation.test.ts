import { once } from 'node:events';
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { inConstantUse } from '../../support/endings.ts';
import { lines, open } from '../../support/raw.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { boardRow, newBrowser, newDelegation, revokeKey } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

forEachDatabase('what works because of a key', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  /** Streams and waits of a person, their browser and their agent, all at one server and because of one key. */
  async function everything(url: string) {
    const pam = await server.person(`person-${++people}`);
    const board = await newBoard(pam);
    const root = await post(pam, board.name, 'root');
    const seat = await newAgent(pam, board.name);
    await seat.ok('ackInbox', { body: { up_to: root.seq } });
    const delegation = await newDelegation(server, pam);
    const browser = (await newBrowser(server, pam)).bearer;
    const [person, agent, page] = [pam, seat, browser].map((api) => new Api(url, api.token)) as [Api, Api, Api];
    const streams = await Promise.all([
      TestStream.open(person),
      TestStream.open(person, { board: board.name }),
      TestStream.open(page),
      TestStream.open(page, { board: board.name }),
      TestStream.open(agent, { board: board.name }),
    ]);
    for (const stream of streams) await stream.frame(({ event }) => event === 'ready');
    const sleeping = server.clock.waiting(600_000);
    const replies = { params: { message: root.id }, query: { wait: 600 } };
    const waits = [
      agent.call('readInbox', { query: { wait: 600 } }),
      ...[person, agent, page].map((reader) => reader.call('listReplies', replies)),
    ];
    await until(() => server.clock.waiting(600_000) === sleeping + waits.length, 'all of them wait');
    return { pam, person, agent, page, delegation: new Api(url, delegation.token), streams, waits };
  }

  async function expectAllEnded({
    person,
    agent,
    page,
    delegation,
    streams,
    waits,
  }: Awaited<ReturnType<typeof everything>>) {
    const release = server.clock.holdBack(1_000);
    for (const wait of waits) expect((await wait).code).to.equal('unauthorized');
    for (const stream of streams) {
      await stream.until(() => stream.ended);
      expect(stream.frames.at(-1)).to.deep.include({ event: 'end', data: { reason: 'credential_ended' } });
    }
    release();
    for (const api of [person, agent, page]) expect(await api.refused('getMe')).to.equal('401 unauthorized');
    expect(await delegation.refused('listBoards')).to.equal('401 delegation_revoked');
  }

  it('ends within a second of its revocation: streams, waits, sessions, seats and delegations', async () => {
    const all = await everything(server.url);
    await revokeKey(server, all.pam);
    await expectAllEnded(all);
  });

  it('ends so too when an admin revokes it', async () => {
    const all = await everything(server.url);
    const key = (await all.pam.ok('listKeys')).current_key_id;
    await server.dana.ok('revokeKey', { params: { key } });
    await expectAllEnded(all);
  });

  it('goes on when another key of the person is revoked', async () => {
    const all = await everything(server.url);
    const other = await all.pam.ok('createKey', { body: { name: 'other' } });
    await all.pam.ok('revokeKey', { params: { key: other.id } });
    // Something that every stream of the board shows comes after the revocation, so that an end would have come before it.
    const { boards } = await all.pam.ok('listBoards');
    await post(all.pam, boards[0]?.name ?? '', 'still here');
    for (const stream of all.streams) await stream.frame(({ event }) => event === 'event' || event === 'head');
    expect(all.streams.some((stream) => stream.ended)).to.equal(false);
    expect((await all.waits[0])?.status).to.equal(200);
    await revokeKey(server, all.pam);
    await Promise.all(all.waits);
  });

  it('does nothing any more in a request that began before the revocation', async () => {
    const pam = await server.person(`person-${++people}`);
    const board = await newBoard(pam);
    const body = JSON.stringify({ body: 'too late' });
    const socket = open(server.url);
    await once(socket, 'connect');
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    const head = lines(
      `POST /v1/boards/${board.name}/messages HTTP/1.1`,
      `Host: ${new URL(server.url).host}`,
      `Authorization: Bearer ${pam.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    );
    socket.write(head + body.slice(0, 5));
    // The body is awaited, and the credential found to work meanwhile.
    await until(() => server.clock.waiting(250) > 0, 'the server waits for the body');
    server.clock.advance(250);
    await until(() => server.clock.waiting(29_750) > 0, 'the server goes on waiting');
    await revokeKey(server, pam);
    socket.write(body.slice(5));
    expect(await answer).to.match(/^HTTP\/1\.1 401 /);
    const { events } = await server.dana.ok('listEvents', { params: { board: (await openOne(board.name)).name } });
    expect(events.map(({ type }) => type)).not.to.include('message.posted');
  });

  /** The open board, with dana on it so that she reads its record. */
  const openOne = async (name: string) => {
    await server.dana.call('addBoardPerson', {
      params: { board: name },
      body: { handle: (await server.dana.ok('getMe')).name },
    });
    return { name };
  };

  it('takes no part in posts that race the revocation: each is there whole, or refused', async () => {
    const pam = await server.person(`person-${++people}`);
    const { name } = await newBoard(pam);
    await openOne(name);
    const spare = new Api(server.url, (await pam.ok('createKey', { body: { name: 'spare' } })).token);
    const key = (await spare.ok('listKeys')).current_key_id;
    const posts = Array.from({ length: 20 }, (_unused, n) =>
      spare.call('postMessage', { params: { board: name }, body: { body: `post ${n}` }, key: `post ${n}` }),
    );
    const [{ status }, ...answers] = await Promise.all([pam.call('revokeKey', { params: { key } }), ...posts]);
    expect(status).to.equal(200);
    const codes = new Set(answers.map((answer) => answer.code ?? String(answer.status)));
    expect([...codes].every((code) => code === '201' || code === 'unauthorized')).to.equal(true);
    const { messages } = await pam.ok('listMessages', { params: { board: name } });
    expect(messages).to.have.length(answers.filter((answer) => answer.status === 201).length);
  });

  for (const by of ['an admin', 'another key of its person', 'itself']) {
    it(`ends when ${by} revokes it while writes by it never pause`, async () => {
      const twin = engine === 'postgres' ? await startTwin(server) : null;
      const pam = await server.person(`person-${++people}`);
      const { name } = await newBoard(pam);
      const key = (await pam.ok('listKeys')).current_key_id;
      const spare = new Api(server.url, (await pam.ok('createKey', { body: { name: 'spare' } })).token);
      const use = await inConstantUse([pam, new Api(twin?.url ?? server.url, pam.token)], name);
      const revoker = { 'an admin': server.dana, itself: pam }[by] ?? spare;
      expect((await revoker.call('revokeKey', { params: { key } })).status).to.equal(200);
      expect(new Set(await use.ended)).to.deep.equal(new Set(['unauthorized']));
      const { message_count } = await boardRow(server, name);
      expect(message_count).to.equal(use.posted);
      await twin?.close();
    });
  }

  if (engine === 'postgres') {
    it('ends within a second at another server than the one that revoked it', async () => {
      const twin = await startTwin(server);
      const all = await everything(twin.url);
      await revokeKey(server, all.pam);
      await expectAllEnded(all);
      await twin.close();
    });
  }
});
