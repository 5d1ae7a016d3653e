/**
 * Runs a team's server as several processes on one port. This one holds the data folder and serves nothing itself: it starts a
 * worker again that died, and on SIGHUP replaces all of them, one by one, by workers of the files that are installed now.
 */

import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { endWith, exitAfter } from '../../../cli/signals.ts';
import type { RunningServer } from '../../../server/serve.ts';

/** What a worker says when it serves. */
export type Serving = Pick<RunningServer, 'url' | 'listening' | 'keyFile' | 'firstStart' | 'personHandle'>;

const PAUSE_MS = { first: 1_000, most: 30_000 };
/** So many deaths within so many milliseconds are no accident. */
const DEATHS = { most: 5, within: 60_000 };
/** A worker that is told to end takes less, unless it hangs: 10 s for its requests, and what closing takes. */
const END_MS = 30_000;

const pauseAfter = (before: number): number => Math.min(PAUSE_MS.first * 2 ** before, PAUSE_MS.most);

/**
 * Serves until a signal. The data folder has to be locked.
 * @param announce told once, when the first worker serves
 * @returns the exit code: that of a first worker that does not start, or 1 when workers die again and again
 */
export async function runWorkers(
  count: number,
  dataDir: string,
  out: Output,
  announce: (first: Serving) => void,
): Promise<number> {
  const running = new Set<Worker>();
  /** Those of them that take requests, and are to go on. */
  const serving = new Set<Worker>();
  const deaths: number[] = [];
  const ended = Promise.withResolvers<number>();
  let ending = false;
  /** Also while the first worker starts: a reload that is asked for then comes once it serves. */
  let reloading = true;
  /** The reload was asked for again while it goes on: files may have changed since it began. */
  let again = false;
  /** The latest worker that a reload started. */
  let fresh: Worker | null = null;
  /** When those that did not start are tried again; null: none is missing for that. */
  let retry: NodeJS.Timeout | null = null;
  /** How often in a row that was done. */
  let retries = 0;

  /** Starts one more. @throws its exit code, when it ends before it serves or cannot be started */
  function start(forked = (_: Worker): void => {}): Promise<Serving> {
    return new Promise<Serving>((resolve, reject) => {
      const failed = ({ code }: NodeJS.ErrnoException): void => {
        out.note(`A worker cannot be started (${code}).`);
        reject(EXIT.other);
      };
      let worker: Worker;
      try {
        worker = cluster.fork();
      } catch (error) {
        return failed(error as NodeJS.ErrnoException);
      }
      forked(worker);
      running.add(worker);
      worker.on('error', (error) => {
        // Also what cannot be sent to one that has just died, which is told by its exit.
        if (worker.process.pid === undefined && running.delete(worker)) failed(error);
      });
      worker.once('message', (message: Serving) => {
        serving.add(worker);
        retries = 0;
        resolve(message);
      });
      worker.once('exit', (code) => {
        const served = serving.delete(worker);
        // One that a reload ended before it served is not missed.
        if (!running.delete(worker)) return;
        reject(code ?? EXIT.other);
        if (served) died();
      });
    });
  }

  function died(): void {
    if (ending) return;
    const now = performance.now();
    deaths.push(now);
    const lately = deaths.filter((at) => now - at < DEATHS.within).length;
    if (lately >= DEATHS.most) {
      out.note(`${lately} workers died within a minute; the server ends.`);
      void end(EXIT.other);
      return;
    }
    const pause = pauseAfter(lately - 1);
    out.note(`A worker died; another one starts in ${pause / 1_000} s.`);
    setTimeout(startMissing, pause);
  }

  /** Starts one for each that is missing; what is missing during a reload is started at its end. */
  function startMissing(): void {
    if (reloading || ending) return;
    for (let n = running.size; n < count; n++) start().catch(notStarted);
  }

  /** What does not start ends the server only where nothing serves any more. */
  function notStarted(): void {
    if (serving.size === 0) return void died();
    if (ending || retry) return;
    const pause = pauseAfter(retries++);
    out.note(`A worker did not start; it is tried again in ${pause / 1_000} s.`);
    retry = setTimeout(() => {
      retry = null;
      startMissing();
    }, pause);
  }

  /** Lets a worker finish its requests, and kills one that hangs; resolves when it is gone. */
  async function drain(worker: Worker): Promise<void> {
    serving.delete(worker);
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    worker.process.kill('SIGTERM');
    const late = setTimeout(() => worker.process.kill('SIGKILL'), END_MS);
    await gone;
    clearTimeout(late);
  }

  /** Ends a worker that does not serve yet. */
  function discard(worker: Worker): void {
    running.delete(worker);
    worker.process.kill('SIGKILL');
  }

  async function end(code: number): Promise<void> {
    ending = true;
    await Promise.all([...running].map(drain));
    rmSync(join(dataDir, 'server.pid'), { force: true });
    ended.resolve(code);
  }

  async function reload(): Promise<void> {
    if (ending) return;
    if (reloading) {
      again = true;
      // One that hangs would keep every later reload away.
      if (fresh && !serving.has(fresh)) fresh.process.kill('SIGKILL');
      return;
    }
    reloading = true;
    try {
      for (const old of [...running]) {
        // One that died meanwhile is replaced for that.
        if (ending || !running.has(old)) continue;
        // One that still starts may be of the former files.
        if (!serving.has(old)) discard(old);
        await start((worker) => {
          fresh = worker;
        });
        if (serving.has(old)) await drain(old);
      }
      if (!ending) out.note('All workers were replaced.');
    } catch {
      if (!ending && !again) out.note('reload_failed: a new worker does not start; those that are left go on.');
    } finally {
      reloading = false;
      startMissing();
    }
    await reloadAgain();
  }

  async function reloadAgain(): Promise<void> {
    if (!again) return;
    again = false;
    await reload();
  }

  // Nothing is served yet that could be finished.
  endWith((signal) => (signal === 'SIGHUP' ? void reload() : process.exit(EXIT.done)));
  try {
    announce(await start());
  } catch (code) {
    return code as number;
  }
  // Workers of an older build would go on with a database that they do not know.
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--no-migrate'] });
  endWith((signal) => {
    if (signal === 'SIGHUP') return void reload();
    if (ending) process.exit(exitAfter[signal]);
    out.note('Stopping; running requests finish first.');
    void end(EXIT.done);
  });
  reloading = false;
  void reloadAgain();
  startMissing();
  return ended.promise;
}

/** Serves as one worker, until it is told to end or what it needs is lost. Never returns. */
export async function serveAsWorker(server: RunningServer): Promise<never> {
  const { url, listening, keyFile, firstStart, personHandle } = server;
  const close = (code: number) => () => void server.close().then(() => process.exit(code));
  // Ctrl-C reaches all processes of a terminal; the first one tells the others what to do.
  endWith((signal) => {
    if (signal === 'SIGTERM') close(EXIT.done)();
  });
  void server.failed.then(close(EXIT.other));
  process.send?.({ url, listening, keyFile, firstStart, personHandle } satisfies Serving);
  return new Promise(() => {});
}
