import { WriteCommand } from '../../cli/base.ts';
import { allowanceText } from '../approval/lib/approval-text.ts';
import { changedAllowance } from './lib/shapes.ts';

export const json = () => changedAllowance;

export default class AllowanceOff extends WriteCommand<typeof AllowanceOff> {
  static override summary = 'Have your agents ask you each time';
  static override description = 'What was done stays done; requests that wait still wait for you.';
  static override examples = ['service allowance off'];
  static override seeAlso = ['allowance show', 'allowance set'];

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { data: before } = await client.call('getAllowance');
    const { data: allowance, again } = await this.write(client, 'clearAllowance');
    const changed = allowance.revision !== before.revision;
    this.print<typeof json>({ allowance, changed }, () => `${allowanceText(allowance)}${again}`);
  }
}
