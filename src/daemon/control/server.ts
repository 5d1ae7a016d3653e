/** The server of the control socket: checks connections and frames, and dispatches requests to the verbs. */
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { z } from 'zod';
import { readAs } from '../../contract/openapi/problems.ts';
import { parseJsonObject } from '../../local/json.ts';
import type { DaemonClock } from '../clock.ts';
import type { DaemonPaths } from '../paths.ts';
import { type ErrorFrame, type FirstFrame, firstFrames, followUps, type LaterFrame } from '../protocol.ts';
import { checkSocket } from './address.ts';
import { ControlRefusal } from './errors.ts';
import { FIRST_FRAME_TIMEOUT_MS, MAX_CONNECTIONS, MAX_FRAME_BYTES, PROTOCOL } from './limits.ts';
import { LineReader } from './lines.ts';
import { Peer } from './peer.ts';

interface ControlOptions {
  paths: DaemonPaths;
  clock: DaemonClock;
  /** Handles a request or the first frame of a connection that stays open; sequentially per connection. */
  request(frame: FirstFrame, peer: Peer): Promise<void> | void;
  /** Reports an error that is not a refusal. */
  onError(op: string, error: unknown): void;
}

export class ControlServer {
  readonly #options: ControlOptions;
  readonly #server: Server;
  readonly #peers = new Set<Peer>();

  private constructor(options: ControlOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Listens. Requires the daemon's lock, because an existing socket is treated as stale. */
  static async listen(options: ControlOptions): Promise<ControlServer> {
    const { socket } = options.paths;
    rmSync(socket, { force: true });
    const control = new ControlServer(options);
    const before = process.umask(0o177);
    control.#server.listen(socket);
    process.umask(before);
    await once(control.#server, 'listening');
    chmodSync(socket, 0o600);
    checkSocket(socket);
    return control;
  }

  get connections(): number {
    return this.#peers.size;
  }

  /** Accepts no further connections, and sends `bye` on the open ones. */
  stop(restart: boolean): void {
    this.#server.close();
    rmSync(this.#options.paths.socket, { force: true });
    for (const peer of this.#peers) peer.sendBye({ event: 'bye', restart });
  }

  /** Closes all connections. Resolves when their close listeners have run. */
  async closeAll(): Promise<void> {
    const closed = [...this.#peers].map((peer) => new Promise<void>((resolve) => peer.onClose(resolve)));
    for (const peer of this.#peers) peer.close();
    await Promise.all(closed);
  }

  #accept(socket: Socket): void {
    const peer = new Peer(socket);
    if (this.#peers.size >= MAX_CONNECTIONS) {
      peer.refuse(invalid(`There are ${MAX_CONNECTIONS} connections already.`, 'Try again when others have ended.'));
      peer.close();
      return;
    }
    this.#peers.add(peer);
    const cancelTimeout = this.#options.clock.after(FIRST_FRAME_TIMEOUT_MS, () => peer.started || peer.close());
    peer.onClose(() => {
      cancelTimeout();
      this.#peers.delete(peer);
    });
    const reader = new LineReader();
    let previous = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      for (const line of reader.push(chunk)) previous = previous.then(() => this.#handleLine(line, peer));
      if (!reader.tooLong) return;
      peer.refuse(invalid(`A frame has at most ${MAX_FRAME_BYTES} bytes.`));
      peer.close();
    });
  }

  async #handleLine(text: string, peer: Peer): Promise<void> {
    if (!peer.open) return;
    const frame = parseJsonObject(text);
    if (frame?.['v'] !== PROTOCOL) {
      peer.refuse(frame ? versionMismatch(frame['v']) : invalid('A frame is one JSON object on one line.'));
      return peer.close();
    }
    const op = String(frame['op']);
    const first = !peer.started;
    peer.started = true;
    try {
      if (!first && isLater(op, peer)) handleLaterFrame(check(followUps[op] as z.ZodType<LaterFrame>, frame), peer);
      else await this.#options.request(check(schemaOf(op), frame) as FirstFrame, peer);
    } catch (error) {
      if (!(error instanceof ControlRefusal)) this.#options.onError(op.slice(0, 40), error);
      peer.refuse(toErrorFrame(error));
    }
  }
}

/** Whether a frame continues an open connection; the same verb may also start one. */
const isLater = (op: string, peer: Peer): op is keyof typeof followUps =>
  op === 'received' || (peer.onFrame !== null && Object.hasOwn(followUps, op));

function handleLaterFrame(frame: LaterFrame, peer: Peer): void {
  if (frame.op !== 'received') {
    peer.onFrame?.(frame);
    return;
  }
  const recorded = peer.confirmReceived(frame.handoff_id);
  // An extension repeats confirmations that were lost with the connection.
  if (!recorded) peer.onFrame?.(frame);
  peer.sendEvent({ event: 'ok' });
  peer.flushBye();
}

function schemaOf(op: string): z.ZodType {
  if (Object.hasOwn(firstFrames, op)) return firstFrames[op as keyof typeof firstFrames];
  throw new ControlRefusal('invalid_request', `The daemon knows no verb "${op.slice(0, 40)}".`, {
    hint: 'service daemon restart',
  });
}

function check<T>(schema: z.ZodType<T>, frame: unknown): T {
  const read = readAs(schema, frame);
  if ('data' in read) return read.data;
  const [{ field, problem }] = read.problems;
  throw new ControlRefusal('invalid_request', `${field || 'The frame'}: ${problem}`);
}

const invalid = (message: string, hint = ''): ErrorFrame => ({ code: 'invalid_request', message, hint });

const versionMismatch = (client: unknown): ErrorFrame => ({
  code: 'daemon_protocol_mismatch',
  message: `The daemon speaks protocol ${PROTOCOL}, and the caller ${typeof client === 'number' ? client : 'another'}.`,
  hint: 'service daemon restart',
  details: { daemon: PROTOCOL, client: typeof client === 'number' ? client : null },
});

/** The error frame for what a verb threw. Unexpected errors become `internal`, without their text. */
function toErrorFrame(error: unknown): ErrorFrame {
  if (error instanceof ControlRefusal) {
    const { code, message, hint, details } = error;
    return { code, message, hint, details };
  }
  return {
    code: 'internal',
    message: 'The delivery daemon could not do this; nothing was bound or handed.',
    hint: 'service doctor',
  };
}
