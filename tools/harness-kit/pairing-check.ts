/** Checks that two sessions prove with real messages that they hear each other, and a replaced session proves it again. */
import { createHash, randomBytes } from 'node:crypto';
import { ClientError } from '../../src/client/errors.ts';
import type { PairingRequest } from '../../src/contract/types.ts';
import { type Check, codeOf, must } from './check.ts';
import { type SeatedSession, startSession } from './seated.ts';

export const pairingCheck: Check = {
  id: 'pairing',
  needs: ({ delivery }) => delivery.capabilities.some((one) => one !== 'none'),
  run: async (world, sessions) => {
    const one = await sessions.take();
    const two = await startSession(world, { on: one });
    const request = await one.people.propose(one.board.id, one.memberId);
    const read = async () => {
      const { data } = await one.people.person.call('getPairingRequest', { params: { pairing: request.id } });
      return data;
    };
    await takePart(one, 'select', request.id);
    const { generation: first } = await read();
    must(
      (await selectAs(one, request, first + 1)) === 'pairing_changed',
      'a generation that does not exist was accepted',
    );
    const resumes = world.profile.lifecycle.resume_keeps_id === true;
    const autoReply = ({ driver }: SeatedSession, on = true) => driver.step({ do: 'auto_reply', on });
    await autoReply(two);
    if (!resumes) await autoReply(one);
    await takePart(two, 'accept', request.id);
    if (resumes) {
      // The first session does not reply yet, so the pairing is not complete when the session is replaced.
      must((await read()).state === 'verifying', 'two sessions that take part are not verified');
      await replaceSession(one, request.id, () => autoReply(one));
      const { generation } = await read();
      must(generation > first, 'a resumed session has the generation of the earlier one');
      must((await selectAs(one, request, first)) === 'pairing_changed', 'a proof of an old generation was accepted');
    }
    await world.until('both directions', async () => (await read()).state === 'ready', 60_000);
    const { progress } = await read();
    must(
      !progress || Object.values(progress).every((each) => each === 'done'),
      `a direction is not proven: ${JSON.stringify(progress)}`,
    );
    for (const seat of [one, two]) await autoReply(seat, false);
    await two.driver.step({ do: 'quit' });
    sessions.pass(one);
  },
};

/** The agent in a session selects or accepts the request for this session. */
async function takePart({ driver }: SeatedSession, verb: 'select' | 'accept', id: string, ...more: string[]) {
  const { code, json } = await driver.service('pairing', verb, id, '--here', ...more);
  must(code === 0, `pairing ${verb} --here: ${JSON.stringify(json)}`.slice(0, 400));
}

/** Resumes the session: for the pairing it is another session, which takes part only with `--replace`. */
async function replaceSession(seat: SeatedSession, id: string, beforeReplace: () => Promise<unknown>): Promise<void> {
  const { driver, session } = seat;
  await driver.step({ do: 'quit' });
  await driver.step({ do: 'resume', session });
  await driver.step({ do: 'prompt', text: 'Go on.' });
  await driver.step({ do: 'end_turn' });
  const { json } = await driver.service('pairing', 'select', id, '--here');
  must(codeOf(json) === 'pairing_changed', `a resumed session took part without --replace: ${JSON.stringify(json)}`);
  await beforeReplace();
  await takePart(seat, 'select', id, '--replace');
}

/** Sends a made-up proof for a generation that is not the current one. @returns the refusal's code */
async function selectAs({ people, memberId }: SeatedSession, request: PairingRequest, generation: number) {
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
    return 'accepted';
  } catch (error) {
    if (error instanceof ClientError) return error.code;
    throw error;
  }
}
