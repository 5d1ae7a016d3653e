import { required, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { showTime } from '../../cli/terminal/time.ts';

export const json = () => object({ session: answer('endBrowserSession') });

export default class KeyEndSession extends WriteCommand<typeof KeyEndSession> {
  static override summary = 'Sign a browser out from here';
  static override description = 'Its pages stop at once. The key it was started from goes on working.';
  static override examples = ['service key end-session ses_01K5A0000000000000000000P1'];
  static override seeAlso = ['key sessions'];
  static override args = { session: required('Id of the session, as key sessions shows it') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { data, again } = await this.write(client, 'endBrowserSession', { params: { session: this.args.session } });
    const { id, key, created_at } = data;
    this.print<typeof json>(
      { session: data },
      () => `Ended ${id}, started ${showTime(created_at, this.times)} from key ${key.name}.${again}`,
    );
  }
}
