/** Who gets a post when, as the command tells its sender: by the rules that the daemon and the server follow. */
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('what a post tells its sender', () => {
  const home = homeWithBoard();

  before(async () => {
    await home().json(['agent', 'create', 'poster']);
    const { token } = await home().json(['agent', 'create', 'reader', '--print-token']);
    const { server } = await home().json(['whoami']);
    const { status } = await fetch(`${server.url}/v1/me/presence`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ presence: 'idle', delivery: 'focused' }),
    });
    expect(status).to.equal(200);
  });

  const say = (...args: string[]) => home().json(['say', ...args, '--as', 'poster']);
  const posted = async (...args: string[]) => {
    const { message, recipients, warnings = [] } = await say(...args);
    const { outcome } = recipients.find(({ name }: { name: string }) => name === 'reader');
    return { seq: message.seq, outcome, warned: warnings.map(({ code }: { code: string }) => code) };
  };
  const told = async (...args: string[]) => {
    const { outcome, warned } = await posted(...args);
    return [outcome, ...warned];
  };
  const quiet = ['next_turn', 'wakes_no_agent'];

  it('is that everyone but those whom it concerns gets it with the next turn', async () => {
    expect(await told('look')).to.deep.equal(quiet);
    expect(await told('look, @reader')).to.deep.equal(['now']);
    expect(await told('look', '--to', '@reader')).to.deep.equal(['now']);
    expect(await told('look?', '--expect-reply')).to.deep.equal(['now']);
  });

  it('is that a name which nobody on the board has is no mention, to a person and in scripts too', async () => {
    const { warnings } = await home().json(['say', 'look, @redaer, @reader, @all and `@code`: @types/node']);
    expect(warnings).to.deep.equal([
      {
        code: 'unknown_mention',
        message: '@redaer, @all are nobody on demo, so no mention.',
        hint: 'service board members shows who is',
      },
    ]);
    const { stderr } = await home().run(['say', 'thanks, @redaer']);
    expect(stderr).to.include('Warning: @redaer is nobody on demo, so no mention.\n');
    const { stderr: long } = await home().run(['say', '@aa @bb @cc @dd @ee @ff @gg']);
    expect(long).to.include('Warning: @aa, @bb, @cc, @dd, @ee and 2 more are nobody on demo, so no mention.\n');
    expect(await told('look at https://host.example/?of=@reader')).to.deep.equal(quiet);
    expect(await told('I am @poster; see user@host.example and @role:none')).to.deep.equal(quiet);
  });

  it('is that an urgent post and a reply wake at once', async () => {
    expect(await told('stop', '--urgent')).to.deep.equal(['now']);
    const asked = await home().json(['say', 'who knows?', '--as', 'reader']);
    expect(await told('I do', '--reply', String(asked.message.seq), '--to', 'all')).to.deep.equal(['now']);
  });

  it('is that a mention too many wakes nobody, unless the post concerns the agent anyway', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `helper-${n}`);
    for (const name of names) await home().json(['agent', 'create', name]);
    const text = `${names.map((name) => `@${name}`).join(' ')} @reader`;
    expect(await told(text)).to.deep.equal(['over_limit']);
    const { stdout } = await home().run(['say', 'look', '--as', 'poster']);
    expect(stdout.split('\n').slice(1, 3)).to.deep.equal([
      '@reader gets it with its next turn.',
      'Each of @helper-0, @helper-1, @helper-2 and 5 more has no session; it finds it in its inbox.',
    ]);
    expect(await told(text, '--to', '@poster')).to.deep.equal(['over_limit']);
    expect(await told(text, '--urgent')).to.deep.equal(['now']);
    expect(await told(text, '--to', '@reader')).to.deep.equal(['now']);
  });

  it('is that an agent which only people wake finds it in its inbox', async () => {
    await home().json(['agent', 'delivery', 'humans', '--as', 'reader']);
    expect(await told('look', '--to', '@reader')).to.deep.equal(['not_woken']);
    expect(await told('look', '--urgent')).to.deep.equal(['not_woken']);
    await home().json(['agent', 'delivery', 'focused', '--as', 'reader']);
  });

  it('is that agents do not wake one whose budget is used up', async () => {
    await home().json(['agent', 'release', 'reader', '--until-tomorrow']);
    expect(await told('stop', '--urgent')).to.deep.equal(['not_woken']);
    await home().json(['agent', 'release', 'reader']);
  });

  it('is that a held post wakes nobody, and why', async () => {
    await home().json(['board', 'policy', '--set', 'agent_run=1/2']);
    const { seq } = await posted('once more');
    const reply = ['--reply', String(seq), '--to', 'all', '--urgent'];
    expect(await told('twice', ...reply)).to.deep.equal(['now']);
    const { warnings, recipients } = await say('too often', ...reply);
    expect(recipients.find(({ name }: { name: string }) => name === 'reader').outcome).to.equal('next_turn');
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ code: 'wakes_no_agent' });
    expect(warnings[0].message).to.not.include('mentions');
    expect(warnings[0].hint).to.match(/^Your person lets it go on: service thread continue \d+ --board \S+$/);
    // The agent acts on the server of its seat; a command of its person would go to another one.
    const env = { SERVICE_SERVER: 'https://team.example.com' };
    const { stdout } = await home().run(['say', 'too often', ...reply, '--as', 'poster'], { env });
    expect(stdout).to.match(
      /until a person writes in this thread or runs: service thread continue \d+ --board \S+ --server local\n/,
    );
    await say('and again', '--reply', String(seq), '--to', '@reader');
    const { message } = await say('and again', '--reply', String(seq), '--to', '@reader');
    const receipts = await home().run(['board', 'receipts', String(message.seq)]);
    expect(receipts.stdout).to.match(/@reader +held: wakes nobody/);
    const goOn = async () => (await home().run(['thread', 'continue', String(seq)])).stdout;
    expect(await goOn())
      .to.include('The first of the held posts go on')
      .and.include(`service thread continue ${seq} `);
    expect(await goOn()).to.include('Agents may go on');
  });
});
