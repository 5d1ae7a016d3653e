import { confirmFlags, required, WriteCommand } from '../../cli/base.ts';
import { answer, flag, object } from '../../cli/shapes.ts';
import { handleOf, noteHandle } from './lib/people.ts';

export const json = () => object({ person: answer('renamePerson').shape.person, changed: flag });

export default class PeopleRename extends WriteCommand<typeof PeopleRename> {
  static override summary = 'Give a person another handle';
  static override description =
    'Yourself; as an admin anybody. Keys, agents, boards and read positions stay. What was written with the old handle\nstays as it was, and nobody else ever gets it.';
  static override examples = ['service people rename me maya', 'service people rename maya may --yes'];
  static override seeAlso = ['people list', 'profile set'];
  static override args = { handle: required('Handle of the person, or me'), new: required('Handle from now on') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { client, server } = session;
    const before = await handleOf(client, this.args.handle);
    const after = this.args.new.replace(/^@/, '');
    const same = before === after;
    await this.confirm(
      `Rename ${before} to ${after} on ${server.url}? Every board they are or were on shows it, and @${before} means nobody any more.`,
      same || this.flags.yes,
    );
    const reply = await client.call('renamePerson', {
      params: { handle: before },
      body: { handle: after },
      // Of a repeat, "me" is called that already, which makes it another request.
      idempotencyKey: same ? undefined : this.key,
    });
    const { person, changed } = reply.data;
    await noteHandle(session, person);
    const again = this.again(reply);
    this.print<typeof json>({ person, changed }, () =>
      changed ? `${before} is ${person.handle} now.${again}` : `${person.handle} is called that already.`,
    );
  }
}
