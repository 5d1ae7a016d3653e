/** Checks of which messages reach a session, when, and how often. */
import { type Check, has, hasPrompts, must, onSession, wakes } from './check.ts';
import type { SeatedSession } from './seated.ts';

export const deliveryChecks: Check[] = [
  {
    id: 'idle',
    needs: wakes,
    run: onSession(async (seat, world) => {
      const { driver } = seat;
      const since = driver.trace.length;
      const message = await seat.personSays('kit-idle-one');
      const woken = { context_contains: 'kit-idle-one', turns: driver.texts('turn').length + 1, within_ms: 5_000 };
      must((await driver.step({ do: 'expect', ...woken })).met === true, 'a message did not wake an idle session');
      const [text = ''] = driver.contexts(since);
      must(/<service-messages handoff="hnd_[0-9a-f]{32}" /.test(text), `it was not delivered as a bundle: ${text}`);
      must(text.includes('sender="owner"'), 'the bundle does not say that the owner sent it');
      must(driver.texts('turn', since).length === 1, 'it did not start exactly one turn');
      await seat.untilAcknowledged(message);
      must(driver.count('kit-idle-one') === 1, 'it was delivered more than once');
      if (has('queue')(world.profile)) await retryQueue(seat);
    }),
  },
  {
    id: 'busy',
    needs: wakes,
    run: onSession(async (seat) => {
      const { driver } = seat;
      let last = { seq: 0 };
      await seat.duringTurn(async () => {
        await seat.peerSays('kit-busy-one');
        last = await seat.peerSays('kit-busy-two');
        await seat.untilSeen(2);
        const { met } = await driver.step({ do: 'expect', no_context: 'kit-busy-one', within_ms: 100 });
        must(met === true, 'the text of another agent was delivered during a turn');
      });
      await driver.expectContext('kit-busy-two', 'a message of the last turn');
      const bundles = driver.contexts().filter((text) => /kit-busy-(one|two)/.test(text));
      must(bundles.length === 1, 'the messages were not delivered as one bundle');
      must(bundles[0]!.indexOf('kit-busy-one') < bundles[0]!.indexOf('kit-busy-two'), 'the messages are not in order');
      await seat.untilAcknowledged(last);
    }),
  },
  {
    id: 'owner_midturn',
    needs: has('tool-boundary'),
    run: onSession(async (seat, world) => {
      const { driver } = seat;
      let message = { seq: 0 };
      await seat.duringTurn(async () => {
        message = await seat.personSays('kit-owner-word');
        // Of several hooks at one tool call, only one gets the message.
        await world.until('the message of its person at a tool call', async () => {
          await driver.step({ do: 'tool', name: 'Read', input: { path: 'x' }, parallel: 2 });
          return driver.count('kit-owner-word') > 0;
        });
        await driver.step({ do: 'tool', name: 'Read', input: { path: 'y' } });
      });
      await seat.untilAcknowledged(message);
      await seat.untilDone();
      must(driver.count('kit-owner-word') === 1, 'it was delivered more than once');
    }),
  },
  {
    id: 'notice',
    needs: has('tool-boundary'),
    run: onSession(async (seat, world) => {
      const { driver } = seat;
      const since = driver.trace.length;
      let message = { seq: 0 };
      await seat.duringTurn(async () => {
        message = await seat.peerSays('kit-peer-body');
        await world.until('the notice at a tool call', async () => {
          await driver.step({ do: 'tool', name: 'Read' });
          return driver.count('<service-notice', since) > 0;
        });
        await driver.step({ do: 'tool', name: 'Read' });
        const [notice = ''] = driver.contexts(since).filter((text) => text.includes('<service-notice'));
        must(notice.includes(`#${message.seq} from ${seat.peer.name}`), `it does not name the sender: ${notice}`);
        must(driver.count('<service-notice', since) === 1, 'it was delivered twice');
        must(driver.count('kit-peer-body') === 0, 'the text of another agent was delivered during a turn');
      });
      await driver.expectContext('kit-peer-body', 'the message itself, after the turn');
      await seat.untilAcknowledged(message);
    }),
  },
  {
    id: 'turn_start',
    needs: has('turn-start'),
    run: onSession(async (seat) => {
      const { driver } = seat;
      const message = await seat.peerSays('kit-quiet', {});
      await seat.untilSeen();
      must(driver.count('kit-quiet') === 0, 'a message to everybody woke the session');
      await driver.step({ do: 'hang_hook', ms: 300 });
      await seat.duringTurn(async () => {
        must(driver.count('kit-quiet') === 1, 'a waiting message was not delivered with the prompt');
      }, 'Go on.');
      await seat.untilAcknowledged(message);
      await deliverOtherLines(seat);
    }),
  },
  {
    id: 'modes',
    needs: () => true,
    run: onSession(async (seat, world) => {
      const { driver, people, board, name } = seat;
      if (!wakes(world.profile)) return;
      const set = (mode: 'focused' | 'all' | 'humans' | 'off') => people.setMode(board.name, name, mode);
      await set('focused');
      await seat.peerSays('kit-mode-quiet', {});
      await seat.untilSeen();
      must(driver.count('kit-mode-quiet') === 0, 'in the mode focused a post to everybody woke the session');
      await seat.peerSays('kit-mode-focused');
      await driver.expectContext('kit-mode-focused', 'in the mode focused, a message addressed to it');
      must(driver.count('kit-mode-quiet') === 1, 'the earlier post was not delivered with it');
      await set('all');
      await seat.peerSays('kit-mode-all', {});
      await driver.expectContext('kit-mode-all', 'in the mode all, a post to everybody');
      await seat.untilDone();
      await set('humans');
      await seat.peerSays('kit-mode-peer');
      await seat.untilSeen();
      must(driver.count('kit-mode-peer') === 0, 'in the mode humans another agent woke the session');
      await seat.personSays('kit-mode-human');
      await driver.expectContext('kit-mode-human', 'in the mode humans, a message of a person');
      must(driver.count('kit-mode-peer') === 1, 'the message of the other agent was not delivered with it');
      await seat.untilDone();
      await set('off');
      await seat.personSays('kit-mode-off');
      await seat.untilSeen();
      if (hasPrompts(world.profile)) await seat.duringTurn(async () => {}, 'Anything new?');
      must(driver.count('kit-mode-off') === 0, 'in the mode off a message was delivered');
      await set('focused');
      await driver.expectContext('kit-mode-off', 'back in the mode focused, the waiting message');
    }),
  },
];

