/** The tables of requests, sealed secrets, allowances and invites say something of everything, once. */
import { expect } from 'chai';
import { allowanceTable } from '../../src/server/allowances/allowance-states.rules.ts';
import { approvalTable } from '../../src/server/approvals/approval-states.rules.ts';
import { capsuleTable } from '../../src/server/approvals/capsule-states.rules.ts';
import { inviteTable } from '../../src/server/invites/invite-states.rules.ts';
import { plainTransition, type Transition, transition, transitionsFrom } from '../../src/server/text/state-table.ts';

type AnyTable = readonly Transition<string, string, string, unknown>[];

const tables: Record<string, AnyTable> = {
  approvals: approvalTable.filter(({ from }) => !from.includes('new')) as AnyTable,
  'new requests': approvalTable.filter(({ from }) => from.includes('new')) as AnyTable,
  capsules: capsuleTable as AnyTable,
  allowances: allowanceTable as AnyTable,
  invites: inviteTable as AnyTable,
};

const all = (table: AnyTable, of: 'from' | 'on'): string[] => [...new Set(table.flatMap((row) => row[of]))];

for (const [name, table] of Object.entries(tables)) {
  describe(`the table of ${name}`, () => {
    it('says something of every trigger in every state, whatever else holds', () => {
      for (const state of all(table, 'from')) {
        for (const trigger of all(table, 'on')) {
          const last = transitionsFrom(table, state, trigger).at(-1);
          expect(last, `${trigger} in ${state}`).to.not.equal(undefined);
          expect(last?.when, `${trigger} in ${state}`).to.equal(undefined);
          expect(plainTransition(table, state, trigger), `${trigger} in ${state}`).to.equal(last);
        }
      }
    });

    it('has no row twice, and none that is never reached', () => {
      const ids = table.map(({ id }) => id);
      expect(new Set(ids).size).to.equal(ids.length);
      for (const state of all(table, 'from')) {
        for (const trigger of all(table, 'on')) {
          const conditions = transitionsFrom(table, state, trigger).map(({ when }) => when);
          expect(conditions.slice(0, -1), `${trigger} in ${state}`).to.not.include(undefined);
          expect(new Set(conditions).size, `${trigger} in ${state}`).to.equal(conditions.length);
        }
      }
    });
  });
}

describe('a transition', () => {
  it('is that of the first row whose condition holds, and asks nothing after it', async () => {
    const asked: string[] = [];
    const says = (name: string, holds: boolean) => () => {
      asked.push(name);
      return holds;
    };
    const row = await transition(approvalTable, 'pending', 'allow', {
      altered: says('altered', false),
      no_authority: says('no_authority', true),
      own_key_needed: says('own_key_needed', true),
    });
    expect([row.id, asked]).to.deep.equal(['A8', ['altered', 'no_authority']]);
    expect((await transition(approvalTable, 'pending', 'allow')).id).to.equal('A4');
  });

  it('is an error where the table is silent', async () => {
    expect(() => plainTransition(approvalTable, 'new', 'decline')).to.throw('nothing is said of decline in new');
    const failure = await transition(approvalTable, 'new', 'decline').catch((error: Error) => error.message);
    expect(failure).to.equal('nothing is said of decline in new');
  });
});
