/** A daemon that answers as a test tells it to, over a real socket in a home of its own. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { socketPath } from '../../../src/daemon/control/address.ts';
import { encodeFrame, LineReader } from '../../../src/daemon/control/lines.ts';
import { parseJsonObject } from '../../../src/local/json.ts';

export type Frame = Record<string, unknown>;
type Answer = (frame: Frame, peer: Peer) => void;

/** The other end of one connection. */
export interface Peer {
  send(frame: Frame): void;
  close(): void;
}

export class ScriptedDaemon {
  readonly home: string;
  readonly state: string;
  /** Every frame that arrived, without its version. */
  frames: Frame[] = [];
  /** What is answered to each verb. */
  answers: Record<string, Answer> = {};
  private readonly own: boolean;
  private server: Server | null = null;
  private readonly peers = new Set<Socket>();

  /** @param home a folder that is there; without, one that `close` removes. */
  constructor(home?: string) {
    this.own = home === undefined;
    this.home = home ?? mkdtempSync(join(tmpdir(), 'board-hook-'));
    this.state = join(this.home, 'state');
    mkdirSync(this.state, { mode: 0o700, recursive: true });
  }

  async listen(): Promise<this> {
    const path = socketPath(this.state);
    rmSync(path, { force: true });
    this.server = createServer((socket) => this.serve(socket));
    await new Promise<void>((resolve) => this.server!.listen(path, resolve));
    chmodSync(path, 0o600);
    return this;
  }

  /** Goes away without a word, as a crash does. */
  crash(): void {
    for (const socket of this.peers) socket.destroy();
    this.server?.close();
  }

  close(): void {
    this.crash();
    if (this.own) rmSync(this.home, { recursive: true, force: true });
  }

  /** How many connections are open. */
  connections(): number {
    return this.peers.size;
  }

  /** The frames of one verb. */
  of(op: string): Frame[] {
    return this.frames.filter((frame) => frame.op === op);
  }

  private serve(socket: Socket): void {
    this.peers.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.peers.delete(socket));
    const lines = new LineReader();
    const peer: Peer = {
      send: (frame) => void socket.write(encodeFrame(frame)),
      close: () => socket.destroy(),
    };
    socket.on('data', (piece: Buffer) => {
      for (const line of lines.push(piece)) this.answer(parseJsonObject(line)!, peer);
    });
  }

  private answer({ v: _, ...frame }: Frame, peer: Peer): void {
    this.frames.push(frame);
    const op = String(frame.op);
    const usual: Record<string, Frame> = {
      received: { event: 'ok' },
      status: { pid: process.pid, build: { version: '99.0.0' } },
    };
    const answer = this.answers[op];
    if (answer) answer(frame, peer);
    else peer.send(usual[op] ?? {});
  }
}
