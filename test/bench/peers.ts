/**
 * This server beside others: one board, 16 writers who post each with a key of their own, the next once the last is answered, and 40
 * readers who follow. The load is this process, each server one of its own; all are as durable as their databases are by default.
 */
import { Engine } from './engine.ts';
import { Fanout, spread } from './fanout.ts';
import { type Figure, median, ownCpu, quantile, round } from './measure.ts';
import { installPeers, peerVersion } from './peers/install.ts';
import { parseSide, productSide, type Started } from './sides.ts';

const counting = new URL('counting-commits.mjs', import.meta.url).href;

const WRITERS = 16;
const READERS = 40;
const ROUNDS = 5;
const ROUND_MS = 3_000;
/** Until the engines have compiled what is hot. */
const WARM_UP_MS = 6_000;
/** Of what Parse Server does with request ids. */
const TARGET = { postgres: 3, sqlite: 4.5, delivery: 0.5 };

interface Lane {
  side: Started;
  load: Fanout;
  engine?: Engine;
  /** Of its engine, before the server started. */
  syncsBefore: number;
  /** Cores that the server used in each round. */
  cores: number[];
}

export async function peers(): Promise<Figure[]> {
  const folder = installPeers();
  const parse = `Parse Server ${peerVersion(folder, 'parse-server')}`;
  const lanes: Lane[] = [];
  const add = async (start: (db?: string) => Promise<Started>, engine?: Engine): Promise<void> => {
    const syncsBefore = (await engine?.syncs()) ?? 0;
    const side = await start(engine?.url);
    lanes.push({ side, load: await Fanout.open(side, WRITERS, READERS), engine, syncsBefore, cores: [] });
  };
  try {
    await add((db) => productSide({ name: 'this server on Postgres', db }), await Engine.start());
    await add(() => productSide({ name: 'this server on SQLite', nodeFlags: ['--import', counting] }));
    await add((db) => parseSide(`${parse} with request ids`, folder, db!, true), await Engine.start());
    await add((db) => parseSide(`${parse} without`, folder, db!, false), await Engine.start());
    for (const { load } of lanes) {
      await load.run(WARM_UP_MS);
      load.forget();
    }
    const cpu = ownCpu();
    // One after the other in each round, so that what else the machine does meets all of them.
    for (let n = 0; n < ROUNDS; n++) for (const lane of lanes) await measured(lane);
    const own = cpu();
    const figures = lanes.flatMap(figuresOf);
    const [postgres, sqlite, peer] = lanes.map(({ load }) => load) as [Fanout, Fanout, Fanout];
    const beside = (name: string, ratio: number, op: '>=' | '<=', value: number): Figure => ({
      name: `peers: ${name} to Parse Server with request ids`,
      value: round(ratio),
      ratio,
      target: { op, value },
    });
    const posts = ({ rates }: Fanout): number => median(rates) / median(peer.rates);
    const delivery = quantile(postgres.deliveries, 0.99) / quantile(peer.deliveries, 0.99);
    figures.push(
      beside('posts/s, on Postgres', posts(postgres), '>=', TARGET.postgres),
      beside('posts/s, on SQLite', posts(sqlite), '>=', TARGET.sqlite),
      beside('p99 of delivery, on Postgres', delivery, '<=', TARGET.delivery),
      { name: `peers: every message once at each of ${READERS} readers`, value: 'yes' },
      { name: 'peers: cores the load used', value: round(own) },
    );
    for (const { load } of lanes) load.close();
    for (const lane of lanes.splice(0)) figures.push(...(await ended(lane)));
    return figures;
  } finally {
    for (const lane of lanes) {
      await lane.side.end();
      await lane.engine?.end();
    }
  }
}

async function measured({ side, load, cores }: Lane): Promise<void> {
  const cpuMs = async (): Promise<number> =>
    (await Promise.all(side.children.map((child) => child.usage()))).reduce((sum, usage) => sum + usage.cpuMs, 0);
  const before = await cpuMs();
  const start = performance.now();
  await load.run(ROUND_MS);
  cores.push(((await cpuMs()) - before) / (performance.now() - start));
}

function figuresOf({ side, load, cores }: Lane): Figure[] {
  const other = side.name.startsWith('Parse');
  const bar = (title: string, value: number) => ({ chart: { title, label: side.name, value, other } });
  const rate = median(load.rates);
  return [
    { name: `${side.name}: posts/s`, value: round(rate, 0), headline: true, ...bar('Posts per second', rate) },
    { name: `${side.name}: answer, p50 / p99`, value: spread(load.answers) },
    {
      name: `${side.name}: delivery, p50 / p99`,
      value: spread(load.deliveries),
      headline: true,
      ...bar('Delivery, p99 in milliseconds', quantile(load.deliveries, 0.99)),
    },
    { name: `${side.name}: cores the server used`, value: round(median(cores)) },
  ];
}

/** Ends a server, which then tells of its last syncs. */
async function ended({ side, load, engine, syncsBefore }: Lane): Promise<Figure[]> {
  const { commits = 0 } = await side.children[0]!.usage();
  await side.end();
  // Each commit of SQLite is one sync of its log.
  const syncs = engine ? (await engine.syncs()) - syncsBefore : commits;
  await engine?.end();
  return [{ name: `${side.name}: syncs of the log for a post`, value: round(syncs / load.posts) }];
}
