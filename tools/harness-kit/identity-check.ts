/** Whether commands know which session they are in, whichever harness was started inside which, and in a sandbox too. */
import { builtinProfiles } from '../../src/harness/builtin.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { type Check, codeOf, must } from './check.ts';
import { isRunner, Seated } from './seated.ts';
import type { KitWorld } from './world.ts';

export const identityCheck: Check = {
  id: 'identity',
  needs: ({ identity }) => identity.kind !== 'none',
  run: async (world, seats) => {
    if (world.profile.sandbox_env) await inSandbox(world);
    const env = isRunner(world) ? {} : marksOfOthers(world.profile);
    const seat = await Seated.on(world, { env });
    const { driver, name } = seat;
    const { json } = await driver.service('whoami');
    must(nameIn(json) === name, `a command does not know its session: ${JSON.stringify(json).slice(0, 300)}`);
    const refused = await driver.service('key', 'list');
    must(codeOf(refused.json) === 'human_command_in_session', 'a command of a person was not refused');
    for (const inner of innerOf(world.profile)) {
      const argv = ['env', `${inner.identity.env}=kit-inner`, 'service', 'whoami', '--json'];
      const { stdout } = await driver.step({ do: 'command', argv });
      const here = nameIn(JSON.parse(stdout || '{}') as Record<string, unknown>);
      must(here !== name, `a command of ${inner.name} inside it acts as this session: ${stdout}`);
    }
    seats.done(seat);
  },
};

const nameIn = (json: Record<string, unknown>): string | undefined =>
  (json['me'] as { name?: string } | undefined)?.name;

/** What a harness that was started inside all the others inherits. */
function marksOfOthers({ harness }: Profile): Record<string, string> {
  const others = builtinProfiles.filter((other) => other.harness !== harness);
  const marks = others.flatMap(({ session_env, identity: { env, root_env } }) => [
    ...session_env.filter((name) => name !== env).map((name) => [name, '1']),
    ...[env, root_env].flatMap((name) => (name ? [[name, 'kit-outer']] : [])),
  ]);
  const [hook] = others.filter(({ identity }) => identity.kind === 'hook' || identity.kind === 'extension');
  return { ...Object.fromEntries(marks), ...(hook ? { SERVICE_SESSION: `${hook.harness}:kit-outer` } : {}) };
}

/** Harnesses whose sessions it leaves to them: a command that has their variable is theirs. */
const innerOf = ({ harness, identity: { yields_to = [] } }: Profile): Profile[] =>
  builtinProfiles.filter((other) => other.harness !== harness && yields_to.includes(other.identity.env ?? ''));

/** A command in a sandbox starts no daemon, and says what stands in its way. */
async function inSandbox(world: KitWorld): Promise<void> {
  await world.served();
  await world.command(['daemon', 'start']);
  // Nothing else here starts one either.
  const driver = world.harness({ SERVICE_NO_AUTOSTART: '1' });
  await driver.step({ do: 'start', session: world.fresh('kit-boxed') });
  await world.daemon.kill();
  const boxed = async (network: boolean, ...words: string[]) => {
    await driver.step({ do: 'sandbox', network });
    const argv = ['service', ...words, '--json'];
    const { stdout } = await driver.step({ do: 'command', argv, env: { SERVICE_NO_AUTOSTART: '' } });
    return codeOf(JSON.parse(stdout || '{}') as Record<string, unknown>);
  };
  const code = await boxed(true, 'join', '--board', 'kit');
  must(code === 'daemon_in_sandbox', `without a daemon a command in a sandbox says ${code}`);
  must((await world.daemon.status()) === null, 'a command started a daemon inside a sandbox');
  const blocked = await boxed(false, 'join', '--board', 'kit');
  must(blocked === 'sandbox_blocks_network', `without a network a command in a sandbox says ${blocked}`);
  await driver.close();
}
