/**
 * Connections to this machine's own server. Neither a pid file nor an answer to `GET /v1/info` proves its identity, so the
 * server proves on each new connection that it has the secret of our data folder, before anything else is sent.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import { Agent, type AgentOptions, type ClientRequestArgs, request } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { CHALLENGE_HEADER, PROOF_HEADER, PROOF_LABEL, proofSalt } from '../../contract/local-proof.ts';
import { Failure } from '../failure.ts';
import type { Folders } from '../folders.ts';
import { fetchBy } from '../node-fetch.ts';
import { readPrivateBytes } from '../private-file.ts';
import { asInfo, type ProbedInfo } from './probe.ts';

/** Who answers at an address: this machine's server, another program, nothing yet, or nothing. */
export type PortOccupant = { is: 'ours'; info: ProbedInfo } | { is: 'other' | 'silent' | 'absent' };

/** The error code of a connection to another program. */
export const NOT_OURS = 'ERR_NOT_OUR_SERVER';

/** From connecting to the proof. */
const PROOF_TIMEOUT_MS = 10_000;

export class OwnAgent extends Agent {
  readonly #folders: Pick<Folders, 'data'>;
  /** A proven connection for the next request. */
  #proven: { origin: string; socket: Socket } | null = null;

  constructor(folders: Pick<Folders, 'data'>, options: AgentOptions = {}) {
    super({ keepAlive: true, ...options });
    this.#folders = folders;
  }

  /** Like Node's agent, but fails before anything is sent if the connection is not to our server. */
  override createConnection(
    options: ClientRequestArgs,
    done: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const origin = `http://${options.host}:${options.port}`;
    const ready = this.#takeReady(origin);
    const opening = ready
      ? Promise.resolve(ready)
      : this.#open(options, origin, PROOF_TIMEOUT_MS).then(({ socket }) => socket);
    opening.then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as never),
    );
  }

  /**
   * Asks who answers there, if it is on this machine. A connection to our server is kept for the next request.
   *
   * @throws Failure `credentials_unsafe` where others could have read the secret.
   */
  async ask(origin: string, ms: number): Promise<PortOccupant> {
    if (!isOnLoopback(origin)) return { is: 'silent' };
    const { hostname: host, port } = new URL(origin);
    try {
      const { socket, info } = await this.#open({ host, port: Number(port) }, origin, ms);
      this.#keep(origin, socket);
      return { is: 'ours', info };
    } catch (error) {
      if (error instanceof Failure) throw error;
      const { code } = error as NodeJS.ErrnoException;
      return { is: code === NOT_OURS ? 'other' : code === 'ECONNREFUSED' ? 'absent' : 'silent' };
    }
  }

  override destroy(): void {
    this.#proven?.socket.destroy();
    super.destroy();
  }

  async #open(options: ClientRequestArgs, origin: string, ms: number): Promise<{ socket: Socket; info: ProbedInfo }> {
    const socket = super.createConnection(options) as Socket;
    const late = setTimeout(() => socket.destroy(failure(LATE)), ms);
    try {
      return { socket, info: await prove(socket, origin, secretOf(this.#folders)) };
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  #keep(origin: string, socket: Socket): void {
    this.#proven?.socket.destroy();
    this.#proven = { origin, socket };
    socket.on('error', ignore);
    // An unused connection must not keep the process alive.
    socket.unref();
  }

  #takeReady(origin: string): Socket | null {
    if (this.#proven?.origin !== origin) return null;
    const { socket } = this.#proven;
    this.#proven = null;
    if (socket.destroyed || !socket.readable || !socket.writable) return null;
    return socket.off('error', ignore).ref();
  }
}

/** Whether an origin is where a server of this machine may be. */
export const isOnLoopback = (origin: string): boolean => /^http:\/\/127\.0\.0\.1:\d+$/.test(origin);

const agents = new WeakMap<object, OwnAgent>();

/** The connections of this process to the server of a data folder. */
export function ownAgent(folders: Folders): OwnAgent {
  const known = agents.get(folders);
  if (known) return known;
  const agent = new OwnAgent(folders);
  agents.set(folders, agent);
  return agent;
}

/** `fetch` for this machine's own server, to which alone its key and the tokens of its seats may go. */
export const ownFetch =
  (folders: Folders): typeof fetch =>
  (input, init) =>
    fetchBy(request, new URL(String(input)), init ?? {}, { agent: ownAgent(folders) });

/** The expected proof that the listener at an address has the secret. */
export const proofOf = (secret: Buffer, challenge: string, origin: string): string =>
  Buffer.from(hkdfSync('sha256', secret, proofSalt(challenge, origin), PROOF_LABEL, 32)).toString('base64url');

/** The secret of a data folder; null while it has none. @throws Failure `credentials_unsafe` */
export const secretOf = ({ data }: Pick<Folders, 'data'>): Buffer | null =>
  readPrivateBytes(join(data, 'server-secret'));

const LATE = 'UND_ERR_CONNECT_TIMEOUT';
const MAX_ANSWER_LENGTH = 65_536;

/** Sends a challenge on a connection that has just been made, and leaves it free for what follows. */
function prove(socket: Socket, origin: string, secret: Buffer | null): Promise<ProbedInfo> {
  const challenge = randomBytes(32).toString('base64url');
  const headers = { [CHALLENGE_HEADER]: challenge, Connection: 'keep-alive' };
  return new Promise((resolve, reject) => {
    let info: ProbedInfo | null = null;
    const asked = request(`${origin}/v1/info`, { createConnection: () => socket, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_ANSWER_LENGTH) asked.destroy();
      });
      answer.on('end', () => {
        const proved = secret !== null && answer.headers[PROOF_HEADER] === proofOf(secret, challenge, origin);
        info = proved ? asInfo(text) : null;
      });
    });
    asked.once('error', reject);
    // Only now can the connection be reused.
    asked.once('close', () => (info ? resolve(info) : reject(failure(NOT_OURS))));
    asked.end();
  });
}

const failure = (code: string): Error =>
  Object.assign(new Error('this machine’s own server does not answer'), { code });
const ignore = (): void => {};
