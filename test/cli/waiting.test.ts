/** Waits that run out, and one that somebody ends. */
import { expect } from 'chai';
import { collect, finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('a wait that runs out', function () {
  this.timeout(60_000);
  const home = homeWithBoard();
  let seq: string;
  before(async () => {
    seq = String((await home().json(['say', 'anybody there?'])).message.seq);
  });

  it('is no error, and is an exit code of 3 where that was asked for', async () => {
    for (const [extra, code] of [
      [[], 0],
      [['--fail-timeout'], 3],
    ] as const) {
      const thread = await home().run(['board', 'thread', seq, '--wait', '0', '--json', ...extra]);
      expect(thread.code).to.equal(code);
      expect(JSON.parse(thread.stdout).timed_out).to.equal(true);
      const said = await home().run(['say', 'and now?', '--wait-reply', '0', '--json', ...extra]);
      expect(said.code).to.equal(code);
      expect(JSON.parse(said.stdout)).to.include({ outcome: 'timeout', timed_out: true });
    }
  });

  it('fails nothing when a reply came in time', async () => {
    await home().json(['agent', 'create', 'codex']);
    await home().json(['say', '--as', 'codex', '--reply', seq, 'I am']);
    const thread = await home().run(['board', 'thread', seq, '--wait', '5', '--fail-timeout', '--json']);
    expect(thread.code).to.equal(0);
    expect(JSON.parse(thread.stdout).replies).to.have.length(1);
  });
});

describe('a wait for an answer', function () {
  this.timeout(60_000);
  const home = homeWithBoard();
  before(() => home().json(['agent', 'create', 'codex']));

  for (const [words, posted] of [
    [['say', '--to', '@codex', 'Deploy?', '--wait-reply', '60'], /^Posted #\d+ to @codex on demo\n$/],
    [['ask', '@codex', 'Which?', 'This', 'That', '--wait', '60'], /^Ask #\d+ sent to @codex on demo\n$/],
  ] as const)
    it(`of ${words[0]} says before it begins what was posted, which who ends it would post again`, async () => {
      const child = home().start([...words]);
      const printed = collect(child);
      await until('it is told', () => posted.test(printed().stdout));
      child.kill('SIGINT');
      const { code } = await finished(child);
      expect(code).to.equal(130);
      expect(printed().stdout).to.match(posted);
    });
});
