/** Parts of the JSON that several `allowance` commands print. */
import { answer, flag, named, object } from '../../../cli/shapes.ts';

export const allowance = answer('getAllowance');
export const changedAllowance = named('ChangedAllowance', object({ allowance, changed: flag }));
