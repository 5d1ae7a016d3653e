import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard, setPolicy } from '../../support/state.ts';

forEachDatabase('a read position', (engine) => {
  let server: TestServer;
  let board: string;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
  });
  after(() => server.stop());

  const ack = (person: Api, upTo: number) => person.call('ackBoard', { params: { board }, body: { up_to: upTo } });

  it('of an agent moves forward only, and never past the head', async () => {
    const agent = await newAgent(server.dana, board);
    for (let n = 0; n < 5; n++) await post(server.dana, board, `${n}`);
    const answers = [];
    for (const upTo of [7, 5, 9]) {
      const { status, code, body } = await agent.call('ackInbox', { body: { up_to: upTo } });
      answers.push(status === 200 ? body.cursor : code);
    }
    expect(answers).to.deep.equal([7, 7, 'ack_out_of_range']);
    const refused = await agent.call('ackInbox', { body: { up_to: 9 } });
    const { details } = (refused.body as unknown as { error: { details: unknown } }).error;
    expect(details).to.deep.equal({ head_seq: 8 });
    const inbox = await agent.ok('readInbox');
    expect([inbox.cursor, inbox.messages.map(({ seq }) => seq), inbox.unread]).to.deep.equal([7, [8], 1]);
  });

  it('of a person leaves the unread count over what others sent', async () => {
    const agent = await newAgent(server.dana, board);
    const seqs = [];
    for (const writer of [agent, server.dana, agent, agent]) seqs.push((await post(writer, board, 'x')).seq);
    expect((await server.dana.ok('getBoard', { params: { board } })).unread).to.equal(3);
    expect((await ack(server.dana, seqs[1] ?? 0)).body).to.deep.equal({ board, read_up_to: seqs[1], unread: 2 });
    expect((await ack(server.dana, 1)).body).to.deep.equal({ board, read_up_to: seqs[1], unread: 2 });
    expect((await ack(server.dana, seqs[3] ?? 0)).body.unread).to.equal(0);
    expect(await server.dana.refused('ackBoard', { params: { board }, body: { up_to: 99 } })).to.equal(
      '422 ack_out_of_range',
    );
    for (const upTo of [-1, 1.5, '3', null]) {
      expect(await server.dana.refused('ackBoard', { params: { board }, body: { up_to: upTo } })).to.equal(
        '400 invalid_request',
      );
    }
  });

  it('starts for a person at the event that brought them', async () => {
    await post(server.dana, board, 'before pam');
    const pam = await server.person(`pam-${board}`);
    await putOnBoard(server, board, pam);
    expect(await pam.ok('getBoard', { params: { board } })).to.include({ read_up_to: 4, unread: 0 });
    await post(server.dana, board, 'after');
    expect((await pam.ok('getBoard', { params: { board } })).unread).to.equal(1);
  });

  it('writes no event and works on an archived board', async () => {
    const agent = await newAgent(server.dana, board);
    const { seq } = await post(server.dana, board, 'x');
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect((await agent.call('ackInbox', { body: { up_to: seq } })).status).to.equal(200);
    expect((await ack(server.dana, seq)).status).to.equal(200);
    expect((await server.dana.ok('listEvents', { params: { board } })).head_seq).to.equal(seq + 1);
    expect(await agent.refused('postMessage', { params: { board }, body: { body: 'x' } })).to.equal(
      '409 board_archived',
    );
    expect((await agent.ok('readInbox')).unread).to.equal(0);
  });

  it('never goes back under acknowledgements at once', async () => {
    const agent = await newAgent(server.dana, board);
    for (let n = 0; n < 10; n++) await post(server.dana, board, `${n}`);
    await Promise.all([9, 12, 5, 13, 7, 10].map((upTo) => agent.ok('ackInbox', { body: { up_to: upTo } })));
    expect(await agent.ok('readInbox')).to.include({ cursor: 13, unread: 0 });
  });

  it('is moved by nothing but an acknowledgement: reading an inbox leaves it', async () => {
    const agent = await newAgent(server.dana, board);
    await post(server.dana, board, 'x');
    for (let n = 0; n < 2; n++) expect((await agent.ok('readInbox')).messages).to.have.length(1);
  });

  it('splits an inbox into pages: `more` until the end, counts of the whole', async () => {
    const agent = await newAgent(server.dana, board);
    const seqs: number[] = [];
    for (let n = 0; n < 7; n++) seqs.push((await post(server.dana, board, `${n}`, { urgent: n % 3 === 0 })).seq);
    const seen: number[] = [];
    for (let more = true; more; ) {
      const inbox = await agent.ok('readInbox', { query: { limit: 3, after: seen.at(-1) ?? 0 } });
      expect(inbox).to.include({ unread: 7, unread_urgent: 3 });
      seen.push(...inbox.messages.map(({ seq }) => seq));
      more = inbox.more;
    }
    expect(seen).to.deep.equal(seqs);
    const urgent = await agent.ok('readInbox', { query: { urgent: true, limit: 2 } });
    expect([urgent.messages.map(({ seq }) => seq), urgent.more]).to.deep.equal([[seqs[0], seqs[3]], true]);
  });

  it('of a big inbox ends a page past 1 MiB with `more`', async () => {
    const agent = await newAgent(server.dana, board);
    for (let n = 0; n < 12; n++) await post(server.dana, board, '\u0001'.repeat(20_000));
    const inbox = await agent.ok('readInbox', { query: { limit: 200 } });
    expect(inbox.messages.length).to.be.within(1, 11);
    expect(inbox).to.include({ more: true, unread: 12 });
  });

  it('follows the policy: a mention found under `open` is out of the inbox under `addressed`, and back again', async () => {
    const [a, b] = [
      await newAgent(server.dana, board, { name: 'a' }),
      await newAgent(server.dana, board, { name: 'b' }),
    ];
    await post(server.dana, board, 'look, @b', { to: ['@a'] });
    const unread = async (agent: Api) => [
      (await agent.ok('readInbox')).messages.length,
      (await agent.ok('readInbox')).unread,
    ];
    expect([await unread(a), await unread(b)]).to.deep.equal([
      [1, 1],
      [1, 1],
    ]);
    await setPolicy(server, board, { visibility: 'addressed' });
    expect([await unread(a), await unread(b)]).to.deep.equal([
      [1, 1],
      [0, 0],
    ]);
    await setPolicy(server, board, { visibility: 'open' });
    expect(await unread(b)).to.deep.equal([1, 1]);
  });
});
