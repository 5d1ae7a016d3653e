/** How often agents ask, people decide and invites are collected, and how much waits for a decision. */
import { expect } from 'chai';
import type { ApprovalRow } from '../../../src/server/approvals/approvals.store.ts';
import { sweepOnboarding } from '../../../src/server/approvals/sweep.steps.ts';
import { inParts } from '../../../src/server/db/rows.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Answered } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { readFor } from '../../support/rows-read.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { startTeamServer, type TeamServer } from '../../support/team.ts';
import type { WireApi } from '../../support/wire-api.ts';
import { addBob, codeOf, decline, held, invitePeople, scene } from './cast.ts';

interface Details {
  limit: number;
  window_seconds: number;
}

/** What a refusal says of the limit; null: it was none of that kind. */
function limited({ code, headers, body }: Answered<unknown>): Details | null {
  if (code !== 'rate_limited') return null;
  const { limit, window_seconds } = (body as unknown as { error: { details: Details } }).error.details;
  expect(Number(headers.get('retry-after'))).to.be.within(1, window_seconds);
  return { limit, window_seconds };
}

forEachDatabase('approvals of a team server', (engine) => {
  let server: TeamServer;
  let ana: WireApi;
  let board: string;
  before(async () => {
    // A tenth of the numbers: 3 requests an hour of an agent and 6 of a person, 12 decisions and 3 collections a minute.
    server = await startTeamServer(engine, { rateFactor: 0.1 });
    ana = server.admin();
    board = (await newBoard(ana)).name;
  });
  beforeEach(() => server.clock.advance(3_600_000));
  after(() => server.stop());

  const agent = async (): Promise<WireApi> => {
    const { token } = await ana.ok('joinBoard', { body: { board, role: 'member' } });
    return server.client(token);
  };
  const asks = (from: WireApi) => from.call('requestAdminAction', { body: { kind: 'invite_people', invite: {} } });

  it('are asked for so often an hour by an agent, and by all agents of a person', async () => {
    const [one, two, three] = [await agent(), await agent(), await agent()];
    for (let n = 0; n < 3; n++) expect((await asks(one)).status).to.equal(202);
    expect(limited(await asks(one))).to.deep.equal({ limit: 3, window_seconds: 3_600 });
    // What one agent is refused is nothing that its person's other agents pay for.
    for (let n = 0; n < 3; n++) expect((await asks(two)).status).to.equal(202);
    expect(limited(await asks(three))).to.deep.equal({ limit: 6, window_seconds: 3_600 });
    server.clock.advance(3_600_000);
    expect((await asks(three)).status).to.equal(202);
  });

  it('are decided so often a minute by a person, allowing and declining together', async () => {
    const asker = await agent();
    const { id } = (await asks(asker)).body.approval;
    server.clock.nextMinute();
    const params = { approval: id };
    for (let n = 0; n < 6; n++) {
      expect((await ana.call('declineApproval', { params })).status).to.equal(200);
      expect((await ana.call('allowApproval', { params, body: {} })).code).to.equal('approval_closed');
    }
    expect(limited(await ana.call('allowApproval', { params, body: {} }))).to.deep.equal({
      limit: 12,
      window_seconds: 60,
    });
    expect((await ana.call('getApproval', { params })).status).to.equal(200);
    server.clock.nextMinute();
    expect((await ana.call('declineApproval', { params })).status).to.equal(200);
  });

  it('are collected so often a minute by an agent', async () => {
    const asker = await agent();
    const params = { approval: (await asks(asker)).body.approval.id };
    server.clock.nextMinute();
    const collects = () => asker.call('collectApproval', { params });
    for (let n = 0; n < 3; n++) expect((await collects()).status).to.equal(200);
    expect(limited(await collects())).to.deep.equal({ limit: 3, window_seconds: 60 });
    expect((await asker.call('getApproval', { params })).status).to.equal(200);
  });
});

forEachDatabase('requests that wait', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('are a hundred at most for one person, and none that has ended counts', async () => {
    const s = await scene(server);
    const agents = [s.agent];
    for (let n = 0; n < 5; n++) agents.push(await newAgent(s.ana, s.board.name));
    for (const asker of agents.slice(0, 5)) {
      for (let n = 0; n < 20; n++) await held(asker, invitePeople({ ttl_seconds: 60 + n }));
    }
    const last = agents[5];
    if (!last) throw new Error('no agent is left');
    const refused = await last.call('requestAdminAction', { body: invitePeople() });
    expect(codeOf(refused)).to.equal('429 rate_limited');
    expect(refused.headers.get('retry-after')).to.equal('3600');
    expect(limited(refused)).to.deep.equal({ limit: 100, window_seconds: 3_600 });
    const { approvals } = await s.ana.ok('listApprovals', { query: { state: 'pending', limit: 1 } });
    await s.ana.ok('declineApproval', { params: { approval: approvals[0]?.id ?? '' } });
    expect((await last.call('requestAdminAction', { body: invitePeople() })).status).to.equal(202);
  });

  it('are closed, and their secrets cleared, without reading what was decided', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    await decline(s.ana, approval);
    await held(s.agent, addBob(s));
    const read = await server.db.write(async (tx) => {
      const [row] = await tx.query<ApprovalRow>((db) => db('approvals').where('id', approval.id));
      const decided = Array.from({ length: 3_000 }, () => ({
        ...row!,
        id: newId('apr', tx.now),
      }));
      await inParts(decided, (part) => tx.change((db) => db('approvals').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE'));
      return (await readFor(tx, () => sweepOnboarding(tx, 500))).read;
    });
    expect(read).to.be.below(500);
  });
});
