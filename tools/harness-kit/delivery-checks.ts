/** Checks of what reaches a session, when, and how often. */
import { type Check, can, hasPrompts, must, wakes } from './check.ts';
import type { Seated } from './seated.ts';

export const deliveryChecks: Check[] = [
  {
    id: 'idle',
    needs: wakes,
    run: async (world, seats) => {
      const seat = await seats.idle();
      const { driver } = seat;
      const since = driver.trace.length;
      const message = await seat.says('kit-idle-one');
      const woken = { context_contains: 'kit-idle-one', turns: driver.of('turn').length + 1, within_ms: 5_000 };
      must((await driver.step({ do: 'expect', ...woken })).met === true, 'a message did not wake an idle session');
      const [text = ''] = driver.contexts(since);
      must(/<service-messages handoff="hnd_[0-9a-f]{32}" /.test(text), `it did not come as a bundle: ${text}`);
      must(text.includes('sender="owner"'), 'its sender is not told apart');
      must(driver.of('turn', since).length === 1, 'it did not begin one turn');
      await seat.acked(message);
      must(driver.times('kit-idle-one') === 1, 'it came more than once');
      if (can('queue')(world.profile)) await throughFailingQueue(seat);
      seats.done(seat);
    },
  },
  {
    id: 'busy',
    needs: wakes,
    run: async (_world, seats) => {
      const seat = await seats.idle();
      const { driver } = seat;
      let last = { seq: 0 };
      await seat.during(async () => {
        await seat.peerSays('kit-busy-one');
        last = await seat.peerSays('kit-busy-two');
        await seat.quiet(2);
        const { met } = await driver.step({ do: 'expect', no_context: 'kit-busy-one', within_ms: 100 });
        must(met === true, 'the text of a peer entered a turn');
      });
      await driver.sees('kit-busy-two', 'what came during the turn');
      const bundles = driver.contexts().filter((text) => /kit-busy-(one|two)/.test(text));
      must(bundles.length === 1, 'it did not come as one bundle');
      must(bundles[0]!.indexOf('kit-busy-one') < bundles[0]!.indexOf('kit-busy-two'), 'it did not come in its order');
      await seat.acked(last);
      seats.done(seat);
    },
  },
  {
    id: 'owner_midturn',
    needs: can('tool-boundary'),
    run: async (world, seats) => {
      const seat = await seats.idle();
      const { driver } = seat;
      let message = { seq: 0 };
      await seat.during(async () => {
        message = await seat.says('kit-owner-word');
        // Of several hooks at one boundary one gets it.
        await world.until('the word of its person at a tool call', async () => {
          await driver.step({ do: 'tool', name: 'Read', input: { path: 'x' }, parallel: 2 });
          return driver.times('kit-owner-word') > 0;
        });
        await driver.step({ do: 'tool', name: 'Read', input: { path: 'y' } });
      });
      await seat.acked(message);
      await seat.rest();
      must(driver.times('kit-owner-word') === 1, 'it came more than once');
      seats.done(seat);
    },
  },
  {
    id: 'notice',
    needs: can('tool-boundary'),
    run: async (world, seats) => {
      const seat = await seats.idle();
      const { driver } = seat;
      const since = driver.trace.length;
      let message = { seq: 0 };
      await seat.during(async () => {
        message = await seat.peerSays('kit-peer-body');
        await world.until('the notice at a tool call', async () => {
          await driver.step({ do: 'tool', name: 'Read' });
          return driver.times('<service-notice', since) > 0;
        });
        await driver.step({ do: 'tool', name: 'Read' });
        const [notice = ''] = driver.contexts(since).filter((text) => text.includes('<service-notice'));
        must(notice.includes(`#${message.seq} from ${seat.peer.name}`), `it does not name who wrote: ${notice}`);
        must(driver.times('<service-notice', since) === 1, 'it was given twice');
        must(driver.times('kit-peer-body') === 0, 'the text of a peer entered a running turn');
      });
      await driver.sees('kit-peer-body', 'the text itself, after the turn');
      await seat.acked(message);
      seats.done(seat);
    },
  },
  {
    id: 'turn_start',
    needs: can('turn-start'),
    run: async (_world, seats) => {
      const seat = await seats.idle();
      const { driver } = seat;
      const message = await seat.peerSays('kit-quiet', {});
      await seat.quiet();
      must(driver.times('kit-quiet') === 0, 'a quiet message woke the session');
      await driver.step({ do: 'hang_hook', ms: 300 });
      await seat.during(async () => {
        must(driver.times('kit-quiet') === 1, 'what waited did not come with the prompt');
      }, 'Go on.');
      await seat.acked(message);
      await beyondMessages(seat);
      seats.done(seat);
    },
  },
  {
    id: 'modes',
    needs: () => true,
    run: async (world, seats) => {
      const seat = await seats.idle();
      const { driver, people, board, name } = seat;
      if (!wakes(world.profile)) return;
      const set = (mode: 'focused' | 'all' | 'humans' | 'off') => people.setMode(board.name, name, mode);
      await set('focused');
      await seat.peerSays('kit-mode-quiet', {});
      await seat.quiet();
      must(driver.times('kit-mode-quiet') === 0, 'in the mode focused a post to everybody woke the session');
      await seat.peerSays('kit-mode-focused');
      await driver.sees('kit-mode-focused', 'in the mode focused, what is addressed to it');
      must(driver.times('kit-mode-quiet') === 1, 'what did not wake it did not come along');
      await set('all');
      await seat.peerSays('kit-mode-all', {});
      await driver.sees('kit-mode-all', 'in the mode all, every message');
      await seat.rest();
      await set('humans');
      await seat.peerSays('kit-mode-peer');
      await seat.quiet();
      must(driver.times('kit-mode-peer') === 0, 'in the mode humans a peer woke the session');
      await seat.says('kit-mode-human');
      await driver.sees('kit-mode-human', 'in the mode humans, a person');
      must(driver.times('kit-mode-peer') === 1, 'the peer did not come along');
      await seat.rest();
      await set('off');
      await seat.says('kit-mode-off');
      await seat.quiet();
      if (hasPrompts(world.profile)) await seat.during(async () => {}, 'Anything new?');
      must(driver.times('kit-mode-off') === 0, 'in the mode off something came');
      await set('focused');
      await driver.sees('kit-mode-off', 'back in the mode focused, what waited');
      seats.done(seat);
    },
  },
];

