import { z } from 'zod';
import { confirmFlags, requestFlags, required } from '../../cli/flags.ts';
import { boardPerson, object, requestedApproval } from '../../cli/shapes.ts';
import { AskingCommand, boardIdOf, personIdOf } from '../approval/lib/ask-person.ts';
import { handleOf } from '../people/lib/people.ts';
import { agentsOf, alsoEnding, forgetSeats } from './lib/leaving.ts';

export const json = () => z.union([object({ person: boardPerson }), requestedApproval]);

export default class BoardRemove extends AskingCommand<typeof BoardRemove> {
  static override boardFirst = true;
  static override summary = 'Take a person off a board';
  static override description =
    'For owners. Their agents there end with it, and so do the join codes they made; what they wrote stays. On an open board\nit does not keep them out: they may join again.';
  static override examples = [
    'service board remove sam --board payments',
    'service board remove sam --yes',
    'service board remove sam --request --as claude',
  ];
  static override seeAlso = ['board leave', 'board people', 'agent remove'];
  static override args = { handle: required('Handle of the person') };
  static override flags = { ...requestFlags, ...confirmFlags };

  override async run(): Promise<void> {
    const { request, yes, 'idempotency-key': idempotencyKey } = this.flags;
    if (request) {
      const session = await this.onBoard('G');
      const person_id = await personIdOf(session.client, this.args.handle);
      const board_id = await boardIdOf(session);
      return this.request(session, { kind: 'remove_person', person_id, board_id });
    }
    const { client, board, server } = await this.onBoard('P');
    const handle = await handleOf(client, this.args.handle);
    const { visibility } = (await client.call('getBoard', { params: { board } })).data;
    // A repeat is answered though they are gone.
    if (!yes && idempotencyKey === undefined) await client.call('getMember', { params: { board, member: handle } });
    const agents = await agentsOf(client, board, handle);
    await this.confirm(`Take ${handle} off ${board}?${alsoEnding(agents, 'Their')}`, yes);
    const { data: person, again } = await this.write(client, 'removeBoardPerson', { params: { board, handle } });
    await forgetSeats(server.url, agents);
    const open = visibility === 'open' ? '; it is open, so they may join again' : '';
    this.print<typeof json>({ person }, () => `${handle} is off ${board}${open}.${again}`);
  }
}
