/**
 * How far this server goes on Postgres: what its steps cost, measured with one process; what a simulation makes of these costs for one,
 * two and four processes, beside what is measured; and then what it says of more seats than any machine here could carry.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Engine } from './engine.ts';
import { spread } from './fanout.ts';
import { type Costs, measureCosts, units } from './grow/costs.ts';
import { idleUnits } from './grow/idle.ts';
import { type Outcome, scaleCosts, simulate } from './grow/simulation.ts';
import { yardstick } from './grow/yardstick.ts';
import { type Figure, median, round } from './measure.ts';
import { measure, READERS, WRITERS } from './postgres.ts';
import { outputDir } from './world.ts';

const SIMULATED_MS = 8_000;
/** Of the measured rate. */
const CLOSE = 0.2;
/** More than any machine takes to fill a core's caches. */
const MOST_SWITCH_MS = 0.5;
/** Several processes in shapes other than those that are compared: what work costs beside other work is found with them. */
const CROWDED = [
  { boards: 2, processes: 3 },
  { boards: 4, processes: 2 },
  { boards: 8, processes: 3 },
] as const;

/**
 * What seats do at the busiest time: one in five works, and posts a message a minute; ten of them share a board, with four people, each
 * of whom has a daemon and a page that follow it. Each message is read by three agents.
 */
const WORKING = 0.2;
const POSTS_PER_MINUTE = 1;
const SEATS_PER_BOARD = 10;
const STREAMS_PER_BOARD = 8;
const READS_PER_POST = 3;
const HOURS_A_DAY = 8;
const DAYS_A_YEAR = 250;

/** The machines that teams rent: servers beside each other, and one with Postgres, half a millisecond away. */
const CORES = 8;
const POSTGRES_CORES = 32;
const ROUND_TRIP_MS = 0.5;
const STREAMS_PER_PROCESS = 10_000;
/** No process is to be busier than this part of a core, nor Postgres than this part of its cores. */
const BUSY = 0.6;

/** @param file costs that an earlier run kept, from which it only simulates; absent: they are measured, and kept. */
export async function grow(file?: string): Promise<Figure[]> {
  const compared: Figure[] = [];
  const costs = file === undefined ? await measured(compared) : (JSON.parse(readFileSync(file, 'utf8')) as Costs);
  const figures: Figure[] = [
    ...(['server', 'postgres', 'load'] as const).map((part) => ({
      name: `grow: CPU µs in the ${part} for ${units.join(', ')}`,
      value: units.map((unit) => round(costs[part][unit] * 1_000, 0)).join(' '),
    })),
    ...(['server', 'postgres'] as const).map((part) => ({
      name: `grow: CPU µs in the ${part} for an idle ${idleUnits.join(', an idle ')}, each time`,
      value: idleUnits.map((unit) => round(costs.idle[part][unit] * 1_000, 1)).join(' '),
    })),
    {
      name: 'grow: CPU time of a busy process, on 1 board and on 16',
      value: `${round(costs.busy[1])} and ${round(costs.busy[16])} times`,
    },
    {
      name: 'grow: CPU time more of a piece of work that begins while all cores have other work',
      value: `${round(costs.switchMs * 1_000, 0)} µs`,
    },
    { name: 'grow: a sync of the log', value: `${round(costs.syncMs)} ms` },
    { name: 'grow: the database grows by a post', value: `${round(costs.bytesPerPost / 1024, 1)} KiB` },
    {
      name: 'grow: a server and a stream',
      value: `${round(costs.baseKib / 1024, 0)} MiB, ${round(costs.streamKib, 0)} KiB`,
    },
    ...compared,
  ];
  // Teams have many boards.
  const ofTeams = scaleCosts(costs, costs.busy[16]);
  const most = mostOfOne(ofTeams);
  figures.push(...told(most));
  for (const seats of [1_000, 100_000, 10_000_000]) {
    const count = Math.ceil(seats / most.seats);
    figures.push(...told(carried(ofTeams, seats / count), count));
  }
  return figures;
}

/** Measures what steps cost, and keeps it. @param figures takes what several processes do, measured and simulated. */
async function measured(figures: Figure[]): Promise<Costs> {
  const priced = { ...(await measureCosts()), busy: { 1: 1, 16: 1 }, switchMs: 0 };
  const one = { 1: await rateOf(priced, 1, 1), 16: await rateOf(priced, 16, 1) };
  const crowded: Crowded[] = [];
  for (const shape of CROWDED) crowded.push({ ...shape, rate: await rateOf(priced, shape.boards, shape.processes) });
  const costs = fitted(priced, one, crowded);
  for (const boards of [1, 16] as const) {
    figures.push(compare(costs, boards, 1, one[boards]));
    for (const processes of [2, 4])
      figures.push(compare(costs, boards, processes, await rateOf(costs, boards, processes)));
  }
  mkdirSync(outputDir, { recursive: true });
  writeFileSync(join(outputDir, 'costs.json'), `${JSON.stringify(costs, null, 2)}\n`);
  return costs;
}

/** Posts a second that several processes were measured to do. */
interface Crowded {
  boards: number;
  processes: number;
  rate: number;
}

/**
 * The costs by which the simulation meets what was measured: of one process, and, as nearly as it goes, of several.
 * @param one posts a second of one process on so many boards.
 */
