/** Attaching files of this machine: over a network that loses answers, and when the command is repeated, nothing happens twice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';

describe('attaching to a message', function () {
  this.timeout(60_000);
  let at: Hosted;
  let network: LossyNetwork;
  let env: Record<string, string>;
  before(async () => {
    at = await hosted();
    await at.home.json(['board', 'create', 'docs']);
    network = await LossyNetwork.to(at.url);
    env = { SERVICE_TOKEN: at.server.dana.token ?? '', SERVICE_SERVER: network.url, SERVICE_BOARD: 'docs' };
    writeFileSync(join(at.home.work, 'report.md'), 'done\n');
  });
  after(async () => {
    network.close();
    await at.close();
  });

  const counts = async () => {
    const { messages } = await at.home.json(['read', '--board', 'docs', '--limit', '200']);
    const { files } = await at.home.json(['file', 'list', '--board', 'docs']);
    return [messages.length, files.map((file: { latest: { version: number } }) => file.latest.version)];
  };
  const say = (...more: string[]) =>
    at.home.json(['say', 'The report', '--attach', 'report.md=reports/one.md', '--no-notes', ...more], { env });

  it('sends each request again under its own key where the answer was lost', async () => {
    const lost = new Set<string>();
    network.decide = ({ method, path }) => {
      const kind = `${method} ${path.split('?')[0]?.split('/').at(-1)}`;
      if (method !== 'POST' || lost.has(kind)) return 'pass';
      lost.add(kind);
      return 'lose';
    };
    const { message } = await say();
    network.decide = () => 'pass';
    expect([...lost]).to.deep.equal(['POST files', 'POST messages']);
    expect(message.files.map(({ name, version }: { name: string; version: number }) => [name, version])).to.deep.equal([
      ['reports/one.md', 1],
    ]);
    expect(await counts()).to.deep.equal([1, [1]]);
  });

  it('changes nothing when it is run again with the same key, on this machine or on one that knows nothing', async () => {
    writeFileSync(join(at.home.work, 'two.md'), 'done\n');
    const words = ['say', 'Two', '--attach', 'two.md', '--attach', 'report.md=three.md', '--idempotency-key', 'ci-1'];
    const first = await at.home.json([...words, '--no-notes'], { env });
    const before = await counts();
    const again = await at.home.json([...words, '--no-notes'], { env });
    expect([again.message.id, again.replayed]).to.deep.equal([first.message.id, true]);
    const elsewhere = { ...env, SERVICE_STATE_DIR: join(at.home.dir, 'other'), SERVICE_HOME: '' };
    const other = await at.home.json([...words, '--no-notes'], { env: elsewhere });
    expect([other.message.id, other.replayed]).to.deep.equal([first.message.id, true]);
    expect(await counts()).to.deep.equal(before);
  });

  it('puts nothing where what it replies to is not there, and refuses a secret by line and class', async () => {
    const before = await counts();
    const lost = await at.home.run(['say', 'x', '--reply', '999', '--attach', 'report.md=four.md', '--json'], { env });
    expect([lost.code, JSON.parse(lost.stdout).error.code]).to.deep.equal([6, 'message_not_found']);
    const secret = `ghp_${'A1b2'.repeat(9)}`;
    writeFileSync(join(at.home.work, 'secret.md'), `one\ntwo ${secret}\n`);
    const refused = await at.home.run(['say', 'x', '--attach', 'secret.md'], { env });
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('Error (file_has_secret)').and.include('line 2').and.include('github_token');
    expect(refused.stderr + refused.stdout).not.to.include(secret);
    expect(await counts()).to.deep.equal(before);
  });

  it('sends nothing until the server has said that it knows files', async () => {
    const asked: string[] = [];
    network.decide = ({ method, path }) => {
      asked.push(`${method} ${path}`);
      return path === '/v1/info' ? 'cut' : 'pass';
    };
    const result = await at.home.run(['say', 'x', '--attach', 'report.md', '--timeout', '1'], { env });
    network.decide = () => 'pass';
    expect(result.code).to.equal(8);
    expect(asked.filter((line) => !line.endsWith('/v1/info'))).to.deep.equal([]);
  });
});
