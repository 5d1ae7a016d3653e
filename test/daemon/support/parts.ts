/** Small parts in place of the true ones, where a test is about the core: plain text, and a program of any abilities. */
import type {
  Adapter,
  Adapters,
  Capability,
  Compose,
  Composed,
  ComposeSeat,
  Delegating,
  Reports,
  SessionView,
} from '../../../src/daemon/types.ts';

const waiting = ({ inbox, mode, skip }: ComposeSeat) =>
  mode === 'off' ? [] : inbox.messages.filter(({ id }) => !skip.has(id));

/** Every waiting message as one line; the first word of what wakes is not "quiet". */
export const plainCompose: Compose = {
  wakes: (seat) => waiting(seat).some(({ body }) => !body.startsWith('quiet')),
  compose(input): Composed {
    const frozen = input.frozen && new Set(input.frozen.map(({ message_id }) => message_id));
    const chosen = input.seats.flatMap((seat) => {
      const fits = waiting(seat).filter((message) => !frozen || frozen.has(message.id));
      const here = input.point === 'boundary' ? fits.filter(({ sender }) => sender === 'owner') : fits;
      return here.map((message) => ({ seat: seat.seat, message }));
    });
    const told = input.seats.flatMap(({ seat, toldMode, mode }) =>
      toldMode === null || toldMode === mode ? [] : [{ origin: seat.origin, member_id: seat.member_id, mode }],
    );
    const text = chosen.map(({ seat, message }) => `${seat.name} #${message.seq} ${message.body}`);
    return {
      ...(text.length > 0 ? { bundle: [`handoff="${input.handoffId}"`, ...text].join('\n') } : {}),
      ...(told.length > 0 ? { nudge: told.map(({ mode }) => `service: mode ${mode}`).join('\n') } : {}),
      class: 'mixed',
      messages: chosen.map(({ seat: { origin, member_id }, message: { id, seq } }) => ({
        origin,
        member_id,
        message_id: id,
        seq,
        form: 'full',
      })),
      notices: [],
      nudges: [],
      modes: told,
      announced: [],
      peers: 0,
    };
  },
  note: (seats) => seats.map(({ seat, mode }) => `service: you are ${seat.name} on ${seat.board}, ${mode}`).join('\n'),
};

export interface FakeAdapter extends Adapter {
  capabilities: ReadonlySet<Capability>;
  /** What its queue was given. */
  given: { text: string; id: string }[];
}

/** A program with these abilities; `hand` and `check` may be set anew. */
export function fakeAdapter(capabilities: Capability[], more: Partial<Adapter> = {}): FakeAdapter {
  const given: FakeAdapter['given'] = [];
  return {
    harness: 'fake',
    capabilities: new Set(capabilities),
    wakeEcho: capabilities.includes('idle-hook'),
    liveness: 'process',
    limits: { bundle_bytes: 32_768, context_bytes: 9_000 },
    reservedTags: [],
    check: async () => 'ok',
    canHand: ({ turn, waiting: waits, extension }) =>
      waits || extension || (capabilities.includes('queue') && turn !== 'busy') ? 'now' : 'later',
    hand: async (_session, text, id) => {
      given.push({ text, id });
      return 'accepted_confirmed';
    },
    given,
    ...more,
  };
}

export const only = (adapter: Adapter): Adapters => ({ of: () => adapter });

/** Keeps what was reported. */
export class KeptReports implements Reports {
  readonly views: SessionView[] = [];
  readonly plans: string[] = [];
  session(view: SessionView): void {
    this.views.push(view);
  }
  released(): void {}
  plan(_view: SessionView, { text }: { text: string }): void {
    this.plans.push(text);
  }
  async close(): Promise<void> {}
}

const none = async (): Promise<never> => {
  throw new Error('not part of this test');
};

export const noDelegating: Delegating = { boards: none, join: none, createBoard: none, close: () => {} };
