import { expect } from 'chai';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { TestStream } from '../support/stream.ts';

forEachDatabase('a new server', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('carries a post from its writer to timeline, inbox, log and stream', async () => {
    const board = await newBoard(server.dana);
    const writer = await newAgent(server.dana, board.name, { name: 'writer' });
    const stream = await TestStream.open(writer, { board: board.name });
    await stream.frame((frame) => frame.event === 'ready');
    const message = await post(server.dana, board.name, 'Good morning');

    const timeline = await writer.ok('listMessages', { params: { board: board.name } });
    expect(timeline.messages.map((shown) => shown.body)).to.deep.equal(['Good morning']);
    const inbox = await writer.ok('readInbox');
    expect(inbox.messages.map((shown) => shown.id)).to.deep.equal([message.id]);
    const frame = await stream.frame((shown) => shown.event === 'event');
    expect(frame.data.seq).to.equal(message.seq);
    stream.close();
  });
});
