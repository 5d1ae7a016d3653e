/** The person of the kit's environment, and agents without a program: both use the API directly. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '../../src/client/client.ts';
import type { DeliveryMode, Message, PairingRequest } from '../../src/contract/types.ts';

export interface Peer {
  client: Client;
  name: string;
  memberId: string;
}

export class People {
  readonly origin: string;
  readonly person: Client;
  private readonly home: string;

  /** @param home SERVICE_HOME of a machine whose server has run */
  constructor(home: string, origin: string) {
    this.home = home;
    this.origin = origin;
    this.person = new Client({ origin, token: this.key });
  }

  /** The person's key. */
  get key(): string {
    return readFileSync(join(this.home, 'data', 'local-key'), 'utf8').trim();
  }

  async board(name: string): Promise<{ id: string; name: string }> {
    return (await this.person.call('createBoard', { body: { name } })).data;
  }

  /** Creates an agent whose token only the kit has. */
  async agent(board: string, name: string): Promise<Peer> {
    const { data } = await this.person.call('joinBoard', { body: { board, name, role: 'member' } });
    const client = new Client({ origin: this.origin, token: data.token });
    return { client, name: data.agent.name, memberId: data.agent.id };
  }

  /** @param from the author; the person by default */
  async post(board: string, body: string, more: object = {}, from: Client = this.person): Promise<Message> {
    return (await from.call('postMessage', { params: { board }, body: { body, ...more } })).data;
  }

  /** Proposes a pairing between an agent's session and another session of the same person. */
  async propose(boardId: string, agentId: string): Promise<PairingRequest> {
    const { id: recipient_id } = (await this.person.call('getMe', {})).data as { id: string };
    const body = { board_id: boardId, recipient_id, initiating_agent_id: agentId, work: 'Test.' };
    return (await this.person.call('createPairingRequest', { body })).data;
  }

  async setMode(board: string, agent: string, mode: DeliveryMode): Promise<void> {
    await this.person.call('setDeliveryMode', { params: { board, member: agent }, body: { mode } });
  }

  async member(board: string, member: string) {
    return (await this.person.call('getMember', { params: { board, member } })).data;
  }

  /** The unacknowledged messages of a seat of this machine. */
  async inbox(memberId: string) {
    return (await this.seat(memberId).call('readInbox', { query: {} })).data;
  }

  /** A client with the token of a seat of this machine. */
  seat(memberId: string): Client {
    return new Client({ origin: this.origin, token: this.token(memberId) });
  }

  private token(memberId: string): string {
    const path = join(this.home, 'config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8')) as {
      servers: Record<string, { seats: Record<string, { token?: string }> }>;
    };
    const token = Object.values(saved.servers).flatMap(({ seats }) => seats[memberId]?.token ?? [])[0];
    if (token === undefined) throw new Error(`this machine has no token of ${memberId}`);
    return token;
  }
}
