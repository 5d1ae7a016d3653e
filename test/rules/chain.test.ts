import { createHash, webcrypto } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../src/contract/canonical.ts';
import { type ChainOptions, ChainVerifier, envelopeText, type Problem, ZERO_HASH } from '../../src/contract/chain.ts';
import type { BoardEvent, EventActor } from '../../src/contract/types.ts';

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const board = 'brd_01K5A0000000000000000000B1';
const post = 'msg_01K5A0000000000000000000P1';
const dana: EventActor = { kind: 'human', member_id: 'mem_01K5A0000000000000000000M1', name: 'dana', owner: null };
const writer: EventActor = {
  kind: 'agent',
  member_id: 'mem_01K5A0000000000000000000M2',
  name: 'writer',
  owner: 'dana',
};

type Draft = Pick<BoardEvent, 'id' | 'type' | 'at' | 'actor'> & { data: Record<string, unknown> };

/** Chains drafts as the server's append does. */
function chain(drafts: Draft[], boardId = board): BoardEvent[] {
  let prev_hash = ZERO_HASH;
  return drafts.map(({ data, ...draft }, index) => {
    const data_hash = `sha256:${sha256(canonicalJson(data))}`;
    const envelope = { ...draft, board_id: boardId, seq: index + 1, data_hash, prev_hash };
    prev_hash = `sha256:${sha256(envelopeText(envelope))}`;
    return { ...envelope, data, hash: prev_hash };
  });
}

const drafts: Draft[] = [
  {
    id: 'evt_01K5A0000000000000000000E1',
    type: 'board.created',
    at: '2026-03-02T09:00:00.000Z',
    actor: dana,
    data: {
      board_id: board,
      name: 'demo',
      template: null,
      charter: '',
      roles: { member: { can: ['post'] } },
      policy: {
        preset: 'starter',
        visibility: 'open',
        broadcast: 'everyone',
        urgent: 'everyone',
        show_harness: true,
        nudges: 'on',
        overrides: [],
      },
      agents_add_people: true,
    },
  },
  {
    id: 'evt_01K5A0000000000000000000E2',
    type: 'message.posted',
    at: '2026-03-02T09:00:01.250Z',
    actor: writer,
    data: {
      message_id: post,
      to: ['@reviewer'],
      body: 'Rotated [redacted:github_token].\n\t"caf\u00e9" \\ \u{1F389}\u2028<end>',
      reply_to: null,
      urgent: false,
      expects_reply: true,
      redactions: [{ kind: 'github_token', count: 1 }],
      recipients: ['mem_01K5A0000000000000000000M3'],
      mentions: [],
    },
  },
  {
    id: 'evt_01K5A0000000000000000000E3',
    type: 'reaction.added',
    at: '2026-03-02T09:00:01.250Z',
    actor: dana,
    data: { message_id: post, name: 'heart', emoji: '\u2764\ufe0f' },
  },
];

/** A fresh copy each time, because the tests tamper with it. */
function example(): [BoardEvent, BoardEvent, BoardEvent] {
  return chain(structuredClone(drafts)) as [BoardEvent, BoardEvent, BoardEvent];
}

async function run(events: unknown[], options: Partial<ChainOptions> & { headSeq?: number } = {}) {
  const verifier = new ChainVerifier(board, { sha256, ...options });
  for (const event of events) await verifier.add(event);
  const problem = verifier.finish(options.headSeq ?? events.length);
  return { verifier, problem };
}

function withheld(event: BoardEvent): BoardEvent {
  const { data: _, ...rest } = event;
  return { ...rest, data_withheld: true };
}

const hashes = {
  1: 'sha256:7d2513ff25fdd1bdc157c61169d42694a54daa5f24acbec274dabe9f6ea4001f',
  2: 'sha256:f16a227817be15d431dfaa66b02fd7b409f347e6ed6f20f905172aa8d90f14ed',
  3: 'sha256:304ba1b124e12f5279bbd7da806e2c126f65acaef91f5a9eff69792b1939adea',
} as const;
const otherHash = `sha256:${'f'.repeat(64)}`;

