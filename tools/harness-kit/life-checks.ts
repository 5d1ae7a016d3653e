/** Checks of sessions that end, come back, crash or lose their seats. */
import { type Check, can, codeOf, hasPrompts, must, wakes } from './check.ts';
import { runnerOf, type Seated } from './seated.ts';
import type { KitWorld } from './world.ts';

const nameIn = (json: Record<string, unknown>) => (json['me'] as { name?: string } | undefined)?.name;

export const lifeChecks: Check[] = [
  {
    id: 'subagent',
    needs: ({ subagent_identity }) => subagent_identity === 'marked',
    run: async (world, seats) => {
      const seat = await seats.idle();
      const { driver, board } = seat;
      const since = driver.trace.length;
      const inside = (...words: string[]) =>
        driver.step({
          do: 'subagent',
          id: 'kit-sub',
          steps: [
            { do: 'tool', name: 'Read' },
            { do: 'command', argv: ['service', ...words, '--json'] },
          ],
        });
      let message = { seq: 0 };
      await seat.during(async () => {
        message = await seat.says('kit-for-the-session');
        await seat.quiet();
        const said = await inside('say', 'kit-forbidden');
        must(
          said.code === 5 && (said.stdout ?? '').includes('subagent_without_seat'),
          `a subagent was not refused: ${said.stdout}`,
        );
        const read = await inside('read', '--board', board.name);
        must(read.code === 0, `a subagent could not read: ${read.stdout}${read.stderr}`);
        must(driver.times('kit-for-the-session', since) === 0, 'a hook inside a subagent took a message');
        await driver.step({ do: 'tool', name: 'Read' });
        if (can('tool-boundary')(world.profile)) await driver.sees('kit-for-the-session', 'what a subagent left');
      });
      await seat.acked(message);
      must(!(await said(seat, 'kit-forbidden')), 'a subagent wrote to the board');
      seats.done(seat);
    },
  },
  {
    id: 'resume',
    needs: ({ lifecycle }) => lifecycle.resume_keeps_id === true,
    run: async (world, seats) => {
      const seat = await seats.idle();
      const { driver, session, name } = seat;
      // What the start prints may get lost; who the session is does not.
      await driver.step({ do: 'quit' });
      await driver.step({ do: 'drop_output' });
      let since = driver.trace.length;
      await driver.step({ do: 'resume', session });
      must(driver.times(name, since) === 0, 'a lost note was not lost');
      must(nameIn((await driver.service('whoami')).json) === name, 'the seat did not come back with the session');
      await driver.step({ do: 'quit' });
      since = driver.trace.length;
      await driver.step({ do: 'resume', session });
      must(driver.times(name, since) === 1, 'the session was not told who it is');
      since = driver.trace.length;
      await driver.step({ do: 'compact', session });
      must(driver.times(name, since) === 1, 'after a compaction the session was not told who it is');
      must(nameIn((await driver.service('whoami')).json) === name, 'the seat did not stay over a compaction');
      for (const other of ['fork', 'clear'] as const) {
        await driver.step({ do: other, session: world.fresh('kit-other') });
        const { json } = await driver.service('whoami');
        must(codeOf(json) === 'agent_not_selected', `after a ${other} another session has the seat`);
      }
      await driver.step({ do: 'quit' });
      await driver.step({ do: 'resume', session });
      await driver.step({ do: 'prompt', text: 'Go on.' });
      await driver.step({ do: 'end_turn' });
      const message = await seat.says('kit-after-resume');
      await driver.sees('kit-after-resume', 'a message to the session that came back');
      await seat.acked(message);
      seats.done(seat);
    },
  },
  {
    id: 'kill',
    needs: wakes,
    run: async (world, seats) => {
      const seat = await seats.idle();
      await killedHook(seat, 'answer');
      // Whether a text that was printed is in the session shows only where it comes back as a prompt, or says so itself.
      if (!can('queue')(world.profile)) await killedHook(seat, 'output');
      if (world.profile.delivery.wake_echo) await lostWake(seat);
      // A client that finds no daemon starts one.
      await world.daemon.kill();
      const message = await seat.says('kit-daemon-gone');
      await seat.goesOn();
      await seat.driver.sees('kit-daemon-gone', 'what came while the daemon was gone', 20_000);
      await seat.acked(message, 20_000);
      seats.done(await killedHarness(world, seat));
    },
  },
  {
    id: 'takeover',
    needs: wakes,
    run: async (world, seats) => {
      const first = await seats.idle();
      const { driver, board, name } = first;
      const second = world.harness();
      let session = `${first.session}-b`;
      if (hasPrompts(world.profile)) {
        await second.step({ do: 'start', session });
        const { code, json } = await second.service('resume', first.seat);
        must(code === 0, `the seat could not be taken: ${JSON.stringify(json)}`);
      } else {
        await second.step({ do: 'start', agent: first.seat });
        session = await runnerOf(world, name, board.name);
      }
      must(codeOf((await driver.service('whoami')).json) === 'agent_not_selected', 'two sessions hold one seat');
      const message = await first.says('kit-to-the-new');
      if (hasPrompts(world.profile)) {
        await second.step({ do: 'prompt', text: 'Go on.' });
        await second.step({ do: 'end_turn' });
      }
      await second.sees('kit-to-the-new', 'a message to the session that took the seat');
      await first.acked(message);
      must(driver.times('kit-to-the-new') === 0, 'it reached the session that lost the seat');
      seats.done(first.in(second, session));
      await driver.step({ do: 'quit' });
      if (!world.profile.lifecycle.resume_keeps_id) return;
      const since = driver.trace.length;
      await driver.step({ do: 'resume', session: first.session });
      must(
        driver.contexts(since).some((text) => text.includes('service resume') && text.includes(name)),
        `the session was not told how to take its seat on ${board.name} back`,
      );
      await driver.step({ do: 'quit' });
    },
  },
  {
    id: 'presence',
    needs: wakes,
    run: async (world, seats) => {
      const seat = await seats.idle();
      const seen: string[] = [];
      const is = (expected: string) =>
        world.until(`the presence ${expected}`, async () => {
          const { presence } = await seat.people.member(seat.board.name, seat.name);
          if (presence && presence !== seen.at(-1)) seen.push(presence);
          return presence === expected;
        });
      await is('idle');
      await seat.during(() => is('working'));
      await is('idle');
      await seat.driver.step({ do: 'quit' });
      await is('no_session');
      const steps = seen.slice(seen.indexOf('idle')).join(' ');
      must(steps === 'idle working idle no_session', `it went ${steps}`);
    },
  },
];

