/** Checks that secrets of this machine appear only in the files meant for them and in the headers of requests. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, has, hasPrompts, must } from './check.ts';
import type { SeatedSession } from './seated.ts';
import type { KitWorld } from './world.ts';

export const leakCheck: Check = {
  id: 'leak',
  needs: () => true,
  run: async (world, sessions) => {
    const { proxy } = await world.startServer();
    const seat = await sessions.take();
    // Records the daemon's traffic with its clients; the proxy records its traffic with the server.
    await world.daemon.start({ tapped: true });
    await seat.prompt();
    await seat.untilIdle();
    const message = await seat.personSays('kit-leak');
    await seat.peerSays('kit-leak-peer', { expects_reply: true });
    if (has('none')(world.profile)) await seat.driver.service('inbox');
    else await seat.driver.expectContext('kit-leak', 'a message');
    if (hasPrompts(world.profile)) {
      await seat.driver.step({ do: 'prompt', text: 'Work.' });
      await seat.driver.step({ do: 'tool', name: 'Read' });
    }
    for (const words of [['agents'], ['doctor'], ['daemon', 'status'], ['boards'], ['status']])
      await seat.driver.service(...words);
    await createProof(seat);
    const run = await world.run(['daemon', 'status', '--json']);
    must(run.code === 0, `service daemon status failed: ${run.stdout}`);
    if (hasPrompts(world.profile)) await seat.driver.step({ do: 'end_turn' });
    await seat.untilAcknowledged(message);
    await seat.driver.step({ do: 'quit' });
    await world.daemon.kill();

    const sent = proxy.seen.flatMap(({ token }) => token ?? []);
    for (const [prefix, name] of requiredTokens(world))
      must(
        sent.some((token) => token.startsWith(prefix)),
        `the daemon sent no ${name}, so the check proves nothing about it`,
      );
    must(world.daemon.frames.join('').includes(seat.session), 'no frame was recorded on the control socket');
    const secrets = [...new Set([...savedTokens(world), ...sent])];
    const proofs = join(world.state, 'pairing.json');
    for (const { where, text } of world.allOutput()) {
      // The only file that may contain proofs.
      if (where === proofs) continue;
      for (const secret of secrets) must(!text.includes(secret), `there is a secret in ${where}`);
      must(!/\babp_[A-Za-z0-9_-]{43}\b/.test(text), `there is a proof in ${where}`);
    }
    const config = readFileSync(join(world.home, 'config', 'credentials.json'), 'utf8');
    must(!/\babd_[A-Za-z0-9_-]{8,}/.test(config), 'the delegation is in a file');
  },
};

/** Makes the daemon create a pairing proof, which it may send only to the server. */
async function createProof({ people, board, memberId, driver }: SeatedSession): Promise<void> {
  const { id } = await people.propose(board.id, memberId);
  const { code, json } = await driver.service('pairing', 'select', id, '--here');
  must(code === 0, `pairing select --here: ${JSON.stringify(json)}`.slice(0, 400));
}

/** The kinds of tokens that the daemon must have sent: prefix and name. */
const requiredTokens = ({ profile }: KitWorld): [prefix: string, name: string][] => [
  ['aba_', "agent's token"],
  ['abh_', "person's key"],
  ...(hasPrompts(profile) ? [['abd_', 'delegation'] as [string, string]] : []),
];

/** Every token in this machine's credential files. */
function savedTokens(world: KitWorld): string[] {
  const files = [join(world.home, 'config', 'credentials.json'), join(world.home, 'data', 'local-key')];
  const texts = files.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  return texts.join('\n').match(/\bab[a-z]_[A-Za-z0-9_-]{24,}/g) ?? [];
}
