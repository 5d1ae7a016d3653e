/** A client's connection to the daemon, which sends and receives frames. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseJsonObject } from '../../local/json.ts';
import { checkSocket } from './address.ts';
import { DaemonError, notRunning } from './errors.ts';
import { MAX_FRAME_BYTES, PROTOCOL } from './limits.ts';
import { encodeFrame, fitsFrame, LineReader } from './lines.ts';

export type Frame = Record<string, unknown>;

/** Connects to the socket after checking it. @throws DaemonError `daemon_not_running`, `socket_unsafe` */
export async function openConnection(path: string): Promise<Connection> {
  if (!checkSocket(path)) throw notRunning();
  const socket = connect(path);
  await once(socket, 'connect').catch((error: NodeJS.ErrnoException) => {
    const absent = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'EPIPE', 'ECONNRESET'].includes(error.code ?? '');
    throw absent ? notRunning() : unreachable(error);
  });
  return new Connection(socket);
}

const unreachable = (error: NodeJS.ErrnoException): DaemonError =>
  new DaemonError('daemon_not_running', `The delivery daemon cannot be reached: ${error.code ?? error.message}.`, {
    hint: 'service daemon status',
  });

const protocolError = (message: string): DaemonError =>
  new DaemonError('internal', message, { hint: 'service daemon restart' });

/** An error frame is understood in every version. */
const versionProblem = ({ v, error }: Frame): DaemonError | null =>
  v === PROTOCOL || (typeof error === 'object' && error !== null)
    ? null
    : new DaemonError('daemon_protocol_mismatch', `The daemon speaks protocol ${v}, this program ${PROTOCOL}.`, {
        hint: 'service daemon restart',
      });

export class Connection {
  private readonly socket: Socket;
  private readonly lines = new LineReader();
  private readonly frames: Frame[] = [];
  /** How it ended: closed by either side, or failed. */
  private ended: 'closed' | DaemonError | null = null;
  private wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('error', () => this.end('closed'));
    socket.on('close', () => this.end('closed'));
  }

  /** Writes one frame, with the protocol's version. Resolves once it is written. */
  async send(frame: Frame): Promise<void> {
    const line = encodeFrame(frame);
    if (!fitsFrame(line))
      throw new DaemonError('invalid_request', `A frame may have at most ${MAX_FRAME_BYTES} bytes.`, {
        hint: 'Send less at once',
      });
    await new Promise<void>((resolve, reject) => {
      this.socket.write(line, (error) => (error ? reject(notRunning()) : resolve()));
    });
  }

  /** The next frame; null if the connection is closed, or after `ms`. `isClosed` distinguishes the two. */
  async next(ms?: number): Promise<Frame | null> {
    const until = ms === undefined ? null : process.uptime() * 1000 + ms;
    for (;;) {
      const frame = this.frames.shift();
      if (frame) return frame;
      if (this.ended instanceof DaemonError) throw this.ended;
      if (this.ended) return null;
      const left = until === null ? null : until - process.uptime() * 1000;
      if (left !== null && left <= 0) return null;
      await this.nextChange(left);
    }
  }

  /** Whether nothing more can come. */
  get isClosed(): boolean {
    return this.ended !== null && this.frames.length === 0;
  }

  /** Ends it from this side. */
  close(): void {
    this.socket.destroy();
    this.end('closed');
  }

  private read(chunk: Buffer): void {
    for (const line of this.lines.push(chunk)) this.handleLine(line);
    if (this.lines.tooLong) this.fail(protocolError('The daemon sent a frame that is too long.'));
  }

  private handleLine(line: string): void {
    const frame = parseJsonObject(line);
    const problem = frame ? versionProblem(frame) : protocolError('The daemon sent something that is no frame.');
    if (problem) this.fail(problem);
    else this.frames.push(frame!);
    this.notify();
  }

  private fail(error: DaemonError): void {
    this.end(error);
    this.socket.destroy();
  }

  private end(how: 'closed' | DaemonError): void {
    this.ended ??= how;
    this.notify();
  }

  private notify(): void {
    this.wake?.();
    this.wake = null;
  }

  private nextChange(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? null : setTimeout(resolve, ms);
      this.wake = () => {
        if (timer) clearTimeout(timer);
        resolve();
      };
    });
  }
}
