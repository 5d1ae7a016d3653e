/** Every row of the tables of sealed secrets, allowances and agents' invites, played on a server. */
import { expect } from 'chai';
import { errors } from '../../../src/contract/errors.ts';
import type { Category } from '../../../src/contract/types.ts';
import { type AllowanceState, allowanceTable } from '../../../src/server/allowances/allowance-states.rules.ts';
import { type CapsuleState, capsuleTable } from '../../../src/server/approvals/capsule-states.rules.ts';
import { type CapsuleRow, capsuleState } from '../../../src/server/approvals/capsules.store.ts';
import { sweepOnboarding } from '../../../src/server/approvals/sweep.steps.ts';
import { type InviteState, inviteTable } from '../../../src/server/invites/invite-states.rules.ts';
import { type InviteRow, stateOf } from '../../../src/server/invites/invites.store.ts';
import { transitionsFrom } from '../../../src/server/text/state-table.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, removePerson } from '../../support/state.ts';
import { connect, preview, secretOf, setPerson } from '../invites/cast.ts';
import { allow, codeOf, collect, held, invitePeople, type Scene, scene } from './cast.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;

const statesOf = <S extends string>(table: readonly { from: readonly S[] }[]): S[] => [
  ...new Set(table.flatMap(({ from }) => from)),
];
const triggersOf = <T extends string>(table: readonly { on: readonly T[] }[]): T[] => [
  ...new Set(table.flatMap(({ on }) => on)),
];
const named = (when: string | undefined): string => (when ? `, ${when}` : '');

interface Allowed {
  s: Scene;
  /** Of the request. */
  id: string;
  inviteId: string;
  secret: string;
  /** Bundled with the invite. */
  board: { id: string; name: string };
}

