import { expect } from 'chai';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { errorCodesOf, type OperationRow } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';

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
});
