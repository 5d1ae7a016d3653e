/**
 * One winner between two servers that share one Postgres: of two that want different things of a request at once, the record
 * is of one of them, and no answer says otherwise. SERVICE_TEST_LONG=1 runs 200 rounds of each.
 */
import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { connect } from '../invites/cast.ts';
import {
  accept,
  cancel,
  codeOf,
  decline,
  look,
  newBinding,
  type Pair,
  pairOn,
  propose,
  roundTrip,
  select,
  selection,
  sides,
  verify,
  verifying,
} from './cast.ts';
import { rowOf, standIn } from './stand.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const ROUNDS = LONG ? 200 : 3;

forEachDatabase('a pairing request between two servers', (engine) => {
  if (engine === 'sqlite') return;
  let server: TestServer;
  let twin: RunningServer;
  before(async () => {
    server = await startTestServer(engine);
    twin = await startTwin(server);
  });
  after(async function () {
    // Every secret of every round is looked for.
    this.timeout(LONG ? 1_800_000 : 120_000);
    await twin.close();
    await server.stop();
  });

  /** The same caller at the other server. */
  const there = (api: Api): Api => new Api(twin.url, api.token, api.personId);
  /** One here and one there, the other way round every second time. */
  const swap = <T>(round: number, here: T, away: T): [T, T] => (round % 2 === 0 ? [here, away] : [away, here]);

  const rounds = (title: string, run: (round: number) => Promise<void>) =>
    it(title, async function () {
      this.timeout(LONG ? 1_800_000 : 120_000);
      for (let round = 0; round < ROUNDS; round++) await run(round);
      const failures = server.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
      expect(failures.slice(0, 3).join('\n')).to.equal('');
    });

  /** Both sides selected, nothing accepted. */
  async function selectedPair(): Promise<{ pair: Pair; id: string; initiator: Api; recipient: Api }> {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const initiator = (await select(server, pair, { id }, 'initiator')).proof;
    const recipient = (await select(server, pair, { id }, 'recipient')).proof;
    return { pair, id, initiator, recipient };
  }

  const noticesOf = async (id: string, kind: string): Promise<number> =>
    (await server.db.read((tx) => tx.query((db) => db('notices').where({ subject: id, kind })))).length;

  const body = ({ recipient }: Pair) => ({ agent_id: recipient.agentId, generation: 1 });

  rounds('has no acceptance of a generation that is over', async (round) => {
    const { pair, id, recipient } = await selectedPair();
    const replacement = selection(id, 'initiator', { ...pair.initiator, binding: newBinding() }, { replace: true });
    const [a, b] = swap(round, recipient, there(recipient));
    const { person } = pair.initiator;
    const [accepted, replaced] = await Promise.all([
      accept(a, { id }, body(pair)),
      (a === recipient ? there(person) : person).call('selectPairingEndpoint', { body: replacement }),
    ]);
    expect(codeOf(replaced)).to.equal('200');
    expect(codeOf(accepted)).to.be.oneOf(['200', '401 unauthorized']);
    expect(await rowOf(server, id)).to.include({ generation: 2, accepted: 0, nonce_i2r: null, closed: null });
    expect(codeOf(await accept(b, { id }, body(pair)))).to.equal('401 unauthorized');
  });

  rounds('is accepted once by two at once', async () => {
    const { pair, id, recipient } = await selectedPair();
    const answers = await Promise.all([recipient, there(recipient)].map((api) => accept(api, { id }, body(pair))));
    expect(answers.map(codeOf)).to.deep.equal(['200', '200']);
    const nonces = new Set(answers.map((answer) => answer.body.challenge?.nonce));
    expect(nonces.size).to.equal(1);
    expect(await noticesOf(id, 'pairing_changed')).to.equal(1);
  });

  for (const [title, end, closed] of [
    ['accepted against cancelled', cancel, 'cancelled'],
    ['accepted against declined', decline, 'declined'],
  ] as const) {
    rounds(`is ended whatever comes first: ${title}`, async (round) => {
      const { pair, id, recipient } = await selectedPair();
      const { person } = end === cancel ? pair.initiator : pair.recipient;
      const [accepting, ending] = swap<(api: Api) => Api>(round, (api) => api, there);
      const [accepted, ended] = await Promise.all([
        accept(accepting(recipient), { id }, body(pair)),
        end(ending(person), { id }),
      ]);
      expect([codeOf(ended), ended.body.state]).to.deep.equal(['200', closed]);
      expect(codeOf(accepted)).to.be.oneOf(['200', '401 unauthorized']);
      expect(await rowOf(server, id)).to.include({ closed, closed_reason: closed });
      expect(codeOf(await accept(recipient, { id }, body(pair)))).to.equal('401 unauthorized');
      expect(await noticesOf(id, 'pairing_closed')).to.equal(1);
    });
  }

  rounds('ends in one way: cancelled against declined', async (round) => {
    const { pair, id } = await selectedPair();
    const [a, b] = swap<(api: Api) => Api>(round, (api) => api, there);
    const answers = await Promise.all([
      cancel(a(pair.initiator.person), { id }),
      decline(b(pair.recipient.person), { id }),
    ]);
    expect(answers.map(codeOf).sort()).to.deep.equal(['200', '409 pairing_closed']);
    const { closed } = await rowOf(server, id);
    expect(closed).to.equal(answers[0].status === 200 ? 'cancelled' : 'declined');
  });

  rounds('has one session of two that are selected at once', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const { person } = pair.recipient;
    const answers = await Promise.all(
      [person, there(person)].map((api) =>
        api.call('selectPairingEndpoint', {
          body: selection(id, 'recipient', { ...pair.recipient, binding: newBinding() }),
        }),
      ),
    );
    expect(answers.map(codeOf).sort()).to.deep.equal(['200', '409 pairing_changed']);
    const won = answers.find(({ status }) => status === 200);
    expect((await rowOf(server, id)).recipient_binding).to.equal(won?.body.endpoint.session_binding);
  });

  rounds('is ready once when both sides report at once', async (round) => {
    const pair = await pairOn(server);
    const { request, proofs } = await verifying(server, pair);
    const reports = [];
    for (const side of sides) reports.push(await roundTrip(pair, request, proofs[side], side));
    const [a, b] = swap<(api: Api) => Api>(round, (api) => api, there);
    const answers = await Promise.all([
      verify(a(proofs.initiator), request, reports[0] as object as never),
      verify(b(proofs.recipient), request, reports[1] as object as never),
    ]);
    expect(answers.map(codeOf)).to.deep.equal(['200', '200']);
    expect((await look(pair.initiator.person, request)).state).to.equal('ready');
    expect(await noticesOf(request.id, 'pairing_ready')).to.equal(2);
  });

  rounds('goes on with whoever comes by its invite, unless it was taken back first', async (round) => {
    const stand = await standIn(server, 'awaiting_account');
    const [a, b] = swap<{ url: string }>(round, server, twin);
    const { person } = stand.pair.initiator;
    const [connected, cancelled] = await Promise.all([
      connect(a, { invite: stand.secret, handle: `comer-${stand.id.slice(-10).toLowerCase()}` }),
      cancel(new Api(b.url, person.token, person.personId), stand),
    ]);
    expect([connected.status, codeOf(cancelled)]).to.deep.equal([201, '200']);
    expect(await rowOf(server, stand.id)).to.include({ closed: 'cancelled' });
  });

  rounds('ends with the person who is removed from the server, whatever else comes', async (round) => {
    const { pair, id, recipient } = await selectedPair();
    const [a, b] = swap<(api: Api) => Api>(round, (api) => api, there);
    const params = { handle: (await pair.recipient.person.ok('getMe')).name };
    const [accepted, removed] = await Promise.all([
      accept(a(recipient), { id }, body(pair)),
      b(server.dana).call('removePerson', { params }),
    ]);
    expect(codeOf(removed)).to.equal('200');
    expect(codeOf(accepted)).to.be.oneOf(['200', '401 unauthorized', '404 pairing_not_found']);
    expect(await rowOf(server, id)).to.include({ closed: 'cancelled', closed_reason: 'person_ended' });
    expect(codeOf(await accept(recipient, { id }, body(pair)))).to.equal('401 unauthorized');
  });

  rounds('ends with the person who is removed from the server, whatever the other side does', async (round) => {
    const { pair, id } = await selectedPair();
    const [a, b] = swap<(api: Api) => Api>(round, (api) => api, there);
    const params = { handle: (await pair.recipient.person.ok('getMe')).name };
    const replacement = selection(id, 'initiator', { ...pair.initiator, binding: newBinding() }, { replace: true });
    const [selected, removed] = await Promise.all([
      a(pair.initiator.person).call('selectPairingEndpoint', { body: replacement }),
      b(server.dana).call('removePerson', { params }),
    ]);
    expect(codeOf(removed)).to.equal('200');
    expect(codeOf(selected)).to.be.oneOf(['200', '409 pairing_closed']);
    expect(await rowOf(server, id)).to.include({ closed: 'cancelled', closed_reason: 'person_ended' });
  });

  rounds('ends with the person who is taken off its board, whatever else comes', async (round) => {
    const { pair, id, recipient } = await selectedPair();
    const [a, b] = swap<(api: Api) => Api>(round, (api) => api, there);
    const params = { board: pair.board.name, handle: (await pair.recipient.person.ok('getMe')).name };
    const [accepted, removed] = await Promise.all([
      accept(a(recipient), { id }, body(pair)),
      b(pair.initiator.person).call('removeBoardPerson', { params }),
    ]);
    expect(codeOf(removed)).to.equal('200');
    expect(codeOf(accepted)).to.be.oneOf(['200', '401 unauthorized', '404 pairing_not_found']);
    expect(await rowOf(server, id)).to.include({ closed: 'cancelled', closed_reason: 'person_ended' });
    expect(codeOf(await accept(recipient, { id }, body(pair)))).to.equal('401 unauthorized');
  });
});
