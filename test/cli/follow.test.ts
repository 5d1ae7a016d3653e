/** Messages as they are posted, over a restart of the server too. */
import { expect } from 'chai';
import { collect, finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('following a board', function () {
  this.timeout(60_000);
  const home = homeWithBoard();
  const bodies = (text: string) =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map((record) => (record.message ?? record).body as string);

  it('shows each message once and in order, also those posted while the server was away', async () => {
    await home().json(['say', 'before']);
    const child = home().start(['read', '--follow', '--json']);
    const printed = collect(child);
    await until('what was there is shown', () => printed().stdout.includes('before'));
    await home().json(['say', 'live']);
    await until('a new message is shown', () => printed().stdout.includes('live'));
    await home().run(['server', 'restart']);
    for (const body of ['missed 1', 'missed 2', 'missed 3']) await home().json(['say', body]);
    await until('the missed ones are shown', () => printed().stdout.includes('missed 3'), 40_000);
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    expect(bodies(printed().stdout)).to.deep.equal(['before', 'live', 'missed 1', 'missed 2', 'missed 3']);
  });

  it('works for an agent, and for only one sender', async () => {
    await home().json(['agent', 'create', 'codex']);
    const child = home().start(['watch', '--as', 'codex', '--from', 'codex', '--limit', '0', '--json', '--verbose']);
    const printed = collect(child);
    await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
    await home().json(['say', 'of the person']);
    await home().json(['say', '--as', 'codex', '--no-notes', 'of the agent']);
    await until('it is shown', () => printed().stdout.includes('of the agent'));
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
    expect(bodies(printed().stdout)).to.deep.equal(['of the agent']);
  });

  it('waits for a reply', async () => {
    const child = home().start(['say', 'a question', '--wait-reply', '30', '--json', '--verbose']);
    const printed = collect(child);
    await until('the question is posted', () => printed().stderr.includes('POST'));
    const { messages } = await home().json(['read', '--limit', '1']);
    await home().json(['say', '--as', 'codex', '--no-notes', '--reply', String(messages[0].seq), 'an answer']);
    const { stdout, code } = await finished(child).then(({ code }) => ({ code, ...printed() }));
    const record = JSON.parse(stdout);
    expect(code).to.equal(0);
    expect(record.outcome).to.equal('reply');
    expect(record.reply.body).to.equal('an answer');
    const late = await home().json(['say', 'nobody answers', '--wait-reply', '1']);
    expect(late).to.include({ outcome: 'timeout', timed_out: true });
  });
});
