/**
 * The catalogue of secrets that may not enter the record, as data. Classes are only ever added. No entropy guessing:
 * what is redacted is gone for good, so each class is anchored on a literal that ordinary text does not hold.
 *
 * Every pattern is linear: wherever something has to follow a repetition, the repetition is bounded.
 */

export interface SecretClass {
  kind: string;
  /** Whether a text file with such a secret is refused. Documents and fixtures hold the other shapes for good reasons. */
  inFiles: boolean;
  /** A short pattern that every secret of the class contains; without it in the text the class is not searched. */
  needle: string;
  /** The secret itself; group 1, where there is one, is the part that is replaced. Absent for `private_key`. */
  pattern?: string;
  /** True when a secret starts only where a word does. Kept out of `pattern`, for what follows a replaced secret. */
  wordStart?: true;
  anyCase?: true;
  /** Group 1 of a match that is a placeholder and no secret. */
  placeholder?: RegExp;
}

const raw = String.raw;

export const secretClasses: readonly SecretClass[] = [
  { kind: 'private_key', inFiles: true, needle: 'PRIVATE KEY' },
  {
    kind: 'service_token',
    inFiles: true,
    wordStart: true,
    needle: 'ab[abcdhilp]_',
    pattern: 'ab[abcdhilp]_[A-Za-z0-9_-]{24,}',
  },
  {
    kind: 'api_key',
    inFiles: true,
    wordStart: true,
    // The word start stands here too: "task-", "risk-" and "disk-" are frequent.
    needle: '(?<![A-Za-z0-9_])sk-',
    // The digit keeps names such as `sk-learn-contrib-lightning` whole.
    pattern: 'sk-(?=[A-Za-z0-9_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}',
  },
  {
    kind: 'api_key',
    inFiles: true,
    wordStart: true,
    needle: '[rs]k_(?:live|test)_|whsec_',
    pattern: '(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})',
  },
  {
    kind: 'github_token',
    inFiles: true,
    wordStart: true,
    needle: 'gh[pousr]_|github_pat_',
    pattern: '(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255})',
  },
  {
    kind: 'aws_access_key',
    inFiles: true,
    wordStart: true,
    needle: 'A[KS]IA',
    pattern: '(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])',
  },
  { kind: 'google_api_key', inFiles: true, wordStart: true, needle: 'AIza', pattern: 'AIza[A-Za-z0-9_-]{35}' },
  {
    kind: 'slack_token',
    inFiles: true,
    wordStart: true,
    needle: 'xox[abeoprs]-|xapp-',
    pattern: '(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})',
  },
  { kind: 'npm_token', inFiles: true, wordStart: true, needle: 'npm_', pattern: 'npm_[A-Za-z0-9]{36}' },
  {
    kind: 'gitlab_token',
    inFiles: true,
    wordStart: true,
    needle: 'gl(?:pat|dt|ptt|rt|cbt|soat|ft)-',
    pattern: 'gl(?:pat|dt|ptt|rt|cbt|soat|ft)-[A-Za-z0-9_-]{20,}',
  },
  {
    kind: 'aws_secret_key',
    inFiles: true,
    anyCase: true,
    needle: 'aws_secret_access_key',
    pattern: raw`aws_secret_access_key["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
  },
  {
    kind: 'google_oauth_secret',
    inFiles: true,
    wordStart: true,
    needle: 'GOCSPX-',
    pattern: 'GOCSPX-[A-Za-z0-9_-]{28}',
  },
  {
    kind: 'slack_webhook',
    inFiles: true,
    needle: raw`hooks\.slack\.com`,
    pattern: raw`https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}`,
  },
  { kind: 'pypi_token', inFiles: true, wordStart: true, needle: 'pypi-', pattern: 'pypi-[A-Za-z0-9_-]{50,}' },
  { kind: 'huggingface_token', inFiles: true, wordStart: true, needle: 'hf_', pattern: 'hf_[A-Za-z0-9]{30,}' },
  {
    kind: 'sendgrid_key',
    inFiles: true,
    wordStart: true,
    needle: raw`SG\.`,
    pattern: raw`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`,
  },
  {
    kind: 'digitalocean_token',
    inFiles: true,
    wordStart: true,
    needle: 'do[opr]_v1_',
    pattern: 'do[opr]_v1_[a-f0-9]{64}',
  },
  { kind: 'azure_storage_key', inFiles: true, needle: 'AccountKey=', pattern: 'AccountKey=([A-Za-z0-9+/]{86}==)' },
  {
    kind: 'age_key',
    inFiles: true,
    needle: 'AGE-SECRET-KEY-1',
    pattern: 'AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}',
  },
  {
    kind: 'jwt',
    inFiles: false,
    wordStart: true,
    needle: raw`\.eyJ`,
    pattern: raw`eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{16,}`,
  },
  {
    kind: 'authorization_header',
    inFiles: false,
    anyCase: true,
    needle: 'authorization',
    pattern: raw`authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3}([A-Za-z0-9._~+/=-]{16,})`,
  },
  {
    kind: 'url_password',
    inFiles: false,
    wordStart: true,
    anyCase: true,
    needle: raw`://[^\s:/@]{1,64}:`,
    pattern: raw`[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:([^\s/@]{8,128})@`,
    placeholder: /^(?:\$.*|<.*|\{.*|\*+|x+|password|changeme|example)$/i,
  },
];
