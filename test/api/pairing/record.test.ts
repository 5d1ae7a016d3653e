/** What pairing leaves on a board's record, and that nothing secret is left anywhere. */
import { expect } from 'chai';
import { forEachDatabase } from '../../support/databases.ts';
import { type Recorded, Replay, withNames } from '../../support/replay.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { look, newSide, type Pair, pairOn, proposal, roundTrip, select, sides, verify } from './cast.ts';

type Row = Record<string, unknown>;

forEachDatabase('the record of a board with paired sessions', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const rows = <T extends object>(table: string, where: Row, order: string): Promise<T[]> =>
    server.db.read((tx) => tx.query<T>((db) => db(table).where(where).orderBy(order).select('*')));
  const like = (row: Row | undefined, rebuilt: object): Row =>
    Object.fromEntries(Object.keys(rebuilt).map((column) => [column, row?.[column]]));

  /** The whole way on a private board, whose recipient is brought onto it by the proposal; answers all that was answered. */
  async function whole(): Promise<{ pair: Pair; answers: string; secrets: string[] }> {
    const { board, initiator } = await pairOn(server, { visibility: 'private' });
    const bob = await server.person(`bob-${Date.now() % 1_000_000}`);
    const wanted = { board, initiator, recipient: { ...initiator, person: bob, personId: bob.personId ?? '' } };
    const made = await initiator.person.call('createPairingRequest', { body: proposal(wanted), key: 'make' });
    const request = made.body;
    const pair = { ...wanted, recipient: await newSide(bob, board.name) };
    const chosen = await bob.call('choosePairingAgent', {
      params: { pairing: request.id },
      body: { agent_id: pair.recipient.agentId, generation: 1 },
      key: 'choose',
    });
    const selected = {
      initiator: await select(server, pair, request, 'initiator'),
      recipient: await select(server, pair, request, 'recipient'),
    };
    const accepted = await selected.recipient.proof.call('acceptPairing', {
      params: { pairing: request.id },
      body: { agent_id: pair.recipient.agentId, generation: 1 },
      key: 'accept',
    });
    const reported: string[] = [];
    for (const side of sides) {
      const { proof } = selected[side];
      reported.push((await verify(proof, request, await roundTrip(pair, request, proof, side))).text);
    }
    const seen = [await look(initiator.person, request), await look(bob, request)];
    const told = [await initiator.agent.ok('listNotices'), await pair.recipient.agent.ok('listNotices')];
    const events = await bob.ok('listEvents', { params: { board: board.name }, query: { limit: 200 } });
    const answers = [made.text, chosen.text, accepted.text, ...reported, JSON.stringify([seen, told, events])].join(
      '\n',
    );
    return { pair, answers, secrets: Object.values(selected).map(({ token }) => token) };
  }

  it('tells of an addition and of messages, and of nothing else; the tables are what it says', async () => {
    const { pair } = await whole();
    const events = (
      await rows<Record<'actor' | 'data', string> & Row>('events', { board_id: pair.board.id }, 'seq')
    ).map((row) => ({ ...row, actor: JSON.parse(row.actor), data: JSON.parse(row.data) }) as unknown as Recorded);
    // The board, its first two people with an agent each, whom the proposal brings with their agent, and what was said.
    const begun = ['board.created', 'member.joined', 'person.added', 'member.joined', 'member.joined'];
    const said = Array.from({ length: 5 }, () => 'message.posted');
    expect(events.map(({ type }) => type)).to.deep.equal([...begun, 'person.added', 'member.joined', ...said]);
    const replay = new Replay(events);
    const [stored] = await rows<Row>('boards', { id: pair.board.id }, 'id');
    const parsed = {
      ...stored,
      roles: JSON.parse(String(stored?.['roles'])),
      policy: JSON.parse(String(stored?.['policy'])),
    };
    expect(like(parsed, replay.board)).to.deep.equal(replay.board);
    const messages = await rows<Row>('messages', { board_id: pair.board.id }, 'seq');
    expect(messages).to.have.length(5);
    expect(withNames(messages).map((row) => like(row, replay.messages[0] ?? {}))).to.deep.equal(replay.messages);
    for (const member of await rows<Row>('members', { board_id: pair.board.id }, 'id')) {
      const rebuilt = replay.members.get(String(member['id'])) ?? {};
      expect(like(member, rebuilt)).to.deep.equal(rebuilt);
    }
  });

  it('holds no proof, and neither does any answer, notice, table or log line', async () => {
    const { answers, secrets } = await whole();
    const tables = [
      'events',
      'notices',
      'idempotency',
      'pairing_requests',
      'pairing_credentials',
      'pairing_marks',
      'server_audit',
    ];
    const stored: string[] = [];
    for (const table of tables) {
      const all = await server.db.read((tx) => tx.query<Row>((db) => db(table).select('*')));
      for (const row of all)
        for (const value of Object.values(row))
          stored.push(Buffer.isBuffer(value) ? value.toString('latin1') : String(value));
    }
    const everywhere = [answers, stored.join('\n'), server.log.join('\n')].join('\n');
    expect(secrets).to.have.length(2);
    for (const secret of secrets) {
      expect(everywhere).not.to.include(secret);
      expect(everywhere).not.to.include(secret.slice(4));
    }
    expect(everywhere).not.to.match(/abp_[\w-]{20,}/);
  });
});
