import { z } from 'zod';
import { choice, requestFlags, required } from '../../cli/flags.ts';
import { answer, flag, object, requestedApproval } from '../../cli/shapes.ts';
import { AskingCommand, personIdOf } from '../approval/lib/ask-person.ts';
import { handleOf } from './lib/people.ts';

export const json = () =>
  z.union([object({ person: answer('setPersonRole').shape.person, changed: flag }), requestedApproval]);

export default class PeopleRole extends AskingCommand<typeof PeopleRole> {
  static override summary = 'Make somebody an admin of the server, or a member again';
  static override description =
    'Admins only. An admin invites and removes people and changes the settings; that opens no private board to them.\nThe server keeps one admin.';
  static override examples = [
    'service people role maya admin',
    'service people role maya admin --request --as claude',
    'service people role me member',
  ];
  static override seeAlso = ['people list', 'settings set'];
  static override args = {
    handle: required('Handle of the person, or me'),
    role: choice('What they are from now on', ['admin', 'member']),
  };
  static override flags = { ...requestFlags };

  override async run(): Promise<void> {
    const role = this.args.role === 'admin' ? 'admin' : 'member';
    if (this.flags.request) {
      const session = await this.session('G');
      const person_id = await personIdOf(session.client, this.args.handle);
      return this.request(session, { kind: 'set_server_role', person_id, role });
    }
    const { client, server } = await this.session('P');
    const params = { handle: await handleOf(client, this.args.handle) };
    const { data, again } = await this.write(client, 'setPersonRole', { params, body: { server_role: role } });
    const { person, changed, warning } = data;
    if (warning) this.out.warn('no_admin_key', warning, '');
    const what = person.server_role === 'admin' ? 'an admin' : 'a member';
    this.print<typeof json>(
      { person, changed },
      () => `${person.handle} is ${what} of ${server.url}${changed ? ' now' : ' already'}.${again}`,
    );
  }
}
