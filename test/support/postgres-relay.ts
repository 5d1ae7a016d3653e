/** Passes on what goes to and comes from a Postgres, in a thread of its own: also while this one is busy. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { PATIENCE_MS } from './until.ts';

const THREAD = `
  const { connect, createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const heard = new Int32Array(workerData.heard);
  const tell = () => {
    Atomics.add(heard, 0, 1);
    Atomics.notify(heard, 0);
  };
  const server = createServer((near) => {
    const far = connect(workerData.port, workerData.hostname);
    near.pipe(far);
    far.on('data', (part) => near.write(part, () => part.includes('service_wake') && tell()));
    near.on('error', () => {}).on('close', () => far.destroy());
    far.on('error', () => {}).on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

export class PostgresRelay {
  readonly url: string;
  readonly #worker: Worker;
  readonly #heard: Int32Array;

  static async to(databaseUrl: string): Promise<PostgresRelay> {
    const url = new URL(databaseUrl);
    const heard = new SharedArrayBuffer(4);
    const workerData = { hostname: url.hostname, port: Number(url.port), heard };
    const worker = new Worker(THREAD, { eval: true, workerData });
    const [port] = (await once(worker, 'message')) as [number];
    url.port = String(port);
    return new PostgresRelay(String(url), worker, new Int32Array(heard));
  }

  private constructor(url: string, worker: Worker, heard: Int32Array) {
    this.url = url;
    this.#worker = worker;
    this.#heard = heard;
  }

  /** Keeps this thread busy until so many wake-ups have come to it, all of which it may have read or not. */
  stayBusyUntil(wakeUps: number): void {
    for (let come = 0; come < wakeUps; come = Atomics.load(this.#heard, 0))
      if (Atomics.wait(this.#heard, 0, come, PATIENCE_MS) === 'timed-out')
        throw new Error(`of ${wakeUps} wake-ups only ${come} came`);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
