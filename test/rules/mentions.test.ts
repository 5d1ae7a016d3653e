import { expect } from 'chai';
import fc from 'fast-check';
import { findMentions, maskCodeAndLinks } from '../../src/contract/mentions.ts';
import { mentionsIn } from '../../src/contract/waking.ts';
import { type MentionContext, resolveMentions } from '../../src/server/messages/mentions.rules.ts';

const texts = (body: string): string[] => findMentions(body).map(({ text }) => text);

describe('mentions', () => {
  describe('form (M3)', () => {
    it('is the same to who writes a message, as targets of a post', () => {
      const body = '@writer `@code` https://h/?to=@link,@link ``@a` @role:reviewer @writer-';
      expect(mentionsIn(body)).to.deep.equal(['@writer', '@a', 'role:reviewer', '@writer-']);
    });

    it('reads names and roles in order of appearance, repetitions included', () => {
      expect(findMentions('@writer, ask @role:reviewer and @writer.')).to.deep.equal([
        { form: 'name', name: 'writer', text: '@writer' },
        { form: 'role', name: 'reviewer', text: '@role:reviewer' },
        { form: 'name', name: 'writer', text: '@writer' },
      ]);
    });

    const mentions: [string, string[]][] = [
      ['@codex', ['@codex']],
      ['@7', ['@7']],
      ['@codex-2!', ['@codex-2']],
      ['@codex-', ['@codex-']],
      ['@codex_x', ['@codex']],
      ['@codex.', ['@codex']],
      ['@codex👀', ['@codex']],
      ['@Codex', []],
      ['@codeX', []],
      ['@codexé', []],
      ['@codex\u{1d4d0}', []],
      ['@-codex', []],
      ['@', []],
      ['@ codex', []],
      [`@${'a'.repeat(40)}`, [`@${'a'.repeat(40)}`]],
      [`@${'a'.repeat(41)}`, []],
      [`@role:${'a'.repeat(32)}`, [`@role:${'a'.repeat(32)}`]],
      [`@role:${'a'.repeat(33)}`, []],
      ['@role:revieweR', []],
      ['@role:reviewer-1:', ['@role:reviewer-1']],
      ['@role', ['@role']],
      ['@role:', ['@role']],
      ['@role:7', ['@role']],
      ['@role:Reviewer', ['@role']],
      ['@all @here', ['@all', '@here']],
    ];
    for (const [body, expected] of mentions) {
      it(`reads ${JSON.stringify(body.slice(0, 30))} as ${expected.length === 0 ? 'no mention' : 'a mention'}`, () => {
        expect(texts(body)).to.deep.equal(expected);
      });
    }
  });

  describe('word start (M4)', () => {
    for (const before of ['a', 'Z', '7', 'é', '\u{1d4d0}', '_', '.', '-', '@', '/', '\\']) {
      it(`is not given after ${JSON.stringify(before)}`, () => {
        expect(texts(`x ${before}@codex`)).to.deep.equal([]);
      });
    }
    for (const before of ['', ' ', '\n', '(', '"', ',', ':', '*', '👀', '>', '`']) {
      it(`is given after ${JSON.stringify(before)}`, () => {
        expect(texts(`${before}@codex`)).to.deep.equal(['@codex']);
      });
    }
  });

  describe('code (M1)', () => {
    const cases: [string, string, string[]][] = [
      ['a code span', '`@a` @b', ['@b']],
      ['a code span over lines', '`@a\n\n@b` @c', ['@c']],
      ['a code span of two backticks', '``@a ` @b`` @c', ['@c']],
      ['a run without a partner', '` @a `` @b', ['@a', '@b']],
      ['what stands between a run without a partner and a span', '``` @a `@b` @c', ['@a', '@c']],
      ['a mention right after a code span', '`x`@a', ['@a']],
      ['a mention right before a code span', '@a`x`', ['@a']],
      ['a fence', '@a\n```\n@b\n```\n@c', ['@a', '@c']],
      ['a fence of tildes', '~~~ @a `x`\n@b\n~~~\n@c', ['@c']],
      ['a fence with CRLF', '```ts\r\n@a\r\n```\r\n@b', ['@b']],
      ['a fence with a language', '```ts @a\n@b\n```  \t\n@c', ['@c']],
      ['an indented fence', '   ```\n@a\n   ```\n@b', ['@b']],
      ['a fence ended by a longer one', '```\n@a\n`````\n@b', ['@b']],
      ['a fence ended at the end of the text', '@a\n```\n@b\n``', ['@a']],
      ['a fence not ended by a shorter one', '````\n@a\n```\n@b\n````\n@c', ['@c']],
      ['a fence not ended by the other character', '```\n@a\n~~~\n@b\n```\n@c', ['@c']],
      ['a fence not ended by a line with more on it', '```\n@a\n``` x\n@b\n```\n@c', ['@c']],
      ['a line indented too far for a fence', '    ```\n@a\n', ['@a']],
      ['a line of backticks with another backtick', '```x`y\n@a', ['@a']],
      ['two backticks, which are no fence', '``\n@a', ['@a']],
      ['a run before a fence, which pairs with none after it', '` @a\n```\nx\n```\n@b `', ['@a', '@b']],
    ];
    for (const [name, body, expected] of cases) {
      it(`is skipped, and nothing else: ${name}`, () => {
        expect(texts(body)).to.deep.equal(expected);
      });
    }
  });

  describe('links (M2)', () => {
    // The bracket, because an `@` right after a slash is no mention anyway.
    const cases: [string, string, string[]][] = [
      ['to the next white space', 'https://h/(@a),@b @c', ['@c']],
      ['to a white space beyond ASCII', 'https://h/(@a\u2003@b', ['@b']],
      ['of any scheme', 'svn+ssh://h:(@a', []],
      ['inside a word', 'see:git://h,(@a', []],
      ['without a scheme that starts with a letter', '1://(@a', ['@a']],
      ['without any scheme', '://(@a', ['@a']],
      ['written as code', '`https://h/`,@a', ['@a']],
      ['that a code span belongs to', 'https://h/`x`,@a @b', ['@b']],
    ];
    for (const [name, body, expected] of cases) {
      it(`are skipped: ${name}`, () => {
        expect(texts(body)).to.deep.equal(expected);
      });
    }

    it('leave an address alone, which is no mention', () => {
      expect(texts('mail a@b.c or x.@y')).to.deep.equal([]);
    });
  });

  it('mask code and links by spaces of the same length', () => {
    const body = 'a `b` c\n```\nd\n```\ne https://f g';
    expect(maskCodeAndLinks(body)).to.equal(`a     c\n${' '.repeat(10)}e           g`);
  });

  it('keep every place when code and links are masked, whatever the text', () => {
    const piece = fc.constantFrom(
      '`',
      '``',
      '```',
      '~~~',
      '\n',
      '\r\n',
      ' ',
      'a',
      '@a',
      'h://',
      '://',
      '\u{1f389}',
      '    ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const masked = maskCodeAndLinks(text);
        expect(masked).to.have.length(text.length);
        for (let at = 0; at < text.length; at++) expect(masked[at]).to.be.oneOf([text[at], ' ']);
        for (const { text: found } of findMentions(text)) expect(text).to.include(found);
      }),
    );
  });

  for (const unit of [
    '@',
    '@a',
    '@role:',
    '`',
    '` ``',
    '``` ~~~\n',
    'a',
    'a://',
    '://',
    'a.',
    '~',
    `@${'a'.repeat(100)}`,
  ]) {
    it(`are found in hostile text in proportion to its length: ${unit.slice(0, 12)}`, () => {
      const small = unit.repeat(Math.ceil(16_384 / unit.length));
      const large = unit.repeat(Math.ceil(131_072 / unit.length));
      expect(cost(large)).to.be.lessThan(40 * Math.max(cost(small), 2));
    });
  }

  describe('targets and waking (M5)', () => {
    const agents = Array.from({ length: 12 }, (_, index) => ({ id: `mem_${index}`, name: `a${index}` }));
    const context = (changes: Partial<MentionContext> = {}): MentionContext => ({
      senderId: 'mem_sender',
      members: (name) => {
        if (name === 'sender') return { id: 'mem_sender', kind: 'agent', name };
        if (name === 'dana') return { id: 'mem_dana', kind: 'human', name };
        const agent = agents.find((candidate) => candidate.name === name);
        return agent && { ...agent, kind: 'agent' };
      },
      roleAgents: (role) => (role === 'crew' ? agents : role === 'nobody' ? [] : undefined),
      mayRead: () => true,
      ...changes,
    });
    const resolve = (body: string, changes?: Partial<MentionContext>) =>
      resolveMentions(findMentions(body), context(changes));

    it('name each member once, by the first form that named it', () => {
      expect(resolve('@a1 then @dana, @role:crew, @a1 and @dana').map(({ name, text }) => [name, text])).to.deep.equal([
        ['a1', '@a1'],
        ['dana', '@dana'],
        ...agents.filter(({ name }) => name !== 'a1').map(({ name }) => [name, '@role:crew']),
      ]);
    });

    it('stay text where nobody is meant, and never name the sender', () => {
      expect(resolve('@nobody @role:nobody @role:unknown @all @here @sender')).to.deep.equal([]);
      expect(resolve('@role:crew', { senderId: 'mem_0' })[0]?.name).to.equal('a1');
    });

    it('wake the first eight agents that may read the message', () => {
      const mentions = resolve('@dana @role:crew', { mayRead: (id) => id !== 'mem_2' && id !== 'mem_11' });
      expect(mentions[0]).to.deep.equal({
        id: 'mem_dana',
        kind: 'human',
        name: 'dana',
        text: '@dana',
        wakes: false,
        reason: null,
      });
      const woken = mentions.filter(({ wakes }) => wakes).map(({ name }) => name);
      expect(woken).to.deep.equal(['a0', 'a1', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8']);
      const reasons = Object.fromEntries(mentions.slice(1).map(({ name, reason }) => [name, reason]));
      expect([reasons['a0'], reasons['a2'], reasons['a9'], reasons['a10'], reasons['a11']]).to.deep.equal([
        null,
        'cannot_read',
        'limit',
        'limit',
        'cannot_read',
      ]);
    });

    it('do not call a person unable to read', () => {
      expect(resolve('@dana', { mayRead: () => false })[0]?.reason).to.equal(null);
    });
  });
});

/** Milliseconds of processor time for one search, the best of three. */
function cost(text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    findMentions(`@b ${text}`);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}
