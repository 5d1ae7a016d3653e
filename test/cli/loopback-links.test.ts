/** Links and codes of a server that only this machine reaches: whoever passes one on is told so. */
import { expect } from 'chai';
import { Output } from '../../src/cli/output.ts';
import { warnOfLoopback } from '../../src/commands/invite/lib/invite.ts';
import { type Hosted, hosted } from './support/hosted.ts';

describe('what is to be passed on, at a server on loopback', () => {
  let host: Hosted;
  before(async () => {
    host = await hosted();
    await host.home.json(['board', 'create', 'payments']);
  });
  after(() => host.close());

  for (const [command, secret] of [
    [['invite', 'create'], '/join#abi_'],
    [['code', 'guest', 'zoe', '--board', 'payments'], 'Join service board'],
  ] as const)
    it(`comes with a warning: ${command.slice(0, 2).join(' ')}`, async () => {
      const { stdout, stderr, code } = await host.home.run([...command]);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include(secret);
      expect(stderr).to.equal(
        `Warning: It works on this machine only: the server listens at ${host.url}, which no other machine reaches.\n` +
          'Hint: For people elsewhere start a server with a public address: service serve --team --public-url https://HOST\n',
      );
      const again = command[0] === 'code' ? ['code', 'guest', 'zed', '--board', 'payments'] : [...command];
      const { warnings } = await host.home.json(again);
      expect(warnings.map((warning: { code: string }) => warning.code)).to.deep.equal(['loopback_only']);
    });

  it('is shown alone with --quiet', async () => {
    for (const [args, secret] of [
      [['invite', 'create'], /^http\S+\/join#abi_\S+\n$/],
      [['code', 'create', 'payments'], /^Join service board payments [^\n]*\n$/],
      [['code', 'guest', 'quiet', '--board', 'payments'], /^Join service board payments [^\n]*\n$/],
      [['key', 'create', 'ci'], /^abh_\S+\n$/],
      [['agent', 'create', 'ci', '--board', 'payments', '--print-token'], /^aba_\S+\n$/],
      [['pair', 'writer-reviewer', '--new'], /^Join service board \S+ [^\n]*\n$/],
    ] as const) {
      const { code, stdout, stderr } = await host.home.run([...args, '-q']);
      expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
      expect(stdout).to.match(secret);
    }
    const { key } = JSON.parse((await host.home.run(['key', 'create', 'ci-2', '-q', '--json'])).stdout);
    expect(key.token).to.match(/^abh_/);
    const line = await host.home.run(['code', 'create', 'payments', '--jq', '.code.join_line']);
    expect(line.stdout).to.match(/^Join service board payments /);
    const link = await host.home.run(['invite', 'create', '--jq', '.invite.invite']);
    expect(link.stdout).to.match(/^http\S+\/join#abi_\S+\n$/);
  });

  it('comes without one where others reach the server', () => {
    const warned = (url: string | undefined) => {
      const out = new Output('json', false);
      warnOfLoopback(out, url);
      return out.base.warnings?.length ?? 0;
    };
    expect(['https://team.example.com/join#x', 'https://127.example.com', undefined].map(warned)).to.deep.equal([
      0, 0, 0,
    ]);
    expect(['http://127.0.0.1:7400', 'http://localhost:1/join#x', 'http://[::1]:7400'].map(warned)).to.deep.equal([
      1, 1, 1,
    ]);
  });
});
