/** Values that are empty, as those of a script with a variable that is not set. */
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('an empty value', () => {
  const home = homeWithBoard();
  const newest = async () => (await home().json(['read', '--limit', '1'])).messages[0]?.seq;

  it('of a flag is refused and nothing is sent, because it would reach others than was meant', async () => {
    const before = await newest();
    const given: [string, string[]][] = [
      ['--to', ['say', '--to', '', 'hi']],
      ['--to', ['say', '-t', '@demo,,', 'hi']],
      ['--to', ['say', '--to= ', 'hi']],
      ['--as', ['say', '--as', '', 'hi']],
      ['--board', ['say', '-b', '', 'hi']],
      ['--server', ['say', '--server', '', 'hi']],
      ['--reply', ['say', '--reply', '', 'hi']],
      ['--from', ['read', '--from', '']],
      ['--title', ['board', 'create', 'other', '--title', '']],
    ];
    for (const [flag, args] of given) {
      const result = await home().run([...args, '--json']);
      const { error } = JSON.parse(result.stdout);
      expect(error.code, args.join(' ')).to.equal('invalid_request');
      expect(error.message, args.join(' ')).to.equal(`${flag} has no value.`);
      expect(result.code, args.join(' ')).to.equal(2);
    }
    expect(await newest()).to.equal(before);
  });

  it('of an argument is refused, and an empty text is named as such', async () => {
    const result = await home().run(['server', 'info', '', '--json']);
    expect(JSON.parse(result.stdout).error.message).to.equal('URL has no value.');
    expect(result.code).to.equal(2);
    expect(JSON.parse((await home().run(['say', '', '--json'])).stdout).error.code).to.equal('body_empty');
  });

  it('of a variable about time counts as not given, and a wrong one is named', async () => {
    expect((await home().run(['board', 'list'], { env: { SERVICE_TIMEOUT: '', SERVICE_TIME: '' } })).code).to.equal(0);
    const wrong = await home().run(['board', 'list'], { env: { SERVICE_TIMEOUT: '30s' } });
    expect(wrong.stderr).to.include('SERVICE_TIMEOUT takes seconds, but got "30s".');
    const typed = await home().run(['board', 'list', '--timeout', '30s'], { env: { SERVICE_TIMEOUT: '9' } });
    expect(typed.stderr).to.include('--timeout takes seconds, but got "30s".');
  });

  it('is taken where it says something: code of no language, a variable that is set to nothing', async () => {
    const env = { SERVICE_AGENT: '', SERVICE_BOARD: '', SERVICE_SERVER: '' };
    const { message } = await home().json(['say', '--code=', 'x = 1'], { env });
    expect(message.body).to.equal('```\nx = 1\n```');
  });
});
