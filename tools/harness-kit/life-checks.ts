/** Checks of sessions that end, resume, crash or lose their seats. */
import { type Check, codeOf, has, hasPrompts, must, nameIn, onSession, wakes } from './check.ts';
import { inProcess, runnerSession, type SeatedSession } from './seated.ts';
import type { KitWorld } from './world.ts';

export const lifeChecks: Check[] = [
  {
    id: 'subagent',
    needs: ({ subagent_identity }) => subagent_identity === 'marked',
    run: onSession(async (seat, world) => {
      const { driver, board } = seat;
      const since = driver.trace.length;
      const inSubagent = (...words: string[]) =>
        driver.step({
          do: 'subagent',
          id: 'kit-sub',
          steps: [
            { do: 'tool', name: 'Read' },
            { do: 'command', argv: ['service', ...words, '--json'] },
          ],
        });
      let message = { seq: 0 };
      await seat.duringTurn(async () => {
        message = await seat.personSays('kit-for-the-session');
        await seat.untilSeen();
        const { code, stdout = '' } = await inSubagent('say', 'kit-forbidden');
        const hooks = driver.trace.slice(since).filter(({ ev }) => ev === 'hook');
        const ran = hooks.map(({ hook, exit, ms, text }) => `${hook} ended with ${exit} after ${ms} ms ${text}`.trim());
        must(
          code === 5 && stdout.includes('subagent_without_seat'),
          `a subagent was not refused: ${stdout}; hooks: ${ran.join(', ')}`,
        );
        const read = await inSubagent('read', '--board', board.name);
        must(read.code === 0, `a subagent could not read: ${read.stdout}${read.stderr}`);
        must(driver.count('kit-for-the-session', since) === 0, 'a hook inside a subagent took a message');
        await driver.step({ do: 'tool', name: 'Read' });
        if (has('tool-boundary')(world.profile))
          await driver.expectContext('kit-for-the-session', 'a message that a subagent did not get');
      });
      await seat.untilAcknowledged(message);
      must(!(await isPosted(seat, 'kit-forbidden')), 'a subagent posted to the board');
    }),
  },
  {
    id: 'resume',
    needs: ({ lifecycle }) => lifecycle.resume_keeps_id === true,
    run: onSession(async (seat, world) => {
      const { driver, session, name } = seat;
      // The output of the first hook may be lost; the session's identity is not.
      await driver.step({ do: 'quit' });
      await driver.step({ do: 'drop_output' });
      let since = driver.trace.length;
      await driver.step({ do: 'resume', session });
      must(driver.count(name, since) === 0, 'the dropped note was delivered');
      must(nameIn((await driver.service('whoami')).json) === name, 'a resumed session does not have its seat');
      await driver.step({ do: 'quit' });
      since = driver.trace.length;
      await driver.step({ do: 'resume', session });
      must(driver.count(name, since) === 1, 'a resumed session was not told its name');
      since = driver.trace.length;
      await driver.step({ do: 'compact', session });
      must(driver.count(name, since) === 1, 'a compacted session was not told its name');
      must(nameIn((await driver.service('whoami')).json) === name, 'a compacted session does not have its seat');
      for (const other of ['fork', 'clear'] as const) {
        await driver.step({ do: other, session: world.uniqueName('kit-other') });
        const { json } = await driver.service('whoami');
        must(codeOf(json) === 'agent_not_selected', `after a ${other} another session has the seat`);
      }
      await driver.step({ do: 'quit' });
      await driver.step({ do: 'resume', session });
      await driver.step({ do: 'prompt', text: 'Go on.' });
      await driver.step({ do: 'end_turn' });
      const message = await seat.personSays('kit-after-resume');
      await driver.expectContext('kit-after-resume', 'a message to the resumed session');
      await seat.untilAcknowledged(message);
    }),
  },
  {
    id: 'kill',
    needs: wakes,
    run: async (world, sessions) => {
      const seat = await sessions.take();
      await killHook(seat, 'answer');
      // After a queue has taken a text, only its prompt shows that the session has it, so killing later proves nothing.
      if (!has('queue')(world.profile)) await killHook(seat, 'output');
      if (world.profile.delivery.wake_echo) await loseWake(seat);
      // A client that finds no daemon starts one.
      await world.daemon.kill();
      const message = await seat.personSays('kit-daemon-gone');
      await seat.prompt();
      await seat.driver.expectContext('kit-daemon-gone', 'a message posted while no daemon was running', 20_000);
      await seat.untilAcknowledged(message, 20_000);
      sessions.pass(await killHarness(world, seat));
    },
  },
  {
    id: 'takeover',
    needs: wakes,
    run: async (world, sessions) => {
      const first = await sessions.take();
      const { driver, board, name } = first;
      const second = world.startHarness();
      let session = `${first.session}-b`;
      if (hasPrompts(world.profile)) {
        await second.step({ do: 'start', session });
        const { code, json } = await second.service('resume', first.seat);
        must(code === 0, `the seat could not be taken: ${JSON.stringify(json)}`);
      } else {
        await second.step({ do: 'start', agent: first.seat });
        session = await runnerSession(world, name, board.name);
      }
      must(codeOf((await driver.service('whoami')).json) === 'agent_not_selected', 'two sessions hold one seat');
      const message = await first.personSays('kit-to-the-new');
      if (hasPrompts(world.profile)) {
        await second.step({ do: 'prompt', text: 'Go on.' });
        await second.step({ do: 'end_turn' });
      }
      await second.expectContext('kit-to-the-new', 'a message to the session that took the seat');
      await first.untilAcknowledged(message);
      must(driver.count('kit-to-the-new') === 0, 'it reached the session that lost the seat');
      sessions.pass(inProcess(first, second, session));
      await driver.step({ do: 'quit' });
      if (!world.profile.lifecycle.resume_keeps_id) return;
      const since = driver.trace.length;
      await driver.step({ do: 'resume', session: first.session });
      must(
        driver.contexts(since).some((text) => text.includes('service resume') && text.includes(name)),
        `the session was not told how to take back its seat on ${board.name}`,
      );
      await driver.step({ do: 'quit' });
    },
  },
  {
    id: 'presence',
    needs: wakes,
    run: async (world, sessions) => {
      const seat = await sessions.take();
      const seen: string[] = [];
      const becomes = (expected: string) =>
        world.until(`the presence ${expected}`, async () => {
          const { presence } = await seat.people.member(seat.board.name, seat.name);
          if (presence && presence !== seen.at(-1)) seen.push(presence);
          return presence === expected;
        });
      await becomes('idle');
      await seat.duringTurn(() => becomes('working'));
      await becomes('idle');
      await seat.driver.step({ do: 'quit' });
      await becomes('no_session');
      const steps = seen.slice(seen.indexOf('idle')).join(' ');
      must(steps === 'idle working idle no_session', `the presence was ${steps}`);
    },
  },
];

