/** Every row of the table of requests, played on a server: from each state, by each trigger, under each condition. */
import { expect } from 'chai';
import { errors } from '../../../src/contract/errors.ts';
import {
  type ApprovalCondition,
  type ApprovalState,
  type ApprovalTrigger,
  approvalTable,
} from '../../../src/server/approvals/approval-states.rules.ts';
import { sweepOnboarding } from '../../../src/server/approvals/sweep.steps.ts';
import { transitionsFrom } from '../../../src/server/text/state-table.ts';
import type { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser, putOnBoard, removePerson, revokeKey } from '../../support/state.ts';
import { setPerson } from '../invites/cast.ts';
import { allow, ask, codeOf, decline, held, invitePeople, type Scene, scene, type Wanted } from './cast.ts';

const DAY = 86_400_000;

type Kept = Exclude<ApprovalState, 'new'>;
const kept: Kept[] = ['pending', 'executed', 'declined', 'expired'];
const triggers = [...new Set(approvalTable.flatMap(({ from, on }) => (from.includes('new') ? [] : on)))];

forEachDatabase('the table of requests', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const sweep = () => server.db.write((tx) => sweepOnboarding(tx, 500));
  const rows = <Row>(table: string, where: Record<string, unknown>) =>
    server.db.read((tx) => tx.query<Row>((db) => db(table).where(where).select('*')));

  /** What the test looks at before and after. */
  async function facts({ ana, agent }: Scene, id: string) {
    const [approval] = await rows<{ state: Kept; closed_reason: string | null; executed_at: number | null }>(
      'approvals',
      { id },
    );
    const [allowance] = await rows<{ revision: number }>('allowances', { person_id: ana.personId });
    return {
      state: approval?.state,
      reason: approval?.closed_reason ?? undefined,
      executed: approval?.executed_at !== null,
      invites: (await rows('server_invites', { created_by: ana.personId })).length,
      sealed: (await rows('approval_outcomes', { approval_id: id })).length,
      notices: (await rows<{ kind: string }>('notices', { member_id: agent.memberId })).map(({ kind }) => kind),
      revision: allowance?.revision ?? 0,
    };
  }

  /** The action of a request, by what the row is about. */
  async function wanted(s: Scene, condition: ApprovalCondition | undefined): Promise<Wanted> {
    const person_id = s.bob.personId ?? '';
    if (condition === 'own_key_needed') return { kind: 'set_server_role', person_id, role: 'admin' };
    if (condition !== 'no_category') return invitePeople();
    await putOnBoard(server, s.board.name, s.bob);
    return { kind: 'set_board_role', board_id: s.board.id, person_id, role: 'owner' };
  }

  async function bringTo(state: Kept, s: Scene, id: string): Promise<void> {
    if (state === 'executed') await allow(s.ana, { id });
    if (state === 'declined') await decline(s.ana, { id });
    if (state !== 'expired') return;
    server.clock.advance(DAY);
    await sweep();
  }

  async function arrange(s: Scene, id: string, condition: ApprovalCondition | undefined): Promise<void> {
    if (condition === 'no_authority') await setPerson(server, s.ana, { server_role: 'member' });
    if (condition !== 'altered') return;
    const payload_hash = `sha256:${'0'.repeat(64)}`;
    await server.db.write((tx) => tx.change((db) => db('approvals').where({ id }).update({ payload_hash })));
  }

  async function fire(trigger: ApprovalTrigger, s: Scene, id: string, person: Api) {
    switch (trigger) {
      case 'allow':
      case 'allow_always':
        return allow(person, { id }, { always: trigger === 'allow_always' });
      case 'decline':
        return decline(person, { id });
      case 'time_over':
        server.clock.advance(DAY);
        await sweep();
        return null;
      case 'seat_ended':
        await s.agent.ok('leaveSeat', { body: {} });
        return null;
      case 'key_ended':
        await revokeKey(server, s.ana);
        return null;
      case 'person_ended':
        await removePerson(server, s.ana);
        return null;
      default:
        throw new Error(`who does ${trigger}?`);
    }
  }

  for (const state of kept) {
    for (const trigger of triggers) {
      for (const { id: name, when, to, effect } of transitionsFrom(approvalTable, state, trigger)) {
        it(`${name}: ${trigger} of a ${state} one${when ? `, ${when}` : ''}`, async () => {
          const s = await scene(server);
          const { id } = await held(s.agent, await wanted(s, when));
          await bringTo(state, s, id);
          await arrange(s, id, when);
          const before = await facts(s, id);
          expect(before.state, 'where it begins').to.equal(state);
          const person = when === 'own_key_needed' ? await newBrowser(server, s.ana) : s.ana;
          const answer = await fire(trigger, s, id, person);
          const after = await facts(s, id);

          expect(after.state, 'where it ends').to.equal(to ?? state);
          expect(after.reason).to.equal(effect.reason ?? before.reason);
          const executes = effect.does === 'execute';
          expect(after.executed).to.equal(before.executed || executes);
          expect(after.invites - before.invites, 'invites made').to.equal(executes ? 1 : 0);
          expect(after.sealed - before.sealed, 'secrets sealed').to.equal(effect.seals ? 1 : 0);
          expect(after.notices.slice(before.notices.length)).to.deep.equal(effect.notice ? [effect.notice] : []);
          // A person's end empties what they allowed, which here was nothing.
          expect(after.revision - before.revision, 'revisions').to.equal(effect.allows ? 1 : 0);
          if (answer === null) return;
          const { refused } = effect;
          const code = refused === 'own' ? 'server_admin_required' : refused;
          if (code !== undefined) expect(codeOf(answer)).to.equal(`${errors[code].status} ${code}`);
          else expect(answer.status).to.equal({ execute: 201, hand_over: 202 }[effect.does as 'execute'] ?? 200);
          if (effect.does === 'show') expect(answer.text).to.not.include('abi_');
        });
      }
    }
  }

  for (const { id: name, when, to, effect } of transitionsFrom(approvalTable, 'new', 'request')) {
    it(`${name}: a new one${when ? `, ${when}` : ''}`, async () => {
      const s = await scene(server);
      if (when === 'covered') await s.ana.ok('setAllowance', { body: { categories: ['invite_people'] } });
      await arrange(s, '', when);
      const answer = await ask(s.agent, invitePeople());
      const found = await rows<{ state: string; decision: string | null }>('approvals', { agent_id: s.agent.memberId });
      expect(found.map(({ state }) => state)).to.deep.equal(to ? [to] : []);
      const issued = await rows('server_invites', { created_by: s.ana.personId });
      expect(issued).to.have.length(effect.does === 'execute' ? 1 : 0);
      expect(await rows('approval_outcomes', { approval_id: answer.body.approval?.id ?? '' })).to.deep.equal([]);
      if (effect.refused) expect(codeOf(answer)).to.equal('403 server_admin_required');
      else expect(answer.status).to.equal(effect.does === 'execute' ? 201 : 202);
      expect(answer.body.invite !== undefined).to.equal(effect.does === 'execute');
    });
  }
});
