import { choice, WriteCommand } from '../../cli/base.ts';
import { allowanceText } from '../approval/lib/approval-text.ts';
import { changeAllowance } from './lib/change.ts';
import { changedAllowance } from './lib/shapes.ts';

export const json = () => changedAllowance;

export default class AllowanceSet extends WriteCommand<typeof AllowanceSet> {
  static override summary = 'Set one thing your agents may do without asking';
  static override description =
    'It is set over what was just read: if somebody else changed it meanwhile, nothing is changed (exit 7).';
  static override examples = ['service allowance set add-people on', 'service allowance set invite-people off'];
  static override seeAlso = ['allowance show', 'allowance off'];
  static override args = {
    category: choice('What they may do', ['invite-people', 'add-people']),
    state: choice('Whether they may', ['on', 'off']),
  };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const wanted = this.args.category === 'add-people' ? ('add_people' as const) : ('invite_people' as const);
    const others = this.args.state === 'on' ? [wanted] : [];
    const key = this.key;
    const result = await changeAllowance(session, (now) => [...now.filter((each) => each !== wanted), ...others], key);
    this.print<typeof json>(result, () => allowanceText(result.allowance));
  }
}
