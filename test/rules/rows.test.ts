import { expect } from 'chai';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { errorCodesOf, type OperationRow } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { kinds } from '../../src/server/approvals/actions.rules.ts';

const names = Object.keys(operations) as OperationName[];
const row = (name: OperationName): OperationRow => operations[name];

/** What the terms of a row are refused with. */
const termCodes = ({ guests, admins, archived }: OperationRow): ErrorCode[] => [
  ...(guests ? (['guest_not_allowed'] as const) : []),
  ...(admins ? (['server_admin_required'] as const) : []),
  ...(archived ? (['board_archived'] as const) : []),
];

describe('the error codes of an operation', () => {
  it('name what its terms are refused with, and nothing twice', () => {
    for (const name of names) {
      const codes = errorCodesOf(row(name));
      expect(codes, name).to.include.members(termCodes(row(name)));
      expect(codes, name).to.deep.equal([...new Set(codes)]);
    }
  });

  it('of what an agent asks for are those of its person', () => {
    /** What no action meets: it is for agents, or an action of its kind changes less. */
    const other: Partial<Record<OperationName, readonly ErrorCode[]>> = {
      addBoardPerson: ['add_people_not_allowed', 'agent_session_required'],
      updateBoard: [
        'human_token_required',
        'admin_required',
        'role_in_use',
        'task_prefix_taken',
        'task_prefix_invalid',
      ],
    };
    const own = [...Object.values(kinds).map((kind) => kind.operation), 'removePerson', 'unmakeBoardOwner'] as const;
    for (const name of own) {
      const { errors = [], ...terms } = row(name);
      const codes = [...termCodes(terms), ...errors].filter((code) => !other[name]?.includes(code));
      expect(errorCodesOf(operations.requestAdminAction), name).to.include.members(codes);
      // What has come about meanwhile is done already.
      const late = codes.filter((code) => code !== 'already_on_board');
      expect(errorCodesOf(operations.allowApproval), name).to.include.members(late);
    }
  });
});
