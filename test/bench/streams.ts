/**
 * How soon a post reaches everybody: 50 people with 10 agents each on 20 boards, 100 of their streams and 500 waiting
 * inboxes, rounds of one post to all on every board at once. A round begins when all of the last one arrived and
 * everybody waits again. Then 16 writers post as fast as they are answered, and everything arrives once and in order.
 */
import { Audience, type Shape } from './audience.ts';
import { type Crowd, floorSide, serverSide } from './crowd.ts';
import { type Figure, median, ownCpu, quantile, round } from './measure.ts';
import { profileFlags, reportProfile } from './profile.ts';

/** 100 streams and 500 waiting inboxes. */
export const usual: Shape = { boards: 20, streamsPerBoard: 5, waitsPerBoard: 25 };
/** 2,000 seats: 400 streams and 2,000 waiting inboxes. */
const large: Shape = { boards: 40, streamsPerBoard: 10, waitsPerBoard: 50 };
const LARGE_ROUNDS = 3;
const PEOPLE = 50;

/** A seat for each waiting inbox; streams are opened by the people they belong to. */
export const crowdOf = ({ boards, waitsPerBoard }: Shape): Crowd => ({
  boards,
  people: PEOPLE,
  seatsEach: (boards * waitsPerBoard) / PEOPLE,
});

const WRITERS = 16;
const BURST = 800;
const toTheEnd = (posts: number): boolean => posts < BURST;

const ROUNDS = 40;
const WARM_UP_ROUNDS = 15;
/** Of the floor’s: the 99th percentiles, and the CPU of a round. */
const TARGET = { p99: 1.5, cpu: 3 };
/** With 500 seats and 100 streams. */
const TARGET_RSS_MB = 160;

/** @param profile whether to profile the server instead of comparing it. */
export async function streams(profile: boolean): Promise<Figure[]> {
  const server = await Audience.gather(await serverSide(crowdOf(usual), profile ? profileFlags('streams') : []), usual);
  // Left without a round, the floor would close its connections.
  const floor = profile ? server : await Audience.gather(await floorSide(), usual);
  const sides = new Set([server, floor]);
  try {
    await play(sides, WARM_UP_ROUNDS);
    for (const side of sides) side.forget();
    const cpu = ownCpu();
    await play(sides, ROUNDS);
    const load = cpu();
    const rss = [await server.rss()];
    if (!profile) await server.burst(WRITERS, toTheEnd);
    for (const side of sides) side.check();
    rss.push(await server.rss());
    return profile ? [] : figuresOf(server, floor, load, rss);
  } finally {
    for (const side of sides) await side.end();
    if (profile) reportProfile('streams');
  }
}

async function play(sides: Iterable<Audience>, rounds: number): Promise<void> {
  for (let n = 0; n < rounds; n++) for (const side of sides) await side.round();
}

/** Whether four times as many are still all served, once and in order. */
export async function crowd(): Promise<Figure[]> {
  const server = await Audience.gather(await serverSide(crowdOf(large)), large);
  try {
    for (let n = 0; n < LARGE_ROUNDS; n++) await server.round();
    await server.burst(WRITERS, toTheEnd);
    server.check();
    const share = (name: string, samples: number[]): Figure => ({
      name: `crowd: ${name} p50 / p99`,
      value: `${round(quantile(samples, 0.5))} / ${round(quantile(samples, 0.99))} ms`,
    });
    return [
      {
        name: `crowd: 2,000 seats on 40 boards, ${LARGE_ROUNDS} rounds, ${BURST} posts of ${WRITERS} writers`,
        value: 'all once',
      },
      share('post to frame of 400 streams', server.toFrame),
      share('post to 2,000 waiting inboxes', server.toInbox),
    ];
  } finally {
    await server.end();
  }
}

/** @param rss bytes of the server after the rounds, and after the burst */
function figuresOf(server: Audience, floor: Audience, load: number, rss: number[]): Figure[] {
  const both = (name: string, samples: (of: Audience) => number[], share: number): Figure => ({
    name: `${name} p${share * 100}, server / floor`,
    value: `${round(quantile(samples(server), share))} / ${round(quantile(samples(floor), share))} ms`,
  });
  const ratio = (name: string, of: (side: Audience) => number, target: number): Figure => {
    const value = of(server) / of(floor);
    return { name, value: round(value), ratio: value, target: { op: '<=', value: target } };
  };
  const p99 = (samples: number[]): number => quantile(samples, 0.99);
  const [rssMb = Number.NaN, burstMb = Number.NaN] = rss.map((bytes) => bytes / 1e6);
  return [
    both('post to frame', (of) => of.toFrame, 0.5),
    both('post to frame', (of) => of.toFrame, 0.99),
    both('answer to frame', (of) => of.fromAnswer, 0.5),
    both('answer to frame', (of) => of.fromAnswer, 0.99),
    both('post to waiting inbox', (of) => of.toInbox, 0.5),
    both('post to waiting inbox', (of) => of.toInbox, 0.99),
    {
      name: 'CPU of a round, server / floor',
      value: `${round(median(server.cpu), 1)} / ${round(median(floor.cpu), 1)} ms`,
    },
    ratio('CPU of a round: server to floor', (of) => median(of.cpu), TARGET.cpu),
    ratio('streams: p99 of server to floor', (of) => p99(of.toFrame), TARGET.p99),
    ratio('waiting inboxes: p99 of server to floor', (of) => p99(of.toInbox), TARGET.p99),
    {
      name: 'RSS of the server with 500 seats and 100 streams',
      value: `${round(rssMb, 0)} MB`,
      ratio: rssMb,
      target: { op: '<=', value: TARGET_RSS_MB },
    },
    { name: `the same after ${BURST} posts of ${WRITERS} writers`, value: `${round(burstMb, 0)} MB`, headline: true },
    { name: `streams: ${BURST} more posts of ${WRITERS} writers`, value: 'all once' },
    { name: 'streams: cores the load used', value: round(load) },
  ];
}
