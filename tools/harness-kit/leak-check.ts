/** No secret of this machine stands anywhere but in the files of secrets and in the headers of requests. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, can, hasPrompts, must } from './check.ts';
import type { Seated } from './seated.ts';
import type { KitWorld } from './world.ts';

export const leakCheck: Check = {
  id: 'leak',
  needs: () => true,
  run: async (world, seats) => {
    const { proxy } = await world.served();
    const seat = await seats.idle();
    // Between the daemon and its clients, and between it and the server.
    await world.daemon.start({ tapped: true });
    await seat.goesOn();
    await seat.idle();
    const message = await seat.says('kit-leak');
    await seat.peerSays('kit-leak-peer', { expects_reply: true });
    if (can('none')(world.profile)) await seat.driver.service('inbox');
    else await seat.driver.sees('kit-leak', 'a message');
    if (hasPrompts(world.profile)) {
      await seat.driver.step({ do: 'prompt', text: 'Work.' });
      await seat.driver.step({ do: 'tool', name: 'Read' });
    }
    for (const words of [['agents'], ['doctor'], ['daemon', 'status'], ['boards'], ['status']])
      await seat.driver.service(...words);
    await madeProof(seat);
    const run = await world.run(['daemon', 'status', '--json']);
    must(run.code === 0, `the daemon does not say how it is: ${run.stdout}`);
    if (hasPrompts(world.profile)) await seat.driver.step({ do: 'end_turn' });
    await seat.acked(message);
    await seat.driver.step({ do: 'quit' });
    await world.daemon.kill();

    const sent = proxy.seen.flatMap(({ token }) => token ?? []);
    for (const [kind, what] of expected(world))
      must(
        sent.some((token) => token.startsWith(kind)),
        `the daemon sent no ${what}, so nothing is proven of it`,
      );
    must(world.daemon.frames.join('').includes(seat.session), 'nothing was heard on the control socket');
    const secrets = [...new Set([...saved(world), ...sent])];
    const proofs = join(world.state, 'pairing.json');
    for (const { where, text } of world.everything()) {
      // The one file that proofs stand in until they are used.
      if (where === proofs) continue;
      for (const secret of secrets) must(!text.includes(secret), `a secret stands in ${where}`);
      must(!/\babp_[A-Za-z0-9_-]{43}\b/.test(text), `a proof stands in ${where}`);
    }
    const config = readFileSync(join(world.home, 'config', 'credentials.json'), 'utf8');
    must(!/\babd_[A-Za-z0-9_-]{8,}/.test(config), 'the delegation stands in a file');
  },
};

/** A proof of a session that takes part in work, which the daemon makes and shows to the server alone. */
async function madeProof({ people, board, memberId, driver }: Seated): Promise<void> {
  const { id } = await people.propose(board.id, memberId);
  const { code, json } = await driver.service('pairing', 'select', id, '--here');
  must(code === 0, `pairing select --here: ${JSON.stringify(json)}`.slice(0, 400));
}

/** Kinds of credentials that the daemon has to have used by then. */
const expected = ({ profile }: KitWorld): [string, string][] => [
  ['aba_', "agent's token"],
  ['abh_', "person's key"],
  ...(hasPrompts(profile) ? [['abd_', 'delegation'] as [string, string]] : []),
];

/** Every token that this machine keeps. */
function saved(world: KitWorld): string[] {
  const files = [join(world.home, 'config', 'credentials.json'), join(world.home, 'data', 'local-key')];
  const texts = files.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  return texts.join('\n').match(/\bab[a-z]_[A-Za-z0-9_-]{24,}/g) ?? [];
}
