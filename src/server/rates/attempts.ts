/** Limits on attempts: before anybody is known to have a right, and wherever codes could be guessed. */
import { MINUTE } from '../../contract/durations.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Clock } from '../db/clock.ts';
import { type AttemptRow, attempts, BAD_CREDENTIALS, operationsOf, type RateName } from './table.ts';
import { MOST_SUBJECTS, rateLimited } from './window.ts';

/** How often, in milliseconds, and how many times an attempt looks whether those before it failed. */
const LOOK_AGAIN = { ms: 25, times: 80 };

/** Who is counted, and how many a minute are too many. */
interface Share {
  subject: string;
  limit: number;
}

/** `busy`: as many attempts are under way as may still fail. */
interface Refused {
  refused: 'over' | 'busy';
  /** Until the minute ends in which they are counted. */
  ms: number;
}

/** Where attempts are counted: in memory, or in the database that several processes share. */
export interface Tally {
  /**
   * Counts an attempt for each share in turn, unless one of them has had its number; the later ones are then left alone.
   * @param held to be given back when it is known how the attempt ended.
   * @returns null when it was counted.
   */
  take(bucket: string, shares: Share[], held: boolean): Promise<Refused | null>;
  /** Ends held attempts; failed ones count in the minute in which they end. */
  giveBack(bucket: string, shares: Share[], failed: boolean): Promise<void>;
}

/** What waits for the end of an attempt. @param code of its error; null: it succeeded. */
export type Pass = (code: string | null) => Promise<void>;

interface Held {
  bucket: string;
  shares: Share[];
  failures: NonNullable<AttemptRow['failures']>;
}

interface AttemptOptions {
  tally: Tally;
  clock: Clock;
  /** What the limits are multiplied with: more than 1 for tests only, which make many attempts from one address. */
  factor?: number | undefined;
}

export class Attempts {
  readonly #options: AttemptOptions;
  readonly #rows = new Map<string, [bucket: string, row: AttemptRow][]>();
  /** Until when who has had enough is refused; asked before the tally, so that insisting costs nothing. */
  readonly #over = new Map<string, number>();

  constructor(options: AttemptOptions) {
    this.#options = options;
    for (const [bucket, row] of Object.entries(attempts) as [RateName, AttemptRow][]) {
      for (const operation of operationsOf(bucket))
        this.#rows.set(operation, [...(this.#rows.get(operation) ?? []), [bucket, row]]);
    }
  }

  /** Whether an operation's attempts are counted by person too. */
  counts(name: OperationName, by: 'person' | 'address'): boolean {
    const rows = this.#rows.get(name);
    return rows !== undefined && (by === 'address' || rows.some(([, row]) => row.person !== undefined));
  }

  /**
   * Counts an attempt before anything is known of it. @param address what the client's address counts under; null where it
   * is no client's.
   * @throws Refusal `rate_limited`.
   */
  enter(name: OperationName, address: string | null): Promise<Pass> {
    return this.#enter(name, (row) => [
      ...(address === null || row.address === undefined ? [] : [this.#share(`address ${address}`, row.address)]),
      ...(row.server === undefined || row.person !== undefined ? [] : [this.#share('server', row.server)]),
    ]);
  }

  /** Counts an attempt of a person. What one person may not do does not use up what everybody may. */
  enterAs(name: OperationName, personId: string): Promise<Pass> {
    return this.#enter(name, (row) =>
      row.person === undefined
        ? []
        : [this.#share(personId, row.person), ...(row.server === undefined ? [] : [this.#share('server', row.server)])],
    );
  }

  /** Counts a credential that does not work. @throws Refusal `rate_limited` once there are too many. */
  async countBad(address: string | null): Promise<void> {
    if (address === null) return;
    await this.#take('bad_credentials', [this.#bad(address)], false);
  }

  /** Whether a bad credential of this address would be refused as one too many. */
  refusesBad(addressOf: () => string | null): boolean {
    const address = this.#over.size === 0 ? null : addressOf();
    return address !== null && this.#left(keyOf('bad_credentials', [this.#bad(address)])) > 0;
  }

  async #enter(name: OperationName, sharesOf: (row: AttemptRow) => Share[]): Promise<Pass> {
    const held: Held[] = [];
    try {
      for (const [bucket, row] of this.#rows.get(name) ?? []) {
        const shares = sharesOf(row);
        if (shares.length === 0) continue;
        await this.#take(bucket, shares, row.failures !== undefined);
        if (row.failures !== undefined) held.push({ bucket, shares, failures: row.failures });
      }
    } catch (error) {
      await this.#settle(held, null);
      throw error;
    }
    return (code) => this.#settle(held, code);
  }

  async #settle(held: Held[], code: string | null): Promise<void> {
    for (const { bucket, shares, failures } of held) {
      const failed = code !== null && (failures === 'any' || failures.includes(code));
      // Which is no reason to answer something else: until the minute ends it stays held.
      await this.#options.tally.giveBack(bucket, shares, failed).catch(() => {});
    }
  }

  async #take(bucket: string, shares: Share[], held: boolean): Promise<void> {
    const { tally, clock } = this.#options;
    const key = keyOf(bucket, shares);
    const left = this.#left(key);
    if (left > 0) throw rateLimited(bucket, left);
    let refused = await tally.take(bucket, shares, held);
    for (let looks = 1; refused?.refused === 'busy' && looks <= LOOK_AGAIN.times; looks++) {
      await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN.ms, resolve));
      refused = await tally.take(bucket, shares, held);
    }
    if (refused === null) return;
    if (refused.refused === 'over') this.#remember(key, clock.now() + refused.ms);
    throw rateLimited(bucket, refused.ms);
  }

  /** For how many more milliseconds who has had enough is refused. */
  #left(key: string): number {
    const left = (this.#over.get(key) ?? 0) - this.#options.clock.now();
    // The clock may have been set back.
    return left > MINUTE ? 0 : left;
  }

  #remember(key: string, until: number): void {
    this.#over.delete(key);
    if (this.#over.size >= MOST_SUBJECTS) this.#over.delete(this.#over.keys().next().value as string);
    this.#over.set(key, until);
  }

  #bad(address: string): Share {
    return this.#share(`address ${address}`, BAD_CREDENTIALS);
  }

  #share(subject: string, limit: number): Share {
    return { subject, limit: limit * (this.#options.factor ?? 1) };
  }
}

const keyOf = (bucket: string, shares: Share[]): string =>
  `${bucket} ${shares.map(({ subject }) => subject).join(' ')}`;
