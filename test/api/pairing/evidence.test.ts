/** Proving that two sessions reach each other: what counts as a ping and a reply, and what a report is refused with. */
import { expect } from 'chai';
import type { Message, PairingDirection, PairingRequest } from '../../../src/contract/types.ts';
import { lineOf, pingText, readPairingLine } from '../../../src/server/pairing/lines.rules.ts';
import { type Answered, type Api, detailsOf } from '../../support/api.ts';
import { newAgent } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { codeOf, look, newBinding, type Pair, pairOn, roundTrip, select, verify, verifying } from './cast.ts';

const I2R: PairingDirection = 'initiator_to_recipient';

forEachDatabase('a round trip', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  interface Stage {
    pair: Pair;
    request: PairingRequest;
    proofs: { initiator: Api; recipient: Api };
    ping: string;
    reply: string;
  }

  async function stage(): Promise<Stage> {
    const pair = await pairOn(server);
    const made = await verifying(server, pair);
    const { challenge } = await look(made.proofs.initiator, made.request);
    return { pair, ...made, ping: challenge?.ping_text ?? '', reply: challenge?.reply_line ?? '' };
  }

  const say = (from: Api, { pair }: Stage, body: string, more: Record<string, unknown> = {}): Promise<Message> =>
    from.ok('postMessage', { params: { board: pair.board.name }, body: { body, ...more } });
  const to = (agent: { name: string }) => ({ to: [`@${agent.name}`] });
  const ping = (s: Stage, more = {}) =>
    say(s.pair.initiator.agent, s, s.ping, { ...to(s.pair.recipient.agent), expects_reply: true, ...more });
  const reply = (s: Stage, { id }: Message, more = {}) =>
    say(s.pair.recipient.agent, s, s.reply, { ...to(s.pair.initiator.agent), reply_to: id, ...more });
  const report = (s: Stage, a: { seq: number }, b: { seq: number }, more: Record<string, unknown> = {}) =>
    verify(s.proofs.initiator, s.request, {
      generation: 1,
      direction: I2R,
      ping_seq: a.seq,
      reply_seq: b.seq,
      handoff_id: 'hnd_1',
      ...more,
    });
  const refused = (answer: Answered<unknown>): string => `${codeOf(answer)} ${detailsOf(answer)?.['check']}`;
  const step = async (s: Stage) => (await look(s.pair.initiator.person, s.request)).progress?.[I2R];
  const invalid = (check: string): string => `422 pairing_evidence_invalid ${check}`;

  it('is a ping to the peer alone and a reply to it, each with the line; its steps show', async () => {
    const s = await stage();
    expect(await step(s)).to.equal('ping');
    const a = await ping(s);
    expect(await step(s)).to.equal('reply');
    const b = await reply(s, a);
    expect(await step(s)).to.equal('report');
    expect(codeOf(await report(s, a, b))).to.equal('200');
    expect(await step(s)).to.equal('done');
  });

  it('counts a reply to the thread, which goes to the pinger alone, and words around the line', async () => {
    const s = await stage();
    const a = await ping(s);
    const b = await say(s.pair.recipient.agent, s, `Here it is:\n${s.reply}\nDone.`, { reply_to: a.id });
    expect(codeOf(await report(s, a, b))).to.equal('200');
  });

  it('is not what only looks like one; such a message is posted as what it is', async () => {
    const s = await stage();
    const { initiator, recipient } = s.pair;
    const [other] = [await newAgent(recipient.person, s.pair.board.name)];
    const wrong: [Promise<Message>, string][] = [
      [say(initiator.agent, s, 'hello', to(recipient.agent)), 'ping'],
      [say(initiator.agent, s, s.ping.replace(/nonce=.*/, `nonce=${'0'.repeat(26)}`), to(recipient.agent)), 'ping'],
      [say(initiator.agent, s, ` ${s.ping.split('\n')[0]}`, to(recipient.agent)), 'ping'],
      [say(initiator.agent, s, s.ping.replace('gen=1', 'gen=2'), to(recipient.agent)), 'generation'],
      [say(other, s, s.ping, to(recipient.agent)), 'sender'],
      [say(initiator.person, s, s.ping, to(recipient.agent)), 'sender'],
      [say(initiator.agent, s, s.ping, { to: [`@${recipient.agent.name}`, `@${other.name}`] }), 'recipient'],
      [say(initiator.agent, s, s.ping), 'recipient'],
      [say(initiator.agent, s, s.ping, to(other)), 'recipient'],
    ];
    for (const [message, check] of wrong) {
      const a = await message;
      expect(await step(s), a.body).to.equal('ping');
      expect(refused(await report(s, a, a)), a.body).to.equal(invalid(check));
    }
  });

  it('is not a reply that is not linked, not from the peer, or to others as well', async () => {
    const s = await stage();
    const { initiator, recipient } = s.pair;
    const [a, stray] = [await ping(s), await say(initiator.agent, s, 'what else', to(recipient.agent))];
    const other = await newAgent(recipient.person, s.pair.board.name);
    const wrong: [Promise<Message>, string][] = [
      [say(recipient.agent, s, s.reply, to(initiator.agent)), 'link'],
      [reply(s, stray), 'link'],
      [reply(s, a, { to: [`@${initiator.agent.name}`, `@${other.name}`] }), 'recipient'],
      [say(other, s, s.reply, { ...to(initiator.agent), reply_to: a.id }), 'sender'],
      [say(recipient.agent, s, 'done', { ...to(initiator.agent), reply_to: a.id }), 'reply'],
    ];
    for (const [message, check] of wrong) {
      const b = await message;
      expect(await step(s), b.body).to.equal('reply');
      expect(refused(await report(s, a, b)), b.body).to.equal(invalid(check));
    }
    const [second] = [await ping(s)];
    const answer = await reply(s, a);
    expect(refused(await report(s, second, answer))).to.equal(invalid('link'));
    expect(refused(await report(s, a, { seq: 9_999 }))).to.equal(invalid('reply'));
    expect(refused(await report(s, { seq: 9_999 }, answer))).to.equal(invalid('ping'));
    expect(codeOf(await report(s, a, answer))).to.equal('200');
  });

  it('of an earlier generation proves nothing', async () => {
    const s = await stage();
    const a = await ping(s);
    const b = await reply(s, a);
    const renewed = await select(server, s.pair, s.request, 'recipient', {
      session_binding: newBinding(),
      replace: true,
    });
    expect(codeOf(await report(s, a, b))).to.equal('401 unauthorized');
    const mine = await select(server, s.pair, { id: s.request.id, generation: 2 }, 'initiator');
    const params = { pairing: s.request.id };
    await renewed.proof.ok('acceptPairing', { params, body: { agent_id: s.pair.recipient.agentId, generation: 2 } });
    const again = { ...s, proofs: { ...s.proofs, initiator: mine.proof } };
    expect(codeOf(await report(again, a, b))).to.equal('409 pairing_changed');
    expect(refused(await report(again, a, b, { generation: 2 }))).to.equal(invalid('generation'));
    const old = await ping(again);
    expect(refused(await report(again, old, b, { generation: 2 }))).to.equal(invalid('generation'));
  });

  it('is reported by the side that pinged, once; the same again changes nothing, another is refused', async () => {
    const s = await stage();
    const a = await ping(s);
    const b = await reply(s, a);
    const wrongSide = await report(s, a, b, { direction: 'recipient_to_initiator' });
    expect(codeOf(wrongSide)).to.equal('403 forbidden');
    expect(codeOf(await report(s, a, b))).to.equal('200');
    expect(codeOf(await report(s, a, b))).to.equal('200');
    expect(codeOf(await report(s, a, b, { handoff_id: 'hnd_2' }))).to.equal('409 pairing_changed');
  });

  it('needs both endpoints live and the acceptance', async () => {
    const s = await stage();
    const a = await ping(s);
    const b = await reply(s, a);
    const { person, agentId } = s.pair.recipient;
    await person.ok('removeMember', { params: { board: s.pair.board.name, member: agentId } });
    expect(codeOf(await report(s, a, b))).to.equal('409 pairing_changed');
  });

  it('reported with one key is answered again with the same, while the credential works', async () => {
    const s = await stage();
    const body = await roundTrip(s.pair, s.request, s.proofs.initiator, 'initiator');
    const call = { params: { pairing: s.request.id }, body, key: 'report' };
    const first = await s.proofs.initiator.call('verifyPairing', call);
    const again = await s.proofs.initiator.call('verifyPairing', call);
    expect([again.status, again.replayed, again.body]).to.deep.equal([200, true, first.body]);
    await s.pair.initiator.person.ok('cancelPairing', { params: { pairing: s.request.id } });
    expect(await s.proofs.initiator.refused('verifyPairing', call)).to.equal('401 unauthorized');
  });
});

