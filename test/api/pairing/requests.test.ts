/** Proposing work, and who sees it, chooses for it, declines it and takes it back. */
import { expect } from 'chai';
import type { PairingRequest } from '../../../src/contract/types.ts';
import { inParts } from '../../../src/server/db/rows.ts';
import { type MemberRow, memberById } from '../../../src/server/members/members.store.ts';
import { listedRequests, type PairingRow } from '../../../src/server/pairing/requests.store.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { readFor } from '../../support/rows-read.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, newBrowser, putOnBoard, removePerson } from '../../support/state.ts';
import { allow, decline as declineApproval, eventsOf } from '../approvals/cast.ts';
import {
  accept,
  cancel,
  codeOf,
  decline,
  look,
  messageOf,
  newSide,
  notYourAgent,
  type Pair,
  pairOfOne,
  pairOn,
  proposal,
  propose,
  roundTrip,
  select,
  verify,
  verifying,
} from './cast.ts';
import { rowOf, setRow, standIn } from './stand.ts';

let people = 0;

forEachDatabase('proposing work', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const create = (api: Api, body: Record<string, unknown>, key?: string) =>
    api.call('createPairingRequest', { body: body as never, ...(key === undefined ? {} : { key }) });
  const stranger = (role: 'member' | 'guest' | 'admin' = 'member') => server.person(`sid-${++people}`, role);

  it('is listed without reading the other members of its board', async () => {
    const pair = await pairOn(server);
    const { person, agent } = pair.initiator;
    const { body } = await create(agent, proposal(pair));
    const read = await server.db.write(async (tx) => {
      const request = (await tx.query<PairingRow>((db) => db('pairing_requests').where('id', body.id)))[0]!;
      const requests = Array.from({ length: 20 }, () => ({ ...request, id: newId('prq', tx.now) }));
      await tx.change((db) => db('pairing_requests').insert(requests));
      const seat = (await memberById(tx, agent.memberId)) as MemberRow;
      const ended = { status: 'left', token_digest: null, session_digest: null };
      // A large board among many small ones.
      const seats = Array.from({ length: 3_000 }, (_, n) => {
        const board_id = n < 500 ? seat.board_id : newId('brd', tx.now);
        return { ...seat, ...ended, id: newId('mem', tx.now), board_id, name: `Former-${n}` };
      });
      await inParts(seats, (part) => tx.change((db) => db('members').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE'));
      const { value, read } = await readFor(tx, () => listedRequests(tx, person.personId!));
      expect(value).to.have.length(21);
      return read;
    });
    expect(read).to.be.below(500);
    expect((await person.ok('listPairingRequests')).requests).to.have.length(21);
  });

  it('is for a person, a browser and the agent that begins, about a board they are on', async () => {
    const pair = await pairOn(server);
    const { person, agent } = pair.initiator;
    const browser = await newBrowser(server, person);
    for (const api of [person, browser, agent]) {
      const { status, body } = await create(api, proposal(pair));
      expect(status).to.equal(201);
      expect(body).to.include({
        inviter_id: person.personId,
        recipient_id: pair.recipient.personId,
        work: 'review the plan',
      });
      expect(body.display).to.deep.include({
        agent_name: agent.name,
        recipient_handle: (await pair.recipient.person.ok('getMe')).name,
      });
    }
    const spare = await newAgent(person, pair.board.name);
    expect(codeOf(await create(spare, proposal(pair)))).to.equal('403 forbidden');
  });

  it('is told of no board, seat or person that the caller may not name', async () => {
    const [pair, other] = [await pairOn(server), await pairOn(server, { visibility: 'private' })];
    const { person } = pair.initiator;
    const notFound = '404 pairing_not_found';
    const good = proposal(pair);
    expect(codeOf(await create(person, { ...good, board_id: other.board.id }))).to.equal(notFound);
    expect(codeOf(await create(person, { ...good, board_id: 'brd_01K5A0000000000000000000B1' }))).to.equal(notFound);
    expect(codeOf(await create(await stranger(), good))).to.equal(notFound);
    const foreign = await create(person, { ...good, initiating_agent_id: pair.recipient.agentId });
    expect([codeOf(foreign), messageOf(foreign)]).to.deep.equal([notFound, notYourAgent]);
    await person.ok('removeMember', { params: { board: pair.board.name, member: pair.initiator.agentId } });
    expect(codeOf(await create(person, good))).to.equal(notFound);
    const again = await pairOn(server);
    const nobody = '404 person_not_found';
    const [guest, gone] = [await stranger('guest'), await stranger()];
    await removePerson(server, gone);
    for (const recipient_id of [guest.personId, gone.personId, 'hum_01K5A0000000000000000000H1']) {
      expect(codeOf(await create(again.initiator.person, { ...proposal(again), recipient_id }))).to.equal(nobody);
    }
  });

  it('refuses guests, archives, and a text that holds a secret of the service', async () => {
    const pair = await pairOn(server);
    const guest = await stranger('guest');
    await putOnBoard(server, pair.board.name, guest);
    expect(codeOf(await create(guest, proposal(pair)))).to.equal('403 guest_not_allowed');
    const { person } = pair.initiator;
    const secret = await create(person, proposal(pair, `with ${person.token}`));
    expect(codeOf(secret)).to.equal('400 invalid_request');
    expect(secret.text).not.to.include(person.token);
    for (const work of ['', 'x'.repeat(4_001), 7]) {
      expect(codeOf(await create(person, { ...proposal(pair), work }))).to.equal('400 invalid_request');
    }
    expect((await create(person, proposal(pair, '😀'.repeat(4_000)))).status).to.equal(201);
    await changeBoard(server, pair.board.name, { lifecycle: 'archived' });
    expect(codeOf(await create(person, proposal(pair)))).to.equal('409 board_archived');
  });

  it('is made once under one key, and not shown again to a person who left the board', async () => {
    const pair = await pairOn(server);
    const { person } = pair.initiator;
    const [first, again] = [await create(person, proposal(pair), 'one'), await create(person, proposal(pair), 'one')];
    expect([again.status, again.replayed, again.body]).to.deep.equal([201, true, first.body]);
    expect((await person.ok('listPairingRequests')).requests).to.have.length(1);
    expect(codeOf(await create(person, proposal(pair, 'other work'), 'one'))).to.equal('422 idempotency_conflict');
    const handle = (await pair.recipient.person.ok('getMe')).name;
    await person.ok('makeBoardOwner', { params: { board: pair.board.name }, body: { handle } });
    await person.ok('leaveBoard', { params: { board: pair.board.name } });
    expect(codeOf(await create(person, proposal(pair), 'one'))).to.equal('404 pairing_not_found');
  });

  describe('to somebody who is not on the board', () => {
    async function outsider(options: Record<string, unknown> = {}, session?: string) {
      const owner = await server.person(`ann-${++people}`, 'admin');
      const { id, name } = await newBoard(owner, options);
      const mine = await newSide(owner, name);
      if (session !== undefined) {
        mine.agent = await newAgent(owner, name, { session, harness: session.split(':')[0] });
        mine.agentId = mine.agent.memberId;
      }
      const bob = await stranger();
      const pair: Pair = {
        board: { id, name },
        initiator: mine,
        recipient: { ...mine, person: bob, personId: bob.personId ?? '' },
      };
      return { owner, bob, pair };
    }
    const added = async ({ owner, pair }: { owner: Api; pair: Pair }) =>
      eventsOf(owner, pair.board.name, 'person.added');

    it('of an open board needs nobody’s leave: they join it by themselves', async () => {
      const stage = await outsider();
      const { status, body } = await create(stage.pair.initiator.agent, proposal(stage.pair));
      expect(status).to.equal(201);
      expect((await look(stage.bob, body)).id).to.equal(body.id);
      expect(await added(stage)).to.deep.equal([]);
      const side = await newSide(stage.bob, stage.pair.board.name).catch(() => null);
      expect(side).to.equal(null);
      await stage.bob.ok('addBoardPerson', {
        params: { board: stage.pair.board.name },
        body: { handle: (await stage.bob.ok('getMe')).name },
      });
      const joined = { ...stage.pair, recipient: await newSide(stage.bob, stage.pair.board.name) };
      expect((await select(server, joined, body, 'recipient')).answer.request.state).to.equal('awaiting_endpoint');
    });

    it('of a private board adds them at once for a person', async () => {
      const stage = await outsider({ visibility: 'private' });
      const { status, body } = await create(stage.owner, proposal(stage.pair));
      expect([status, (await look(stage.bob, body)).state]).to.deep.equal([201, 'awaiting_session']);
      const [event] = await added(stage);
      expect(event?.data).to.include({ person_id: stage.bob.personId });
      expect(event?.actor.kind).to.equal('human');
    });

    it('of a private board adds them at once for an agent that may add people', async () => {
      const stage = await outsider({ visibility: 'private' }, `codex:adds-${people}`);
      const params = { board: stage.pair.board.name };
      await stage.owner.ok('updateBoard', { params, body: { agents_add_people: true } });
      const { status, body } = await create(stage.pair.initiator.agent, proposal(stage.pair));
      expect([status, body.admission_approval_id]).to.deep.equal([201, undefined]);
      const [event] = await added(stage);
      expect(event?.actor.member_id).to.equal(stage.pair.initiator.agentId);
      expect(event?.data).to.include({ by_owner: stage.owner.personId });
    });

    it('of a private board adds them under the allowance of the agent’s person', async () => {
      const stage = await outsider({ visibility: 'private' });
      await stage.owner.ok('setAllowance', { body: { categories: ['add_people'] } });
      const { status, body } = await create(stage.pair.initiator.agent, proposal(stage.pair));
      expect(status).to.equal(201);
      const approval = await stage.owner.ok('getApproval', { params: { approval: body.admission_approval_id ?? '' } });
      expect(approval.approval).to.include({ state: 'executed', decision: 'allowance' });
      expect((await look(stage.bob, body)).state).to.equal('awaiting_session');
      expect(await look(stage.bob, body)).not.to.have.property('admission_approval_id');
    });

    it('of a private board waits for the agent’s person else, unseen until they allow it', async () => {
      const stage = await outsider({ visibility: 'private' });
      const { status, body } = await create(stage.pair.initiator.agent, proposal(stage.pair));
      expect([status, body.state, body.awaiting]).to.deep.equal([202, 'awaiting_session', 'initiator']);
      expect(body.next?.command).to.match(/^service approvals allow apr_\w+ --server '/);
      expect(await added(stage)).to.deep.equal([]);
      const see = async () => codeOf(await stage.bob.call('getPairingRequest', { params: { pairing: body.id } }));
      expect(await see()).to.equal('404 pairing_not_found');
      // Somebody else brings them onto the board: they still see nothing of what waits for its own leave.
      await allow(stage.owner, { id: body.admission_approval_id ?? '' });
      expect(await see()).to.equal('200');
      expect(await added(stage)).to.have.length(1);
    });

    it('is over when the agent’s person declines, and when they do not answer for a day', async () => {
      const declined = await outsider({ visibility: 'private' });
      const late = await outsider({ visibility: 'private' });
      const [{ body: a }, { body: b }] = [
        await create(declined.pair.initiator.agent, proposal(declined.pair)),
        await create(late.pair.initiator.agent, proposal(late.pair)),
      ];
      await declineApproval(declined.owner, { id: a.admission_approval_id ?? '' });
      expect(await look(declined.owner, a)).to.include({ state: 'cancelled', closed_reason: 'admission_refused' });
      const chosen = await select(server, late.pair, b, 'initiator');
      server.clock.advance(86_400_000);
      expect(await look(late.owner, b)).to.include({ state: 'cancelled', closed_reason: 'admission_refused' });
      expect(await chosen.proof.refused('getPairingRequest', { params: { pairing: b.id } })).to.equal(
        '401 unauthorized',
      );
      for (const { bob } of [declined, late]) {
        expect((await bob.ok('listPairingRequests', { query: { state: 'all' } })).requests).to.deep.equal([]);
      }
    });
  });

  it('to oneself asks nobody, and takes two seats', async () => {
    const pair = await pairOfOne(server);
    const { status, body } = await create(pair.initiator.agent, proposal(pair));
    expect([status, body.recipient_id === body.inviter_id]).to.deep.equal([201, true]);
  });

  it('is limited to fifty that are open, and five of one pair on one board', async () => {
    const pair = await pairOn(server);
    const { person } = pair.initiator;
    for (let n = 0; n < 5; n++) await propose(pair);
    const sixth = await create(person, proposal(pair));
    expect(codeOf(sixth)).to.equal('429 rate_limited');
    expect(sixth.headers.get('retry-after')).to.equal('3600');
    const { requests } = await person.ok('listPairingRequests');
    await cancel(person, requests[0] as PairingRequest);
    expect((await create(person, proposal(pair))).status).to.equal(201);
    await server.db.write(async (tx) => {
      const [row] = await tx.query<Record<string, unknown>>((db) =>
        db('pairing_requests')
          .where('id', requests[1]?.id ?? '')
          .select('*'),
      );
      const more = Array.from({ length: 45 }, (_unused, n) => ({
        ...row,
        id: `prq_${n + 50}${(requests[1]?.id ?? '').slice(6)}`,
        recipient_id: 'hum_01K5A0000000000000000000H1',
      }));
      await tx.change((db) => db('pairing_requests').insert(more));
    });
    const other = await newSide(await stranger(), pair.board.name).catch(() => null);
    expect(other).to.equal(null);
    const bob = await stranger();
    const over = await create(person, { ...proposal(pair), recipient_id: bob.personId });
    expect(codeOf(over)).to.equal('429 rate_limited');
  });
});

forEachDatabase('a proposal of work', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const see = async (api: Api, { id }: { id: string }) =>
    codeOf(await api.call('getPairingRequest', { params: { pairing: id } }));

  it('is seen by its two people and their agents on the board, and by nobody else', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const { initiator, recipient, board } = pair;
    const third = await server.person(`tia-${++people}`, 'admin');
    await putOnBoard(server, board.name, third);
    const elsewhere = await newAgent(recipient.person, (await newBoard(recipient.person)).name);
    for (const api of [initiator.person, initiator.agent, recipient.person, recipient.agent]) {
      expect(await see(api, request)).to.equal('200');
    }
    for (const api of [third, await newAgent(third, board.name), elsewhere]) {
      expect(await see(api, request)).to.equal('404 pairing_not_found');
      expect((await api.ok('listPairingRequests')).requests).to.deep.equal([]);
    }
    await recipient.person.ok('leaveBoard', { params: { board: board.name } });
    expect(await see(recipient.agent, request)).to.equal('403 agent_removed');
    await changeBoard(server, board.name, { visibility: 'private' });
    expect(await see(recipient.person, request)).to.equal('404 pairing_not_found');
    expect(await see(initiator.person, request)).to.equal('200');
  });

  it('is listed newest first, a page at a time, and seven days after its end', async () => {
    const pair = await pairOn(server);
    const { person } = pair.initiator;
    const made: string[] = [];
    for (let n = 0; n < 4; n++) {
      server.clock.advance(10);
      made.unshift((await propose(pair)).id);
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await person.ok('listPairingRequests', {
        query: { limit: 3, ...(after === undefined ? {} : { after }) },
      });
      seen.push(...page.requests.map(({ id }) => id));
      after = page.next_after ?? undefined;
    } while (after !== undefined);
    expect(seen).to.deep.equal(made);
    await cancel(person, { id: made[0] ?? '' });
    const states = async (state: string) =>
      (await pair.recipient.person.ok('listPairingRequests', { query: { state } })).requests.map(({ id }) => id);
    expect(await states('closed')).to.deep.equal([made[0]]);
    expect(await states('open')).to.deep.equal(made.slice(1));
    expect(await states('all')).to.deep.equal(made);
    await setRow(server, made[0] ?? '', { closed_at: server.clock.now() - 7 * 86_400_000 });
    expect(await states('all')).to.deep.equal(made.slice(1));
    expect((await look(person, { id: made[0] ?? '' })).state).to.equal('cancelled');
    expect(await person.refused('listPairingRequests', { query: { limit: 101 } })).to.equal('400 invalid_request');
  });

  it('has ended at its deadline, also where nothing has written that down', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const { proof } = await select(server, pair, request, 'initiator');
    await setRow(server, request.id, { expires_at: server.clock.now() });
    const ended = await look(pair.initiator.person, request);
    expect(ended).to.include({ state: 'expired', closed_reason: 'timeout', closed_at: ended.expires_at });
    expect(ended).not.to.have.any.keys('awaiting', 'next');
    expect(await see(proof, request)).to.equal('401 unauthorized');
    expect((await rowOf(server, request.id)).closed).to.equal(null);
    expect(codeOf(await cancel(pair.initiator.person, request))).to.equal('409 pairing_closed');
    expect(codeOf(await decline(pair.recipient.person, request))).to.equal('409 pairing_closed');
  });

  it('is declined by its recipient and taken back by its inviter alone, also on an archive', async () => {
    const pair = await pairOn(server);
    const [mine, theirs] = [await propose(pair), await propose(pair)];
    const { initiator, recipient, board } = pair;
    expect(codeOf(await decline(initiator.person, mine))).to.equal('403 forbidden');
    expect(codeOf(await cancel(recipient.person, mine))).to.equal('403 forbidden');
    expect(codeOf(await cancel(recipient.agent, mine))).to.equal('403 forbidden');
    expect(codeOf(await cancel(await newAgent(initiator.person, board.name), mine))).to.equal('403 forbidden');
    expect(codeOf(await cancel(initiator.agent, await propose(pair)))).to.equal('200');
    await changeBoard(server, board.name, { lifecycle: 'archived' });
    expect(codeOf(await cancel(initiator.person, mine))).to.equal('200');
    expect(codeOf(await cancel(initiator.person, mine))).to.equal('200');
    expect(codeOf(await decline(recipient.person, theirs))).to.equal('200');
    expect(codeOf(await decline(recipient.person, theirs))).to.equal('200');
    expect(codeOf(await cancel(initiator.person, theirs))).to.equal('409 pairing_closed');
  });

  it('says who may not decide about it, and what they run instead', async () => {
    const pair = await pairOn(server);
    const { id } = await propose(pair);
    const calls = {
      choosePairingAgent: { params: { pairing: id }, body: { agent_id: pair.recipient.agentId, generation: 1 } },
      declinePairing: { params: { pairing: id } },
      selectPairingEndpoint: { body: {} as never },
    };
    for (const [name, call] of Object.entries(calls)) {
      const answer = await pair.recipient.agent.call(name as keyof typeof calls, call);
      expect(codeOf(answer), name).to.equal('403 human_token_required');
      const { next } = (answer.body as unknown as { error: { next: { command: string } } }).error;
      expect(next.command, name).to.match(/^service pairing [a-z]+( prq_\w{26})? --server 'http:/);
    }
    const browser = await newBrowser(server, pair.recipient.person);
    expect(await browser.refused('selectPairingEndpoint', calls.selectPairingEndpoint)).to.equal(
      '403 human_token_required',
    );
    for (const api of [pair.recipient.person, browser, pair.recipient.agent]) {
      for (const name of ['acceptPairing', 'verifyPairing'] as const) {
        expect(await api.refused(name, { params: { pairing: id }, body: {} as never })).to.equal('403 forbidden');
      }
    }
  });

  describe('whose recipient chooses an agent', () => {
    const choose = (api: Api, { id }: { id: string }, agent_id: string, more = {}) =>
      api.call('choosePairingAgent', { params: { pairing: id }, body: { agent_id, generation: 1, ...more } });

    it('asks that agent by a message, with the work quoted and nobody else woken', async () => {
      const pair = await pairOn(server);
      const work = `see @${pair.initiator.agent.name}, @all and @role:member\nsecond line`;
      const request = await propose(pair, work);
      const { recipient, board } = pair;
      const { body } = await choose(recipient.person, request, recipient.agentId);
      expect(body).to.include({ chosen_recipient_agent_id: recipient.agentId, state: 'awaiting_session' });
      const { messages } = await recipient.agent.ok('readInbox');
      const message = messages.find(({ id }) => id === body.choice_message_id);
      expect(message).to.deep.include({ to: [`@${recipient.agent.name}`], expects_reply: true, mentions: [] });
      expect(message?.from.kind).to.equal('human');
      expect(message?.body).to.include(`service pairing accept ${request.id} --here --server '`);
      expect(message?.body).to.include(`> see @${pair.initiator.agent.name}, @all and @role:member\n> second line`);
      expect((await pair.initiator.agent.ok('readInbox')).messages).to.deep.equal([]);
      expect((await eventsOf(recipient.person, board.name, 'message.posted')).length).to.equal(1);
    });

    it('quotes each line of the work, whatever ends it', async () => {
      const pair = await pairOn(server);
      const request = await propose(pair, 'one\rtwo\r\rthree\u2028four\u2029five\u0085six\vseven\feight\r\nnine');
      const { body } = await choose(pair.recipient.person, request, pair.recipient.agentId);
      const { message } = await pair.recipient.person.ok('getMessage', {
        params: { message: body.choice_message_id ?? '' },
      });
      const quoted = ['one', 'two', '', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
      expect(message.body.endsWith(`:\n\n${quoted.map((line) => `> ${line}`).join('\n')}`)).to.equal(true);
    });

    it('takes secrets of other services out of what it quotes', async () => {
      const pair = await pairOn(server);
      const secret = `ghp_${'a1B2'.repeat(9)}`;
      const request = await propose(pair, `use ${secret}`);
      const { body } = await choose(pair.recipient.person, request, pair.recipient.agentId);
      const message = await pair.recipient.person.ok('getMessage', {
        params: { message: body.choice_message_id ?? '' },
      });
      expect(message.message.body).not.to.include(secret);
    });

    it('changes nothing twice, and needs to be told to choose another', async () => {
      const pair = await pairOn(server);
      const request = await propose(pair);
      const { recipient, board } = pair;
      const first = await choose(recipient.person, request, recipient.agentId);
      const again = await choose(recipient.person, request, recipient.agentId);
      expect(again.body.choice_message_id).to.equal(first.body.choice_message_id);
      const spare = await newAgent(recipient.person, board.name);
      expect(codeOf(await choose(recipient.person, request, spare.memberId))).to.equal('409 pairing_changed');
      const other = await choose(recipient.person, request, spare.memberId, { replace: true });
      expect(other.body.chosen_recipient_agent_id).to.equal(spare.memberId);
      expect(other.body.choice_message_id).not.to.equal(first.body.choice_message_id);
    });

    it('is refused to the inviter, for another’s agent, for the initiating one, and once a session is there', async () => {
      const pair = await pairOn(server);
      const request = await propose(pair);
      const { initiator, recipient } = pair;
      expect(codeOf(await choose(initiator.person, request, initiator.agentId))).to.equal('403 forbidden');
      const foreign = await choose(recipient.person, request, initiator.agentId);
      expect([codeOf(foreign), messageOf(foreign)]).to.deep.equal(['404 pairing_not_found', notYourAgent]);
      expect(codeOf(await choose(recipient.person, request, recipient.agentId, { generation: 2 }))).to.equal(
        '409 pairing_changed',
      );
      const own = await pairOfOne(server);
      const mine = await propose(own);
      expect(codeOf(await choose(own.initiator.person, mine, own.initiator.agentId))).to.equal('409 pairing_changed');
      await select(server, pair, request, 'recipient');
      expect(codeOf(await choose(recipient.person, request, recipient.agentId))).to.equal('409 pairing_changed');
      const archived = await pairOn(server);
      const there = await propose(archived);
      await changeBoard(server, archived.board.name, { lifecycle: 'archived' });
      expect(codeOf(await choose(archived.recipient.person, there, archived.recipient.agentId))).to.equal(
        '409 board_archived',
      );
    });

    it('is done once under one key', async () => {
      const pair = await pairOn(server);
      const request = await propose(pair);
      const call = {
        params: { pairing: request.id },
        body: { agent_id: pair.recipient.agentId, generation: 1 },
        key: 'k',
      };
      const [first, again] = [
        await pair.recipient.person.call('choosePairingAgent', call),
        await pair.recipient.person.call('choosePairingAgent', call),
      ];
      expect([first.body, again.replayed]).to.deep.equal([again.body, true]);
    });
  });

  it('tells each reader what they run next', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const next = async (api: Api) => (await look(api, request)).next;
    const server_ = `--server '${server.url}'`;
    const { initiator, recipient } = pair;
    expect((await next(initiator.person))?.command).to.equal(`service pairing select ${request.id} --here ${server_}`);
    expect((await next(recipient.person))?.command).to.equal(`service pairing accept ${request.id} --here ${server_}`);
    expect((await next(initiator.person))?.board_view).to.equal(`${server.url}/inbox/pairings/${request.id}`);
    await select(server, pair, request, 'initiator');
    expect((await next(initiator.person))?.command).to.equal(`service pairing accept ${request.id} --here ${server_}`);
    const round = await verifying(server, pair);
    expect((await look(initiator.person, round.request)).next?.command).to.equal(`service pairing list ${server_}`);
    await cancel(initiator.person, request);
    expect(await next(initiator.person)).to.equal(undefined);
  });

  it('tells the initiating agent of work with oneself to begin, and everybody else of that person to accept', async () => {
    const pair = await pairOfOne(server);
    const request = await propose(pair);
    const next = async (api: Api) => (await look(api, request)).next?.command;
    expect(await next(pair.initiator.agent)).to.match(/^service pairing select /);
    expect(await next(pair.recipient.agent)).to.match(/^service pairing accept /);
    expect(await next(pair.initiator.person)).to.match(/^service pairing accept /);
  });

  it('names the side that has something to do', async () => {
    const pair = await pairOn(server);
    const request = await propose(pair);
    const awaited = async () => (await look(pair.initiator.person, request)).awaiting;
    expect(await awaited()).to.equal('both');
    const { proof } = await select(server, pair, request, 'recipient');
    expect(await awaited()).to.equal('both');
    await accept(proof, request, { agent_id: pair.recipient.agentId, generation: 1 });
    expect(await awaited()).to.equal('initiator');
    const mine = await select(server, pair, request, 'initiator');
    expect(await awaited()).to.equal('both');
    await verify(mine.proof, request, await roundTrip(pair, request, mine.proof, 'initiator'));
    expect(await awaited()).to.equal('recipient');
    const { challenge } = await look(proof, request);
    await pair.recipient.agent.ok('postMessage', {
      params: { board: pair.board.name },
      body: { body: challenge?.ping_text ?? '', to: [`@${pair.initiator.agent.name}`] },
    });
    expect(await awaited()).to.equal('initiator');
  });

  it('is over for the other side when a person leaves, whose further calls say nothing of why', async () => {
    const pair = await pairOn(server);
    const { request, proofs } = await verifying(server, pair);
    const { recipient, initiator, board } = pair;
    await post(initiator.person, board.name, 'before');
    await recipient.person.ok('leaveBoard', { params: { board: board.name } });
    for (const proof of Object.values(proofs)) expect(await see(proof, request)).to.equal('401 unauthorized');
    expect(await look(initiator.person, request)).to.include({ state: 'cancelled', closed_reason: 'person_ended' });
    const refused = await cancelOr(initiator.person, request);
    expect(refused).to.equal('200');
    const { text } = await initiator.person.call('selectPairingEndpoint', {
      body: {
        request_id: request.id,
        side: 'initiator',
        agent_id: initiator.agentId,
        session_binding: initiator.binding,
        generation: 1,
        client_token: `abp_${'A'.repeat(43)}`,
      },
    });
    expect(text).to.include('pairing_closed').and.not.include('person').and.not.include('left');
  });

  it('ends with a person who is removed from the server: what waits for an invite with the invite, all else with them', async () => {
    for (const state of ['awaiting_account', 'awaiting_session', 'awaiting_endpoint', 'verifying'] as const) {
      const stand = await standIn(server, state);
      const handle = (await stand.pair.initiator.person.ok('getMe')).name;
      await server.dana.ok('removePerson', { params: { handle } });
      const closed_reason = state === 'awaiting_account' ? 'invite_ended' : 'person_ended';
      expect(await rowOf(server, stand.id), state).to.include({ closed: 'cancelled', closed_reason });
      for (const proof of Object.values(stand.proofs)) expect(await see(proof, stand)).to.equal('401 unauthorized');
    }
  });

  it('ends with a recipient who never came onto its open board, when they are removed from the server', async () => {
    const pair = await pairOn(server);
    const away = await server.person(`ada-${++people}`);
    const wanted = { ...pair, recipient: { ...pair.recipient, person: away, personId: away.personId ?? '' } };
    const request = await propose(wanted);
    await server.dana.ok('removePerson', { params: { handle: (await away.ok('getMe')).name } });
    expect(await look(pair.initiator.person, request)).to.include({
      state: 'cancelled',
      closed_reason: 'person_ended',
    });
  });

  const cancelOr = async (api: Api, request: { id: string }) => codeOf(await cancel(api, request));
});