/** A queue command that fails is tried again. */
async function retryQueue(seat: SeatedSession): Promise<void> {
  await seat.driver.step({ do: 'queue_fail', n: 1 });
  const message = await seat.personSays('kit-queue-fails');
  await seat.driver.expectContext('kit-queue-fails', 'a message whose queue command failed at first');
  await seat.untilAcknowledged(message);
  must(seat.driver.count('kit-queue-fails') === 1, 'a message whose queue command failed was delivered twice');
}

/** In the mode off, a turn starts with the changed mode and decisions, but no message; in focused, also with reminders. */
async function deliverOtherLines(seat: SeatedSession): Promise<void> {
  const { driver, people, board, name, memberId } = seat;
  const agent = people.seat(memberId);
  await people.setMode(board.name, name, 'off');
  const policy = { kind: 'set_board_policy' as const, board_id: board.id, policy: { nudges: 'off' as const } };
  const { data } = await agent.call('requestAdminAction', { body: policy });
  const approval = (data as { approval: { id: string } }).approval.id;
  await people.person.call('declineApproval', { params: { approval } });
  const message = await seat.personSays('kit-while-off');
  await seat.untilSeen();
  let since = driver.trace.length;
  await seat.duringTurn(async () => {}, 'What now?');
  const text = driver.contexts(since).join('\n');
  must(text.includes('focused') && text.includes('off'), `the changed mode was not delivered: ${text}`);
  must(text.includes(approval), `the decision was not delivered: ${text}`);
  must(!text.includes('kit-while-off'), 'in the mode off a message was delivered');
  const ends = Date.now() + 1_000;
  const until = new Date(ends).toISOString();
  await agent.call('setMyLine', { body: { kind: 'paused', text: 'kit-pause', until } });
  since = driver.trace.length;
  await people.setMode(board.name, name, 'focused');
  await seat.untilAcknowledged(message);
  await seat.untilDone();
  // If the message starts a turn late, the reminder may already come with that turn.
  await seat.world.until('the end of the pause', () => Date.now() > ends);
  await seat.duringTurn(async () => {
    const delivered = driver.contexts(since).join('\n');
    must(delivered.includes('Your pause "kit-pause"'), `the reminder of the pause was not delivered: ${delivered}`);
    await driver.step({ do: 'tool', name: 'Read' });
  }, 'And now?');
  must(driver.count('Your pause "kit-pause"') === 1, 'the reminder of the pause was delivered twice');
}
