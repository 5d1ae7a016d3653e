import { requiredFlag, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';

export const json = () => object({ me: answer('updateMe') });

export default class ProfileSet extends WriteCommand<typeof ProfileSet> {
  static override mayBeEmpty = ['display-name'];
  static override summary = 'Set the name shown beside your handle';
  static override description =
    'One line of up to 80 characters; an empty one removes it. Nobody is found or addressed by it, and others may have\nthe same.';
  static override examples = ['service profile set --display-name "Maya B."', 'service profile set --display-name ""'];
  static override seeAlso = ['profile show', 'people rename'];
  static override flags = { 'display-name': requiredFlag('TEXT', 'Name to show') };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const { data: me, again } = await this.write(client, 'updateMe', {
      body: { display_name: this.flags['display-name'] },
    });
    const { name, display_name: shown } = me;
    this.print<typeof json>({ me }, () =>
      shown === null
        ? `${name} has no display name on ${server.url}.${again}`
        : `${name} is shown as "${shown}" on ${server.url}.${again}`,
    );
  }
}