describe('the line of a pairing', () => {
  const line = {
    requestId: 'prq_01JB8Z2Y5X4W3V2T1S0R9Q8P7E',
    generation: 3,
    direction: I2R,
    kind: 'ping' as const,
    nonce: '01JB8Z2Y5X4W3V2T1S0R9Q8P7F',
  };
  const text =
    'service-pairing/1 prq_01JB8Z2Y5X4W3V2T1S0R9Q8P7E gen=3 dir=i2r kind=ping nonce=01JB8Z2Y5X4W3V2T1S0R9Q8P7F';

  it('is written and read as the contract has it', () => {
    expect(lineOf(line)).to.equal(text);
    expect(readPairingLine(text)).to.deep.equal(line);
    expect(readPairingLine(`before\r\n${text}\r\nafter`)).to.deep.equal(line);
    expect(readPairingLine(pingText(line))).to.deep.equal(line);
    const back = { ...line, direction: 'recipient_to_initiator' as const, kind: 'reply' as const };
    expect(readPairingLine(lineOf(back))).to.deep.equal(back);
  });

  it('is the first whole line that is one, and no part of another', () => {
    const second = text.replace('gen=3', 'gen=4');
    expect(readPairingLine(`${text}\n${second}`)?.generation).to.equal(3);
    expect(readPairingLine(`> ${text}\n${second}`)?.generation).to.equal(4);
    const wrong = [
      ` ${text}`,
      `${text} `,
      text.toUpperCase(),
      text.replace('/1', '/2'),
      text.replace('gen=3', 'gen=03'),
    ];
    for (const each of [...wrong, text.replace('i2r', 'x2y'), text.replace('7F', '7I'), 'nothing'])
      expect(readPairingLine(each), each).to.equal(null);
  });
});
