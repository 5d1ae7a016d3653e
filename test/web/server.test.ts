/** The server's page for each role, and the page of an invite. */
import { expect } from 'chai';
import { newBoard } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

forEachDatabase('the server and its invites on the page', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('an admin sees people, settings and keys, and each change as the line for the terminal', async () => {
    await server.person('maya');
    const { page, close } = await visit(server, server.dana, '/server');
    await page.getByText('Change maya').click();
    await page.getByText(`service people role maya admin --server ${server.url}`).waitFor();
    await page.getByText('Change the settings').click();
    await page.getByText(`service settings set --board-creation admins --server ${server.url}`).waitFor();
    await page.getByText('Keys and sessions in the terminal').click();
    await page.getByText(/^service key revoke key_\w{26} --server/).waitFor();
    await page.getByText('Your agents have invited nobody.').waitFor();
    await close();
  });

  it('a member is offered only what is theirs to change, and a guest no list of people', async () => {
    const sam = await server.person('sam');
    const member = await visit(server, sam, '/server');
    await member.page.getByText('Change sam').waitFor();
    expect(
      await member.page
        .locator('summary')
        .filter({ hasText: /^Change/ })
        .allInnerTexts(),
    ).to.deep.equal(['Change sam']);
    await member.page.getByText('An admin of the server changes them.').waitFor();
    await member.close();
    const zoe = await server.person('zoe', 'guest');
    const guest = await visit(server, zoe, '/server');
    const refused: string[] = [];
    guest.page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await guest.page.reload();
    await guest.page.getByRole('heading', { name: 'Settings' }).waitFor();
    await guest.page.getByText('a guest of this server').waitFor();
    await guest.page.getByText('Who makes boards').waitFor();
    expect(await guest.page.getByRole('heading', { name: 'People' }).count()).to.equal(0);
    expect(refused).to.deep.equal([]);
    await guest.close();
  });

  it('an invite shows who invites and where, and the line for the terminal, with its secret in no request', async () => {
    const board = await newBoard(server.dana, { title: 'Payments' });
    const { invite, id } = await server.dana.ok('createInvite', {
      body: { boards: [board.id], suggested_handle: 'ada' },
    });
    const [, secret = ''] = invite.split('#');
    const { page, context, close } = await visit(server, null, '/');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData()}`));
    await page.goto(`${server.url}/join#${secret}`);
    await page.getByRole('heading', { name: /^Join / }).waitFor();
    await page.getByText('Payments').waitFor();
    await page.getByText('ada', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('Copied the command').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(
      `service connect '${server.url}/join#${secret}'`,
    );
    expect(asked.join('\n').replaceAll(/\/join#\S*/g, '')).not.to.include(secret);
    expect(server.log.join('\n')).not.to.include(secret);
    await expectAccessible(page);
    await server.dana.ok('revokeInvite', { params: { invite: id } });
    await page.reload();
    await page.getByRole('heading', { name: 'This invite does not work any more' }).waitFor();
    await expectAccessible(page);
    await close();
  });
});
