/** Two sessions prove to each other, by real deliveries, that their messages arrive; a replaced session proves it again. */
import { createHash, randomBytes } from 'node:crypto';
import { ClientError } from '../../src/client/errors.ts';
import type { PairingRequest } from '../../src/contract/types.ts';
import { type Check, codeOf, must } from './check.ts';
import { Seated } from './seated.ts';

export const pairingCheck: Check = {
  id: 'pairing',
  needs: ({ delivery }) => delivery.capabilities.some((one) => one !== 'none'),
  run: async (world, seats) => {
    const one = await seats.idle();
    const two = await Seated.on(world, { on: one });
    const request = await one.people.propose(one.board.id, one.memberId);
    const look = async () => {
      const { data } = await one.people.person.call('getPairingRequest', { params: { pairing: request.id } });
      return data;
    };
    await bound(one, 'select', request.id);
    const { generation: first } = await look();
    must((await refusedProof(one, request, first + 1)) === 'pairing_changed', 'a later generation was believed');
    const again = world.profile.lifecycle.resume_keeps_id === true;
    const answers = ({ driver }: Seated) => driver.step({ do: 'auto_reply', on: true });
    await answers(two);
    if (!again) await answers(one);
    await bound(two, 'accept', request.id);
    if (again) {
      // The first session does not answer yet, so it is not over when another life of it takes its place.
      must((await look()).state === 'verifying', 'two sessions that take part are not verified');
      await replaced(one, request.id, () => answers(one));
      const { generation } = await look();
      must(generation > first, 'another life of a session is the same generation');
      must((await refusedProof(one, request, first)) === 'pairing_changed', 'a proof of a stale generation was taken');
    }
    await world.until('both directions', async () => (await look()).state === 'ready', 60_000);
    const { progress } = await look();
    must(
      !progress || Object.values(progress).every((each) => each === 'done'),
      `a direction is not proven: ${JSON.stringify(progress)}`,
    );
    for (const { driver } of [one, two]) await driver.step({ do: 'auto_reply', on: false });
    await two.driver.step({ do: 'quit' });
    seats.done(one);
  },
};

/** As the agent in a session says that this is the one. */
async function bound(
  { driver }: Pick<Seated, 'driver'>,
  verb: 'select' | 'accept',
  id: string,
  ...more: string[]
): Promise<void> {
  const { code, json } = await driver.service('pairing', verb, id, '--here', ...more);
  must(code === 0, `pairing ${verb} --here: ${JSON.stringify(json)}`.slice(0, 400));
}

/** The session begins anew with the same id: it is another one, and has to say so. */
async function replaced({ driver, session }: Seated, id: string, before: () => Promise<unknown>): Promise<void> {
  await driver.step({ do: 'quit' });
  await driver.step({ do: 'resume', session });
  await driver.step({ do: 'prompt', text: 'Go on.' });
  await driver.step({ do: 'end_turn' });
  const { json } = await driver.service('pairing', 'select', id, '--here');
  must(codeOf(json) === 'pairing_changed', `another life of a session took over unasked: ${JSON.stringify(json)}`);
  await before();
  await bound({ driver }, 'select', id, '--replace');
}

/** Somebody shows a proof for a generation that is not the current one. @returns the refusal's code */
async function refusedProof({ people, memberId }: Seated, request: PairingRequest, generation: number) {
  const body = {
    request_id: request.id,
    side: 'initiator' as const,
    agent_id: memberId,
    session_binding: `sha256:${createHash('sha256').update('kit').digest('hex')}`,
    generation,
    replace: true,
    client_token: `abp_${randomBytes(32).toString('base64url')}`,
  };
  try {
    await people.person.call('selectPairingEndpoint', { body });
    return 'taken';
  } catch (error) {
    if (error instanceof ClientError) return error.code;
    throw error;
  }
}
