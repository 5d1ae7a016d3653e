/**
 * How soon an idle session is woken: from the answer of a post to the moment its waiting hook is told, 500 posts one by
 * one, beside the bare stream of the same posts. And what a daemon costs while nothing happens: 20 seats on 3 servers.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { type Folders, folders } from '../../src/local/folders.ts';
import { updateCredentials } from '../../src/local/keys/credentials.ts';
import { type Frame, Line } from '../daemon/support/line.ts';
import { until } from '../support/until.ts';
import { type Figure, quantile, round } from './measure.ts';
import { newFolder, type Product, startProduct } from './world.ts';

const POSTS = 500;
const WARM_UP = 20;
const SEATS = 20;
const SERVERS = 3;
const IDLE_MS = 20_000;
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/daemon.cjs', import.meta.url));

interface Seat {
  server: Product;
  board: string;
  name: string;
}

export async function delivery(): Promise<Figure[]> {
  if (!existsSync(bundle)) {
    process.stdout.write('delivery: skipped, because there is no dist/; run `npm run build` first\n');
    return [];
  }
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startProduct()));
  const machine = folders({ SERVICE_HOME: newFolder('machine') });
  const seats: Seat[] = [];
  for (let n = 0; n < SEATS; n++) seats.push(await seated(machine, servers[n % SERVERS]!, n));
  const daemon = spawn(process.execPath, [program, 'daemon'], {
    env: { PATH: process.env.PATH, HOME: machine.home!, SERVICE_HOME: machine.home! },
    stdio: 'inherit',
  });
  try {
    const { socket } = daemonPaths(machine);
    await until(() => existsSync(socket), 'the daemon listens');
    const hooks = await Promise.all(seats.map((seat, n) => waiting(socket, seat, n)));
    const { hands, streams } = await posts(seats[0]!, hooks[0]!, socket);
    const idle = await whileIdle(daemon.pid!);
    return [
      {
        name: 'delivery: the bare stream, p50 / p95',
        value: `${round(quantile(streams, 0.5))} / ${round(quantile(streams, 0.95))} ms`,
      },
      {
        name: 'delivery: post to hook, p50',
        value: `${round(quantile(hands, 0.5))} ms`,
        ratio: quantile(hands, 0.5),
        target: { op: '<=', value: 100 },
      },
      {
        name: 'delivery: post to hook, p95',
        value: `${round(quantile(hands, 0.95))} ms`,
        ratio: quantile(hands, 0.95),
        target: { op: '<=', value: 300 },
      },
      {
        name: `delivery: idle, ${SEATS} seats on ${SERVERS} servers, of a core`,
        value: `${round(idle.cpu * 100)} %`,
        ratio: idle.cpu,
        target: { op: '<=', value: 0.01 },
      },
      {
        name: `delivery: idle, ${SEATS} seats on ${SERVERS} servers, resident`,
        value: `${round(idle.mib, 0)} MiB`,
        ratio: idle.mib,
        target: { op: '<=', value: 80 },
      },
    ];
  } finally {
    daemon.kill();
    await Promise.all(servers.map((server) => server.end()));
  }
}

async function seated(machine: Folders, server: Product, n: number): Promise<Seat> {
  const board = `bench-${n}`;
  const { id } = await server.call<{ id: string }>('POST', '/v1/boards', { name: board });
  const { agent, token } = await server.call<{ agent: { id: string; name: string }; token: string }>(
    'POST',
    '/v1/join',
    {
      board,
      role: 'member',
    },
  );
  const { server_id } = await server.call<{ server_id: string }>('GET', '/v1/info');
  await updateCredentials(machine, (saved) => {
    saved.servers[server.url] ??= {
      server_id,
      name: `server-${Object.keys(saved.servers).length}`,
      mode: 'team',
      person: { id: 'hum_1', handle: 'me' },
      key: { id: 'key_1', name: 'here', expires_at: null, store: 'file', token: server.key },
      seats: {},
    };
    saved.servers[server.url]!.seats[agent.id] = {
      token,
      board_id: id,
      board,
      name: agent.name,
      role: 'member',
      harness: null,
      session: null,
      created_at: new Date().toISOString(),
    };
  });
  return { server, board, name: agent.name };
}

interface Waiting {
  header: Frame;
  line: Line;
}

async function waiting(socket: string, { server, board, name }: Seat, n: number): Promise<Waiting> {
  const header = { harness: 'claude-code', session: `bench-${n}`, boot: n.toString(16).padStart(16, '0') };
  const once = await Line.open(socket);
  await once.send({ op: 'register', ...header, source: 'startup' }).next(20_000);
  await once.send({ op: 'bind', ...header, agent: { server: server.url, board, name } }).next(20_000);
  await once.end();
  return { header, line: await wait(socket, header) };
}

async function wait(socket: string, header: Frame): Promise<Line> {
  const line = await Line.open(socket);
  await line.send({ op: 'wait', ...header }).next();
  return line;
}

/** One after the other: the session's turn is over before the next post. */
async function posts({ server, board }: Seat, { header, line }: Waiting, socket: string) {
  const hands: number[] = [];
  const streams: number[] = [];
  const heads = await openStream(server);
  let hook = line;
  for (let n = 0; n < POSTS + WARM_UP; n++) {
    const told = hook.next(10_000).then((carry) => ({ carry, at: performance.now() }));
    const head = heads.next();
    await server.call('POST', `/v1/boards/${board}/messages`, { body: `number ${n}` });
    const answered = performance.now();
    const { carry, at } = await told;
    const heard = await head;
    if (n >= WARM_UP) {
      hands.push(Math.max(0, at - answered));
      streams.push(Math.max(0, heard - answered));
    }
    await hook.send({ op: 'received', handoff_id: carry['handoff_id'] }).next();
    await hook.end();
    await turn(socket, header, String(carry['handoff_id']));
    hook = await wait(socket, header);
    // What comes within 150 ms of a delivery is gathered, which is not what is measured here.
    await new Promise((resolve) => setTimeout(resolve, 160));
  }
  heads.close();
  return { hands, streams };
}

async function turn(socket: string, header: Frame, handoff_id: string): Promise<void> {
  const line = await Line.open(socket);
  await line.send({ op: 'turn_start', ...header, wake: true, handoff_id }).next();
  await line.send({ op: 'boundary', ...header }).next();
  await line.end();
}

/** When each head of the person's stream arrives. */
async function openStream({ url, key }: Product): Promise<{ next(): Promise<number>; close(): void }> {
  const controller = new AbortController();
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/v1/stream?events=head`, { headers, signal: controller.signal });
  let wake: (at: number) => void = () => {};
  let ready: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    ready = resolve;
  });
  void (async () => {
    for await (const chunk of answer.body!) {
      const text = Buffer.from(chunk).toString();
      if (text.includes('event: ready')) ready();
      else if (text.includes('event: head')) wake(performance.now());
    }
  })().catch(() => {});
  await begun;
  return {
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    close: () => controller.abort(),
  };
}

async function whileIdle(pid: number): Promise<{ cpu: number; mib: number }> {
  const before = ticksOf(pid);
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const seconds = (ticksOf(pid) - before) / 100;
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpu: seconds / ((performance.now() - start) / 1000), mib: Number(resident) / 1024 };
}

/** User and system time, in hundredths of a second. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
