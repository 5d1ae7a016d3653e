/** Lists, joins and creates boards for a verified session with the machine's delegation. */
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import type { Answer, Board, DeliveryMode } from '../../contract/types.ts';
import { Failure } from '../../local/failure.ts';
import type { Env, Folders } from '../../local/folders.ts';
import { ControlRefusal } from '../control/errors.ts';
import { BOARDS_PAGE, MAX_FRAME_BYTES } from '../control/limits.ts';
import type { Log } from '../log.ts';
import type { Answers, Header, Requests } from '../protocol.ts';
import { agentRefOf, type SeatIdentity, type SessionView } from '../refs.ts';
import type { CredentialStore } from '../server-link/credentials.ts';
import type { Servers } from '../server-link/servers.ts';
import type { Environment } from '../server-link/transport.ts';
import { Delegation, delegationName, revoked, withPersonKey } from './delegation.ts';
import { isRevoked, isUnreachable, retryUnreachable, withRefusals } from './refusals.ts';
import { resolveServer, seatOn } from './resolve-server.ts';

export interface DelegatedBoardsOptions {
  servers: Servers;
  credentials: CredentialStore;
  folders: Folders;
  env: Env;
  log: Log;
}

/** The fields of a verb without its header. */
type Fields<Verb extends keyof Requests> = Omit<Requests[Verb], keyof Header | 'v' | 'op'>;
type Joined = Answer<'joinBoard'>;

/** A seat made with the machine's delegation; its token is already saved. */
export interface JoinedSeat {
  seat: SeatIdentity;
  mode: DeliveryMode;
  /** Further fields of the verb's answer. */
  answer: Pick<Answers['join'], 'joined' | 'board' | 'member' | 'reused' | 'pair_role'>;
}

/**
 * `boards`, `join` and `create_board` for a session that the caller has verified. The caller makes its seats one at a time.
 * @throws ControlRefusal
 */
export class DelegatedBoards {
  readonly #options: DelegatedBoardsOptions;
  readonly #delegations = new Map<string, Delegation>();

  constructor(options: DelegatedBoardsOptions) {
    this.#options = options;
  }

