/** The secret of an invite that an agent asked for: where it is, which is in its capsule alone, and what opens that. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type Binding, OUTCOME_LABEL, seal, unseal } from '../../../src/server/approvals/capsules.rules.ts';
import type { CapsuleRow } from '../../../src/server/approvals/capsules.store.ts';
import { RootKey } from '../../../src/server/text/root-key.ts';
import type { Api } from '../../support/api.ts';
import { newAgent } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { placesOf } from '../../support/secrets.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { connect, preview, secretOf } from '../invites/cast.ts';
import { allow, ask, collect, held, invitePeople, look, type Scene, scene } from './cast.ts';

forEachDatabase('the secret of an allowed invite', (engine) => {
  let server: TestServer;
  let serverId: string;
  before(async () => {
    server = await startTestServer(engine);
    serverId = (await server.nobody.ok('getInfo')).server_id;
  });
  after(() => server.stop());

  const capsuleRow = async (id: string): Promise<CapsuleRow> => {
    const [row] = await server.db.read((tx) =>
      tx.query<CapsuleRow>((db) => db('approval_outcomes').where('approval_id', id).select('*')),
    );
    if (!row) throw new Error('nothing was sealed');
    return row;
  };
  const change = (id: string, columns: Partial<CapsuleRow>) =>
    server.db.write((tx) => tx.change((db) => db('approval_outcomes').where('approval_id', id).update(columns)));

  async function bindingOf(s: Scene, id: string): Promise<Binding> {
    const approval = await look(s.ana, { id });
    return {
      server_id: serverId,
      approval_id: id,
      invite_id: approval.execution?.invite_id ?? '',
      person_id: approval.person_id,
      agent_id: approval.agent_id,
      parent_key_id: approval.parent_key_id,
      payload_hash: approval.payload_hash,
    };
  }

  async function allowed(s: Scene) {
    const { id } = await held(s.agent, invitePeople({ boards: [s.board.id] }));
    const { body } = await allow(s.ana, { id });
    const of = await bindingOf(s, id);
    return { id, of, secret: secretOf(body.invite as never) };
  }

  /** As text, and as the bytes it stands for, in every way they are usually written. */
  function spellings(secret: string): [string, Buffer][] {
    const bytes = Buffer.from(secret.slice('abi_'.length), 'base64url');
    return [
      ['text', Buffer.from(secret)],
      ['its random part', Buffer.from(secret.slice('abi_'.length))],
      ['bytes', bytes],
      ['hex', Buffer.from(bytes.toString('hex'))],
      ['base64', Buffer.from(bytes.toString('base64').slice(0, 40))],
      ['text in hex', Buffer.from(Buffer.from(secret).toString('hex'))],
      ['text in base64', Buffer.from(Buffer.from(secret).toString('base64').slice(0, 40))],
    ];
  }

  const expectNowhere = async (secret: string, when: string) => {
    const places = await placesOf({ dataDir: server.dataDir, databaseUrl: server.databaseUrl, log: server.log });
    expect(places.length).to.be.greaterThan(2);
    for (const [how, bytes] of spellings(secret)) {
      const found = places.filter(([, content]) => content.includes(bytes)).map(([place]) => place);
      expect(found, `${when}, as ${how}`).to.deep.equal([]);
    }
  };

  /** All that anybody reads about it. */
  async function everyList(s: Scene): Promise<string> {
    const reads: [Api, Parameters<Api['call']>[0], object?][] = [
      [s.ana, 'listApprovals'],
      [s.ana, 'listInvites'],
      [s.ana, 'listInviteNotices'],
      [s.ana, 'getOnboardingInbox'],
      [s.ana, 'listAllowanceRevisions'],
      [s.ana, 'listEvents', { params: { board: s.board.name }, query: { limit: 200 } }],
      [s.agent, 'listApprovals'],
      [s.agent, 'listNotices'],
      [s.agent, 'readInbox'],
    ];
    let all = '';
    for (const [api, name, call] of reads) all += (await api.call(name, call)).text;
    return all;
  }

  it('is nowhere else, at any step of the way', async () => {
    const s = await scene(server);
    const browser = await newBrowser(server, s.ana);
    const streams = [
      await TestStream.open(s.ana),
      await TestStream.open(s.ana, { board: s.board.name }),
      await TestStream.open(s.agent, { board: s.board.name }),
    ];
    const asked = await ask(s.agent, invitePeople({ boards: [s.board.id], suggested_handle: 'maya' }), 'ask-1');
    const { id } = asked.body.approval;
    const call = { params: { approval: id }, body: {}, key: 'allow-1' };
    const first = await browser.call('allowApproval', call);
    const secret = secretOf(first.body.invite as never);
    expect(first.status).to.equal(201);
    await expectNowhere(secret, 'held');
    // It can be found: this is where it is.
    const { nonce, ciphertext, tag } = await capsuleRow(id);
    const of = await bindingOf(s, id);
    const key = server.root.derive(OUTCOME_LABEL, serverId);
    const sealed = { nonce, ciphertext, tag } as { nonce: Buffer; ciphertext: Buffer; tag: Buffer };
    expect(unseal(key, of, sealed)).to.equal(secret);

    const answers = [
      await browser.call('allowApproval', call),
      await s.ana.call('allowApproval', call),
      await ask(s.agent, invitePeople({ boards: [s.board.id], suggested_handle: 'maya' }), 'ask-1'),
      await s.agent.call('getApproval', { params: { approval: id } }),
    ];
    for (const { text } of answers) expect(text).not.to.include(secret);
    expect(answers[2]?.replayed).to.equal(true);
    expect(await everyList(s)).not.to.include('abi_');

    const got = await collect(s.agent, { id }, 'collect-1');
    expect(secretOf(got.body.invite as never)).to.equal(secret);
    await expectNowhere(secret, 'collected');
    for (const again of ['collect-2', undefined]) {
      expect((await collect(s.agent, { id }, again)).text).not.to.include('abi_');
    }
    await preview(server, secret);
    await connect(server, { invite: secret, handle: 'maya' });
    await expectNowhere(secret, 'redeemed');
    expect(await everyList(s)).not.to.include('abi_');
    expect((await capsuleRow(id)).ciphertext).to.equal(null);
    const [hints, ...boards] = streams;
    await hints?.frame(({ event, data }) => event === 'approval' && data.state === 'executed');
    for (const stream of boards) await stream.frame(({ data }) => JSON.stringify(data).includes('person.added'));
    for (const stream of streams) {
      expect(JSON.stringify(stream.frames)).not.to.include('abi_');
      await stream.close();
    }
  });

  it('is nowhere at all where an allowance made the invite', async () => {
    const s = await scene(server);
    await s.ana.ok('setAllowance', { body: { categories: ['invite_people'] } });
    const made = await ask(s.agent, invitePeople(), 'once');
    const secret = secretOf(made.body.invite as never);
    const again = await ask(s.agent, invitePeople(), 'once');
    expect([made.status, again.status, again.replayed]).to.deep.equal([201, 200, true]);
    expect(again.text).not.to.include('abi_');
    expect((await collect(s.agent, made.body.approval, 'k')).text).not.to.include('abi_');
    await expectNowhere(secret, 'made');
    expect(await everyList(s)).not.to.include('abi_');
  });

  /** The secret is gone, nothing was revealed, and the operator knows. */
  async function expectCleared(s: Scene, id: string, how: string): Promise<void> {
    const logged = server.log.length;
    const { status, body, text } = await collect(s.agent, { id }, 'k');
    expect([status, body.collected, body.invite, body.approval.outcome.state], how).to.deep.equal([
      200,
      false,
      undefined,
      'cleared',
    ]);
    expect(text, how).not.to.include('abi_');
    const row = await capsuleRow(id);
    expect([row.ciphertext, row.nonce, row.tag, row.clear_reason], how).to.deep.equal([null, null, null, 'unreadable']);
    expect(
      server.log.slice(logged).filter((line) => line.includes('does not open') && line.includes(id)),
    ).to.have.length(1, how);
    expect((await collect(s.agent, { id }, 'k')).body.invite, how).to.equal(undefined);
  }

  it('does not come out of a capsule in which one byte is another', async () => {
    const s = await scene(server);
    for (const part of ['ciphertext', 'nonce', 'tag'] as const) {
      const { id } = await allowed(s);
      const bytes = Buffer.from((await capsuleRow(id))[part] as Buffer);
      const at = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      await change(id, { [part]: bytes });
      await expectCleared(s, id, part);
    }
    const { id } = await allowed(s);
    await change(id, { version: 2 });
    await expectCleared(s, id, 'version');
  });

  it('does not come out of a capsule that was moved', async () => {
    const s = await scene(server);
    const [one, two] = [await allowed(s), await allowed(s)];
    const [first, second] = [await capsuleRow(one.id), await capsuleRow(two.id)];
    const contents = ({ nonce, ciphertext, tag }: CapsuleRow) => ({ nonce, ciphertext, tag });
    await change(one.id, contents(second));
    await change(two.id, contents(first));
    await expectCleared(s, one.id, 'swapped');
    await expectCleared(s, two.id, 'swapped back');
  });

  it("does not come out of a capsule under another server's key, or of another server", async () => {
    const s = await scene(server);
    const other = new RootKey(randomBytes(32)).derive(OUTCOME_LABEL, serverId);
    const foreign = await allowed(s);
    await change(foreign.id, seal(other, foreign.of, foreign.secret));
    await expectCleared(s, foreign.id, 'key');
    const moved = await allowed(s);
    const own = server.root.derive(OUTCOME_LABEL, serverId);
    const elsewhere = { ...moved.of, server_id: 'srv_01JB8Z2Y5X4W3V2T1S0R9Q8P7A' };
    await change(moved.id, seal(own, elsewhere, moved.secret));
    await expectCleared(s, moved.id, 'server');
  });

  it('is only given out as what the invite was made with', async () => {
    const s = await scene(server);
    const { id, of } = await allowed(s);
    const own = server.root.derive(OUTCOME_LABEL, serverId);
    await change(id, seal(own, of, `abi_${'A'.repeat(43)}`));
    await expectCleared(s, id, 'another secret');
  });

  it('is not given out where request and invite do not agree, and that is for good', async () => {
    const s = await scene(server);
    const colleague = await newAgent(s.ana, s.board.name);
    const wrong: Record<string, string | undefined>[] = [
      { issuing_agent_id: colleague.memberId },
      { authorization: '{"via":"approval"}' },
      { created_by: s.bob.personId },
    ];
    for (const columns of wrong) {
      const { id, of } = await allowed(s);
      await server.db.write((tx) => tx.change((db) => db('server_invites').where('id', of.invite_id).update(columns)));
      const answer = await collect(s.agent, { id }, 'k');
      expect([answer.status, answer.code], Object.keys(columns)[0]).to.deep.equal([404, 'approval_not_found']);
      expect((await capsuleRow(id)).ciphertext).to.equal(null);
    }
    const altered = await allowed(s);
    await server.db.write((tx) =>
      tx.change((db) =>
        db('approvals')
          .where('id', altered.id)
          .update({ payload_hash: `sha256:${'0'.repeat(64)}` }),
      ),
    );
    expect((await collect(s.agent, altered, 'k')).code).to.equal('approval_not_found');
    expect((await capsuleRow(altered.id)).ciphertext).to.equal(null);
  });
});
