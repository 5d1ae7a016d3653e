/** Checks of what reaches a session, when, and how often. */
import type { Profile } from '../profile.ts';
import { type Check, must } from './check.ts';

const can = (name: string) => (profile: Profile) => profile.delivery.capabilities.some((one) => one === name);
const wakes = (profile: Profile) => ['idle-hook', 'queue', 'extension'].some((name) => can(name)(profile));
const count = (texts: string[], part: string) => texts.filter((text) => text.includes(part)).length;
/** Long enough for what must not come, which would take a few milliseconds. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 700));

export const deliveryChecks: Check[] = [
  {
    id: 'identity',
    needs: ({ identity }) => identity.kind !== 'none',
    run: async (world) => {
      const { driver, name } = await world.seated();
      const { json } = await driver.service('whoami');
      must(
        (json['me'] as { name?: string } | undefined)?.name === name,
        `a command does not know its session: ${JSON.stringify(json)}`,
      );
      const refused = await driver.service('key', 'list');
      must(
        (refused.json['error'] as { code?: string })?.code === 'human_command_in_session',
        'a command of a person was not refused',
      );
    },
  },
  {
    id: 'idle',
    needs: wakes,
    run: async (world) => {
      const seat = await world.seated();
      await world.say(seat.board, 'kit-idle-one', '--to', `@${seat.name}`);
      await seat.driver.sees('kit-idle-one', 'a message to an idle session', 5_000);
      await world.until('the acknowledgement', async () => (await world.unread(seat)) === 0);
      must(count(seat.driver.contexts(), 'kit-idle-one') === 1, 'it came more than once');
    },
  },
  {
    id: 'busy',
    needs: wakes,
    run: async (world) => {
      const seat = await world.seated();
      await seat.driver.step({ do: 'prompt', text: 'Work.' });
      for (const body of ['kit-busy-one', 'kit-busy-two'])
        await world.say(seat.board, body, '--to', `@${seat.name}`, '--as', `${seat.peer}@${seat.board}`);
      await quiet();
      must(count(seat.driver.contexts(), 'kit-busy-') === 0, 'a peer entered a running turn');
      await seat.driver.step({ do: 'end_turn' });
      await seat.driver.sees('kit-busy-two', 'what came during the turn');
      const bundle = seat.driver.contexts().find((text) => text.includes('kit-busy-two')) ?? '';
      must(bundle.includes('kit-busy-one'), 'it did not come as one bundle');
      await world.until('the acknowledgement', async () => (await world.unread(seat)) === 0);
    },
  },
  {
    id: 'owner_midturn',
    needs: can('tool-boundary'),
    run: async (world) => {
      const seat = await world.seated();
      await seat.driver.step({ do: 'prompt', text: 'Work.' });
      await world.say(seat.board, 'kit-owner-word', '--to', `@${seat.name}`);
      await world.until('the word of its person at a tool call', async () => {
        await seat.driver.step({ do: 'tool', name: 'Read', input: { path: 'x' } });
        return count(seat.driver.contexts(), 'kit-owner-word') > 0;
      });
      await seat.driver.step({ do: 'tool', name: 'Read', input: { path: 'y' } });
      await seat.driver.step({ do: 'end_turn' });
      await world.until('the acknowledgement', async () => (await world.unread(seat)) === 0);
      must(count(seat.driver.contexts(), 'kit-owner-word') === 1, 'it came more than once');
    },
  },
  {
    id: 'notice',
    needs: can('tool-boundary'),
    run: async (world) => {
      const seat = await world.seated();
      await seat.driver.step({ do: 'prompt', text: 'Work.' });
      await world.say(seat.board, 'kit-peer-body', '--to', `@${seat.name}`, '--as', `${seat.peer}@${seat.board}`);
      await world.until('the notice at a tool call', async () => {
        await seat.driver.step({ do: 'tool', name: 'Read', input: {} });
        return count(seat.driver.contexts(), '<service-notice') > 0;
      });
      await seat.driver.step({ do: 'tool', name: 'Read', input: {} });
      must(count(seat.driver.contexts(), '<service-notice') === 1, 'it was given twice');
      must(count(seat.driver.contexts(), 'kit-peer-body') === 0, 'the text of a peer entered a running turn');
    },
  },
  {
    id: 'turn_start',
    needs: can('turn-start'),
    run: async (world) => {
      const seat = await world.seated();
      await world.say(seat.board, 'kit-quiet', '--as', `${seat.peer}@${seat.board}`);
      await quiet();
      must(count(seat.driver.contexts(), 'kit-quiet') === 0, 'a quiet message woke the session');
      await seat.driver.step({ do: 'prompt', text: 'Go on.' });
      await seat.driver.sees('kit-quiet', 'what waited, at the next turn');
      await seat.driver.step({ do: 'end_turn' });
      await world.until('the acknowledgement', async () => (await world.unread(seat)) === 0);
    },
  },
  {
    id: 'modes',
    needs: () => true,
    run: async (world) => {
      const seat = await world.seated();
      if (!wakes(world.profile)) return;
      const set = (mode: string) => world.person('agent', 'delivery', mode, '--as', `${seat.name}@${seat.board}`);
      const peer = ['--as', `${seat.peer}@${seat.board}`];
      await set('all');
      await world.say(seat.board, 'kit-mode-all', ...peer);
      await seat.driver.sees('kit-mode-all', 'in the mode all, every message');
      await set('humans');
      await world.say(seat.board, 'kit-mode-peer', '--to', `@${seat.name}`, ...peer);
      await quiet();
      must(count(seat.driver.contexts(), 'kit-mode-peer') === 0, 'in the mode humans a peer woke the session');
      await world.say(seat.board, 'kit-mode-human', '--to', `@${seat.name}`);
      await seat.driver.sees('kit-mode-human', 'in the mode humans, a person');
      must(count(seat.driver.contexts(), 'kit-mode-peer') === 1, 'the peer did not come along');
      await set('off');
      await world.say(seat.board, 'kit-mode-off', '--to', `@${seat.name}`);
      await quiet();
      must(count(seat.driver.contexts(), 'kit-mode-off') === 0, 'in the mode off something came');
      await set('focused');
      await seat.driver.sees('kit-mode-off', 'back in the mode focused, what waited');
    },
  },
];
