/** Sessions that hold seats, for checks: one that is idle is used again by the next check. */
import type { Message } from '../../src/contract/types.ts';
import { type Driver, KitFailure } from './driver.ts';
import type { Peer, People } from './people.ts';
import type { KitWorld } from './world.ts';

interface Parts {
  world: KitWorld;
  people: People;
  driver: Driver;
  board: { id: string; name: string };
  name: string;
  memberId: string;
  /** Another agent of the same person. */
  peer: Peer;
  session: string;
}

/** A session of the harness that holds a seat on a board. */
export class Seated {
  readonly world: KitWorld;
  readonly people: People;
  readonly driver: Driver;
  readonly board: { id: string; name: string };
  readonly name: string;
  readonly memberId: string;
  readonly peer: Peer;
  readonly session: string;

  constructor({ world, people, driver, board, name, memberId, peer, session }: Parts) {
    this.world = world;
    this.people = people;
    this.driver = driver;
    this.board = board;
    this.name = name;
    this.memberId = memberId;
    this.peer = peer;
    this.session = session;
  }

  /** @param on a board that is there; else one of its own */
  static async on(world: KitWorld, options: { on?: Seated; env?: NodeJS.ProcessEnv } = {}): Promise<Seated> {
    const { people } = await world.served();
    const board = options.on?.board ?? (await people.board(world.fresh('kit')));
    const peer = options.on?.peer ?? (await people.agent(board.name, world.fresh('peer')));
    const name = world.fresh('worker');
    const driver = world.harness(options.env);
    const session = isRunner(world)
      ? await ran(world, driver, board.name, name)
      : await joined(world, driver, board.name, name);
    const member = await people.member(board.name, name);
    const seat = new Seated({ world, people, driver, board, name, memberId: member.id, peer, session });
    await seat.idle();
    return seat;
  }

  /** As `name@board`, which commands outside sessions name it by. */
  get seat(): string {
    return `${this.name}@${this.board.name}`;
  }

  /** The person says something to it. */
  says(body: string, more: object = { to: [`@${this.name}`] }): Promise<Message> {
    return this.people.say(this.board.name, body, more);
  }

  /** The other agent says something to it; to everybody, where `more` names nobody. */
  peerSays(body: string, more: object = { to: [`@${this.name}`] }): Promise<Message> {
    return this.people.say(this.board.name, body, more, this.peer.client);
  }

  async cursor(): Promise<number> {
    return (await this.people.inbox(this.memberId)).cursor;
  }

  async acked({ seq }: { seq: number }, ms?: number): Promise<void> {
    await this.world.until(`the acknowledgement of #${seq}`, async () => (await this.cursor()) >= seq, ms);
  }

  /** Hooks that wait are there only when they have started. */
  async idle(ms?: number): Promise<void> {
    await this.world.until('an idle session', () => this.isIdle(), ms);
  }

  /** Waits until it has received everything and does nothing more. */
  async rest(ms?: number): Promise<void> {
    const empty = async () => (await this.people.inbox(this.memberId)).messages.length === 0;
    await this.world.until('a session that has received everything', empty, ms);
    await this.idle(ms);
  }

  private async isIdle(): Promise<boolean> {
    const status = await this.world.daemon.status();
    const session = status?.sessions?.find(({ key }) => key.endsWith(`:${this.session}`));
    return session?.open === true && session.turn === 'idle' && session.seats?.length !== 0;
  }

  /**
   * For what must not come: waits until the daemon knows of it, and has had the time to do something about it.
   * @param waiting how many messages are not received then
   */
  async quiet(waiting = 1): Promise<void> {
    const { daemon, profile } = this.world;
    const seen = async () => (await daemon.unread(profile.harness, this.session)) >= waiting;
    await this.world.until(`a daemon that has seen ${waiting} messages`, seen);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }

  /** Somebody types into it, where that is possible: what waits comes, and what came is confirmed. */
  async goesOn(): Promise<void> {
    if (!isRunner(this.world)) await this.during(async () => {}, 'Go on.');
  }

  /** The same seat in another session. */
  in(driver: Driver, session = this.session): Seated {
    const { world, people, board, name, memberId, peer } = this;
    return new Seated({ world, people, driver, board, name, memberId, peer, session });
  }

  /** A turn of the person's, or for a runner a child that takes its time; what is done in it ends with it. */
  async during(work: () => Promise<void>, prompt = 'Work.'): Promise<void> {
    if (isRunner(this.world)) {
      const word = this.world.fresh('kit-busy');
      await this.driver.step({ do: 'hang_hook', ms: 1_500 });
      await this.says(word);
      await this.driver.sees(word, 'what begins a turn');
      return work();
    }
    await this.driver.step({ do: 'prompt', text: prompt });
    await work();
    await this.driver.step({ do: 'end_turn' });
  }
}

export const isRunner = ({ profile }: KitWorld): boolean => profile.identity.kind === 'runner';

/** As a person begins a session, and its agent comes onto a board. */
async function joined(world: KitWorld, driver: Driver, board: string, name: string): Promise<string> {
  const session = world.fresh('kit-session');
  await driver.step({ do: 'start', session });
  await driver.step({ do: 'prompt', text: 'Join the board.' });
  const { code, json } = await driver.service('join', '--board', board, '--name', name);
  if (code !== 0) throw new KitFailure(`the session could not join: ${JSON.stringify(json)}`.slice(0, 400));
  await driver.step({ do: 'end_turn' });
  return session;
}

/** As a person gives an agent to a program that is no session. */
async function ran(world: KitWorld, driver: Driver, board: string, name: string): Promise<string> {
  await world.command(['agent', 'create', name, '--board', board]);
  await driver.step({ do: 'start', agent: `${name}@${board}` });
  return runnerOf(world, name, board);
}

/** The session that a runner made itself. */
export async function runnerOf(world: KitWorld, name: string, board: string): Promise<string> {
  const status = await world.daemon.status();
  const held = status?.bindings?.find(({ agent }) => agent.name === name && agent.board === board);
  return held?.session.split(':')[1] ?? '';
}
