/**
 * The way of an invite, with people demoted and removed, keys revoked, boards archived and memberships lost at every step
 * of it, against a model. Every trouble meets every step; beside that the short form plays a few random mixtures and
 * SERVICE_TEST_LONG=1 a hundred. SERVICE_TEST_SEED repeats a run.
 */
import { expect } from 'chai';
import type { Board } from '../../../src/contract/types.ts';
import { approvalById, effective } from '../../../src/server/approvals/approvals.store.ts';
import { type CapsuleRow, capsuleState } from '../../../src/server/approvals/capsules.store.ts';
import { sweepOnboarding } from '../../../src/server/approvals/sweep.steps.ts';
import { type InviteRow, stateOf } from '../../../src/server/invites/invites.store.ts';
import { chance } from '../../faults/random.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard } from '../../support/state.ts';
import { connect, secretOf } from '../invites/cast.ts';
import { allow, ask, collect, decline, invitePeople } from './cast.ts';
import { FlowModel, type Step, steps, type Trouble, troubles } from './flow-model.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const MIXTURES = LONG ? 100 : 10;
const MINUTE = 60_000;

interface Answered {
  status: number;
  code: string | undefined;
  text: string;
}

forEachDatabase('the way of an invite', (engine) => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(async function () {
    // Every secret of every play is looked for.
    this.timeout(LONG ? 600_000 : 120_000);
    await server.stop();
  });

  /** The boards of a play that left them as they were, for the next one. */
  let kept: Record<'own' | 'bundled', Board> | null = null;

  /** Both boards are somebody else's too, so that any one may leave. */
  async function newBoards(): Promise<Record<'own' | 'bundled', Board>> {
    const keeper = await server.person(`keeper-${count}`);
    return { own: await newBoard(keeper), bundled: await newBoard(keeper, { visibility: 'private' }) };
  }

  /** One play: people, boards and the model of them. */
  async function play(moves: (Step | Trouble)[], label: string): Promise<void> {
    const n = ++count;
    const first = await server.person(`flow-${n}`, 'admin');
    const { token } = await first.ok('createKey', { body: { name: 'spare' } });
    const ana = new Api(server.url, token, first.personId);
    const { own, bundled } = kept ?? (await newBoards());
    kept = null;
    const onOwn = await putOnBoard(server, own.name, first);
    let onBundled = await putOnBoard(server, bundled.name, first);
    const agent = await newAgent(first, own.name);
    const model = new FlowModel();
    let approval = '';
    let secret = '';

    const step = async (move: Step): Promise<Answered> => {
      switch (move) {
        case 'ask': {
          const answer = await ask(agent, invitePeople({ boards: [bundled.id] }));
          if (answer.status === 202) approval = answer.body.approval.id;
          return answer;
        }
        case 'allow': {
          const answer = await allow(ana, { id: approval });
          if (answer.body.invite) secret = secretOf(answer.body.invite);
          return answer;
        }
        case 'decline':
          return decline(ana, { id: approval });
        case 'collect':
        case 'collect_other':
          return collect(agent, { id: approval }, move);
        case 'redeem':
          return connect(server, { invite: secret, handle: `comer-${n}-${Math.random().toString(36).slice(2, 8)}` });
        case 'revoke':
          return ana.call('revokeInvite', { params: { invite: (await rows()).invite?.id ?? '' } });
      }
    };

    const trouble = async (move: Trouble): Promise<unknown> => {
      const before = { ...model };
      const board = move.endsWith('own') ? own : bundled;
      const role = (server_role: string) =>
        server.dana.call('setPersonRole', { params: { handle: `flow-${n}` }, body: { server_role } });
      switch (move) {
        case 'demote':
        case 'promote':
          return before.removed ? null : role(move === 'demote' ? 'member' : 'admin');
        case 'remove_person':
          return before.removed ? null : server.dana.ok('removePerson', { params: { handle: `flow-${n}` } });
        case 'revoke_key':
          if (!before.keyWorks) return null;
          return server.dana.ok('revokeKey', { params: { key: await keyId(first) } });
        case 'archive_bundled':
        case 'archive_own':
          return before[move === 'archive_own' ? 'own' : 'bundled'] === 'active'
            ? changeBoard(server, board.name, { lifecycle: 'archived' })
            : null;
        case 'restore_bundled':
        case 'restore_own':
          return before[move === 'restore_own' ? 'own' : 'bundled'] === 'archived'
            ? changeBoard(server, board.name, { lifecycle: 'active' })
            : null;
        case 'delete_bundled':
        case 'delete_own': {
          const state = before[move === 'delete_own' ? 'own' : 'bundled'];
          if (state === 'deleted') return null;
          if (state === 'active') await changeBoard(server, board.name, { lifecycle: 'archived' });
          return changeBoard(server, board.name, { lifecycle: 'deleted' });
        }
        case 'leave_bundled':
          return before.onBundled && before.bundled !== 'deleted' ? endMember(server, onBundled, 'left') : null;
        case 'return_bundled':
          if (before.removed || before.onBundled || before.bundled !== 'active') return null;
          onBundled = await putOnBoard(server, bundled.name, first);
          return null;
        case 'leave_own':
          return before.seated && before.own !== 'deleted' ? endMember(server, onOwn, 'left') : null;
        case 'seat_leaves':
          return before.seated && before.own !== 'deleted' ? endMember(server, agent.memberId, 'left') : null;
        case 'ten_minutes':
          server.clock.advance(10 * MINUTE);
          return null;
        case 'a_day':
          server.clock.advance(24 * 60 * MINUTE);
          return null;
      }
    };

    const rows = () =>
      server.db.read(async (tx) => ({
        approval: await approvalById(tx, approval),
        invite: (
          await tx.query<InviteRow>((db) =>
            db('server_invites').where('created_by', first.personId).orderBy('created_at', 'desc').select('*'),
          )
        )[0],
        capsule: (
          await tx.query<CapsuleRow>((db) => db('approval_outcomes').where('approval_id', approval).select('*'))
        )[0],
      }));

    const played: string[] = [];
    for (const move of moves) {
      played.push(move);
      const where = `${label}: ${played.join(', ')}`;
      if (isStep(move)) {
        const expected = model.step(move, server.clock.now());
        if (expected === null) {
          played.pop();
          continue;
        }
        const answer = await step(move);
        const said = `${answer.status}${answer.status >= 400 ? ` ${answer.code}` : ''}`;
        const shown = answer.text.includes('abi_') ? `${said} secret` : said;
        expect(shown, where).to.equal(expected);
      } else {
        await trouble(move);
        model.trouble(move, server.clock.now());
      }
      await compare(where);
    }
    // What time has ended is written down too, and no other secret is left.
    await server.db.write((tx) => sweepOnboarding(tx, 500));
    model.pass(server.clock.now());
    await compare(`${label}: ${played.join(', ')}, swept`);
    const { capsule } = await rows();
    if (capsule) expect(capsule.ciphertext === null, `${label}: swept`).to.equal(model.capsule?.state === 'cleared');
    if (model.own === 'active' && model.bundled === 'active') kept = { own, bundled };

    async function compare(where: string): Promise<void> {
      if (approval === '' || !model.approval) return;
      const now = server.clock.now();
      model.pass(now);
      const found = await rows();
      if (!found.approval) throw new Error('the request is gone');
      const { state, reason } = effective(found.approval, now);
      expect([state, reason], where).to.deep.equal([model.approval.state, model.approval.reason]);
      expect(found.capsule ? capsuleState(found.capsule, now) : null, where).to.equal(model.capsule?.state ?? null);
      if (model.invite) expect(found.invite && stateOf(found.invite, now), where).to.equal(model.invite.state);
    }
  }

  const isStep = (move: Step | Trouble): move is Step => !(troubles as string[]).includes(move);

  async function keyId(holder: Api): Promise<string> {
    const digest = server.root.digest(holder.token ?? '');
    const [key] = await server.db.read((tx) =>
      tx.query<{ id: string }>((db) => db('access_keys').where({ digest }).select('id')),
    );
    return key?.id ?? '';
  }

  for (const trouble of troubles) {
    it(`ends as it must when ${trouble.replaceAll('_', ' ')} comes before, between and after its steps`, async () => {
      for (let at = 0; at <= steps.length; at++) {
        await play([...steps.slice(0, at), trouble, ...steps.slice(at), 'allow', 'revoke'], `at ${at}`);
      }
    });
  }

  it('ends of what comes first, whatever else would end it later', async () => {
    for (const trouble of troubles) {
      await play(['ask', 'a_day', trouble, 'allow', 'collect'], 'after its time');
      await play(['ask', trouble, 'a_day', 'allow', 'collect'], 'before its time');
    }
  });

  it(`ends as it must in ${MIXTURES} random mixtures`, async () => {
    const dice = chance();
    const extra: Step[] = ['allow', 'decline', 'collect', 'collect_other', 'revoke', 'redeem', 'ask'];
    for (let n = 0; n < MIXTURES; n++) {
      const moves: (Step | Trouble)[] = [...steps];
      const put = (move: Step | Trouble) => moves.splice(dice.between(0, moves.length), 0, move);
      for (let i = dice.between(1, 4); i > 0; i--) put(dice.pick(troubles));
      for (let i = dice.between(0, 3); i > 0; i--) put(dice.pick(extra));
      await play(moves, `seed ${dice.seed}, ${n}`);
    }
  }).timeout(300_000);
});
