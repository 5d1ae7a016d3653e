/** Attaching files of this machine: over a network that loses answers, and when the command is repeated, nothing happens twice. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';

describe('attaching to a message', () => {
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

  it('says that it may have been done where every answer was lost, and not to just run it again', async () => {
    const [before] = await counts();
    network.decide = ({ method }) => (method === 'POST' ? 'lose' : 'pass');
    const { code, stderr } = await at.home.run(['say', 'Posted all the same', '--timeout', '2'], { env });
    const read = await at.home.run(['read', '--timeout', '2'], {
      env: { ...env, SERVICE_SERVER: 'http://127.0.0.1:9' },
    });
    const marked = await at.home.run(['read', '--mark-read', '--timeout', '2'], { env });
    network.decide = () => 'pass';
    expect([marked.code, marked.stderr.includes('--idempotency-key')], marked.stderr).to.deep.equal([8, false]);
    expect(code).to.equal(8);
    expect(stderr).to.include('Hint: It may have been done: look at what is there before you run it again.');
    expect(read.stderr).not.to.include('may have been done');
    expect((await counts())[0]).to.equal(before + 1);
  });

  it('says that it may have been posted where the file was put and the answer to the post was lost', async () => {
    network.decide = ({ method, path }) => (method === 'POST' && path.includes('/messages') ? 'lose' : 'pass');
    const words = ['say', 'Perhaps', '--attach', 'report.md=perhaps.md', '--timeout', '2'];
    const { stderr } = await at.home.run(words, { env });
    network.decide = () => 'pass';
    expect(stderr).to.include(
      'It may have been posted; perhaps.md v1 is on the board already.\nHint: It may have been',
    );
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

  it('says which files are on the board where a later one is refused', async () => {
    writeFileSync(join(at.home.work, 'good.md'), 'good\n');
    writeFileSync(join(at.home.work, 'bad.md'), `token: ghp_${'A1b2'.repeat(9)}\n`);
    const args = ['say', 'Both', '--attach', 'good.md', '--attach', 'bad.md', '--json'];
    const refused = await at.home.run(args, { env });
    const { error } = JSON.parse(refused.stdout);
    expect(error.code).to.equal('file_has_secret');
    expect(error.message).to.match(/ Nothing was posted; good\.md v1 is on the board already\.$/);
    expect(error.details.put).to.deep.equal(['good.md v1']);
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

  it('takes a file of the board by the path here that it was put from too', async () => {
    const home = at.home;
    mkdirSync(join(home.work, 'lib'));
    writeFileSync(join(home.work, 'lib', 'plan.md'), 'a plan\n');
    expect((await home.run(['file', 'put', 'lib/plan.md', '--board', 'docs'])).stdout).to.equal(
      'Saved plan.md v1 on docs\n',
    );
    writeFileSync(join(home.work, 'new.md'), 'new\n');
    const attached = async (name: string) => {
      const { message } = await home.json(['say', 'See', '--file', name, '--board', 'docs', '--no-notes']);
      return message.files.map((file: { name: string }) => file.name);
    };
    expect(await attached('lib/plan.md')).to.deep.equal(['plan.md']);
    expect(await attached('lib/plan.md@1')).to.deep.equal(['plan.md']);
    const asked = ['ask', 'Good?', 'Yes', 'No', '--file', 'lib/plan.md'];
    const { token } = await home.json(['agent', 'create', 'planner', '--board', 'docs', '--print-token']);
    const seat = { SERVICE_TOKEN: token, SERVICE_SERVER: at.url };
    const refused = await home.run(asked, { env: seat });
    expect(refused.stderr, 'who did not put it').to.include('Hint: Did you mean: plan.md\n');
    await home.json(['file', 'put', 'lib/plan.md', '--name', 'agent.md'], { env: seat });
    expect((await home.json(asked, { env: seat })).message.files[0].name).to.equal('agent.md');
    await home.json(['file', 'put', 'lib/plan.md', '--name', 'lib/plan.md', '--board', 'docs']);
    expect(await attached('lib/plan.md'), 'what is there under that path').to.deep.equal(['lib/plan.md']);
    for (const [words, hint] of [
      [['file', 'show', 'lib/agent.md'], 'Did you mean: agent.md'],
      [['file', 'get', 'agnet.md'], 'Did you mean: agent.md'],
      [['say', 'See', '--file', 'new.md'], 'To put it there first: service file put new.md --board docs'],
      [['say', 'See', '--file', 'nowhere.md'], 'service file list --board docs shows what there is.'],
    ] as const)
      expect((await home.run([...words, '--board', 'docs'])).stderr).to.include(`Hint: ${hint}\n`);
  });
});