describe('the hash chain of a record', () => {
  describe('the worked example', () => {
    it('has the canonical texts of the contract, byte for byte', () => {
      const [first, second, third] = example();
      expect(canonicalJson(first.data)).to.equal(
        '{"agents_add_people":true,"board_id":"brd_01K5A0000000000000000000B1","charter":"","name":"demo","policy":{"broadcast":"everyone","nudges":"on","overrides":[],"preset":"starter","show_harness":true,"urgent":"everyone","visibility":"open"},"roles":{"member":{"can":["post"]}},"template":null}',
      );
      expect(envelopeText(first)).to.equal(
        '{"actor":{"kind":"human","member_id":"mem_01K5A0000000000000000000M1","name":"dana","owner":null},"at":"2026-03-02T09:00:00.000Z","board_id":"brd_01K5A0000000000000000000B1","data_hash":"sha256:8267d24e3032eb53f67606b67e9fdadbdad390d779bc9a81c116278cf2e28180","id":"evt_01K5A0000000000000000000E1","prev_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000000","seq":1,"type":"board.created"}',
      );
      expect(Buffer.byteLength(canonicalJson(second.data))).to.equal(300);
      expect(Buffer.byteLength(canonicalJson(third.data))).to.equal(79);
    });

    it('has the hashes of the contract', () => {
      const [first, second, third] = example();
      expect([first.data_hash, second.data_hash, third.data_hash]).to.deep.equal([
        'sha256:8267d24e3032eb53f67606b67e9fdadbdad390d779bc9a81c116278cf2e28180',
        'sha256:2163c5aa7f31e9ad932ec45ba011336feab5f4200972b0a8fe67f8a4038cb5b1',
        'sha256:a00badfdabb27fdc91b5cafdcb820efd06965dd5c73558a7afe785da33e1b0bf',
      ]);
      expect([first.hash, second.hash, third.hash]).to.deep.equal([hashes[1], hashes[2], hashes[3]]);
    });

    it('verifies, and says what was checked and where it ends', async () => {
      const { verifier, problem } = await run(example());
      expect(problem).to.equal(null);
      expect(verifier.events).to.equal(3);
      expect(verifier.payloadsChecked).to.equal(3);
      expect(verifier.payloadsWithheld).to.equal(0);
      expect(verifier.head).to.deep.equal({ seq: 3, hash: hashes[3] });
    });

    it('verifies the same with the SHA-256 of a browser', async () => {
      const inBrowser = async (text: string) => {
        const bytes = await webcrypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
        return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      };
      const { verifier, problem } = await run(example(), { sha256: inBrowser });
      expect(problem).to.equal(null);
      expect(verifier.head).to.deep.equal({ seq: 3, hash: hashes[3] });
    });

    it('verifies with data withheld, and counts it', async () => {
      const [first, second, third] = example();
      const { verifier, problem } = await run([first, withheld(second), third]);
      expect(problem).to.equal(null);
      expect([verifier.payloadsChecked, verifier.payloadsWithheld]).to.deep.equal([2, 1]);
    });
  });

  describe('tampering', () => {
    type Tamper = (events: [BoardEvent, BoardEvent, BoardEvent]) => unknown[];
    const cases: [string, Tamper, Problem][] = [
      [
        'a changed value in the data',
        (events) => {
          (events[1].data as Record<string, unknown>)['expects_reply'] = false;
          return events;
        },
        { seq: 2, reason: 'data_hash_mismatch' },
      ],
      [
        'a changed name of an actor',
        (events) => {
          events[0].actor.name = 'dora';
          return events;
        },
        { seq: 1, reason: 'hash_mismatch' },
      ],
      ['an event left out', ([first, , third]) => [first, third], { seq: 2, reason: 'seq_gap' }],
      ['two events swapped', ([first, second, third]) => [first, third, second], { seq: 2, reason: 'seq_gap' }],
      ['an event sent twice', ([first, second]) => [first, second, second], { seq: 3, reason: 'seq_gap' }],
      [
        'an event of another board',
        ([first]) => [first, chain(drafts, 'brd_01K5A0000000000000000000B2')[1]],
        { seq: 2, reason: 'board_mismatch' },
      ],
      [
        'an id used again',
        () => chain(drafts.map((draft) => ({ ...draft, id: drafts[0]!.id }))),
        { seq: 2, reason: 'duplicate_id' },
      ],
      [
        'another link',
        ([first, second, third]) => [first, { ...second, prev_hash: otherHash }, third],
        { seq: 2, reason: 'prev_hash_mismatch' },
      ],
      [
        'another hash',
        ([first, second, third]) => [first, second, { ...third, hash: otherHash }],
        { seq: 3, reason: 'hash_mismatch' },
      ],
      [
        'data that is there and marked as withheld',
        ([first, second]) => [first, { ...second, data_withheld: true }],
        { seq: 2, reason: 'payload_unexpected' },
      ],
      [
        'data that is neither there nor marked as withheld',
        ([first, second]) => [first, { ...withheld(second), data_withheld: undefined }],
        { seq: 2, reason: 'payload_missing' },
      ],
      [
        'data the record cannot hold',
        ([first, second]) => [first, { ...second, data: { n: 0.5 } }],
        { seq: 2, reason: 'data_hash_mismatch' },
      ],
      [
        'an envelope the record cannot hold',
        ([first, second]) => [first, { ...second, type: 'a\ud800' }],
        { seq: 2, reason: 'hash_mismatch' },
      ],
      ['null in place of an event', ([first]) => [first, null], { seq: 2, reason: 'board_mismatch' }],
      ['a text in place of an event', () => ['x'], { seq: 1, reason: 'board_mismatch' }],
    ];
    for (const [name, tamper, problem] of cases) {
      it(`finds ${name}: ${problem.reason} at ${problem.seq}`, async () => {
        const result = await run(tamper(example()));
        expect(result.problem).to.deep.equal(problem);
      });
    }

    it('keeps the first problem, and counts only what passed before it', async () => {
      const [first, second, third] = example();
      const { verifier, problem } = await run([first, { ...second, hash: otherHash }, { ...third, seq: 9 }]);
      expect(problem).to.deep.equal({ seq: 2, reason: 'hash_mismatch' });
      expect(verifier.events).to.equal(1);
      expect(verifier.head).to.deep.equal({ seq: 1, hash: hashes[1] });
    });

    it('finds a log that ends before the head it announced', async () => {
      const result = await run(example().slice(0, 2), { headSeq: 3 });
      expect(result.problem).to.deep.equal({ seq: 3, reason: 'truncated' });
    });

    it('accepts events appended while it ran', async () => {
      const result = await run(example(), { headSeq: 2 });
      expect(result.problem).to.equal(null);
    });

    it('finds nothing wrong with an empty log of head 0', async () => {
      const { verifier, problem } = await run([]);
      expect(problem).to.equal(null);
      expect(verifier.head).to.equal(null);
    });
  });

  describe('a pin', () => {
    it('holds when the log still has the pinned event', async () => {
      expect((await run(example(), { pinned: { seq: 2, hash: hashes[2] } })).problem).to.equal(null);
    });

    it('finds a history that was rewritten consistently', async () => {
      expect((await run(example(), { pinned: { seq: 2, hash: otherHash } })).problem).to.deep.equal({
        seq: 2,
        reason: 'history_rewritten',
      });
    });

    it('finds a history that became shorter, before it calls it truncated', async () => {
      expect((await run(example(), { pinned: { seq: 4, hash: otherHash }, headSeq: 9 })).problem).to.deep.equal({
        seq: 4,
        reason: 'history_lost',
      });
    });
  });

  describe('a start after a pinned event', () => {
    const from = { seq: 2, hash: hashes[2] };

    it('checks only what follows it', async () => {
      const { verifier, problem } = await run(example().slice(2), { from, pinned: from, headSeq: 3 });
      expect(problem).to.equal(null);
      expect(verifier.events).to.equal(1);
      expect(verifier.head).to.deep.equal({ seq: 3, hash: hashes[3] });
    });

    it('finds a successor that does not continue it', async () => {
      const result = await run(example().slice(2), { from: { seq: 2, hash: otherHash }, headSeq: 3 });
      expect(result.problem).to.deep.equal({ seq: 3, reason: 'prev_hash_mismatch' });
    });

    it('finds a log that ends before it', async () => {
      const result = await run([], { from, pinned: from, headSeq: 1 });
      expect(result.problem).to.deep.equal({ seq: 2, reason: 'history_lost' });
    });

    it('stays the head when nothing follows', async () => {
      const { verifier, problem } = await run([], { from, headSeq: 2 });
      expect(problem).to.equal(null);
      expect(verifier.head).to.deep.equal(from);
    });
  });

  it('finds any changed character anywhere in a record and names the event it stands in', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const letters = fc.constantFrom('a', 'Z', '0', '9', '-', ' ', '"', '\\', 'é', '{', '}', ',', ':', 'u');
    const draft = fc.record({
      type: fc.constantFrom('message.posted', 'task.created', 'later.type'),
      actor: fc.constantFrom(dana, writer),
      data: fc.dictionary(text, fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.array(text))),
      hide: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(draft, { minLength: 1, maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        letters,
        async (parts, whichEvent, whichCharacter, letter) => {
          const events = chain(
            parts.map(({ hide: _, ...part }, index) => ({
              ...part,
              id: `evt_${index}`,
              at: '2026-03-02T09:00:01.250Z',
            })),
          ).map((event, index) => (parts[index]!.hide ? withheld(event) : event));
          expect((await run(events)).problem).to.equal(null);

          const index = whichEvent % events.length;
          const before = JSON.stringify(events[index]);
          const at = whichCharacter % before.length;
          const changed = parsed(before.slice(0, at) + letter + before.slice(at + 1));
          fc.pre(changed !== undefined && JSON.stringify(changed) !== before);
          const { problem } = await run(events.map((event, place) => (place === index ? changed : event)));
          expect(problem?.seq).to.equal(index + 1);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Undefined when a change left no JSON at all: no server could send it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
