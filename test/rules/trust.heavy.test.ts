/** Answers of servers that are wrong in any way: refused, or harmless. */
import { expect } from 'chai';
import fc from 'fast-check';
import { ClientError } from '../../src/client/errors.ts';
import type { Inbox } from '../../src/contract/types.ts';
import { compose } from '../../src/daemon/compose/compose.ts';
import type { Point } from '../../src/daemon/compose/types.ts';
import type { Notice } from '../../src/daemon/server-link/link.ts';
import { requireInbox, requireNotices } from '../../src/daemon/server-link/trust.ts';
import { aMessage, anInbox, fromOwner, someWork } from '../support/messages.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');
const stands = { text: 'x', by: fromOwner(1).from, at: '2026-03-02T09:00:00.000Z', version: 1 };
const whole = (): Inbox =>
  anInbox(
    [
      aMessage(1, { files: [{ id: 'fil_1', name: 'a.md', version: 1, digest: 'sha256:x' }] }),
      fromOwner(2, { about: [{ id: 'tsk_1', ref: 'PAY-1', how: 'given' }], reply_to_seq: 1 }),
    ],
    {
      work: someWork({
        current_task: { id: 'tsk_1', ref: 'PAY-1', title: 'T', owner: true, stands },
        line: {
          ...{ kind: 'paused' as const, text: 'lunch', until: '2026-03-02T10:00:00.000Z', task: null },
          ...{ set_by: 'claude', source: 'command' as const, at: '2026-03-02T09:00:00.000Z' },
        },
        brief: {
          ...{ file_id: 'fil_2', name: 'brief.md' as const, version: 1, at: '2026-03-02T09:00:00.000Z' },
          ...{ messages_since: 40, tasks_done_since: 4 },
        },
      }),
    },
  );
const notice = (): Notice => ({
  id: 'ntc_1',
  kind: 'approval_allowed',
  at: '2026-03-02T09:00:00.000Z',
  expires_at: '2026-03-09T09:00:00.000Z',
  text: 'Allowed.',
  approval_id: 'apr_1',
  next: { command: 'service approvals show apr_1', resume: '' },
});

/** Every place in a value, as a list of names. */
function places(value: unknown, at: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => places(inner, [...at, name]))];
}

function replaced(value: unknown, [name, ...rest]: string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}

const wrong = fc.constantFrom<unknown>(undefined, null, '', 'x', -1, 1.5, Number.NaN, 1e300, true, [], {}, [null], {
  body: 1,
});

function useAll(inbox: Inbox, notices: readonly Notice[]): void {
  const seat = { origin: 'https://x.example', member_id: inbox.member_id, board_id: 'brd_1', board: 'b', name: 'n' };
  const none = new Set<string>();
  const common = { skip: none, retry: none, heldBack: none, announcedUpTo: 0, nudged: () => false };
  const one = { seat, inbox, mode: inbox.delivery_mode, announcedMode: 'all' as const, notices, ...common };
  compose.wakes(one);
  compose.note([{ seat, mode: inbox.delivery_mode, inbox }]);
  for (const point of ['wake', 'turn_start', 'boundary', 'turn_end'] as Point[]) {
    compose.compose({
      ...{ point, handoffId: 'hnd_1', seats: [one], severalSeats: true, severalServers: true, reservedTags: [] },
      ...{ limits: { bundle_bytes: 32_768, context_bytes: 9_000 }, peersLeft: 3, now: NOW, rotation: 0 },
    });
  }
}

describe('an answer that is wrong', () => {
  it('is told from one that is right', () => {
    const inbox = whole();
    expect(requireInbox(inbox, inbox.member_id)).to.equal(inbox);
    expect(requireNotices([notice()])).to.deep.equal([notice()]);
    // A newer server may say more.
    expect(requireInbox({ ...inbox, more_to_come: 1 } as Inbox, inbox.member_id)).to.include({ more_to_come: 1 });
    for (const other of [
      { ...inbox, messages: [...inbox.messages].reverse() },
      { ...inbox, member_id: 'mem_of_another' },
      { ...inbox, delivery_mode: 'loud' },
      { ...inbox, messages: [aMessage(1, { sender: 'owner' })] },
      null,
    ]) {
      expect(() => requireInbox(other as Inbox, inbox.member_id))
        .to.throw(ClientError)
        .with.property('code', 'server_unexpected');
    }
  });

  it('is refused, or nothing that is made of it breaks', () => {
    const inbox = whole();
    const at = places(inbox);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(at.length - 1), wrong), { minLength: 1, maxLength: 3 }), (changes) => {
        let made: unknown = inbox;
        for (const [n, by] of changes) {
          try {
            made = replaced(made, at[n]!, by);
          } catch {
            // That place is gone by the change before it.
          }
        }
        let trusted: Inbox;
        try {
          trusted = requireInbox(made as Inbox, inbox.member_id);
        } catch (error) {
          expect(error).to.be.instanceOf(ClientError);
          return;
        }
        useAll(trusted, []);
      }),
      { numRuns: 3_000 },
    );
  });

  it('of notices too', () => {
    const list = [notice()];
    const at = places(list);
    fc.assert(
      fc.property(fc.nat(at.length - 1), wrong, (n, by) => {
        const made = replaced(list, at[n]!, by) as Notice[];
        let trusted: Notice[];
        try {
          trusted = requireNotices(made);
        } catch (error) {
          expect(error).to.be.instanceOf(ClientError);
          return;
        }
        useAll(whole(), trusted);
      }),
      { numRuns: 500 },
    );
  });
});