  /** Where a server is saved that a session names, which may have moved to another port since. @throws ControlRefusal */
  originOf(session: SessionView, server: string | undefined): string {
    return resolveServer(this.#options, server, session);
  }

  async boards(
    session: SessionView,
    { server, lifecycle, after, limit = BOARDS_PAGE }: Partial<Fields<'boards'>>,
  ): Promise<Answers['boards']> {
    const origin = this.originOf(session, server);
    const query = { lifecycle, after, limit };
    const { data } = await this.#withDelegation(origin, (client) => client.call('listBoards', { query }));
    const { boards, archived_count, next_after } = data;
    const marked = boards.map((board: Board) => {
      const seat = seatOn(this.#options.credentials, session, { origin, boardId: board.id });
      return seat ? { ...board, seat: agentRefOf(seat) } : board;
    });
    const fitting = marked.slice(0, countFitting(marked));
    const end = fitting.length < marked.length ? fitting.at(-1)!.name : next_after;
    return { server: origin, boards: fitting, archived_count, next_after: end };
  }

  async join(session: SessionView, { agent, role, code, idempotency_key }: Fields<'join'>): Promise<JoinedSeat> {
    const origin = this.originOf(session, agent.server);
    const who = { session: session.key, harness: session.harness, name: agent.name || undefined };
    if (code !== undefined) {
      // With the person's key, because a delegation may not redeem a code. The idempotency key makes a repeat safe.
      const input = { body: { ...who, code }, idempotencyKey: idempotency_key ?? newIdempotencyKey(), maxAttempts: 1 };
      const { data } = await this.#asPerson(origin, (client) => client.call('joinBoard', input));
      return this.#saveSeat(origin, session, data);
    }
    const body = { ...who, board: agent.board, role };
    // The server recognises the session's seat, so a join without an answer can be repeated.
    const { data } = await this.#withDelegation(origin, (client) =>
      retryUnreachable(this.#environment, () => client.call('joinBoard', { body, maxAttempts: 1 })),
    );
    return this.#saveSeat(origin, session, data);
  }

  async createBoard(
    session: SessionView,
    { server, create, pair, agent_name, idempotency_key, ...more }: Fields<'create_board'>,
  ): Promise<JoinedSeat> {
    const origin = this.originOf(session, server);
    const delegation = this.#delegation(origin);
    const [role, pair_role] = (pair && (await this.#pairOf(origin, create.template))) || [more.role];
    const body = { ...create, session: session.key, harness: session.harness, role, agent_name };
    const { client, token } = await withRefusals(origin, () => delegation.client());
    const input = { body, idempotencyKey: idempotency_key, maxAttempts: 1 };
    let unclear = false;
    const send = () =>
      client.call('createDelegatedBoard', input).catch((error: unknown) => {
        unclear ||= error instanceof ClientError && mayBeDone(error);
        throw error;
      });
    // Never with a new delegation: the idempotency key of the first would not match, and a second board be created.
    const { data } = await withRefusals(origin, () => retryUnreachable(this.#environment, send)).catch(
      (error: unknown) => {
        if (isRevoked(error)) delegation.drop(token);
        throw unclear && isUnreachable(error) ? mayExist(origin) : error;
      },
    );
    const saved = await this.#saveSeat(origin, session, data);
    return { ...saved, answer: { ...saved.answer, pair_role } };
  }

  /** The two roles of a template's pair, read with the person's key; undefined if there is no such template or pair. */
  async #pairOf(origin: string, template: string | undefined): Promise<[string, string] | undefined> {
    const { data } = await this.#asPerson(origin, (client) => client.call('listTemplates', { maxAttempts: 1 }));
    return data.templates.find(({ name }) => name === template)?.pair;
  }

  /** Drops the delegation of a server whose key has ended. */
  forget(origin: string): void {
    this.#delegations.get(origin)?.drop();
  }

  close(): void {
    for (const delegation of this.#delegations.values()) delegation.drop();
  }

  /** Saves the token before the seat is used. */
  async #saveSeat(origin: string, session: SessionView, { agent, token, board, reused }: Joined): Promise<JoinedSeat> {
    const { id: member_id, board_id, name, role, harness, joined_at } = agent;
    try {
      await this.#options.credentials.saveSeat(origin, member_id, {
        token,
        board_id,
        board: board.name,
        name,
        role,
        harness,
        session: session.key,
        created_at: joined_at,
      });
    } catch (error) {
      if (error instanceof Failure && error.code === 'server_unexpected')
        throw new ControlRefusal(error.code, error.message, { hint: error.hint });
      throw new ControlRefusal('internal', 'The seat could not be saved on this machine, so it is not used.', {
        hint: 'Make room for credentials.json and join again: the seat is still there.',
      });
    }
    const seat: SeatIdentity = { origin, member_id, board_id, board: board.name, name };
    const answer = { joined: true, board, member: agent, ...(reused ? { reused } : {}) };
    return { seat, mode: agent.delivery_mode ?? 'focused', answer };
  }

  get #environment(): Environment {
    return this.#options.servers.environment;
  }

  #asPerson<T>(origin: string, send: (client: Client) => Promise<T>): Promise<T> {
    const { servers, credentials } = this.#options;
    const from = { at: servers.at(origin), credentials };
    return withRefusals(origin, () =>
      withPersonKey(from, (client) => retryUnreachable(this.#environment, () => send(client))),
    );
  }

  /** Runs `work` with a delegation, once more with a new one if the old one was revoked. */
  async #withDelegation<T>(origin: string, work: (client: Client) => Promise<T>): Promise<T> {
    const delegation = this.#delegation(origin);
    const hadOne = delegation.exists;
    return withRefusals(origin, async () => {
      const { client, token } = await delegation.client();
      try {
        return await work(client);
      } catch (error) {
        if (!isRevoked(error)) throw error;
        delegation.drop(token);
        if (!hadOne) throw revoked(this.#options.credentials, origin);
        return work((await delegation.client()).client);
      }
    });
  }

  #delegation(origin: string): Delegation {
    const known = this.#delegations.get(origin);
    if (known) return known;
    const { servers, credentials, folders, log } = this.#options;
    const delegation = new Delegation({ at: servers.at(origin), credentials, log, name: delegationName(folders) });
    this.#delegations.set(origin, delegation);
    return delegation;
  }
}

/** How many of the first rows fit into one frame with the rest of the answer, at least one. */
function countFitting(rows: readonly object[]): number {
  let left = MAX_FRAME_BYTES - 4_096;
  const end = rows.findIndex((row) => {
    left -= Buffer.byteLength(JSON.stringify(row)) + 1;
    return left < 0;
  });
  return end === -1 ? rows.length : Math.max(1, end);
}

/** An answer that could not be read, and so has no status, does not tell what was done either. */
const mayBeDone = ({ delivery, status }: ClientError): boolean =>
  delivery === 'unclear' || (delivery === 'answered' && status === undefined);

const mayExist = (origin: string): ControlRefusal =>
  new ControlRefusal('server_unreachable', `${origin} did not answer, so the board may be there or not.`, {
    hint: `Look before you try again: service boards --server ${origin}; then join it: service join --board NAME --server ${origin}`,
  });
