/** Checks that commands know their session: also if harnesses are nested, and in a sandbox. */
import { builtinProfiles } from '../../src/harness/builtin.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { type Check, codeOf, must, nameIn } from './check.ts';
import { jsonOf } from './driver.ts';
import { isRunner, startSession } from './seated.ts';
import type { KitWorld } from './world.ts';

export const identityCheck: Check = {
  id: 'identity',
  needs: ({ identity }) => identity.kind !== 'none',
  run: async (world, sessions) => {
    if (world.profile.sandbox_env) await checkSandbox(world);
    const env = isRunner(world) ? {} : outerVariables(world.profile);
    const seat = await startSession(world, { env });
    const { driver, name } = seat;
    const { json } = await driver.service('whoami');
    must(nameIn(json) === name, `a command does not know its session: ${JSON.stringify(json).slice(0, 300)}`);
    const refused = await driver.service('key', 'list');
    must(codeOf(refused.json) === 'human_command_in_session', 'a command for people only was not refused');
    for (const inner of innerHarnesses(world.profile)) {
      const argv = ['env', `${inner.identity.env}=kit-inner`, 'service', 'whoami', '--json'];
      const { stdout } = await driver.step({ do: 'command', argv });
      must(
        nameIn(JSON.parse(stdout || '{}')) !== name,
        `a command of ${inner.name} inside it acts as this session: ${stdout}`,
      );
    }
    sessions.pass(seat);
  },
};

/** The variables that a harness inherits if it was started inside sessions of all the others. */
function outerVariables({ harness }: Profile): Record<string, string> {
  const others = builtinProfiles.filter((other) => other.harness !== harness);
  const variables = others.flatMap(({ session_env, identity: { env, root_env } }) => [
    ...session_env.filter((name) => name !== env).map((name) => [name, '1']),
    ...[env, root_env].flatMap((name) => (name ? [[name, 'kit-outer']] : [])),
  ]);
  const [hook] = others.filter(({ identity }) => identity.kind === 'hook' || identity.kind === 'extension');
  return { ...Object.fromEntries(variables), ...(hook ? { SERVICE_SESSION: `${hook.harness}:kit-outer` } : {}) };
}

/** The harnesses that this one yields to: a command with their variable belongs to their session. */
const innerHarnesses = ({ harness, identity: { yields_to = [] } }: Profile): Profile[] =>
  builtinProfiles.filter((other) => other.harness !== harness && yields_to.includes(other.identity.env ?? ''));

/** A command in a sandbox starts no daemon, and says what the sandbox prevents. */
async function checkSandbox(world: KitWorld): Promise<void> {
  await world.startServer();
  await world.command(['daemon', 'start']);
  // Hooks must not start a daemon here either.
  const driver = world.startHarness({ SERVICE_NO_AUTOSTART: '1' });
  await driver.step({ do: 'start', session: world.uniqueName('kit-boxed') });
  await world.daemon.kill();
  const joinCode = async (network: boolean) => {
    await driver.step({ do: 'sandbox', network });
    const argv = ['service', 'join', '--board', 'kit', '--json'];
    const { stdout = '' } = await driver.step({ do: 'command', argv, env: { SERVICE_NO_AUTOSTART: '' } });
    return codeOf(jsonOf(stdout));
  };
  const withNetwork = await joinCode(true);
  must(withNetwork === 'daemon_in_sandbox', `without a daemon, a command in a sandbox failed with ${withNetwork}`);
  must((await world.daemon.status()) === null, 'a command started a daemon inside a sandbox');
  const without = await joinCode(false);
  must(without === 'sandbox_blocks_network', `without a network, a command in a sandbox failed with ${without}`);
  await driver.close();
}
