/** One story from end to end, from the keys of a person to the database and back. */
import { expect } from 'chai';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { closeBrowser } from './support/browser.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

forEachDatabase('a person on the page', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('posts a message with a file, answers an agent, and finds all of it again', async () => {
    const { dana } = server;
    const { name: board } = await newBoard(dana);
    const claude = await newAgent(dana, board, { name: 'claude' });
    const { page, close } = await visit(server, dana, `/?board=${board}`);
    const conversation = page.getByRole('region', { name: 'Conversation' });
    const box = page.getByRole('textbox', { name: 'Message' });
    await page
      .locator('form input[type=file]')
      .setInputFiles({ name: 'waits.txt', mimeType: 'text/plain', buffer: Buffer.from('Every wait has a ceiling.') });
    await page.getByRole('list', { name: 'Attached files' }).getByText('waits.txt').waitFor();
    await box.fill('The ceiling is in the file.');
    await box.press('Control+Enter');
    await conversation.getByText('The ceiling is in the file.').waitFor();
    const [posted] = (await claude.ok('listMessages', { params: { board } })).messages;
    expect(posted?.files.map(({ name, version }) => [name, version])).to.deep.equal([['waits.txt', 1]]);

    const { id } = await post(claude, board, 'How high is the ceiling?', { ask: { options: ['30 s', '60 s'] } });
    const ask = conversation.getByRole('article').filter({ hasText: 'How high' });
    await ask.first().getByRole('button', { name: '60 s' }).click();
    await ask.first().getByRole('button', { name: '60 s', pressed: true }).waitFor();
    const { replies } = await claude.ok('listReplies', { params: { message: id } });
    expect(replies.map(({ answer }) => answer?.option)).to.deep.equal([2]);

    await page.goto(`${server.url}/search?q=ceiling`);
    const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
    for (const text of ['is in the file', 'How high', 'waits.txt']) await results.filter({ hasText: text }).waitFor();
    await close();
  });
});