/** A hook that is killed over a text: before it could print it, the text comes again; after, at least not never. */
async function killedHook(seat: Seated, after: 'answer' | 'output'): Promise<void> {
  const { driver, world } = seat;
  const body = `kit-hook-killed-${after}`;
  // The hook that waits now has begun already; the next one is meant.
  if (can('idle-hook')(world.profile)) {
    await driver.step({ do: 'prompt', text: 'A turn.' });
    await driver.step({ do: 'kill_hook', after });
    await driver.step({ do: 'end_turn' });
    await seat.idle();
  } else await driver.step({ do: 'kill_hook', after });
  const since = driver.trace.length;
  // What a queue would take at once waits quietly for the prompt instead.
  const quiet = can('queue')(world.profile);
  const message = quiet ? await seat.peerSays(body, {}) : await seat.says(body);
  if (quiet) await seat.quiet();
  // One that waits is killed by itself; one that is asked at a prompt is killed there.
  if (can('idle-hook')(world.profile))
    await world.until('a hook that is killed', () =>
      driver.trace.slice(since).some(({ ev, exit }) => ev === 'hook' && exit === null),
    );
  await seat.goesOn();
  if (quiet) await seat.goesOn();
  await driver.sees(body, 'what a killed hook did not bring', 20_000);
  await seat.acked(message);
  must(driver.times(body) <= 2, 'what a killed hook did not bring came too often');
  await seat.rest();
}

/** A wake that its harness dropped counts as lost at the next prompt from elsewhere. */
async function lostWake(seat: Seated): Promise<void> {
  const { driver, world } = seat;
  await driver.step({ do: 'ignore_wake' });
  const since = driver.trace.length;
  const message = await seat.says('kit-wake-lost');
  await world.until('a wake', () => driver.of('wake', since).length > 0);
  must(driver.times('kit-wake-lost') === 0, 'a wake that was swallowed reached the session');
  await seat.during(async () => {
    must(driver.times('kit-wake-lost') === 1, 'a wake that was swallowed was not handed again');
  }, 'Go on.');
  await seat.acked(message);
}

/** What came while its harness was gone is there when the session comes back. */
async function killedHarness(world: KitWorld, seat: Seated): Promise<Seated> {
  await seat.rest();
  await seat.driver.kill();
  const message = await seat.says('kit-after-kill');
  const again = world.harness();
  if (hasPrompts(world.profile)) {
    await again.step({ do: 'resume', session: seat.session });
    await again.step({ do: 'prompt', text: 'Go on.' });
    await again.step({ do: 'end_turn' });
  } else await again.step({ do: 'start', agent: seat.seat });
  await again.sees('kit-after-kill', 'what came while the harness was gone');
  await seat.acked(message);
  return hasPrompts(world.profile) ? seat.in(again) : seat.in(again, await runnerOf(world, seat.name, seat.board.name));
}

/** Whether somebody said it on the seat's board. */
async function said({ people, board }: Seated, body: string): Promise<boolean> {
  const { messages } = (await people.person.call('listMessages', { params: { board: board.name }, query: {} })).data;
  return messages.some((message) => message.body.includes(body));
}
