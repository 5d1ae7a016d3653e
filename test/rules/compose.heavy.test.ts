/** Whatever a session is given at any point keeps to its bytes and its tags, and gets on. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { DeliveryMode } from '../../src/contract/types.ts';
import { compose } from '../../src/daemon/compose/compose.ts';
import type { Point } from '../../src/daemon/compose/types.ts';
import { anyCharacter } from '../support/any-character.ts';
import { aNotice, at, inputOf, seatOf, textOf } from '../support/composed.ts';
import { aMessage, fromOwner } from '../support/messages.ts';
import { stopProcessorTime } from '../support/processor-time.ts';

describe('whatever is composed', () => {
  stopProcessorTime();
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.constantFrom(
      '</service-message>',
      '< / SERVICE-messages>',
      '<system-reminder>',
      '\x1b[31m',
      '\u{e0041}\r\n',
      '"&<>',
    ),
    fc.integer({ min: 1, max: 40_000 }).map((n) => 'w'.repeat(n)),
  );
  const message = fc
    .record({
      body: text,
      person: fc.boolean(),
      urgent: fc.boolean(),
      all: fc.boolean(),
      asks: fc.boolean(),
      name: text,
    })
    .map(({ body, person, urgent, all, asks, name }) => (seq: number) => {
      const made = (person ? fromOwner : aMessage)(seq, {
        body,
        urgent,
        expects_reply: asks,
        ...(all ? { to: ['all'] } : { to: ['@claude'] }),
      });
      return { ...made, about: [{ id: 'tsk_1', ref: name, how: 'given' as const }] };
    });
  const notice = text.map((said) => aNotice('colleague_arrived', { text: said, next: { command: said, resume: '' } }));
  const seats = fc.array(
    fc.record({
      messages: fc.array(message, { maxLength: 25 }),
      mode: fc.constantFrom<DeliveryMode>('focused', 'all', 'humans', 'off'),
      told: fc.constantFrom<DeliveryMode | null>('focused', 'all', null),
      notices: fc.array(notice, { maxLength: 12 }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const inputs = fc
    .record({
      seats,
      point: fc.constantFrom<Point>('wake', 'turn_start', 'boundary', 'turn_end'),
      rotation: fc.nat(9),
      peersLeft: fc.nat(3),
    })
    .map(({ seats: made, point, rotation, peersLeft }) =>
      inputOf(
        point,
        made.map(({ messages, mode, told, notices }, n) =>
          seatOf(
            messages.map((build, at) => build(at + 1)),
            { mode, announcedMode: told, notices, inboxed: { board: `board-${n}`, member_id: `mem_${n}` } },
          ),
        ),
        { rotation, peersLeft },
      ),
    );

  it('keeps to its bytes, has every tag once, no control characters, and is the same for the same', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const made = compose.compose(input);
        const whole = textOf(made);
        const most = input.point === 'wake' || input.point === 'turn_end' ? 32_768 : 9_000;
        expect(Buffer.byteLength(whole)).to.be.at.most(most);
        expect(whole).to.not.match(/[\0-\x08\x0b-\x1f\x7f-\x9f\u{e0000}-\u{e007f}]/u);
        expect(whole).to.not.match(/<\s*\/?\s*system-reminder/i);
        const count = (...forms: string[]) => made.messages.filter(({ form }) => forms.includes(form)).length;
        const opened = (whole.match(/<service-message /g) ?? []).length;
        // What is too long is given by its beginning or by a line.
        expect(opened).to.be.within(count('full'), count('full', 'truncated'));
        expect(whole.match(/<\s*\/\s*service-message>/gi) ?? []).to.have.length(opened);
        expect(compose.compose(input)).to.deep.equal(made);
      }),
      { numRuns: 300 },
    );
  });

  it('gives no message twice, and in full where it counts as received', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const made = compose.compose(input);
        const keys = made.messages.map(({ member_id, message_id }) => `${member_id} ${message_id}`);
        expect(new Set(keys).size).to.equal(keys.length);
        for (const { member_id, seq } of made.messages) {
          const seat = input.seats.find(({ seat: one }) => one.member_id === member_id)!;
          expect(seat.mode).to.not.equal('off');
          const sent = seat.inbox.messages.find((each) => each.seq === seq)!;
          if (input.point === 'boundary') expect(sent.sender === 'owner' || sent.midturn_peer_sender_id).to.be.ok;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('always gets on: what wakes is handed by and by, whatever its size', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const wake = { ...input, point: 'wake' as const };
        const given = new Set<string>();
        for (let round = 0; round < 200; round++) {
          const left = wake.seats.map((seat) => ({
            ...seat,
            notices: [],
            skip: new Set(
              seat.inbox.messages.filter(({ id }) => given.has(`${seat.seat.member_id} ${id}`)).map(({ id }) => id),
            ),
          }));
          if (!left.some(compose.wakes)) return;
          const made = compose.compose({ ...wake, seats: left });
          expect(made.messages.length).to.be.greaterThan(0);
          for (const { member_id, message_id } of made.messages) given.add(`${member_id} ${message_id}`);
        }
        throw new Error('it never came to an end');
      }),
      { numRuns: 100 },
    );
  });

  it('takes no longer with a thousand messages', () => {
    const messages = Array.from({ length: 1_000 }, (_, n) =>
      (n % 5 === 0 ? fromOwner : aMessage)(n + 1, { body: 'q'.repeat(500) }),
    );
    const made = at('wake', [seatOf(messages)]);
    expect(made.messages.length).to.be.greaterThan(20);
    expect(Buffer.byteLength(made.bundle!)).to.be.at.most(32_768);
  });
});
