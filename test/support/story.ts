/** Random stories on a board, told to the server and to the model alike. */
import fc from 'fast-check';
import type { Policy } from '../../src/contract/types.ts';
import type { Api } from './api.ts';
import { newAgent, newBoard, newCode } from './cast.ts';
import { type Actor, BoardModel, type Posted } from './model.ts';
import type { TestServer } from './server.ts';
import { endMember, memberIdOf, putOnBoard, setPolicy } from './state.ts';

export type Step =
  | {
      do: 'post';
      by: number;
      to: number[] | null;
      names: number[];
      reply: number | null;
      urgent: boolean;
      expects: boolean;
    }
  | { do: 'react'; by: number; message: number; name: number; back: boolean }
  | { do: 'policy'; visibility: Policy['visibility'] }
  | { do: 'ack'; by: number; back: number }
  | { do: 'join'; person: number; role: number }
  | { do: 'rename'; person: number }
  | { do: 'code'; by: number; role: number; revoke: boolean }
  | { do: 'end'; agent: number };

const index = fc.nat({ max: 1_000 });
const post = fc.record({
  do: fc.constant('post' as const),
  by: index,
  to: fc.option(fc.array(index, { minLength: 1, maxLength: 3 }), { freq: 3 }),
  names: fc.array(index, { maxLength: 3 }),
  reply: fc.option(index, { freq: 1 }),
  urgent: fc.boolean(),
  expects: fc.boolean(),
});

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 14, arbitrary: post },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('react' as const),
        by: index,
        message: index,
        name: index,
        back: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('policy' as const),
        visibility: fc.constantFrom('open' as const, 'addressed' as const),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('ack' as const), by: index, back: fc.nat({ max: 6 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('join' as const), person: index, role: index }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('rename' as const), person: index }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('code' as const), by: index, role: index, revoke: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), agent: index }) },
  ),
  { minLength: 20, maxLength: 40, size: 'max' },
);

const REACTIONS = ['thumbsup', 'heart', 'question'];
const ROLES = ['writer', 'reviewer', 'member'];
/** What the people of all stories are called now, and how often one of them took another handle. */
const handles = new Map<Api, string>();
let renames = 0;

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

export class Story {
  readonly model = new BoardModel();
  readonly board: string;
  readonly #server: TestServer;
  readonly #people: Api[];

  private constructor(server: TestServer, board: string, people: Api[]) {
    this.#server = server;
    this.board = board;
    this.#people = people;
  }

  /** A board with these people and three agents. */
  static async begin(server: TestServer, people: Api[]): Promise<Story> {
    const { name } = await newBoard(people[0] as Api, { template: 'writer-reviewer' });
    const story = new Story(server, name, people);
    for (const [n, person] of people.entries()) {
      if (n > 0) await putOnBoard(server, name, person);
      handles.set(person, (await person.ok('getMe')).name);
      const { read_up_to } = await person.ok('getBoard', { params: { board: name } });
      const id = await memberIdOf(server, name, person);
      story.#add({ api: person, id, kind: 'human', role: null }, person, read_up_to ?? 0);
    }
    for (const n of [0, 1, 2]) await story.take({ do: 'join', person: n, role: n });
    return story;
  }

