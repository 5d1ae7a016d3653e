/**
 * What a server on Postgres does for streams on which nothing happens: each is looked after at its keepalive, all credentials are read
 * again every half second, and all boards that are followed are compared every second as long as anything is written anywhere.
 */
import type { Engine } from '../engine.ts';
import { productSide } from '../sides.ts';
import { Wire } from '../wire.ts';
import { pricesOf } from './prices.ts';
import { yardstick } from './yardstick.ts';

/** As in the sources. */
export const KEEPALIVE_MS = 25_000;
export const SWEEP_MS = 500;
export const POLL_MS = 1_000;

/** A look after one stream; a credential in a sweep; a board in a comparison. */
export const idleUnits = ['stream', 'credential', 'board'] as const;
export type IdlePrices = Record<(typeof idleUnits)[number], number>;

/** 1,000 on a board are the most. */
const PEOPLE = 960;
const STREAMS = 960;
/** 32 to a credential are the most. */
const FEW_PEOPLE = 30;
const BOARDS = 500;
/** Keeps the number of writes moving. */
const POST_MS = 500;

interface Layout {
  streams: number;
  /** Streams are spread over so many of the people, and of the boards. */
  people: number;
  boards: number;
}

const layouts: Layout[] = [
  { streams: 0, people: 1, boards: 1 },
  { streams: STREAMS, people: FEW_PEOPLE, boards: 1 },
  { streams: STREAMS, people: PEOPLE, boards: 1 },
  { streams: BOARDS, people: BOARDS, boards: BOARDS },
];

/** @param yardMs the machine's speed that the prices are for. @returns CPU milliseconds of each unit */
export async function measureIdle(
  engine: Engine,
  yardMs: number,
): Promise<{ server: IdlePrices; postgres: IdlePrices }> {
  const db = await engine.another();
  const side = await productSide({
    name: 'idle',
    db,
    people: PEOPLE,
    boards: BOARDS + 1,
    seated: (board, person) => (board === BOARDS ? person === 0 : board === 0 || board === person),
  });
  const url = side.url(0);
  const rows: { counts: number[]; cpu: Record<'server' | 'postgres', number> }[] = [];
  try {
    for (const { streams, people, boards } of layouts) {
      const open: { close(): void }[] = [];
      for (let n = 0; n < streams; n++) open.push(await side.follow(n % people, n % boards, () => {}));
      const before = { yard: yardstick(), ...(await used()) };
      // One period: each stream is looked after once.
      await posting(KEEPALIVE_MS);
      const after = await used();
      const speed = yardMs / ((before.yard + yardstick()) / 2);
      for (const stream of open) stream.close();
      await side.children[0]!.idle();
      const sweeps = KEEPALIVE_MS / SWEEP_MS;
      const polls = KEEPALIVE_MS / POLL_MS;
      rows.push({
        // And what is done once a period whatever is open.
        counts: [streams, sweeps * Math.min(people, streams), polls * (streams > 0 ? boards : 0), 1],
        cpu: {
          server: (after.server - before.server) * speed,
          postgres: (after.postgres - before.postgres) * speed,
        },
      });
    }
  } finally {
    await side.end();
  }
  const of = (part: 'server' | 'postgres'): IdlePrices => {
    const prices = pricesOf(rows.map(({ counts, cpu }) => ({ counts, sum: cpu[part] })));
    return Object.fromEntries(idleUnits.map((unit, n) => [unit, prices[n]!])) as IdlePrices;
  };
  return { server: of('server'), postgres: of('postgres') };

  async function used(): Promise<Record<'server' | 'postgres', number>> {
    return { server: (await side.children[0]!.usage()).cpuMs, postgres: await engine.cpuMs() };
  }

  /** Writes on a board that nobody follows. */
  async function posting(ms: number): Promise<void> {
    const wire = await Wire.open(url);
    const until = performance.now() + ms;
    while (performance.now() < until) {
      const { status, body } = await wire.send(side.post(0, BOARDS));
      if (status !== 201) throw new Error(`a post got ${status}: ${body.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, Math.min(POST_MS, Math.max(until - performance.now(), 0))));
    }
    wire.close();
  }
}
