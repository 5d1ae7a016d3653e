/** Sessions that hold seats, for the checks: what a check does with one, and what it waits for. */
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
  /** The session's id. */
  session: string;
}

/** A session of the harness that holds a seat on a board. */
export type SeatedSession = ReturnType<typeof seatedSession>;

function seatedSession(parts: Parts) {
  const { world, people, driver, board, name, memberId, peer, session } = parts;
  const toIt = { to: [`@${name}`] };
  const cursor = async (): Promise<number> => (await people.inbox(memberId)).cursor;
  const isIdle = async (): Promise<boolean> => {
    const state = await world.daemon.session(session);
    return state?.open === true && state.turn === 'idle' && state.seats?.length !== 0;
  };
  /** A waiting hook counts only once it has connected. */
  const untilIdle = (ms?: number) => world.until('an idle session', isIdle, ms);
  /** The person posts a message to it. */
  const personSays = (body: string, more: object = toIt): Promise<Message> => people.post(board.name, body, more);
  /** A turn of the person, or for a runner a child process that takes its time. The turn ends after `work`. */
  const duringTurn = async (work: () => Promise<void>, prompt = 'Work.'): Promise<void> => {
    if (isRunner(world)) {
      const body = world.uniqueName('kit-busy');
      await driver.step({ do: 'hang_hook', ms: 1_500 });
      await personSays(body);
      await driver.expectContext(body, 'the message that starts a turn');
      return work();
    }
    await driver.step({ do: 'prompt', text: prompt });
    await work();
    await driver.step({ do: 'end_turn' });
  };
  return {
    ...parts,
    /** `name@board`: how commands outside of sessions name the seat. */
    seat: `${name}@${board.name}`,
    cursor,
    untilIdle,
    personSays,
    duringTurn,
    /** The other agent posts a message to it; with `more`, for example to everybody. */
    peerSays: (body: string, more: object = toIt) => people.post(board.name, body, more, peer.client),
    untilAcknowledged: ({ seq }: { seq: number }, ms?: number) =>
      world.until(`the acknowledgement of #${seq}`, async () => (await cursor()) >= seq, ms),
    /** Waits until it has received everything and is idle. */
    async untilDone(ms?: number): Promise<void> {
      const empty = async () => (await people.inbox(memberId)).messages.length === 0;
      await world.until('a session that has received everything', empty, ms);
      await untilIdle(ms);
    },
    /**
     * Waits until the daemon knows of this many messages and had time to deliver them: for messages that must not arrive.
     */
    async untilSeen(unread = 1): Promise<void> {
      const seen = async () => (await world.daemon.unread(world.profile.harness, session)) >= unread;
      await world.until(`a daemon that has seen ${unread} messages`, seen);
      await new Promise((resolve) => setTimeout(resolve, 250));
    },
    /** The person types a prompt, except into a runner's session: waiting messages arrive, earlier ones are confirmed. */
    async prompt(): Promise<void> {
      if (!isRunner(world)) await duringTurn(async () => {}, 'Go on.');
    },
  };
}

/** Starts a session with a seat. @param on another session, whose board it joins; by default the board is new */
export async function startSession(
  world: KitWorld,
  { on, env }: { on?: SeatedSession; env?: NodeJS.ProcessEnv } = {},
): Promise<SeatedSession> {
  const { people } = await world.startServer();
  const board = on?.board ?? (await people.board(world.uniqueName('kit')));
  const peer = on?.peer ?? (await people.agent(board.name, world.uniqueName('peer')));
  const name = world.uniqueName('worker');
  const driver = world.startHarness(env);
  const start = isRunner(world) ? startRunner : startAndJoin;
  const session = await start(world, driver, board.name, name);
  const { id: memberId } = await people.member(board.name, name);
  const seat = seatedSession({ world, people, driver, board, name, memberId, peer, session });
  await seat.untilIdle();
  return seat;
}

/** The same seat, held by a session of another process. */
export const inProcess = (seat: SeatedSession, driver: Driver, session = seat.session): SeatedSession =>
  seatedSession({ ...seat, driver, session });

/** Whether sessions of the harness are those of a runner. */
export const isRunner = ({ profile }: KitWorld): boolean => profile.identity.kind === 'runner';

/** A person starts a session, whose agent joins a board. @returns the session's id */
async function startAndJoin(world: KitWorld, driver: Driver, board: string, name: string): Promise<string> {
  const session = world.uniqueName('kit-session');
  await driver.step({ do: 'start', session });
  await driver.step({ do: 'prompt', text: 'Join the board.' });
  const { code, json } = await driver.service('join', '--board', board, '--name', name);
  if (code !== 0) throw new KitFailure(`the session could not join: ${JSON.stringify(json)}`.slice(0, 400));
  await driver.step({ do: 'end_turn' });
  return session;
}

/** A person creates an agent and starts a runner for it. @returns the session's id */
async function startRunner(world: KitWorld, driver: Driver, board: string, name: string): Promise<string> {
  await world.command(['agent', 'create', name, '--board', board]);
  await driver.step({ do: 'start', agent: `${name}@${board}` });
  return runnerSession(world, name, board);
}

/** The id of the session that a runner created for a seat. */
export async function runnerSession(world: KitWorld, name: string, board: string): Promise<string> {
  const status = await world.daemon.status();
  const held = status?.bindings?.find(({ agent }) => agent.name === name && agent.board === board);
  return held?.session.split(':')[1] ?? '';
}
