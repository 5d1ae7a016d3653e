import { expect } from 'chai';
import fc from 'fast-check';
import { findSecrets, redact } from '../../src/server/text/redaction.ts';

/** `length` letters and digits that look random and are the same in every run. */
function characters(
  length: number,
  alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
): string {
  let text = '';
  for (let state = length + 7; text.length < length; state = (state * 48_271) % 2_147_483_647) {
    text += alphabet[state % alphabet.length];
  }
  return text;
}
const hex = (length: number) => characters(length, '0123456789abcdef');
const upper = (length: number) => characters(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
const bech32 = (length: number) => characters(length, '023456789ACDEFGHJKLMNPQRSTUVWXYZ');

const pem = (label: string) => `-----BEGIN ${label}-----\n${characters(64)}\n${characters(40)}\n-----END ${label}-----`;

interface Sample {
  kind: string;
  secret: string;
  /** Stands around the secret and stays. */
  before?: string;
  after?: string;
  inFiles?: boolean;
}

// Put together from parts, so that no scanner takes this file for a leak.
const samples: Sample[] = [
  { kind: 'private_key', secret: pem('PRIVATE KEY'), inFiles: true },
  { kind: 'private_key', secret: pem('RSA PRIVATE KEY'), inFiles: true },
  { kind: 'private_key', secret: pem('OPENSSH PRIVATE KEY'), inFiles: true },
  { kind: 'private_key', secret: pem('PGP PRIVATE KEY BLOCK'), inFiles: true },
  ...['aba', 'abb', 'abc', 'abd', 'abh', 'abi', 'abl', 'abp'].map((prefix) => ({
    kind: 'service_token',
    secret: `${prefix}_${characters(32)}`,
    inFiles: true,
  })),
  { kind: 'api_key', secret: `sk-${characters(48)}1`, inFiles: true },
  { kind: 'api_key', secret: `sk-proj-${characters(20)}_-7`, inFiles: true },
  { kind: 'api_key', secret: `sk_live_${characters(24)}`, inFiles: true },
  { kind: 'api_key', secret: `rk_test_${characters(16)}`, inFiles: true },
  { kind: 'api_key', secret: `whsec_${characters(24)}`, inFiles: true },
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((prefix) => ({
    kind: 'github_token',
    secret: `${prefix}_${characters(36)}`,
    inFiles: true,
  })),
  { kind: 'github_token', secret: `github_pat_${characters(22)}_${characters(59)}`, inFiles: true },
  { kind: 'aws_access_key', secret: `AKIA${upper(16)}`, inFiles: true },
  { kind: 'aws_access_key', secret: `ASIA${upper(16)}`, inFiles: true },
  { kind: 'google_api_key', secret: `AIza${characters(35)}`, inFiles: true },
  { kind: 'slack_token', secret: `xoxb-${characters(12)}-${characters(24)}`, inFiles: true },
  { kind: 'slack_token', secret: `xapp-1-${characters(20)}`, inFiles: true },
  { kind: 'npm_token', secret: `npm_${characters(36)}`, inFiles: true },
  ...['glpat', 'gldt', 'glptt', 'glrt', 'glcbt', 'glsoat', 'glft'].map((prefix) => ({
    kind: 'gitlab_token',
    secret: `${prefix}-${characters(20)}`,
    inFiles: true,
  })),
  { kind: 'aws_secret_key', before: 'aws_secret_access_key = ', secret: characters(40), inFiles: true },
  { kind: 'aws_secret_key', before: '"AWS_SECRET_ACCESS_KEY": "', secret: characters(40), after: '"', inFiles: true },
  { kind: 'google_oauth_secret', secret: `GOCSPX-${characters(28)}`, inFiles: true },
  {
    kind: 'slack_webhook',
    secret: `https://hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${characters(24)}`,
    inFiles: true,
  },
  { kind: 'slack_webhook', secret: `https://hooks.slack.com/workflows/${characters(30)}`, inFiles: true },
  { kind: 'pypi_token', secret: `pypi-${characters(60)}`, inFiles: true },
  { kind: 'huggingface_token', secret: `hf_${characters(34)}`, inFiles: true },
  { kind: 'sendgrid_key', secret: `SG.${characters(22)}.${characters(43)}`, inFiles: true },
  { kind: 'digitalocean_token', secret: `dop_v1_${hex(64)}`, inFiles: true },
  { kind: 'azure_storage_key', before: 'AccountKey=', secret: `${characters(86)}==`, inFiles: true },
  { kind: 'age_key', secret: `AGE-SECRET-KEY-1${bech32(58)}`, inFiles: true },
  { kind: 'jwt', secret: `eyJ${characters(20)}.eyJ${characters(60)}.${characters(43)}` },
  { kind: 'authorization_header', before: 'Authorization: Bearer ', secret: characters(20) },
  { kind: 'authorization_header', before: '"authorization": "Basic ', secret: `${characters(22)}==`, after: '"' },
  { kind: 'authorization_header', before: 'AUTHORIZATION=token  ', secret: characters(16) },
  { kind: 'url_password', before: 'postgres://app:', secret: 'correct-horse', after: '@db.internal:5432/app' },
  { kind: 'url_password', before: 'HTTPS://x:', secret: 'p:q;r%20st', after: '@h/' },
];

describe('secrets in text', () => {
  describe('each class of the catalogue', () => {
    for (const { kind, secret, before = '', after = '', inFiles = false } of samples) {
      const name = `${before}${secret.slice(0, 12).split('\n')[0]}…`;
      it(`replaces ${kind} as in ${name}`, () => {
        for (const [left, right] of [
          ['', ''],
          ['See: ', ' and then.'],
          ['```\n', '\n```'],
          ['(', ')'],
          ['é', '\u2028'],
        ]) {
          const result = redact(left + before + secret + after + right);
          expect(result.text).to.equal(`${left}${before}[redacted:${kind}]${after}${right}`);
          expect(result.counts).to.deep.equal([{ kind, count: 1 }]);
        }
      });

      it(`${inFiles ? 'refuses' : 'does not refuse'} a file with ${kind} as in ${name}`, () => {
        const text = `x = "${before}${secret}${after}"\n`;
        const found = { kind, index: 5 + before.length, length: secret.length };
        expect(findSecrets(text, 'files')).to.deep.equal(inFiles ? [found] : []);
        expect(findSecrets(text)).to.deep.equal([found]);
      });
    }
  });

  describe('ordinary text', () => {
    const ordinary: [string, string][] = [
      [
        'prose',
        'The task-runner and the risk-free disk-check passed; see #12, SPEC-7 and src/server/http.ts. Fine? Yes.',
      ],
      ['a commit, a UUID and a digest', `${hex(40)} 0198c7c4-5f3e-7a31-9a40-1d2f6f8f3b11 sha256:${hex(64)}`],
      ['ids of the service', 'msg_01K5A0000000000000000000P1 brd_01K5A0000000000000000000B1'],
      ['a name that starts like an api key', 'sk-learn-contrib-lightning-and-more'],
      ['a key cut short', `sk-${characters(12)} ghp_${characters(8)} AKIA${upper(8)} npm_config_prefix`],
      ['a token inside a word', `xghp_${characters(36)} _AIza${characters(35)} 0npm_${characters(36)}`],
      ['an AWS key that goes on', `AKIA${upper(16)}a`],
      ['URLs with ports and users', 'http://localhost:7400/v1/info ssh://git@example.com:22/x https://a.example/b:c@d'],
      [
        'placeholder passwords',
        `$PASSWORD \${DB_PASSWORD} <password> {{secret}} ******** xxxxxxxx password Changeme EXAMPLE`,
      ],
      ['a header without a value', 'Send authorization: bearer $TOKEN, or Authorization: Basic <yours>'],
      ['a public key', pem('PUBLIC KEY')],
      ['a certificate', pem('CERTIFICATE')],
      ['a JWT cut short', `eyJ${characters(20)}.eyJ${characters(30)}`],
    ];
    for (const [name, text] of ordinary) {
      it(`leaves ${name} alone`, () => {
        expect(redact(text)).to.deep.equal({ text, counts: [] });
      });
    }

    it('leaves placeholder passwords in URLs alone, whatever their case', () => {
      for (const password of [
        '$DB_PASSWORD',
        `\${PASS_WORD}`,
        '<password>',
        '{password}',
        '********',
        'XXXXXXXX',
        'PassWord',
        'changeme',
        'Example',
      ]) {
        const text = `postgres://app:${password}@db/app`;
        expect(redact(text).text).to.equal(text);
      }
      expect(redact('postgres://app:passwords@db/app').counts).to.have.length(1);
    });

    it('takes a JWT apart nowhere, at the limits of its parts', () => {
      const jwt = (head: number, body: number) => `eyJ${'a'.repeat(head)}.eyJ${'b'.repeat(body)}.${'c'.repeat(16)}`;
      for (const [head, body] of [
        [8, 8],
        [512, 4096],
      ] as const) {
        expect(redact(`-${jwt(head, body)} x`).text).to.equal('-[redacted:jwt] x');
      }
      for (const [head, body] of [
        [7, 8],
        [8, 7],
        [513, 8],
        [8, 4097],
      ] as const) {
        expect(redact(jwt(head, body)).counts).to.deep.equal([]);
      }
      expect(redact(`eyJa-${jwt(512, 8)}`).text).to.equal('eyJa-[redacted:jwt]');
      expect(redact(`a.${jwt(8, 8)}.${jwt(9, 9)}`).text).to.equal('a.[redacted:jwt].[redacted:jwt]');
    });
  });

  it('takes a key by the first start with a digit near enough and with characters enough', () => {
    const far = `sk-${'a'.repeat(200)}`;
    const key = `sk-${'b'.repeat(19)}1`;
    expect(redact(`${far}1 x`).text).to.equal('[redacted:api_key] x');
    expect(redact(`${far}a1 x`).counts).to.deep.equal([]);
    expect(redact(`${far}-${key} x`).text).to.equal(`${far}-[redacted:api_key] x`);
    expect(redact(`sk-sk-${far}-${key} x`).text).to.equal(`sk-sk-${far}-[redacted:api_key] x`);
    expect(redact(`sk-c-${key}`).text).to.equal('[redacted:api_key]');
    expect(redact(`${far}_${key} ${far}-${key.slice(1)}`).counts).to.deep.equal([]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom('sk-', '-sk-', far, key, 'a', '_', '1', '-', ' ')), (parts) => {
        const found = findSecrets(parts.join('')).map(({ index, length }) => [index, index + length]);
        const expected = [...parts.join('').matchAll(plainPatterns[2]!)].map(({ 0: all, index }) => {
          return [index, index + all.length];
        });
        expect(found).to.deep.equal(expected);
      }),
      { numRuns: 1000 },
    );
  });

  describe('a private key', () => {
    it('is replaced to the end of the text when its END line is missing', () => {
      expect(redact(`a\n-----BEGIN PRIVATE KEY-----\n${characters(64)}\nand on`).text).to.equal(
        'a\n[redacted:private_key]',
      );
    });

    it('ends at its own END line, not at that of another kind', () => {
      const text = `-----BEGIN EC PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\ny\n-----END EC PRIVATE KEY-----z`;
      expect(redact(text).text).to.equal('[redacted:private_key]z');
    });

    it('is counted once per block', () => {
      expect(redact(`${pem('PRIVATE KEY')}\n${pem('EC PRIVATE KEY')}`)).to.deep.equal({
        text: '[redacted:private_key]\n[redacted:private_key]',
        counts: [{ kind: 'private_key', count: 2 }],
      });
    });

    it('hides other secrets inside it', () => {
      const text = `-----BEGIN PRIVATE KEY-----\nghp_${characters(36)}\n-----END PRIVATE KEY-----`;
      expect(redact(text).counts).to.deep.equal([{ kind: 'private_key', count: 1 }]);
    });
  });

  describe('overlaps', () => {
    const token = `ghp_${characters(36)}`;
    const jwt = samples.find(({ kind }) => kind === 'jwt')!.secret;

    it('go to the one higher in the table when start and length are equal', () => {
      expect(redact(`Authorization: Bearer ${jwt}`).text).to.equal('Authorization: Bearer [redacted:jwt]');
      expect(redact(`https://me:${token}@github.com/x`).text).to.equal(
        'https://me:[redacted:github_token]@github.com/x',
      );
    });

    it('go to the longer one when the start is equal', () => {
      expect(redact(`Authorization: Bearer ${jwt}=`).text).to.equal(
        'Authorization: Bearer [redacted:authorization_header]',
      );
    });

    it('go to the one that starts first', () => {
      expect(redact(`https://me:my-${token}@github.com/x`).text).to.equal(
        'https://me:[redacted:url_password]@github.com/x',
      );
    });

    it('leave nothing of the later one standing where it reaches further', () => {
      const text = `sk-${characters(20)}1${pem('PRIVATE KEY')} x`;
      expect(redact(text)).to.deep.equal({ text: '[redacted:api_key] x', counts: [{ kind: 'api_key', count: 1 }] });
    });
  });

  describe('text that was redacted', () => {
    it('is not redacted again around the replacements', () => {
      const cases = [
        [`https://ghp_${characters(36)}@github.com`, 'https://[redacted:github_token]@github.com'],
        [`https://ghp_${characters(36)}:x-oauth-basic@h`, 'https://[redacted:github_token]:[redacted:url_password]@h'],
        [`https://ghp_${characters(36)}:short@h`, 'https://[redacted:github_token]:short@h'],
      ] as const;
      for (const [text, expected] of cases) {
        expect(redact(text).text).to.equal(expected);
        expect(redact(expected)).to.deep.equal({ text: expected, counts: [] });
      }
    });

    it('has no secret left that only another one before it had hidden', () => {
      const text = `AIza${characters(35)}ghp_${characters(36)} AIza${characters(35)}AIza${characters(35)}`;
      expect(redact(text)).to.deep.equal({
        text: '[redacted:google_api_key][redacted:github_token] [redacted:google_api_key][redacted:google_api_key]',
        counts: [
          { kind: 'github_token', count: 1 },
          { kind: 'google_api_key', count: 3 },
        ],
      });
    });

    it('has no secret left that only another one after it had hidden', () => {
      const text = `AKIA${upper(16)}https://hooks.slack.com/services/${characters(30)}`;
      expect(redact(text).text).to.equal('[redacted:aws_access_key][redacted:slack_webhook]');
    });

    it('matches no class, whatever was put together', () => {
      const pieces = fc.constantFrom(
        ...samples.flatMap(({ secret, before = '', after = '' }) => [before + secret + after, before, secret, after]),
        ...[
          '',
          ' ',
          '\n',
          ':',
          '@',
          '/',
          '-',
          '_',
          '.',
          'a',
          '7',
          '://',
          'aa://u:',
          '[redacted:jwt]',
          '[redacted:',
          ']',
        ],
        ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'authorization: token ', 'eyJ', 'sk-'],
      );
      fc.assert(
        fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
          const text = parts.join('');
          const result = redact(text);
          expect(result.text).to.satisfy(matchesNoClass);
          expect(redact(result.text)).to.deep.equal({ text: result.text, counts: [] });
          expect(result.counts.length > 0).to.equal(!matchesNoClass(text));
        }),
        { numRuns: 3000 },
      );
    });
  });

  it('counts by kind, sorted by kind', () => {
    const one = redact(`npm_${characters(36)} hf_${characters(34)} npm_${characters(36)}`);
    expect(one.counts).to.deep.equal([
      { kind: 'huggingface_token', count: 1 },
      { kind: 'npm_token', count: 2 },
    ]);
  });

  describe('hostile text', () => {
    const units: string[] = [
      ...[
        'eyJ',
        '-eyJ',
        '-eyJaaaaaaaa',
        '.eyJ',
        'eyJaaaaaaaa.',
        'authorization',
        'authorization: bearer ',
        'a://',
        'aa://u:',
      ],
      ...[
        `aa://u:${'p'.repeat(120)} `,
        'a.',
        'a+',
        '://u:',
        '-----BEGIN PRIVATE KEY-----',
        '-----BEGIN PUBLIC KEY-----',
      ],
      ...[
        '-----BEGIN ',
        '-',
        `-----BEGIN ${'A '.repeat(40)}`,
        'PRIVATE KEY',
        'sk-',
        `sk-${'a'.repeat(30)} `,
        'sk_live_',
      ],
      ...[
        'AKIA',
        `AKIA${'A'.repeat(16)}`,
        'AIza',
        `AIza${'a'.repeat(35)}`,
        'ghp_',
        'github_pat_',
        'xoxb-',
        'npm_',
        'glpat-',
      ],
      ...['aws_secret_access_key', 'aws_secret_access_key=   ', `aws_secret_access_key=${'a'.repeat(40)}`, 'GOCSPX-'],
      ...[
        'https://hooks.slack.com/',
        'https://hooks.slack.com/services/',
        'pypi-',
        'hf_',
        'SG.',
        `SG.${'a'.repeat(22)}.`,
      ],
      ...[
        'doo_v1_',
        'AccountKey=',
        'AGE-SECRET-KEY-1',
        'aba_',
        '[redacted:',
        '[redacted:jwt]',
        'aa://u:[redacted:jwt]@',
      ],
      `${'-eyJ'.repeat(128)}.eyJ${'-eyJ'.repeat(1023)}`,
    ];
    for (const unit of units) {
      it(`costs in proportion to its length: ${unit.slice(0, 40)} again and again`, () => {
        const small = unit.repeat(Math.ceil(8192 / unit.length)).slice(0, 8192);
        const large = unit.repeat(Math.ceil(65_536 / unit.length)).slice(0, 65_536);
        // A quadratic scan needs 64 times as long for 8 times the text; the floor absorbs the clock's noise.
        const floor = 2;
        expect(cost(large)).to.be.lessThan(40 * Math.max(cost(small), floor));
      });
    }
  });
});

