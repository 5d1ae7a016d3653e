import { expect } from 'chai';
import { inParts } from '../../../src/server/db/rows.ts';
import type { MessageRow } from '../../../src/server/messages/messages.store.ts';
import { threadMembers } from '../../../src/server/messages/threads.store.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { readFor } from '../../support/rows-read.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { endMember, putOnBoard, setPolicy } from '../../support/state.ts';

forEachDatabase('a reply', (engine) => {
  let server: TestServer;
  let board: string;
  let pam: Api;
  let a: Agent;
  let b: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    a = await newAgent(server.dana, board, { name: 'a' });
    b = await newAgent(pam, board, { name: 'b' });
  });
  after(() => server.stop());

  const reply = (from: Api, to: { id: string }, more = {}) => post(from, board, 'reply', { reply_to: to.id, ...more });
  const refused = (from: Api, id: string) =>
    from.refused('postMessage', { params: { board }, body: { body: 'x', reply_to: id } });

  it('goes by default to who wrote in the thread or was named there, in order of appearance', async () => {
    const root = await post(a, board, 'root', { to: ['@pam'] });
    const first = await reply(b, root, { to: ['@a', 'role:member'] });
    expect((await reply(server.dana, first)).to).to.deep.equal(['@a', '@pam', '@b']);
    const { name } = await server.dana.ok('getMe');
    expect((await reply(pam, root)).to).to.deep.equal(['@a', '@b', `@${name}`]);
  });

  it('leaves out who left, and is refused when nobody else is in the thread', async () => {
    const root = await post(a, board, 'root');
    await reply(b, root);
    await endMember(server, b.memberId);
    expect(await refused(a, root.id)).to.equal('422 reply_has_no_recipients');
    expect((await reply(pam, root)).to).to.deep.equal(['@a']);
    expect((await reply(a, root, { to: ['all'] })).to).to.deep.equal(['all']);
  });

  it('goes only to whom its sender can know from what it may read', async () => {
    await setPolicy(server, board, { visibility: 'addressed' });
    const root = await post(pam, board, 'root', { to: ['@a'] });
    await reply(pam, root, { to: ['@b'] });
    expect((await reply(a, root)).to).to.deep.equal(['@pam']);
    expect((await reply(server.dana, root)).to).to.deep.equal(['@pam', '@a', '@b']);
  });

  it('keeps the members that its thread names once, and not where somebody comes or leaves', async () => {
    const root = await post(a, board, 'root', { to: ['@pam'] });
    const { name } = await server.dana.ok('getMe');
    const of = (...all: string[]) => all.map((one) => `@${one}`);
    const first = await reply(pam, root);
    expect(first.to).to.deep.equal(of('a'));
    expect((await reply(a, first)).to).to.deep.equal(of('pam'));
    const third = await reply(b, root);
    expect((await reply(a, root)).to).to.deep.equal(of('pam', 'b'));
    expect((await reply(b, root)).to).to.deep.equal(of('a', 'pam'));
    expect((await reply(server.dana, root)).to).to.deep.equal(of('a', 'pam', 'b'));
    await endMember(server, b.memberId);
    const left = await reply(pam, root);
    expect(left.to).to.deep.equal(of('a', name));
    expect((await reply(server.dana, root)).to).to.deep.equal(of('a', 'pam'));
    const kept = await server.db.read((tx) =>
      tx.query<{ named: string | null; named_seq: number | null }>((db) =>
        db('messages as m')
          .join('boards as b', 'b.id', 'm.board_id')
          .where('b.name', board)
          .orderBy('m.seq')
          .select('m.*'),
      ),
    );
    const by = [null, null, first.seq, null, third.seq, third.seq, null, null, left.seq];
    expect(kept.map(({ named_seq }) => named_seq)).to.deep.equal(by);
    expect(kept.map(({ named }) => named === null)).to.deep.equal(by.map((seq) => seq !== null));
  });

  it('finds the members that its thread names without reading the board for each of them', async () => {
    const root = await post(a, board, 'root', { to: ['@pam'] });
    const { value, read } = await server.db.write(async (tx) => {
      const message = (await tx.query<MessageRow>((db) => db('messages').where('id', root.id)))[0]!;
      const names = Array.from({ length: 50 }, () => newId('mem', tx.now));
      const replies = [...names, ...names].map((named, n) => {
        const kept = n < names.length ? { named } : { named: null, named_seq: root.seq + 1 + n - names.length };
        return { ...message, ...kept, id: newId('msg', tx.now), seq: root.seq + 1 + n, root_seq: root.seq };
      });
      await inParts(replies, (part) => tx.change((db) => db('messages').insert(part)));
      return readFor(tx, () => threadMembers(tx, message.board_id, root.seq, { memberId: a.memberId, readsAll: true }));
    });
    expect(value.ids).to.have.length(52);
    expect(read).to.be.below(600);
  });

  it('joins the thread at any depth, and names its parent and its root', async () => {
    const root = await post(server.dana, board, 'root');
    const first = await reply(a, root);
    const second = await reply(b, first);
    expect(second).to.include({
      reply_to: first.id,
      reply_to_seq: first.seq,
      reply_to_from: 'a',
      thread_root: root.id,
      thread_root_seq: root.seq,
    });
    const shown = (await server.dana.ok('getMessage', { params: { message: root.id } })).message;
    expect(shown).to.include({ reply_count: 2, last_reply_at: second.at, thread_root: null, reply_to: null });
    expect(second).not.to.have.property('reply_count');
    const thread = await server.dana.ok('listReplies', { params: { message: second.id } });
    expect(thread.message_id).to.equal(second.id);
    expect(thread.root?.id).to.equal(root.id);
    expect(thread.replies.map(({ id }) => id)).to.deep.equal([first.id, second.id]);
  });

  it('answers nothing that is missing, on another board or unreadable: one 404', async () => {
    const elsewhere = await post(server.dana, (await newBoard(server.dana)).name, 'elsewhere');
    const hidden = await post(pam, board, 'hidden', { to: ['@b'] });
    await setPolicy(server, board, { visibility: 'addressed' });
    for (const id of ['msg_01K5A0000000000000000000P1', elsewhere.id, hidden.id]) {
      expect(await refused(a, id)).to.equal('404 message_not_found');
    }
    expect((await reply(b, hidden)).reply_to).to.equal(hidden.id);
  });

  it('clears what was owed when it answers directly, and only for who answers', async () => {
    const owed = async (person: Api) => (await person.ok('getBoard', { params: { board } })).needs_reply;
    const { name } = await server.dana.ok('getMe');
    const asked = await post(a, board, 'well?', { to: [`@${name}`, '@pam'], expects_reply: true });
    await post(a, board, 'anybody?', { expects_reply: true });
    expect([await owed(server.dana), await owed(pam)]).to.deep.equal([1, 1]);
    const other = await reply(b, asked);
    await reply(pam, other);
    await server.dana.ok('ackBoard', { params: { board }, body: { up_to: other.seq } });
    expect([await owed(server.dana), await owed(pam)]).to.deep.equal([1, 1]);
    await reply(pam, asked);
    expect([await owed(server.dana), await owed(pam)]).to.deep.equal([1, 0]);
  });

  it('is paged by `after` and `limit` like every list', async () => {
    const root = await post(server.dana, board, 'root');
    const all: number[] = [];
    for (let n = 0; n < 5; n++) all.push((await reply(a, root, { to: ['all'] })).seq);
    const seen: number[] = [];
    const follow = async (after: number): Promise<void> => {
      const page = await server.dana.ok('listReplies', { params: { message: root.id }, query: { after, limit: 2 } });
      seen.push(...page.replies.map(({ seq }) => seq));
      if (page.next_after !== null) await follow(page.next_after);
    };
    await follow(0);
    expect(seen).to.deep.equal(all);
  });
});