forEachDatabase('the tables of secrets', (engine) => {
  let server: TestServer;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const sweep = () => server.db.write((tx) => sweepOnboarding(tx, 500));
  const row = async <Row>(table: string, where: Record<string, unknown>): Promise<Row> => {
    const [found] = await server.db.read((tx) => tx.query<Row>((db) => db(table).where(where).select('*')));
    if (!found) throw new Error(`nothing in ${table}`);
    return found;
  };
  const set = (table: string, where: Record<string, unknown>, columns: Record<string, unknown>) =>
    server.db.write((tx) => tx.change((db) => db(table).where(where).update(columns)));

  async function allowed(): Promise<Allowed> {
    const s = await scene(server);
    const board = await newBoard(s.ana);
    const { id } = await held(s.agent, invitePeople({ boards: [board.id] }));
    const { body } = await allow(s.ana, { id });
    return { s, id, inviteId: body.invite?.id ?? '', secret: secretOf(body.invite as never), board };
  }

  const redeem = (secret: string) => connect(server, { invite: secret, handle: `newcomer-${++people}` });

  const capsuleStates: Record<CapsuleState, (a: Allowed) => Promise<unknown>> = {
    held: async () => null,
    collected: ({ s, id }) => collect(s.agent, { id }, 'k'),
    cleared: ({ s, id }) => collect(s.agent, { id }),
  };
  const capsuleConditions: Record<string, (a: Allowed) => Promise<unknown>> = {
    no_authority: ({ s }) => setPerson(server, s.ana, { server_role: 'member' }),
    archived: ({ board }) => changeBoard(server, board.name, { lifecycle: 'archived' }),
    // Its own revocation clears it; here that has not happened.
    invite_over: ({ inviteId }) => set('server_invites', { id: inviteId }, { revoked_at: server.clock.now() }),
    unreadable: async ({ id }) => {
      const { ciphertext } = await row<CapsuleRow>('approval_outcomes', { approval_id: id });
      const changed = Buffer.from(ciphertext as Buffer);
      changed.writeUInt8(changed.readUInt8(7) ^ 1, 7);
      await set('approval_outcomes', { approval_id: id }, { ciphertext: changed });
    },
  };

  for (const state of statesOf(capsuleTable)) {
    for (const trigger of triggersOf(capsuleTable)) {
      for (const { id: name, when, to, effect } of transitionsFrom(capsuleTable, state, trigger)) {
        it(`${name}: ${trigger} of a ${state} secret${named(when)}`, async () => {
          const a = await allowed();
          await capsuleStates[state](a);
          await (capsuleConditions[when ?? ''] ?? (async () => null))(a);
          const now = async () => row<CapsuleRow>('approval_outcomes', { approval_id: a.id });
          expect(capsuleState(await now(), server.clock.now()), 'where it begins').to.equal(state);
          const key = when === 'no_key' ? undefined : when === 'other_key' ? 'another' : 'k';
          const logged = server.log.length;
          const answer = await fireAtCapsule(trigger, state, a, key);
          const after = await now();
          expect(capsuleState(after, server.clock.now()), 'where it ends').to.equal(to ?? state);
          const gone = effect.erases !== undefined || state === 'cleared';
          expect([after.ciphertext, after.nonce, after.tag, after.winning_key_hash].some(Boolean)).to.equal(!gone);
          const told = server.log.slice(logged).some((line) => line.includes('does not open') && line.includes(a.id));
          expect(told, 'the operator is told').to.equal(effect.reports === true);
          if (answer === null) return;
          const code = effect.refused === 'own' ? 'server_admin_required' : effect.refused;
          if (code !== undefined) {
            expect(codeOf(answer)).to.equal(`${errors[code].status} ${code}`);
            return;
          }
          expect([answer.status, answer.body.collected]).to.deep.equal([
            200,
            effect.gives === 'secret' && !effect.recovered,
          ]);
          expect(answer.body.recovered).to.equal(effect.recovered);
          expect(answer.body.invite && secretOf(answer.body.invite)).to.equal(
            effect.gives === 'secret' ? a.secret : undefined,
          );
          if (effect.gives === 'record') expect(answer.body.approval.next?.command).to.include(a.inviteId);
        });
      }
    }
  }

  async function fireAtCapsule(trigger: string, state: CapsuleState, a: Allowed, key: string | undefined) {
    if (trigger === 'collect') return collect(a.s.agent, { id: a.id }, key);
    server.clock.advance(state === 'collected' ? 10 * MINUTE : DAY);
    await sweep();
    return null;
  }

  for (const state of statesOf<AllowanceState>(allowanceTable)) {
    for (const trigger of triggersOf(allowanceTable)) {
      for (const { id: name, when, to, effect } of transitionsFrom(allowanceTable, state, trigger)) {
        // Nothing is equal to something that is added to nothing.
        if (state === 'empty' && when === 'equal') continue;
        it(`${name}: ${trigger} of an allowance of ${state}${named(when)}`, async () => {
          const s = await scene(server);
          const had: Category[] = state === 'some' ? ['invite_people'] : [];
          if (state === 'some') await s.ana.ok('setAllowance', { body: { categories: had } });
          const before = await s.ana.ok('getAllowance');
          const answer = await fireAtAllowance(trigger, when, s, before);
          const after = await row<{ revision: number; categories: string }>('allowances', { id: before.id });
          expect(after.revision - before.revision).to.equal(effect.revises ? 1 : 0);
          const some = (JSON.parse(after.categories) as Category[]).length > 0;
          expect(some ? 'some' : 'empty').to.equal(to ?? state);
          if (effect.refused) expect(codeOf(answer)).to.equal(`409 ${effect.refused}`);
          else expect(answer.status).to.be.lessThan(300);
        });
      }
    }
  }

  async function fireAtAllowance(trigger: string, when: string | undefined, s: Scene, before: { revision: number }) {
    const revision = before.revision + (when === 'stale' ? 1 : 0);
    const other: Category[] = when === 'equal' ? ['invite_people'] : ['add_people'];
    switch (trigger) {
      case 'set':
        return s.ana.call('setAllowance', { body: { categories: other, revision } });
      case 'clear':
        if (when !== 'stale') return s.ana.call('clearAllowance');
        return s.ana.call('setAllowance', { body: { categories: [], revision } });
      case 'always': {
        const body = { kind: 'add_people' as const, board_id: s.board.id, person_id: s.bob.personId ?? '' };
        const wanted = when === 'equal' ? invitePeople({ boards: [s.board.id] }) : body;
        // Held although it is allowed: the switch of the server is off.
        await server.dana.ok('updateSettings', { body: { agents_add_people: false } });
        const { id } = await held(s.agent, wanted);
        await server.dana.ok('updateSettings', { body: { agents_add_people: true } });
        return allow(s.ana, { id }, { always: true });
      }
      default:
        await removePerson(server, s.ana);
        return { status: 200, code: undefined };
    }
  }

  const inviteStates: Record<InviteState, (a: Allowed) => Promise<unknown>> = {
    active: async () => null,
    redeemed: ({ secret }) => redeem(secret),
    revoked: ({ s, inviteId }) => s.ana.ok('revokeInvite', { params: { invite: inviteId } }),
    expired: async () => server.clock.advance(DAY),
  };

  for (const state of statesOf(inviteTable)) {
    for (const trigger of triggersOf(inviteTable)) {
      for (const { id: name, when, to, effect } of transitionsFrom(inviteTable, state, trigger)) {
        it(`${name}: ${trigger} of an agent's ${state} invite${named(when)}`, async () => {
          const a = await allowed();
          await inviteStates[state](a);
          await (capsuleConditions[when ?? ''] ?? (async () => null))(a);
          const answer = await fireAtInvite(trigger, a);
          const after = await row<InviteRow>('server_invites', { id: a.inviteId });
          expect(stateOf(after, server.clock.now())).to.equal(to ?? state);
          const { ciphertext } = await row<CapsuleRow>('approval_outcomes', { approval_id: a.id });
          const cleared = state === 'redeemed' || state === 'revoked';
          if (effect.clears) expect(ciphertext).to.equal(null);
          else if (state === 'active') expect(ciphertext).to.not.equal(null);
          else if (cleared) expect(ciphertext).to.equal(null);
          const { notices } = await a.s.agent.ok('listNotices');
          const told = notices.some(({ kind }) => kind === 'invite_redeemed');
          expect(told).to.equal(effect.tells !== undefined || state === 'redeemed');
          if (trigger === 'revoke') expect(answer?.text).to.include(`"changed":${effect.clears !== undefined}`);
          if (effect.refused) {
            expect(codeOf(answer as never)).to.equal(`404 ${effect.refused}`);
            expect(codeOf(await preview(server, a.secret))).to.equal(`404 ${effect.refused}`);
          }
        });
      }
    }
  }

  async function fireAtInvite(trigger: string, { s, inviteId, secret }: Allowed) {
    if (trigger === 'redeem') return redeem(secret);
    return s.ana.call('revokeInvite', { params: { invite: inviteId } });
  }
});
