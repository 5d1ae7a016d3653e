/** A key for a machine on which nobody is signed in, by a short code approved on one where somebody is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { collect, finished, Home, until } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';

describe('a headless machine', () => {
  it('gets a key by a code from the home of a server, and both have a working status', async () => {
    const [desk, box] = [new Home(), new Home()];
    try {
      const { url } = (await desk.json(['board', 'create', 'demo'])).server;
      const { name } = (await desk.json(['whoami'])).me;
      const { code } = await box.json(['machine', 'request', url, '--handle', name, '--label', 'box', '--detach']);
      await desk.json(['machine', 'approve', code, '--yes']);
      await box.json(['machine', 'collect']);
      for (const home of [desk, box]) {
        const status = await home.json(['status']);
        expect([status.server_running, status.board, status.problem]).to.deep.equal([true, 'demo', null]);
      }
    } finally {
      await box.close();
      await desk.close();
    }
  });
});

describe('a machine without a key', () => {
  let desk: Home;
  let box: Home;
  let url: string;
  let handle: string;
  let at: Hosted;
  before(async () => {
    at = await hosted();
    ({ url, home: desk } = at);
    await desk.json(['board', 'create', 'demo']);
    handle = (await desk.json(['whoami'])).me.name;
  });
  after(() => at.close());
  beforeEach(() => {
    box = new Home();
  });
  afterEach(() => box.close());

  const errorOf = (result: { stdout: string }) => JSON.parse(result.stdout).error as { code: string; hint: string };
  const saved = () => JSON.parse(readFileSync(box.path('config', 'credentials.json'), 'utf8')).servers;
  const detached = async (...flags: string[]): Promise<string> =>
    (await box.json(['machine', 'request', url, '--handle', handle, '--detach', ...flags])).code;
  /** Starts a request that waits; answers its code. */
  async function waiting(args: string[]) {
    const child = box.start(args);
    const printed = collect(child);
    const code = () => /machine approve ([0-9A-Z]{3}-[0-9A-Z]{3}) --server/.exec(printed().stderr)?.[1] ?? '';
    await until('the code is shown', () => code() !== '');
    return { child, code: code(), printed };
  }

  it('gets one by a code that is approved on a signed-in machine', async () => {
    const { child, code, printed } = await waiting([
      'machine',
      'request',
      url,
      '--handle',
      handle,
      '--label',
      'build-box',
    ]);
    expect(printed().stderr).to.include(
      `On a machine where ${handle} is signed in:  service machine approve ${code} --server ${url}`,
    );
    expect(printed().stderr).to.include('Waiting for approval, 5 minutes left…');
    const shown = await desk.run(['machine', 'show', code.toLowerCase()]);
    expect(shown.stdout).to.match(
      new RegExp(
        `^"build-box" \\(its own claim\\) asked from 127\\.0\\.0\\.1, \\d+ seconds? ago, for a key of yours on ${url}\\.\\n$`,
      ),
    );
    const unasked = await desk.run(['machine', 'approve', code, '--json']);
    expect([unasked.code, errorOf(unasked).code]).to.deep.equal([2, 'confirmation_required']);
    const approved = await desk.run(['machine', 'approve', code, '--yes']);
    expect(approved.stdout).to.equal('Approved; "build-box" collects its own key now.\n');
    const result = { ...(await finished(child)), ...printed() };
    expect(result.code, result.stderr).to.equal(0);
    expect(result.stdout).to.equal(
      `Joined ${url} as ${handle} (admin). Key "build-box".\nNext: service read --board demo\n`,
    );
    expect(result.stderr).to.include(`Saved in ${box.path('config', 'credentials.json')} (mode 0600)`);
    for (const home of [desk, box]) {
      const status = await home.run(['status']);
      expect(status.code).to.equal(0);
      expect(status.stdout)
        .to.match(/^Board +demo/m)
        .and.not.include('Problem');
    }
    expect((await box.json(['servers', 'list'])).default).to.equal(url);
  });

  it('fetches it later where the request was detached, and only once', async () => {
    const code = await detached();
    expect(saved()[url].pending).to.include({ kind: 'machine', code });
    expect((await box.run(['servers', 'list'])).stdout).not.to.include(url);
    await desk.json(['machine', 'approve', code, '--yes']);
    const record = await box.json(['machine', 'collect']);
    expect(record).to.include({ stored: 'file', default: true });
    expect(record.key).to.include({ origin: 'machine' }).and.not.have.property('token');
    expect(saved()[url]).not.to.have.property('pending');
    const again = await box.run(['machine', 'collect', url, '--json']);
    expect([again.code, errorOf(again).code]).to.deep.equal([6, 'machine_request_invalid']);
    const more = await box.run(['machine', 'request', url, '--handle', handle, '--json']);
    expect(errorOf(more).code).to.equal('already_connected');
  });

  it('gets another key of the same person, without their handle, once its own has ended', async () => {
    await desk.json(['machine', 'approve', await detached(), '--yes']);
    const { key } = await box.json(['machine', 'collect']);
    await box.json(['agent', 'create', 'codex', '--board', 'demo']);
    await desk.json(['key', 'revoke', key.id]);
    const path = box.path('config', 'credentials.json');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, before.replaceAll(saved()[url].server_id, 'srv_01K5A0000000000000000000P2'));
    const stranger = await box.run(['machine', 'request', url, '--verbose', '--json']);
    expect(errorOf(stranger).code).to.equal('server_identity_changed');
    expect(stranger.stderr).to.include('GET ').and.not.include('/me ');
    writeFileSync(path, before);
    const { code } = await box.json(['machine', 'request', url, '--detach']);
    expect((await box.run(['whoami', '--json'])).code).to.equal(4);
    await desk.json(['machine', 'approve', code, '--yes']);
    await box.json(['machine', 'collect']);
    expect((await box.json(['whoami'])).me.name).to.equal(handle);
    expect(Object.keys(saved()[url].seats)).to.have.length(1);
  });

  it('asks by the handle that its person got elsewhere, once its own key has ended', async () => {
    await desk.json(['machine', 'approve', await detached(), '--yes']);
    const { key } = await box.json(['machine', 'collect']);
    await box.json(['agent', 'create', 'fixer', '--board', 'demo']);
    const before = handle;
    handle = `${before}-2`;
    await desk.json(['people', 'rename', 'me', handle, '--yes']);
    const early = await box.run(['machine', 'request', url, '--handle', handle, '--json']);
    expect(errorOf(early).code).to.equal('already_connected');
    await desk.json(['key', 'revoke', key.id]);
    const asked = await box.run(['machine', 'request', url, '--detach']);
    expect(asked.stderr).to.equal(`Asks as ${before}, as this machine knows you; by another handle: --handle HANDLE\n`);
    const code = await detached();
    await desk.json(['machine', 'approve', code, '--yes']);
    await box.json(['machine', 'collect']);
    expect((await box.json(['whoami'])).me.name).to.equal(handle);
    expect(saved()[url].person.handle).to.equal(handle);
    expect(Object.keys(saved()[url].seats)).to.have.length(1);
  });

  it('is told that it was refused, and keeps nothing', async () => {
    const { child, code, printed } = await waiting(['connect', url, '--handle', handle]);
    expect((await desk.run(['machine', 'refuse', code])).stdout).to.equal('Refused; that machine gets no key.\n');
    await finished(child);
    expect(child.exitCode).to.equal(5);
    expect(printed().stderr).to.include('Error (machine_request_refused)');
    expect(saved()).to.deep.equal({});
    expect((await desk.run(['machine', 'approve', code, '--yes'])).code).to.equal(6);
  });

  it('goes on after it was interrupted', async () => {
    for (const [command, signal, exit] of [
      ['connect', 'SIGTERM', 143],
      ['machine request', 'SIGINT', 130],
    ] as const) {
      const { child, code } = await waiting([...command.split(' '), url, '--handle', handle]);
      child.kill(signal);
      expect((await finished(child)).code).to.equal(exit);
      if (signal === 'SIGINT') await desk.json(['machine', 'approve', code, '--yes']);
    }
    expect((await box.json(['machine', 'collect'])).person.handle).to.equal(handle);
  });

  it('says so when the answer with its key was lost', async () => {
    const network = await LossyNetwork.to(url);
    network.decide = ({ path }) => (path.endsWith('/collect') ? 'lose' : 'pass');
    const args = ['machine', 'request', network.url, '--handle', handle, '--label', 'lost-box'];
    const { child, code, printed } = await waiting(args);
    await until('it asks', () => network.seen.some(({ path }) => path.endsWith('/collect')));
    await desk.json(['machine', 'approve', code, '--yes']);
    await until('it asks again', () => network.seen.filter(({ path }) => path.endsWith('/collect')).length > 1);
    network.decide = () => 'pass';
    await finished(child);
    expect(child.exitCode, printed().stderr).to.equal(8);
    const { stderr } = printed();
    for (const word of ['Error (outcome_unknown)', '"lost-box"', 'service key list']) expect(stderr).to.include(word);
    expect(saved()).to.deep.equal({});
    network.close();
  });

  it('asks on when an answer was lost before the decision', async () => {
    const network = await LossyNetwork.to(url);
    let asked = 0;
    network.decide = ({ path }) => (path.endsWith('/collect') && ++asked === 1 ? 'cut' : 'pass');
    const { child, code } = await waiting(['machine', 'request', network.url, '--handle', handle]);
    await until('it asks again', () => asked > 1);
    await desk.json(['machine', 'approve', code, '--yes']);
    await finished(child);
    expect(child.exitCode).to.equal(0);
    expect((await box.run(['whoami'])).code).to.equal(0);
    network.close();
  });

  it('asks for a handle where nobody can be asked', async () => {
    const result = await box.run(['machine', 'request', url, '--json']);
    expect([result.code, errorOf(result).hint]).to.deep.equal([2, '--handle NAME']);
    const none = await box.run(['machine', 'collect', '--json']);
    expect([none.code, errorOf(none).code]).to.deep.equal([6, 'machine_request_invalid']);
    const path = await box.run(['machine', 'request', `${url}/join`, '--handle', handle, '--json']);
    expect(path.code).to.equal(2);
  });
});
