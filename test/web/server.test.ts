/** The server's page for each role, and the page of an invite. */
import { expect } from 'chai';
import { connect } from '../api/invites/cast.ts';
import { newBoard } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { expectAccessible } from './support/axe.ts';
import { closeBrowser } from './support/browser.ts';
import { startPageServer } from './support/server.ts';
import { visit } from './support/visit.ts';

after(closeBrowser);

describe('the server and its invites on the page', () => {
  let server: TestServer;
  before(async () => {
    server = await startPageServer();
  });
  after(() => server.stop());

  it('an admin sees people, settings and keys, and each change as the line for the terminal', async () => {
    await server.person('maya');
    const { page, close } = await visit(server, server.dana, '/server');
    await page.getByText('Change maya').click();
    await page.getByText(`service people role maya admin --server ${server.url}`).waitFor();
    await page.getByText('Change the settings').click();
    await page.getByText(`service settings set --board-creation admins --server ${server.url}`).waitFor();
    await page.getByText('Keys in the terminal').click();
    await page.getByText(/^service key revoke key_\w{26} --server/).waitFor();
    await page.getByText('Your agents have invited nobody.').waitFor();
    await close();
  });

  it('a member is offered only what is theirs to change, and a guest neither a list of people nor of keys', async () => {
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
    await guest.page.getByText('Sessions in the terminal').click();
    await guest.page.getByText('service key end-session').waitFor();
    expect(await guest.page.getByText(/service key (list|create|revoke)|[Yy]our terminal can/).count()).to.equal(0);
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
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('The browser did not let this page copy the command.').waitFor();
    expect(asked.join('\n').replaceAll(/\/join#\S*/g, '')).not.to.include(secret);
    expect(server.log.join('\n')).not.to.include(secret);
    await expectAccessible(page);
    await server.dana.ok('revokeInvite', { params: { invite: id } });
    await page.reload();
    await page.getByRole('heading', { name: 'This invite does not work any more' }).waitFor();
    await expectAccessible(page);
    await close();
  });

  it('an invite that is used, taken back, over, unknown or no invite at all says so, and where to go from there', async () => {
    const made = async (body = {}) => server.dana.ok('createInvite', { body });
    const [used, revoked, expired] = [await made(), await made(), await made({ ttl_seconds: 60 })];
    await connect(server, { invite: used.invite, handle: 'nils' });
    await server.dana.ok('revokeInvite', { params: { invite: revoked.id } });
    server.clock.advance(60_000);
    const unknown = `${server.url}/join#abi_${'0'.repeat(43)}`;
    const { page, close } = await visit(server, null, '/');
    for (const link of [used, revoked, expired]
      .map(({ invite }) => invite)
      .concat(unknown, `${server.url}/join#nothing`)) {
      await page.goto('about:blank');
      await page.goto(link);
      await page.getByRole('heading', { name: 'This invite does not work any more' }).waitFor();
      expect(await page.locator('main').innerText()).to.equal(
        [
          'This invite does not work any more',
          'It was used, was taken back, or its time is over. An invite works once.',
          'Ask the person who sent it for a new one, and open the whole link. If it was you who used it, run service open in your terminal to come here signed in, or sign in with your access key.',
        ].join('\n\n'),
      );
    }
    await page.getByRole('link', { name: 'sign in with your access key' }).click();
    await page.getByLabel('Access key').waitFor();
    await close();
  });
});
