/** When a daemon pings, renews its proof and gives up, by a clock that the test holds. */
import { expect } from 'chai';
import type { Answer, PairingRequest } from '../../src/contract/types.ts';
import { ControlRefusal } from '../../src/daemon/control/errors.ts';
import type { PairingCall } from '../../src/daemon/pairing/api.ts';
import { bindingHash, Endpoint, type EndpointBinding } from '../../src/daemon/pairing/endpoint.ts';
import { endpointDriver } from '../../src/daemon/pairing/prove-endpoint.ts';
import { FakeClock, tick } from '../client/support.ts';

const MINUTE = 60_000;
const ORIGIN = 'https://team.example.com';
const bound: EndpointBinding = {
  origin: ORIGIN,
  requestId: 'prq_01K5A0000000000000000000P1',
  side: 'initiator',
  seat: { origin: ORIGIN, member_id: 'mem_1', board_id: 'brd_1', board: 'payments', name: 'claude' },
  session: 'fake:s1',
  boot: '1',
  binding: 1,
};

describe('an endpoint of a pairing', () => {
  let clock: FakeClock;
  let calls: { name: string; body?: Record<string, unknown>; key?: string; token?: string; at: number }[];
  let state: Partial<PairingRequest>;
  let held: boolean;
  let full: boolean;
  let refused: Record<string, string[]>;
  let ended: string[];
  let endpoint: Endpoint;
  const hash = bindingHash(bound, { serverId: 'srv_1', instance: 'i' });

  const request = (): PairingRequest => ({
    id: bound.requestId,
    server_id: 'srv_1',
    board_id: 'brd_1',
    inviter_id: 'hum_1',
    initiating_agent_id: 'mem_1',
    work: 'Review the API',
    state: 'verifying',
    generation: 1,
    accepted: true,
    initiator: { person_id: 'hum_1', agent_id: 'mem_1', generation: 1, live: true, session_binding: hash },
    progress: { initiator_to_recipient: 'reply', recipient_to_initiator: 'ping' },
    challenge: {
      direction: 'initiator_to_recipient',
      generation: 1,
      nonce: 'N',
      after_seq: 1,
      ping_text: 'ping!',
      reply_line: 'pong',
    },
    created_at: '2026-03-02T09:00:00.000Z',
    expires_at: '2026-03-09T09:00:00.000Z',
    display: { boards: [{ id: 'brd_1', name: 'renamed', title: null }], recipient_agent_name: 'codex' },
    ...state,
  });

  beforeEach(() => {
    clock = new FakeClock(() => true);
    calls = [];
    state = {};
    held = true;
    full = false;
    refused = {};
    ended = [];
    const began = clock.time;
    const call: PairingCall = async (_origin, as, name, { body, idempotencyKey: key }) => {
      const token = typeof as === 'object' && 'proof' in as ? as.proof : undefined;
      calls.push({ name, body: body as Record<string, unknown> | undefined, key, token, at: clock.time - began });
      const code = refused[name]?.shift();
      if (code) throw new ControlRefusal(code, 'x');
      return (name === 'selectPairingEndpoint' ? { request: request() } : request()) as Answer<typeof name>;
    };
    const drive = endpointDriver({
      call,
      environment: {
        now: clock.now,
        sleep: clock.sleep,
        nowUs: () => 0,
        wallNow: clock.now,
        random: () => 0.5,
        userAgent: 'x',
        log: () => {},
      },
      log: { write: () => {} },
      isCurrent: () => held,
      save: () => {
        if (full) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      },
      end: (one, why) => {
        one.state = 'over';
        one.ended.abort();
        ended.push(why);
      },
    });
    endpoint = new Endpoint(bound, hash, 1, (each) => drive.step(each));
    endpoint.provenAt = clock.time;
  });

  const settle = async () => {
    for (let n = 0; n < 20; n++) await tick();
  };
  const passing = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      clock.advance(Math.min(left, 10_000));
      await settle();
    }
  };
  const pings = () => calls.filter(({ name }) => name === 'postMessage');

  it('pings at once, after 30 s, 2 min and 10 min, then hourly, and eight times in all', async () => {
    await endpoint.steps.run();
    await passing(10 * 60 * MINUTE);
    const minutes = pings().map(({ at }) => Math.round(at / 6_000) / 10);
    expect(minutes.slice(0, 4)).to.deep.equal([0, 0.5, 2.5, 12.5]);
    expect(minutes.slice(4)).to.deep.equal([72.5, 132.5, 192.5, 252.5]);
    expect(pings().map(({ key }) => key)).to.deep.equal(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${bound.requestId}:1:initiator_to_recipient:${n}`),
    );
    expect(pings()[0]!.body).to.deep.equal({ body: 'ping!', to: ['@codex'], expects_reply: true });
  });

  it('renews its proof every eight minutes while it verifies, and not on a timer otherwise', async () => {
    await endpoint.steps.run();
    await passing(60 * MINUTE);
    const renewals = calls.filter(({ name }) => name === 'selectPairingEndpoint');
    expect(renewals.length).to.be.within(6, 8);
    expect(new Set(renewals.map(({ body }) => body!['client_token'])).size).to.equal(renewals.length);
    expect(renewals.every(({ body }) => body!['session_binding'] === hash && body!['replace'] === false)).to.equal(
      true,
    );
    state = { state: 'awaiting_endpoint', accepted: true };
    await endpoint.steps.run();
    const before = calls.length;
    await passing(60 * MINUTE);
    expect(calls.length).to.equal(before);
  });

  it('shows a new proof where the old one has run out', async () => {
    const old = endpoint.token;
    let tries = 0;
    refused['getPairingRequest'] = [];
    await endpoint.steps.run();
    tries = calls.length;
    // The person's look succeeds, the proof's does not.
    refused['getPairingRequest'] = ['', 'unauthorized'];
    await endpoint.steps.run();
    expect(calls.slice(tries).map(({ name }) => name)).to.deep.equal([
      'getPairingRequest',
      'getPairingRequest',
      'selectPairingEndpoint',
      'getPairingRequest',
    ]);
    expect(endpoint.token).to.not.equal(old);
    expect(ended).to.deep.equal([]);
  });

  it('reports what the session received, and takes refused evidence for none', async () => {
    await endpoint.steps.run();
    endpoint.evidence = { ping_seq: 5, reply_seq: 6, handoff_id: 'hnd_1' };
    refused['verifyPairing'] = ['pairing_evidence_invalid'];
    await endpoint.steps.run();
    expect(endpoint.evidence).to.equal(null);
    endpoint.evidence = { ping_seq: 5, reply_seq: 7, handoff_id: 'hnd_2' };
    await endpoint.steps.run();
    const reports = calls.filter(({ name }) => name === 'verifyPairing');
    expect(reports.map(({ body }) => body)).to.deep.equal([
      { generation: 1, direction: 'initiator_to_recipient', ping_seq: 5, reply_seq: 6, handoff_id: 'hnd_1' },
      { generation: 1, direction: 'initiator_to_recipient', ping_seq: 5, reply_seq: 7, handoff_id: 'hnd_2' },
    ]);
    expect(reports.every(({ token }) => token === endpoint.token)).to.equal(true);
  });

  it('begins anew in another generation, and forgets what was proven before', async () => {
    await endpoint.steps.run();
    endpoint.evidence = { ping_seq: 5, reply_seq: 6, handoff_id: 'hnd_1' };
    state = { generation: 2 };
    await endpoint.steps.run();
    expect(calls.some(({ name }) => name === 'verifyPairing')).to.equal(false);
    expect(pings().at(-1)!.key).to.equal(`${bound.requestId}:2:initiator_to_recipient:1`);
  });

  for (const [what, change] of [
    ['the request is over', () => (state = { state: 'declined' })],
    [
      'another session was selected',
      () => (state = { initiator: { ...request().initiator!, session_binding: `sha256:${'0'.repeat(64)}` } }),
    ],
    ['the session is another one', () => (held = false)],
    [
      'the server says twice that it changed',
      () => (refused['getPairingRequest'] = ['pairing_changed', 'pairing_changed']),
    ],
    ['the key is gone', () => (refused['getPairingRequest'] = ['login_required'])],
  ] as [string, () => unknown][]) {
    it(`ends when ${what}`, async () => {
      change();
      await endpoint.steps.run();
      expect(ended).to.have.length(1);
      const before = calls.length;
      await passing(30 * MINUTE);
      await endpoint.steps.run();
      expect(calls.length).to.equal(before);
    });
  }

  it('does nothing before it is selected, such as when the other side is selected meanwhile', async () => {
    endpoint.provenAt = null;
    state = { state: 'awaiting_endpoint', initiator: undefined };
    await endpoint.steps.run();
    expect([ended, calls]).to.deep.equal([[], []]);
  });

  it('goes on where the request changed during a step', async () => {
    refused['getPairingRequest'] = ['pairing_changed'];
    await endpoint.steps.run();
    expect([ended, pings().length]).to.deep.equal([[], 1]);
  });

  it('tries again after a failure that passes', async () => {
    for (const code of ['server_unreachable', 'keychain_locked']) {
      refused['getPairingRequest'] = [code];
      await endpoint.steps.run();
      expect([code, ended, pings().length]).to.deep.equal([code, [], 0]);
    }
    await passing(30_000);
    expect(pings()).to.have.length(1);
  });

  it('goes on after a full disk', async () => {
    full = true;
    state = { generation: 2 };
    await endpoint.steps.run();
    expect([ended, pings().length]).to.deep.equal([[], 0]);
    full = false;
    await passing(30_000);
    expect(pings()).to.have.length(1);
  });

  it('is another one for another life, another binding and another start of the daemon', () => {
    const hashes = [
      hash,
      bindingHash({ ...bound, boot: '2' }, { serverId: 'srv_1', instance: 'i' }),
      bindingHash({ ...bound, binding: 2 }, { serverId: 'srv_1', instance: 'i' }),
      bindingHash({ ...bound, session: 'fake:s2' }, { serverId: 'srv_1', instance: 'i' }),
      bindingHash(bound, { serverId: 'srv_1', instance: 'j' }),
      bindingHash(bound, { serverId: 'srv_2', instance: 'i' }),
    ];
    expect(new Set(hashes).size).to.equal(hashes.length);
    for (const each of hashes) expect(each).to.match(/^sha256:[0-9a-f]{64}$/);
  });
});