  /** @param name of an agent; a person goes by their handle, on every board and in every story. */
  #add(actor: Pick<Actor, 'api' | 'id' | 'kind' | 'role'>, person: Api, position: number, name?: string): void {
    this.model.members.push({
      ...actor,
      active: true,
      position,
      get name() {
        return name ?? handles.get(person) ?? '';
      },
      get owner() {
        return handles.get(person) ?? '';
      },
    });
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'post':
        return this.#post(step);
      case 'react':
        return this.#react(step);
      case 'policy':
        this.model.visibility = step.visibility;
        return setPolicy(this.#server, this.board, { visibility: step.visibility });
      case 'ack':
        return this.#acknowledge(pick(this.model.active, step.by), step.back);
      case 'join': {
        const person = pick(this.#people, step.person);
        const role = pick(ROLES, step.role);
        const agent = await newAgent(person, this.board, { role });
        const { head_seq } = await person.ok('getBoard', { params: { board: this.board } });
        this.#add({ api: agent, id: agent.memberId, kind: 'agent', role }, person, head_seq, agent.name);
        return;
      }
      case 'rename':
        return this.#rename(pick(this.#people, step.person));
      case 'code': {
        const { api } = pick(this.model.active, step.by);
        const { id } = await newCode(api, this.board, { role: pick(ROLES, step.role) });
        if (step.revoke) await api.ok('revokeJoinCode', { params: { board: this.board, code_id: id } });
        return;
      }
      case 'end': {
        const agents = this.model.agents(() => true);
        if (agents.length < 2) return;
        const agent = pick(agents, step.agent);
        agent.active = false;
        return endMember(this.#server, agent.id);
      }
    }
  }

  async #rename(person: Api): Promise<void> {
    const handle = `renamed-${++renames}`;
    await person.ok('renamePerson', { params: { handle: handles.get(person) ?? '' }, body: { handle } });
    handles.set(person, handle);
  }

  async #post(step: Extract<Step, { do: 'post' }>): Promise<void> {
    const { model } = this;
    const sender = pick(model.active, step.by);
    const readable = model.timeline(sender);
    const parent = step.reply !== null && readable.length > 0 ? pick(readable, step.reply) : null;
    const to = step.to === null ? undefined : this.#targets(step.to);
    const body = ['well', ...step.names.map((n) => this.#mention(n))].join(' ');
    const answer = await sender.api.call('postMessage', {
      params: { board: this.board },
      body: {
        body,
        urgent: step.urgent,
        expects_reply: step.expects,
        ...(to ? { to } : {}),
        ...(parent ? { reply_to: parent.id } : {}),
      },
    });
    const expected = to ?? (parent ? model.defaultTo(parent, sender) : ['all']);
    if (expected.length === 0) {
      if (answer.code !== 'reply_has_no_recipients') throw new Error(`a reply to nobody: ${answer.text}`);
      return;
    }
    if (answer.status !== 201) throw new Error(`a post was refused: ${answer.text}`);
    if (answer.body.to.join() !== expected.join()) throw new Error(`to ${answer.body.to}, expected ${expected}`);
    model.add(answer.body, sender, parent);
  }

  async #react({ by, message, name, back }: Extract<Step, { do: 'react' }>): Promise<void> {
    const member = pick(this.model.active, by);
    const readable = this.model.timeline(member);
    if (readable.length === 0) return;
    const posted = pick(readable, message);
    const reaction = pick(REACTIONS, name);
    const call = { params: { message: posted.id, reaction } };
    await member.api.ok(back ? 'removeReaction' : 'addReaction', call);
    const stands = posted.reactions.findIndex((each) => each.member === member && each.name === reaction);
    if (!back && stands === -1) posted.reactions.push({ member, name: reaction });
    if (back && stands !== -1) posted.reactions.splice(stands, 1);
  }

  #targets(numbers: number[]): string[] {
    const choices = [
      ...this.model.active.map((member) => `@${member.name}`),
      ...ROLES.map((role) => `role:${role}`),
      ...new Set(this.model.members.filter((m) => m.kind === 'human').map((member) => `owner:${member.owner}`)),
    ];
    return [...new Set(numbers.map((n) => pick(choices, n)))];
  }

  #mention(n: number): string {
    return pick([...this.model.members.map((member) => `@${member.name}`), '@role:reviewer', '@nobody'], n);
  }

  async #acknowledge(actor: Actor, back: number): Promise<void> {
    const { head_seq } = await actor.api.ok('getBoard', { params: { board: this.board } });
    const upTo = Math.max(0, head_seq - back);
    actor.position = Math.max(actor.position, upTo);
    if (actor.kind === 'agent') await actor.api.ok('ackInbox', { body: { up_to: upTo } });
    else await actor.api.ok('ackBoard', { params: { board: this.board }, body: { up_to: upTo } });
  }
}

export const seqs = (list: readonly { seq: number }[]): number[] => list.map((item) => item.seq);
export type { Posted };