/** A hook is killed that has a text: before it prints the text, or after. The text is delivered at least once. */
async function killHook(seat: SeatedSession, after: 'answer' | 'output'): Promise<void> {
  const { driver, world } = seat;
  const body = `kit-hook-killed-${after}`;
  // The current waiting hook has already begun; the fault applies to the next one.
  if (has('idle-hook')(world.profile)) {
    await driver.step({ do: 'prompt', text: 'A turn.' });
    await driver.step({ do: 'kill_hook', after });
    await driver.step({ do: 'end_turn' });
    await seat.untilIdle();
  } else await driver.step({ do: 'kill_hook', after });
  const since = driver.trace.length;
  // A queue would take a message that wakes at once, so one is used that waits for the next prompt.
  const quiet = has('queue')(world.profile);
  const message = quiet ? await seat.peerSays(body, {}) : await seat.personSays(body);
  if (quiet) await seat.untilSeen();
  // A waiting hook is killed now; others when they run at the next prompt.
  if (has('idle-hook')(world.profile))
    await world.until('a hook that is killed', () =>
      driver.trace.slice(since).some(({ ev, exit }) => ev === 'hook' && exit === null),
    );
  await seat.prompt();
  if (quiet) await seat.prompt();
  await driver.expectContext(body, 'the message of a killed hook', 20_000);
  await seat.untilAcknowledged(message);
  must(driver.count(body) <= 2, 'the message of a killed hook was delivered more than twice');
  await seat.untilDone();
}

/** A wake-up that the harness ignored counts as lost at the next prompt, which delivers its message again. */
async function loseWake(seat: SeatedSession): Promise<void> {
  const { driver, world } = seat;
  await driver.step({ do: 'ignore_wake' });
  const since = driver.trace.length;
  const message = await seat.personSays('kit-wake-lost');
  await world.until('a wake-up', () => driver.texts('wake', since).length > 0);
  must(driver.count('kit-wake-lost') === 0, 'an ignored wake-up reached the session');
  await seat.duringTurn(async () => {
    must(driver.count('kit-wake-lost') === 1, 'the message of an ignored wake-up was not delivered again');
  }, 'Go on.');
  await seat.untilAcknowledged(message);
}

/** A message posted while the harness was not running is delivered when the session resumes. */
async function killHarness(world: KitWorld, seat: SeatedSession): Promise<SeatedSession> {
  await seat.untilDone();
  await seat.driver.kill();
  const message = await seat.personSays('kit-after-kill');
  const next = world.startHarness();
  if (hasPrompts(world.profile)) {
    await next.step({ do: 'resume', session: seat.session });
    await next.step({ do: 'prompt', text: 'Go on.' });
    await next.step({ do: 'end_turn' });
  } else await next.step({ do: 'start', agent: seat.seat });
  await next.expectContext('kit-after-kill', 'a message posted while the harness was not running');
  await seat.untilAcknowledged(message);
  if (hasPrompts(world.profile)) return inProcess(seat, next);
  return inProcess(seat, next, await runnerSession(world, seat.name, seat.board.name));
}

/** Whether a message on the seat's board contains a text. */
async function isPosted({ people, board }: SeatedSession, body: string): Promise<boolean> {
  const { messages } = (await people.person.call('listMessages', { params: { board: board.name }, query: {} })).data;
  return messages.some((message) => message.body.includes(body));
}