/** Milliseconds of processor time for one redaction, the best of three. */
function cost(text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

// The catalogue once more, written down from the contract and searched one class after the other.
const B = '(?<![A-Za-z0-9_])';
const raw = String.raw;
const plainPatterns: RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/g,
  new RegExp(`${B}ab[abcdhilp]_[A-Za-z0-9_-]{24,}`, 'g'),
  new RegExp(`${B}sk-(?=[A-Za-z0-9_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}`, 'g'),
  new RegExp(`${B}(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})`, 'g'),
  new RegExp(`${B}(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255})`, 'g'),
  new RegExp(`${B}(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])`, 'g'),
  new RegExp(`${B}AIza[A-Za-z0-9_-]{35}`, 'g'),
  new RegExp(`${B}(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})`, 'g'),
  new RegExp(`${B}npm_[A-Za-z0-9]{36}`, 'g'),
  new RegExp(`${B}gl(?:pat|dt|ptt|rt|cbt|soat|ft)-[A-Za-z0-9_-]{20,}`, 'g'),
  /aws_secret_access_key["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
  new RegExp(`${B}GOCSPX-[A-Za-z0-9_-]{28}`, 'g'),
  /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9/_-]{20,}/g,
  new RegExp(`${B}pypi-[A-Za-z0-9_-]{50,}`, 'g'),
  new RegExp(`${B}hf_[A-Za-z0-9]{30,}`, 'g'),
  new RegExp(raw`${B}SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, 'g'),
  new RegExp(`${B}do[opr]_v1_[a-f0-9]{64}`, 'g'),
  /AccountKey=([A-Za-z0-9+/]{86}==)/g,
  /AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}/g,
  new RegExp(raw`${B}eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{16,}`, 'g'),
  /authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3}([A-Za-z0-9._~+/=-]{16,})/gi,
];
const urlPassword = new RegExp(raw`${B}[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:([^\s/@]{8,128})@`, 'gi');
const placeholder = /^(?:\$.*|<.*|\{.*|\*+|x+|password|changeme|example)$/i;

/** A replacement is not a password, although it stands where one stood. */
function matchesNoClass(text: string): boolean {
  const urls = [...text.matchAll(urlPassword)].filter(
    ([whole, password]) => !placeholder.test(password!) && !/\[redacted:[a-z0-9_]{1,40}\]/.test(whole),
  );
  return urls.length === 0 && plainPatterns.every((pattern) => text.search(pattern) === -1);
}
