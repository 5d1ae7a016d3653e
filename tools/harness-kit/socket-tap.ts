/** Records all traffic on the daemon's socket, in both directions, without clients noticing. */
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class SocketTap {
  /** The recorded data, in chunks. */
  readonly frames: string[] = [];
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly path: string;

  private constructor(path: string) {
    this.path = path;
    this.server = createServer((client) => this.join(client));
  }

  /** Moves the daemon's socket away and listens in its place; forwards new connections. */
  static async on(path: string): Promise<SocketTap> {
    const tap = new SocketTap(path);
    renameSync(path, tap.beyond);
    await new Promise<void>((resolve) => tap.server.listen(path, resolve));
    chmodSync(path, 0o600);
    return tap;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    rmSync(this.beyond, { force: true });
  }

  private get beyond(): string {
    return `${this.path}.true`;
  }

  private join(client: Socket): void {
    const daemon = connect(this.beyond);
    for (const [from, to] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (piece) => {
        this.frames.push(piece.toString('utf8'));
        to.write(piece);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.end();
      });
    }
  }
}
