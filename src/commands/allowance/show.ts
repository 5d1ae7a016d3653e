import { BaseCommand } from '../../cli/base.ts';
import { object } from '../../cli/shapes.ts';
import { allowanceText } from '../approval/lib/approval-text.ts';
import { allowance } from './lib/shapes.ts';

export const json = () => object({ allowance });

export default class AllowanceShow extends BaseCommand<typeof AllowanceShow> {
  static override summary = 'Show what your agents may do without asking';
  static override description = 'One setting for all your agents on the server. What it leaves out they ask you for.';
  static override examples = ['service allowance show', 'service allowance --json'];
  static override seeAlso = ['allowance set', 'allowance off', 'allowance history', 'approval list'];

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const { data: allowance } = await client.call('getAllowance');
    this.print<typeof json>({ allowance }, () => allowanceText(allowance));
  }
}
