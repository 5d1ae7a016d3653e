/** Nothing that is said on a board decides what an agent asked its person for. */
import { expect } from 'chai';
import { post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { addBob, eventsOf, held, look, scene } from './cast.ts';

forEachDatabase('a request that people only talk about', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('stays pending, whatever is answered, reacted or approved on the board', async () => {
    const s = await scene(server);
    const request = await held(s.agent, addBob(s));
    const { name: me } = await s.ana.ok('getMe');
    const file = await put(s.agent, s.board.name, 'plan.md', 'one');
    const ask = await post(s.agent, s.board.name, `May I? ${request.id}`, {
      to: [`@${me}`],
      files: [{ file: 'plan.md' }],
      ask: { options: ['approved', 'no'], approval: true },
    });
    await post(s.ana, s.board.name, 'approved', { reply_to: ask.id, answer: { option: 1 } });
    const plain = await post(s.agent, s.board.name, `Please allow ${request.id}`, { expects_reply: true });
    await post(s.ana, s.board.name, 'approved', { reply_to: plain.id });
    await s.ana.ok('addReaction', { params: { message: plain.id, reaction: 'thumbsup' } });

    const approved = await eventsOf(s.ana, s.board.name, 'file.approved');
    expect(approved.map(({ data }) => (data as { file_id: string }).file_id)).to.deep.equal([file.id]);
    expect(await look(s.ana, request))
      .to.include({ state: 'pending' })
      .and.not.have.property('decided_at');
    expect(await eventsOf(s.ana, s.board.name, 'person.added')).to.deep.equal([]);
    expect((await s.agent.ok('listNotices')).notices).to.deep.equal([]);
  });
});
