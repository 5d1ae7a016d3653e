/** The list of boards as a server admin sees it: private boards of others are there, by their ids alone. */
import { expect } from 'chai';
import { newBoard } from '../support/cast.ts';
import { type Hosted, hosted } from './support/hosted.ts';

describe('service board list, of an admin', () => {
  let host: Hosted;
  const ids: Record<string, string> = {};
  before(async () => {
    host = await hosted();
    const pam = await host.server.person('pam');
    await newBoard(host.server.dana, { name: 'open-one' });
    for (const name of ['secret', 'old-secret']) ids[name] = (await newBoard(pam, { name, visibility: 'private' })).id;
    await pam.ok('archiveBoard', { params: { board: 'old-secret' } });
  });
  after(() => host.close());

  const lines = async (...args: string[]) =>
    (await host.home.run(['board', 'list', ...args])).stdout.trimEnd().split('\n');

  it('says how many are hidden, and how to see them', async () => {
    const all = await lines();
    expect(all[0]).to.match(/ · 1$/);
    expect(all.at(-1)).to.equal('1 hidden: service board list --all');
    expect(all.join('\n')).to.not.include('secret');
  });

  it('shows them with --all, marked, and those of the archive with the archive', async () => {
    const all = await lines('--all');
    expect(all[0]).to.match(/ · 2$/);
    expect(all.at(-1)).to.match(new RegExp(`^${ids['secret']} +private +1 +hidden, made by @pam$`));
    const archived = await lines('--all', '--archived');
    expect(archived.at(-1)).to.match(new RegExp(`^${ids['old-secret']} +private +1 +hidden, made by @pam, archived$`));
    const { hidden_boards: hidden } = await host.home.json(['board', 'list', '--all']);
    expect(hidden.map(({ id }: { id: string }) => id)).to.deep.equal([ids['secret']]);
    expect(await host.home.json(['board', 'list'])).to.not.have.property('hidden_count');
  });
});
