/** Small parts in place of the true ones, where a test is about the rest of the daemon: above all a program of any abilities. */
import type { Adapter, Adapters, Capability } from '../../../src/daemon/adapter.ts';
import type { DelegatedBoards } from '../../../src/daemon/delegation/delegated-boards.ts';
import type { SessionView } from '../../../src/daemon/refs.ts';
import type { Reports } from '../../../src/daemon/reports/reports.ts';

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
    marksNotFromUser: false,
    liveness: 'process',
    limits: { bundle_bytes: 32_768, context_bytes: 9_000 },
    reservedTags: [],
    check: async () => 'ok',
    canHand: ({ turn, waiting: waits, extension, door }) =>
      waits || extension || (door && turn !== 'busy') || (capabilities.includes('queue') && turn !== 'busy')
        ? 'now'
        : 'later',
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
export class KeptReports implements Pick<Reports, 'session' | 'released' | 'queued' | 'plan' | 'close'> {
  readonly views: SessionView[] = [];
  readonly plans: string[] = [];
  session(view: SessionView): void {
    this.views.push(view);
  }
  released(): void {}
  queued(): void {}
  plan(_view: SessionView, { text }: { text: string }): void {
    this.plans.push(text);
  }
  async close(): Promise<void> {}
}

const none = async (): Promise<never> => {
  throw new Error('not part of this test');
};

export const noDelegating: Pick<DelegatedBoards, 'originOf' | 'boards' | 'join' | 'createBoard' | 'close'> = {
  originOf: () => 'http://127.0.0.1:7400',
  boards: none,
  join: none,
  createBoard: none,
  close: () => {},
};
