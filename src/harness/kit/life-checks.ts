/** Checks of sessions that end, come back, crash or lose their seats, and of what must never leave. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, must } from './check.ts';
import type { KitWorld, Seated } from './world.ts';

const lives = ({ delivery }: KitWorld['profile']) =>
  delivery.capabilities.some((one) => ['idle-hook', 'queue', 'extension'].includes(one));
const codeOf = ({ json }: { json: Record<string, unknown> }) => (json['error'] as { code?: string } | undefined)?.code;

export const lifeChecks: Check[] = [
  {
    id: 'subagent',
    needs: ({ subagent_identity }) => subagent_identity === 'marked',
    run: async (world) => {
      const { driver, board, name } = await world.seated();
      await driver.step({ do: 'prompt', text: 'Use a helper.' });
      await world.say(board, 'kit-for-the-session', '--to', `@${name}`);
      const said = await driver.step({
        do: 'subagent',
        id: 'kit-sub',
        argv: ['service', 'say', 'kit-forbidden', '--json'],
      });
      must(
        said.code === 5 && (said.stdout ?? '').includes('subagent_without_seat'),
        `a subagent was not refused: ${said.stdout}`,
      );
      const read = await driver.step({
        do: 'subagent',
        id: 'kit-sub',
        argv: ['service', 'read', '--board', board, '--json'],
      });
      must(read.code === 0, `a subagent could not read: ${read.stdout}${read.stderr}`);
      must(
        !driver.contexts().some((text) => text.includes('kit-for-the-session')),
        'a hook inside a subagent took a message',
      );
    },
  },
  {
    id: 'resume',
    needs: ({ lifecycle }) => lifecycle.resume_keeps_id === true,
    run: async (world) => {
      const { driver, session, name } = await world.seated();
      await driver.step({ do: 'quit' });
      await driver.step({ do: 'resume', session });
      const { json } = await driver.service('whoami');
      must((json['me'] as { name?: string } | undefined)?.name === name, 'the seat did not come back with the session');
      must(
        driver.contexts().some((text) => text.includes(name)),
        'the session was not told who it is',
      );
    },
  },
  {
    id: 'kill',
    needs: lives,
    run: async (world) => {
      const { driver, session, ...seat } = await world.seated();
      driver.kill();
      await world.say(seat.board, 'kit-after-kill', '--to', `@${seat.name}`);
      const again = world.harness();
      await again.step({ do: 'resume', session });
      await again.step({ do: 'prompt', text: 'Go on.' });
      await again.step({ do: 'end_turn' });
      await again.sees('kit-after-kill', 'what came while the harness was gone');
      await world.until('the acknowledgement', async () => (await world.unread(seat)) === 0);
    },
  },
  {
    id: 'takeover',
    needs: lives,
    run: async (world) => {
      const first = await world.seated();
      const second = world.harness();
      await second.step({ do: 'start', session: `${first.session}-b` });
      const { code, json } = await second.service('resume', `${first.name}@${first.board}`);
      must(code === 0, `the seat could not be taken: ${JSON.stringify(json)}`);
      must(codeOf(await first.driver.service('whoami')) === 'agent_not_selected', 'two sessions hold one seat');
      await world.say(first.board, 'kit-to-the-new', '--to', `@${first.name}`);
      await second.step({ do: 'prompt', text: 'Go on.' });
      await second.step({ do: 'end_turn' });
      await second.sees('kit-to-the-new', 'a message to the session that took the seat');
      must(
        !first.driver.contexts().some((text) => text.includes('kit-to-the-new')),
        'it reached the session that lost the seat',
      );
      await first.driver.step({ do: 'quit' });
      await first.driver.step({ do: 'resume', session: first.session });
      must(
        first.driver.contexts().some((text) => text.includes('service resume')),
        'the session was not told how to take its seat back',
      );
    },
  },
  {
    id: 'crash',
    needs: lives,
    run: async (world) => {
      const seat = await world.seated();
      for (const when of ['before', 'after']) {
        const body = `kit-crash-${when}`;
        if (when === 'before') await killDaemon(world);
        await world.say(seat.board, body, '--to', `@${seat.name}`);
        if (when === 'after') {
          await seat.driver.sees(body, 'a message');
          await killDaemon(world);
        }
        await nudge(world, seat, body);
        await world.until('the acknowledgement', async () => (await world.unread(seat)) === 0, 30_000);
      }
    },
  },
  {
    id: 'presence',
    needs: lives,
    run: async (world) => {
      const seat = await world.seated();
      const is = (expected: string) =>
        world.until(`the presence ${expected}`, async () => {
          const { agent } = await world.person('agent', 'show', seat.name, '--board', seat.board);
          return agent.presence === expected;
        });
      await is('idle');
      await seat.driver.step({ do: 'prompt', text: 'Work.' });
      await is('working');
      await seat.driver.step({ do: 'end_turn' });
      await is('idle');
      await seat.driver.step({ do: 'quit' });
      await is('no_session');
    },
  },
  {
    id: 'leak',
    needs: () => true,
    run: async (world) => {
      await world.person('daemon', 'status').catch(() => {});
      const secrets = secretsOf(world);
      must(secrets.length > 0, 'there are no secrets to look for');
      for (const { where, text } of world.everything())
        for (const secret of secrets) must(!text.includes(secret), `a secret stands in ${where}`);
    },
  },
];

/** As a harness that goes on being used: a daemon that is gone is started by the next hook. */
async function nudge(world: KitWorld, seat: Seated, body: string): Promise<void> {
  await seat.driver.step({ do: 'prompt', text: 'Go on.' });
  await seat.driver.step({ do: 'end_turn' });
  await seat.driver.sees(body, 'a message around a crash of the daemon', 20_000);
  await world.until('a session that is idle', async () => {
    const status = await daemonStatus(world);
    return status?.sessions?.some(({ key, open }) => open && key.endsWith(seat.session)) === true;
  });
}

async function killDaemon(world: KitWorld): Promise<void> {
  await world.until('a daemon that runs', async () => {
    const status = await daemonStatus(world);
    if (status) process.kill(status.pid, 'SIGKILL');
    return status !== null;
  });
}

/** Null while none runs. */
async function daemonStatus(
  world: KitWorld,
): Promise<{ pid: number; sessions?: { key: string; open: boolean }[] } | null> {
  const { code, json } = await world.run(['daemon', 'status', '--json']);
  return code === 0 && typeof json['pid'] === 'number' ? (json as never) : null;
}

/** Every token that this machine holds. */
function secretsOf(world: KitWorld): string[] {
  const home = world.env['SERVICE_HOME']!;
  const files = [join(home, 'config', 'credentials.json'), join(home, 'data', 'local-key')];
  const texts = files.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  return [...new Set(texts.join('\n').match(/\bab[a-z]_[A-Za-z0-9_-]{24,}/g) ?? [])];
}