/** A queue command that fails is tried again. */
async function throughFailingQueue(seat: Seated): Promise<void> {
  await seat.driver.step({ do: 'queue_fail', n: 1 });
  const message = await seat.says('kit-queue-fails');
  await seat.driver.sees('kit-queue-fails', 'what its queue did not take at first');
  await seat.acked(message);
  must(seat.driver.times('kit-queue-fails') === 1, 'what its queue did not take at first came twice');
}

/** In the mode off a turn begins with the changed mode, decisions about its requests, and no message; later reminders too. */
async function beyondMessages(seat: Seated): Promise<void> {
  const { driver, people, board, name, memberId } = seat;
  const agent = people.seat(memberId);
  await people.setMode(board.name, name, 'off');
  const policy = { kind: 'set_board_policy' as const, board_id: board.id, policy: { nudges: 'off' as const } };
  const { data } = await agent.call('requestAdminAction', { body: policy });
  const approval = (data as { approval: { id: string } }).approval.id;
  await people.person.call('declineApproval', { params: { approval } });
  const message = await seat.says('kit-while-off');
  await seat.quiet();
  let since = driver.trace.length;
  await seat.during(async () => {}, 'What now?');
  const text = driver.contexts(since).join('\n');
  must(text.includes('focused') && text.includes('off'), `the changed mode was not told: ${text}`);
  must(text.includes(approval), `the decision was not told: ${text}`);
  must(!text.includes('kit-while-off'), 'in the mode off a message came');
  const ends = Date.now() + 1_000;
  const until = new Date(ends).toISOString();
  await agent.call('setMyLine', { body: { kind: 'paused', text: 'kit-pause', until } });
  since = driver.trace.length;
  await people.setMode(board.name, name, 'focused');
  await seat.acked(message);
  await seat.rest();
  // A turn that the message begins may be the one that is told, where it begins late.
  await seat.world.until('the end of the pause', () => Date.now() > ends);
  await seat.during(async () => {
    const told = driver.contexts(since).join('\n');
    must(told.includes('Your pause "kit-pause"'), `the late pause was not told: ${told}`);
    await driver.step({ do: 'tool', name: 'Read' });
  }, 'And now?');
  must(driver.times('Your pause "kit-pause"') === 1, 'the late pause was told twice');
}
