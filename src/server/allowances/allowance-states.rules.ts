/** The states of an allowance. Each real change is a revision. */
import type { ErrorCode } from '../../contract/errors.ts';
import type { Category } from '../../contract/types.ts';
import type { Transition } from '../text/state-table.ts';

/** Whether anything is allowed at all. */
export type AllowanceState = 'empty' | 'some';
/** `set` replaces all, `clear` takes all away, `always` adds the category of a request that is allowed. */
export type AllowanceTrigger = 'set' | 'clear' | 'always' | 'person_ended';
type AllowanceCondition =
  /** The caller read an older revision. */
  | 'stale'
  /** It would be the same set. */
  | 'equal';

interface AllowanceEffect {
  revises: boolean;
  refused?: ErrorCode;
}

type Row = Transition<AllowanceState, AllowanceTrigger, AllowanceCondition, AllowanceEffect>;

const both = ['empty', 'some'] as const;

export const allowanceTable: readonly Row[] = [
  {
    id: 'L1',
    from: both,
    on: ['set', 'clear'],
    when: 'stale',
    effect: { revises: false, refused: 'allowance_changed' },
  },
  { id: 'L2', from: both, on: ['set', 'always'], when: 'equal', effect: { revises: false } },
  // Replacing something by nothing is taking all away.
  { id: 'L3', from: both, on: ['set', 'always'], to: 'some', effect: { revises: true } },
  { id: 'L4', from: ['some'], on: ['clear', 'person_ended'], to: 'empty', effect: { revises: true } },
  { id: 'L5', from: ['empty'], on: ['clear', 'person_ended'], effect: { revises: false } },
];

export const allowanceState = (categories: readonly Category[]): AllowanceState =>
  categories.length === 0 ? 'empty' : 'some';
