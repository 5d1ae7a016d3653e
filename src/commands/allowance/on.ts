import { WriteCommand } from '../../cli/base.ts';
import { allowanceText } from '../approval/lib/approval-text.ts';
import { changeAllowance } from './lib/change.ts';
import { changedAllowance } from './lib/shapes.ts';

export const json = () => changedAllowance;

export default class AllowanceOn extends WriteCommand<typeof AllowanceOn> {
  static override summary = 'Let your agents add people without asking';
  static override description =
    'Adds people to boards only. Inviting outsiders is turned on by itself: service allowance set invite-people on.';
  static override examples = ['service allowance on'];
  static override seeAlso = ['allowance show', 'allowance set'];

  override async run(): Promise<void> {
    const session = await this.session('P');
    const key = this.key;
    const result = await changeAllowance(session, (categories) => [...categories, 'add_people'], key);
    this.print<typeof json>(result, () => allowanceText(result.allowance));
  }
}