function fitted(priced: Costs, one: Costs['busy'], crowded: readonly Crowded[]): Costs {
  const withSwitches = (switchMs: number): Costs => {
    const costs = { ...priced, switchMs };
    return { ...costs, busy: { 1: busyFactor(costs, 1, one[1]), 16: busyFactor(costs, 16, one[16]) } };
  };
  /** By how much the simulation of several processes is too fast, as a logarithm. */
  const excess = (costs: Costs): number => {
    const between = scaleCosts(costs, Math.sqrt(costs.busy[1] * costs.busy[16]));
    return crowded.reduce(
      (sum, { boards, processes, rate }) => sum + Math.log(simulatedRate(between, boards, processes) / rate),
      0,
    );
  };
  let [least, most] = [0, MOST_SWITCH_MS];
  while (most - least > 0.001) {
    const middle = (least + most) / 2;
    if (excess(withSwitches(middle)) > 0) least = middle;
    else most = middle;
  }
  return withSwitches(least);
}

const nameOf = (boards: number, processes: number): string =>
  `${boards} board${boards > 1 ? 's' : ''}, ${processes} process${processes > 1 ? 'es' : ''}`;

/** Posts a second, as if the machine were as fast as when the costs were measured. */
async function rateOf(costs: Costs, boards: number, processes: number): Promise<number> {
  const engine = await Engine.start();
  try {
    const yards: number[] = [];
    const shape = { name: nameOf(boards, processes), boards, processes };
    const { rates } = await measure(shape, engine, () => yards.push(yardstick()));
    return median(rates.map((one, n) => (one * (yards[n]! + yards[n + 1]!)) / 2 / costs.yardMs));
  } finally {
    await engine.end();
  }
}

function simulatedRate(costs: Costs, boards: number, processes: number): number {
  const layout = { processes, cores: cpus().length, boards, streamsPerBoard: READERS / boards };
  return simulate(costs, layout, { writers: WRITERS }, SIMULATED_MS).rate;
}

/** How many times as much CPU time everything has to take for one process to post so fast. */
function busyFactor(costs: Costs, boards: number, rate: number): number {
  let [least, most] = [0.5, 4];
  while (most - least > 0.01) {
    const times = (least + most) / 2;
    if (simulatedRate(scaleCosts(costs, times), boards, 1) > rate) least = times;
    else most = times;
  }
  return least;
}

/** What is measured beside what the simulation says, which knows only one process. */
function compare(costs: Costs, boards: 1 | 16, processes: number, rate: number): Figure {
  const simulated = simulatedRate(scaleCosts(costs, costs.busy[boards]), boards, processes);
  return {
    name: `grow, ${nameOf(boards, processes)}: posts/s, measured and simulated`,
    value: `${round(rate, 0)} / ${round(simulated, 0)}`,
    ratio: Math.abs(simulated / rate - 1),
    ...(processes > 1 && { target: { op: '<=', value: CLOSE } }),
  };
}

/** Seats of one Postgres: what they do, the processes that serve them, and how these fare. */
interface Carried {
  seats: number;
  posts: number;
  processes: number;
  streams: number;
  outcome: Outcome;
  memoryGib: number;
  gibPerYear: number;
}

/** Takes so many processes that none is too busy, or that more do not help. */
function carried(costs: Costs, seats: number): Carried {
  const posts = (seats * WORKING * POSTS_PER_MINUTE) / 60;
  const boards = Math.ceil(seats / SEATS_PER_BOARD);
  const streams = boards * STREAMS_PER_BOARD;
  const run = (processes: number): Outcome =>
    simulate(
      costs,
      {
        processes,
        cores: CORES,
        apart: { processesEach: CORES, postgresCores: POSTGRES_CORES, roundTripMs: ROUND_TRIP_MS },
        boards,
        streamsPerBoard: STREAMS_PER_BOARD,
      },
      { posts, reads: posts * READS_PER_POST },
      SIMULATED_MS,
    );
  let processes = Math.ceil(streams / STREAMS_PER_PROCESS);
  let outcome = run(processes);
  while (outcome.process > BUSY) {
    const more = Math.ceil(processes * 1.25);
    const better = run(more);
    if (better.process > outcome.process) break;
    processes = more;
    outcome = better;
  }
  return {
    seats,
    posts,
    processes,
    streams,
    outcome,
    memoryGib: (processes * costs.baseKib + streams * costs.streamKib) / 2 ** 20,
    gibPerYear: (posts * costs.bytesPerPost * HOURS_A_DAY * 3_600 * DAYS_A_YEAR) / 2 ** 30,
  };
}

/** The most seats that one Postgres carries, within a tenth. */
function mostOfOne(costs: Costs): Carried {
  let most = carried(costs, 10_000);
  for (let step = 2; step > 1.1; ) {
    const next = carried(costs, most.seats * step);
    const { process, postgres } = next.outcome;
    if (process <= BUSY && postgres <= BUSY * POSTGRES_CORES) most = next;
    else step = Math.sqrt(step);
  }
  return most;
}

/** @param count how many times there is this; absent: it is the most that there can be. */
function told({ seats, posts, processes, streams, outcome, memoryGib, gibPerYear }: Carried, count?: number): Figure[] {
  const name = `grow: ${round(seats * (count ?? 1), 0)} seats${count === undefined ? ', the most of one Postgres' : ''}`;
  const times = count ?? 1;
  const total = (value: number): string => round(value * times, 0);
  return [
    { name: `${name}: posts/s, streams`, value: `${total(posts)}, ${total(streams)}` },
    { name: `${name}: servers of Postgres, processes`, value: `${times}, ${total(processes)}` },
    {
      name: `${name}: cores that the busiest process, all of them, each Postgres keep busy`,
      value: [outcome.process, outcome.processes * times, outcome.postgres].map((cores) => round(cores)).join(', '),
    },
    {
      name: `${name}: memory of the processes, growth of the databases in a year`,
      value: `${total(memoryGib)} GiB, ${total(gibPerYear)} GiB`,
    },
    { name: `${name}: answer, p50 / p99`, value: spread(outcome.answers) },
    { name: `${name}: delivery, p50 / p99`, value: spread(outcome.deliveries) },
  ];
}
