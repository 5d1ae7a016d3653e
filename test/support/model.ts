/** A board as the contract describes it, in a few lines of memory: what each reader must see of its messages. */
import type { Message } from '../../src/contract/types.ts';
import type { Api } from './api.ts';

export interface Actor {
  api: Api;
  id: string;
  name: string;
  kind: 'human' | 'agent';
  /** Handle of the person, or of the agent's person. */
  owner: string;
  role: string | null;
  active: boolean;
  /** Everything up to here is acknowledged. */
  position: number;
}

export interface Posted {
  seq: number;
  id: string;
  sender: Actor;
  to: string[];
  /** Ids; null for a message to everyone. */
  recipients: string[] | null;
  /** Ids of agents it wakes by naming them. */
  wakes: string[];
  parent: Posted | null;
  root: Posted | null;
  urgent: boolean;
  expects: boolean;
  /** Those that stand, earliest first. */
  reactions: { member: Actor; name: string }[];
}

export class BoardModel {
  readonly members: Actor[] = [];
  readonly messages: Posted[] = [];
  visibility: 'open' | 'addressed' = 'open';

  get active(): Actor[] {
    return this.members.filter((member) => member.active);
  }

  agents(fits: (agent: Actor) => boolean): Actor[] {
    return this.active.filter((member) => member.kind === 'agent' && fits(member));
  }

  /** Members a list of targets means now, in order, without the sender. */
  resolve(to: string[], sender: Actor): string[] | null {
    if (to.includes('all')) return null;
    const found = to.flatMap((target): Actor[] => {
      if (target.startsWith('@')) return this.active.filter((member) => member.name === target.slice(1));
      const [kind, value] = target.split(':');
      return this.agents((agent) => (kind === 'role' ? agent.role === value : agent.owner === value));
    });
    return [...new Set(found.map((member) => member.id))].filter((id) => id !== sender.id);
  }

  /** The targets of a reply that names none: who wrote or was named in what the sender may read of the thread. */
  defaultTo(parent: Posted, sender: Actor): string[] {
    const root = parent.root ?? parent;
    const thread = this.messages.filter((m) => (m === root || m.root === root) && this.reads(sender, m));
    const names = thread.flatMap((m) => [
      m.sender.name,
      ...m.to.filter((t) => t.startsWith('@')).map((t) => t.slice(1)),
    ]);
    return [...new Set(names)]
      .filter((name) => name !== sender.name && this.active.some((member) => member.name === name))
      .map((name) => `@${name}`);
  }

  /** Notes a message the server accepted. */
  add(shown: Message, sender: Actor, parent: Posted | null): Posted {
    const recipients = this.resolve(shown.to, sender);
    const posted: Posted = {
      seq: shown.seq,
      id: shown.id,
      sender,
      to: shown.to,
      recipients,
      wakes: this.#woken(shown.body, sender, recipients),
      parent,
      root: parent ? (parent.root ?? parent) : null,
      urgent: shown.urgent,
      expects: shown.expects_reply,
      reactions: [],
    };
    this.messages.push(posted);
    return posted;
  }

  /** Agents a body wakes: the first eight it names that may read it. Bodies of the model hold plain words only. */
  #woken(body: string, sender: Actor, recipients: string[] | null): string[] {
    const named = body.split(' ').flatMap((word): Actor[] => {
      if (!word.startsWith('@')) return [];
      const role = /^@role:(.+)$/.exec(word)?.[1];
      if (role !== undefined) return this.agents((agent) => agent.role === role);
      return this.active.filter((member) => member.name === word.slice(1));
    });
    const ids = [...new Set(named.filter((member) => member.kind === 'agent').map((member) => member.id))];
    return ids
      .filter((id) => id !== sender.id)
      .filter((id) => this.visibility === 'open' || recipients === null || recipients.includes(id))
      .slice(0, 8);
  }

  reads(reader: Actor, message: Posted): boolean {
    if (reader.kind === 'human' || this.visibility === 'open') return true;
    return message.sender === reader || message.recipients === null || message.recipients.includes(reader.id);
  }

  timeline(reader: Actor): Posted[] {
    return this.messages.filter((message) => this.reads(reader, message));
  }

  replies(reader: Actor, root: Posted): Posted[] {
    return this.timeline(reader).filter((message) => message.root === root);
  }

  /** Threads a reader sees, the one with the newest readable reply first. */
  threads(reader: Actor): { root: Posted; replies: Posted[] }[] {
    return this.timeline(reader)
      .filter((message) => message.root === null)
      .map((root) => ({ root, replies: this.replies(reader, root) }))
      .filter(({ replies }) => replies.length > 0)
      .sort((a, b) => (b.replies.at(-1)?.seq ?? 0) - (a.replies.at(-1)?.seq ?? 0));
  }

  inbox(agent: Actor): Posted[] {
    return this.timeline(agent).filter(
      (m) =>
        m.seq > agent.position &&
        m.sender !== agent &&
        (m.recipients === null || m.recipients.includes(agent.id) || m.wakes.includes(agent.id)),
    );
  }

  unread(reader: Actor): number {
    if (reader.kind === 'agent') return this.inbox(reader).length;
    return this.messages.filter((m) => m.seq > reader.position && m.sender !== reader).length;
  }

  needsReply(person: Actor): number {
    return this.messages.filter(
      (m) =>
        m.expects &&
        m.recipients?.includes(person.id) === true &&
        !this.messages.some((reply) => reply.parent === m && reply.sender === person),
    ).length;
  }
}
