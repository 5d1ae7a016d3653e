/** The sleep of a wait, which loses no wake-up. */
import type { Clock } from '../db/clock.ts';
import type { Caller } from '../operation/caller.ts';
import type { EventRow } from '../record/events.store.ts';

type Concern = (event: EventRow, data: Record<string, unknown>) => boolean;

/** Whether an event may matter to this caller, which saves a read if not. In doubt it does. */
export function concernOf(caller: Caller): Concern {
  const seat = caller.seat?.id;
  return (event, data) => {
    if (event.type !== 'message.posted') return true;
    if (data['reply_to'] !== null || seat === undefined) return true;
    const recipients = data['recipients'] as string[] | undefined;
    const mentions = data['mentions'] as { id: string }[];
    return recipients === undefined || recipients.includes(seat) || mentions.some((mention) => mention.id === seat);
  };
}

/** Sleeps until woken or over; a wake-up that comes before the sleep is not lost. */
export class Sleep {
  readonly concerns: Concern;
  readonly #cancel: () => void;
  #over = false;
  #woken = false;
  #resolve: (() => void) | null = null;

  constructor(clock: Clock, ms: number, concerns: Concern) {
    this.concerns = concerns;
    this.#cancel = clock.after(ms, () => this.end());
  }

  /** No further sleep: the time is over, the server closes or the client went away. */
  get over(): boolean {
    return this.#over;
  }

  wake(): void {
    this.#woken = true;
    this.#resolve?.();
  }

  end(): void {
    this.#over = true;
    this.#cancel();
    this.wake();
  }

  async next(): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
    }
    this.#woken = false;
    this.#resolve = null;
  }
}
