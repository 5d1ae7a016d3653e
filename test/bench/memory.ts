/** What an idle stream of a board costs in memory: 1,000 of them, before and after, each time after a collection. */
import { type Crowd, floorSide, type Side, serverSide } from './crowd.ts';
import { type Figure, round } from './measure.ts';
import { Follower } from './sse.ts';

const STREAMS = 1_000;
/** 25 to a credential: 32 is the most. */
const crowd: Crowd = { boards: 1, people: 40, seatsEach: 1 };
const FLAGS = ['--expose-gc'];
/** Streams opened and closed before the first measurement, so that code and pools are there already. */
const WARM_UP = 100;
const TARGET = 1.5;

export async function memory(): Promise<Figure[]> {
  const server = await perStream(await serverSide(crowd, FLAGS));
  const floor = await perStream(await floorSide(FLAGS));
  const figures = (name: string, of: 'heap' | 'rss'): Figure[] => {
    const ratio = server[of] / floor[of];
    return [
      {
        name: `${name} per idle stream, server / floor`,
        value: `${round(server[of] / 1024, 1)} / ${round(floor[of] / 1024, 1)} KiB`,
      },
      {
        name: `${name} per idle stream: server to floor`,
        value: round(ratio),
        ratio,
        target: { op: '<=', value: TARGET },
      },
    ];
  };
  return [...figures('heap', 'heap'), ...figures('RSS', 'rss')];
}

async function perStream(side: Side): Promise<{ heap: number; rss: number }> {
  const { child } = side.served;
  for (const stream of await open(side, WARM_UP)) stream.close();
  await child.idle();
  const before = await child.usage(true);
  const streams = await open(side, STREAMS);
  await child.idle();
  const after = await child.usage(true);
  for (const stream of streams) stream.close();
  await side.served.end();
  const heap = after.heapUsed + after.external - before.heapUsed - before.external;
  return { heap: heap / STREAMS, rss: (after.rss - before.rss) / STREAMS };
}

async function open(side: Side, count: number): Promise<Follower[]> {
  const streams: Follower[] = [];
  for (let n = 0; n < count; n++) {
    const stream = await Follower.open(side.served.url, side.stream(0, n % crowd.people), () => {});
    if (stream.problem !== null) throw new Error(stream.problem);
    streams.push(stream);
  }
  return streams;
}
